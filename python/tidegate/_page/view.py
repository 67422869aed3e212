"""What an interactive page draws over time, and one number against another; ``web/src`` draws it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._page.pack import packed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Instants at which a line is known at most; what is recorded more finely is read at this many.
MOST = 100_000
#: Numbers of all lines together at most.
_ALL = 3_000_000
#: Digits of an instant: a nanosecond in a quarter of an hour.
_TIME_DIGITS = 12


@dataclass
class View:
    """Panels over one time axis, and the columns that they show."""

    end: float
    #: From here on is measured.
    begin: float
    panels: list[dict[str, Any]] = field(default_factory=list)
    columns: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bands: dict[str, Any] | None = None

    def column(self, values: ArrayLike, *, time: bool = False) -> int:
        """Keep a column and return its number."""
        self.columns.append(packed(values, _TIME_DIGITS) if time else packed(values))
        return len(self.columns) - 1

    def panel(
        self, name: str, title: str, unit: str, x: int, lines: Sequence[dict[str, Any]],
        *, top: float | None = None, marks: Sequence[dict[str, Any]] = (),
    ) -> None:  # fmt: skip
        """Add a panel where there is a line; ``top`` ends its scale, if no line needs less."""
        if lines:
            head = {"id": name, "title": title, "unit": unit, "top": top, "x": x}
            self.panels.append({**head, "lines": list(lines), "marks": list(marks)})

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "end": self.end,
            "from": self.begin,
            "notes": self.notes,
            "panels": self.panels,
            "bands": self.bands,
            "columns": self.columns,
        }


def line(
    name: str, y: int, colour: int = 0, *, look: str = "line", of: str = "numbers", fit: bool = True
) -> dict[str, Any]:
    """Return a line of a panel.

    ``look``: ``line``, ``dash`` (a limit) or ``fill``. ``of``: ``numbers``; ``count``, bytes that are drawn
    as their rate; ``mean``, a level that is drawn as its mean. ``fit``: the scale makes room for it.
    """
    return {"name": name, "y": y, "colour": colour, "look": look, "from": of, "fit": fit}


@dataclass(frozen=True)
class Instants:
    """The instants that the lines of a page share."""

    at: NDArray[np.float64]
    #: Whether lines were recorded more finely.
    coarser: bool

    @classmethod
    def of(cls, times: Sequence[NDArray[np.float64]], lines: int) -> Instants:
        """Return every instant of these columns or, where these are too many, as many in equal steps."""
        every = np.unique(np.concatenate(times)) if times else np.zeros(0)
        most = max(2000, min(MOST, _ALL // max(1, lines)))
        if len(every) <= most:
            return cls(every, coarser=False)
        return cls(np.linspace(every[0], every[-1], most), coarser=True)

    def values(self, time: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a column of samples stands at: each holds until the next; nothing before the first."""
        if len(time) == len(self.at) and np.array_equal(time, self.at):
            return column
        place = np.searchsorted(time, self.at, side="right") - 1
        found: NDArray[np.float64] = np.where(place < 0, np.nan, column[np.maximum(place, 0)])
        return found


@dataclass(frozen=True)
class Cloud:
    """Numbers of variants or points: any of them is drawn against any other."""

    #: Each number's name, and how people call it, with its unit.
    metrics: Sequence[tuple[str, str]]
    #: The numbers that are drawn first.
    x: str
    y: str
    #: Each point's name, and for each number its mean and the ends of its interval; None where it has none.
    points: Sequence[tuple[str, Sequence[tuple[float, float | None, float | None] | None]]]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        names = [name for name, _ in self.metrics]
        return {
            "metrics": [{"name": name, "label": label} for name, label in self.metrics],
            "x": names.index(self.x),
            "y": names.index(self.y),
            "points": [{"label": label, "values": list(values)} for label, values in self.points],
        }


def script_json(what: dict[str, Any] | None) -> str:
    """Return JSON as it stands inside a script element, where ``</`` would end it."""
    if what is None:
        return ""
    text = json.dumps(what, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
