"""Results of runs taken in one after the other, in order: into columns, and into what is said of a study."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate._run.chance import outcome
from tidegate._run.metric import TABLES
from tidegate._run.summary import OF_GATE, figures_of, main_gate
from tidegate._study.columns import CHUNK_ROWS, Columns, place_of, run_at
from tidegate._study.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The column of ``runs`` that has the gate that holds back a point's first run most.
MAIN_GATE = "main_gate"
_ELEMENTS = tuple(name for name in TABLES if name != "runs")


@dataclass
class Facts:
    """What is said of results beside their tables; plain data, so that parts of a study can be put together.

    ``measures``, ``warnings`` and ``tcp`` have the place where each was met first, and how many were met
    there before it. ``points`` has for each point how many of its runs came out like the first one here,
    how many there are, and a digest of the first; no digest where no other part of the study asks for it.
    """

    engine: str | None = None
    measured_from_s: float | None = None
    first: int | None = None
    shortest_s: float | None = None
    longest_s: float | None = None
    measures: dict[str, list[int]] = field(default_factory=dict)
    warnings: dict[str, list[int]] = field(default_factory=dict)
    tcp: dict[str, list[int]] = field(default_factory=dict)
    points: dict[int, tuple[int, int, str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "points": [[number, *told] for number, told in self.points.items()]}

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> Facts:
        """Return what :meth:`to_dict` gave."""
        points = {int(number): (int(a), int(b), str(c)) for number, a, b, c in told["points"]}
        return Facts(**{**told, "points": points})

    def join(self, other: Facts) -> None:
        """Take in the facts of other runs of the same study."""
        if other.first is None:
            return
        if self.first is None or other.first < self.first:
            self.engine, self.measured_from_s, self.first = other.engine, other.measured_from_s, other.first
        ends = [end for end in (self.shortest_s, other.shortest_s) if end is not None]
        self.shortest_s = min(ends)
        ends = [end for end in (self.longest_s, other.longest_s) if end is not None]
        self.longest_s = max(ends)
        texts = (
            (self.measures, other.measures),
            (self.warnings, other.warnings),
            (self.tcp, other.tcp),
        )
        for mine, theirs in texts:
            for text, place in theirs.items():
                mine[text] = min(place, mine.get(text, place))
        for number, (alike, count, digest) in other.points.items():
            mine_alike, mine_count, mine_digest = self.points.get(number, (0, 0, digest))
            both = alike + mine_alike if digest == mine_digest else mine_alike
            self.points[number] = (both, count + mine_count, mine_digest)

    def in_order(self, texts: Mapping[str, list[int]]) -> list[str]:
        """Return texts in the order in which one machine meets them."""
        return sorted(texts, key=lambda text: texts[text])

    def are_alike(self, point: int) -> bool:
        """Tell whether a point has several runs, and all came out the same."""
        alike, count, _ = self.points[point]
        return alike == count > 1


class Gathering:
    """Takes results in the order of their places, and keeps what a study needs of them.

    ``is_part``: they will be put together with those of other parts.
    """

    def __init__(self, *, is_part: bool = False) -> None:
        self._is_part = is_part
        self.columns = Columns()
        self.facts = Facts()
        #: Of each table the rows that are not columns yet, and the place of each.
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        self._places: dict[str, list[int]] = {name: [] for name in TABLES}
        #: The point that is worked on, and how its first run came out.
        self._point: tuple[int, dict[str, Any]] | None = None

    def take(self, place: int, kept: Mapping[str, Any]) -> None:
        """Take in a result as a store keeps it."""
        self.add(*run_at(place), kept["summary"], kept["measured"])

    def add(
        self, point: int, replication: int, summary: dict[str, Any], measured: Mapping[str, float | None]
    ) -> None:
        """Take in a result."""
        place = place_of(point, replication)
        figures = figures_of(summary, None)
        of_flows = {name: value for name, value in figures.items() if name not in OF_GATE}
        main = main_gate(summary) if replication == 0 else None
        self._put("runs", place, [{**of_flows, **measured, MAIN_GATE: main}])
        for table in _ELEMENTS:
            self._put(table, place, summary.get(table, ()))
        self._note(point, place, summary, measured)
        if any(len(rows) >= CHUNK_ROWS for rows in self._rows.values()):
            self._flush()

    def _put(self, table: str, place: int, rows: Sequence[dict[str, Any]]) -> None:
        self._rows[table] += rows
        self._places[table] += [place] * len(rows)

    def _note(
        self, point: int, place: int, summary: dict[str, Any], measured: Mapping[str, float | None]
    ) -> None:
        facts = self.facts
        length = float(summary["duration_s"])
        if facts.first is None:
            facts.first, facts.engine = place, summary["engine"]
            facts.measured_from_s = summary["measured_from_s"]
            facts.shortest_s = facts.longest_s = length
        facts.shortest_s = min(facts.shortest_s or length, length)
        facts.longest_s = max(facts.longest_s or length, length)
        for number, name in enumerate(measured):
            facts.measures.setdefault(name, [place, number])
        for number, text in enumerate(summary["warnings"]):
            facts.warnings.setdefault(text, [place, number])
        for number, row in enumerate(summary["flows"]):
            if "tcp" in row:
                facts.tcp.setdefault(row["tcp"], [place, number])
        if self._point is None or self._point[0] != point:
            first = outcome(summary)
            self._point = (point, first)
            facts.points[point] = (1, 1, _digest(first) if self._is_part else "")
            return
        alike, count, digest = facts.points[point]
        # Once one was different, the point varies.
        same = alike == count and outcome(summary) == self._point[1]
        facts.points[point] = (alike + same, count + 1, digest)

    def _flush(self) -> None:
        there = [name for name, rows in self._rows.items() if rows]
        self.columns.add({name: frame_of(self._places[name], self._rows[name]) for name in there})
        for name in there:
            self._rows[name].clear()
            self._places[name].clear()

    def finish(self) -> Columns:
        """Return the tables."""
        self._flush()
        return self.columns


def _digest(first: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(first, sort_keys=True).encode()).hexdigest()[:32]
