"""Results taken in order of place, and the study that comes of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate._base.nearest import nearest
from tidegate._run.chance import no_difference, outcome, places
from tidegate._run.manifest import HEADERS_NOTE
from tidegate._run.metric import MAIN_GATE, TABLES
from tidegate._run.rows import PLACE, Lists, Table
from tidegate._run.summary import OF_GATE, figures_of, main_gate
from tidegate._run.tcp_words import tcp_words
from tidegate._study import live
from tidegate._study.columns import CHUNK_ROWS, Columns, place_of, run_at
from tidegate._study.points import Point
from tidegate._study.value import Study
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._study.columns import Chunk
    from tidegate._study.points import Described

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
    #: The number whose interval was asked for, and the most runs that were allowed for it.
    until: list[Any] | None = None
    #: Points that have so many runs, and not that interval.
    wide: list[int] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "points": [[number, *values] for number, values in self.points.items()]}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Facts:
        """Return what :meth:`to_dict` gave."""
        points = {int(number): (int(a), int(b), str(c)) for number, a, b, c in stored["points"]}
        return Facts(**{**stored, "points": points})

    def join(self, other: Facts) -> None:
        """Take in the facts of other runs of the same study."""
        if other.first is None:
            return
        self.until = other.until
        self.wide = sorted([*self.wide, *other.wide])
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

    def too_wide(self, points: Sequence[Point]) -> list[str]:
        """Say at which points the interval is wider than was asked for, if there are any."""
        if self.until is None or not self.wide:
            return []
        metric, most = self.until
        where = places([points[number].label() for number in self.wide], len(points))
        too_wide = f"the interval of {metric} is not as narrow as asked{f' {where}' if where else ''}"
        return [f"{too_wide}: {most} runs, the most that were allowed, are too few"]

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
        self.columns.add({name: Lists.made_of(self._places[name], self._rows[name]) for name in there})
        for name in there:
            self._rows[name], self._places[name] = [], []

    def finish(self) -> Columns:
        """Return the tables."""
        self._flush()
        return self.columns


def _digest(first: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(first, sort_keys=True).encode()).hexdigest()[:32]


def assembled(
    described: Described,
    columns: Columns,
    facts: Facts,
    gate: str | None,
    command: list[str] | None,
    notes: Sequence[str] = (),
) -> Study:
    """Make the study of all its results.

    Raises:
        UnknownNameError: there is no such gate.
    """
    chosen = _gate(columns, len(described.points), gate)
    points, equal = _points(described, facts)
    warnings = list(dict.fromkeys([*described.warnings, *facts.in_order(facts.warnings)]))
    if described.engine == "live":
        warnings = live.alike(warnings)
    warnings = [*notes, *facts.too_wide(points), *warnings]
    if equal:
        runs = f"the {facts.points[equal[0][0].number][1]} runs of a point"
        where = places([point.label() for point, _ in equal], len(points))
        warnings.append(no_difference(runs, equal[0][1], where))
    same = facts.shortest_s == facts.longest_s
    manifest: dict[str, Any] = {
        "kind": "study",
        "layout": 1,
        "engine": facts.engine,
        "tcp": tcp_words({"tcp": label} for label in facts.tcp),
        "title": described.title,
        "scenario_file": described.file,
        "seed": described.seed,
        "axes": list(described.axes),
        "gate": chosen,
        "duration_s": facts.longest_s,
        **({} if same else {"shortest_s": facts.shortest_s}),
        "measured_from_s": facts.measured_from_s,
        "measures": facts.in_order(facts.measures),
        "headers": HEADERS_NOTE,
        "warnings": warnings,
        "command": command,
    }
    columns.replace("runs", lambda chunk: _joined(chunk, chosen))
    return Study(manifest, points, columns)


def _points(described: Described, facts: Facts) -> tuple[list[Point], list[tuple[Point, list[str]]]]:
    """Return the points, and those whose runs came out the same although something was drawn."""
    points = []
    equal = []
    for number, (chosen, scenario, drawn) in enumerate(described.points):
        draws = ["the kernel's TCP"] if described.engine == "live" else drawn
        alike = bool(draws) and facts.are_alike(number)
        point = Point(number, dict(chosen), scenario, bool(draws) and not alike)
        points.append(point)
        if alike:
            equal.append((point, draws))
    return points, equal


def _gate(columns: Columns, points: int, asked: str | None) -> str | None:
    """Return the gate that is reported: the one asked for, or the first main gate that every point has."""
    gates, runs = columns.table("gates"), columns.table("runs")
    if gates is None or runs is None:
        if asked is not None:
            raise UnknownNameError(nearest("gate", asked, []))
        return None
    for name in runs.distinct(MAIN_GATE) if asked is None else [asked]:
        having = {
            point for point, replication in map(run_at, gates.of(name).values(PLACE)) if replication == 0
        }
        if len(having) == points:
            return str(name)
        if asked is not None:
            lacks = min({*range(points)} - having)
            places = zip(gates.values(PLACE), gates.values("name"), strict=True)
            known = [each for place, each in places if place == place_of(lacks, 0)]
            raise UnknownNameError(nearest("gate", asked, known))
    return None


def _joined(chunk: Chunk, gate: str | None) -> Table:
    """Return ``runs`` of a chunk with what is said of the gate, behind the fairness."""
    runs, gates = chunk["runs"], chunk.get("gates")
    columns = [name for name in runs.names() if name not in (PLACE, MAIN_GATE)]
    if gates is not None and gate is not None:
        runs = runs.beside(gates.of(gate), [name for name in OF_GATE if name in gates.names()])
    before = columns[: columns.index("fairness") + 1]
    return runs.arranged([*before, *OF_GATE, *[name for name in columns if name not in (*before, *OF_GATE)]])
