"""Columns of figures beside the rows of a comparison: a number, and a bar under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._base import text
from tidegate._draw.parts import Words
from tidegate._draw.tokens import INK, MID, SOFT
from tidegate._run.completion import done_cell
from tidegate._run.summary import figures_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._compare.variants import Variants
    from tidegate._draw.drawing import Drawing, Panel

    Row = dict[str, Any]

#: Inches.
_BAR, _PAIR, _GAP = 0.85, 1.5, 0.16
#: Flows that have bars of their own.
_FLOWS = 12


@dataclass(frozen=True)
class _Column:
    """A column of figures: one number and its bar, or two numbers as dots on one line."""

    title: str
    names: tuple[str, ...]
    factor: float = 1.0
    digits: int = 3
    top: float | None = None
    #: How a row's number is written, where not as it is.
    words: Callable[[Row], str] | None = None

    @property
    def width(self) -> float:
        """Inches."""
        return _BAR if len(self.names) == 1 else _PAIR

    def is_filled(self, rows: Sequence[Row]) -> bool:
        """Return whether any row has something to write in it."""
        if self.words is not None and any(self.words(row) != text.number(None) for row in rows):
            return True
        return any(value is not None for value in self.values(rows))

    def values(self, rows: Sequence[Row], number: int = 0) -> list[float | None]:
        """Return one of its numbers of every row, in the unit that is shown."""
        found = [row.get(self.names[number]) for row in rows]
        return [value if value is None or self.factor == 1 else value / self.factor for value in found]


class _FigureColumns:
    """Draws the columns that the variants have numbers for."""

    @staticmethod
    def _columns(rows: Sequence[Row], *, several: bool) -> list[_Column]:
        factor, unit = text.rate_scale(max([1.0, *(row["goodput_bps"] or 0.0 for row in rows)]))
        columns = [
            _Column(f"Goodput\n{unit}", ("goodput_bps",), factor),
            _Column("Queueing delay, ms\n● p50   ○ p99", ("queue_delay_p50_ms", "queue_delay_p99_ms")),
            _Column("Loss\n%", ("loss",), 0.01, 2),
            _Column("Used\n%", ("utilisation",), 0.01, 3, 100.0),
            _Column("Time-outs\n", ("timeouts",)),
        ]
        asks = any(row.get("response_mean_s") is not None for row in rows)
        if asks:
            columns.append(_Column("Response, s\n● mean   ○ p95", ("response_mean_s", "response_p95_s")))
        elif several:
            # Who asks more gets more: its share says nothing of the network.
            columns.append(_Column("Fairness\nJain", ("fairness",), 1.0, 3, 1.0))
        columns.append(_Column("Done\ns", ("completion_s",), words=done_cell))
        return [column for column in columns if column.is_filled(rows)]

    def _of(self, comparison: Variants) -> tuple[list[_Column], list[Row]]:
        rows = [figures_of(v.run.summary, comparison.gate_of(v)) for v in comparison.variants]
        several = any(len(v.run.flows) > 1 for v in comparison.variants)
        return self._columns(rows, several=several), rows

    def width(self, comparison: Variants) -> float:
        """Return how wide the columns are together, inches."""
        columns, _ = self._of(comparison)
        return sum(column.width + _GAP for column in columns) - _GAP + self._bars_width(comparison)

    @staticmethod
    def _bars_width(comparison: Variants) -> float:
        """Return the width of the column with a bar per flow; 0 where there are too few or too many."""
        most = max(len(v.run.flows) for v in comparison.variants)
        return _GAP + max(0.85, 0.13 * most) if 1 < most <= _FLOWS else 0.0

    def __call__(
        self,
        drawing: Drawing,
        left: float,
        low: float,
        high: float,
        comparison: Variants,
        at: Sequence[float],
    ) -> None:
        """Draw the columns beside each other; ``at``: the height of each row in them, from 0 to 1."""
        columns, rows = self._of(comparison)
        for column in columns:
            panel = _column(drawing.panel(left, low, column.width, high), column.title)
            panel.uprights([0.0], 0, 1, MID, 0.7)
            (_bars if len(column.names) == 1 else _pairs)(panel, column, rows, at)
            left += column.width + _GAP
        if wide := self._bars_width(comparison):
            _flow_bars(drawing.panel(left, low, wide - _GAP, high), comparison, at)


figure_columns = _FigureColumns()


def _column(panel: Panel, title: str) -> Panel:
    panel.bare()
    panel.title, panel.title_size, panel.title_away = title, 7.5, 9.0
    return panel


def _number(panel: Panel, at: float, words: str) -> None:
    panel.write(Words(0, at, words, 8, INK, up="bottom", away=(3, 3)))


def _bars(panel: Panel, column: _Column, rows: Sequence[Row], at: Sequence[float]) -> None:
    """Draw one bar per variant under its number."""
    values = column.values(rows)
    most = column.top or max([value for value in values if value is not None], default=0.0) or 1.0
    panel.x.span(0, most * 1.02)
    for place, value, row in zip(at, values, rows, strict=True):
        _number(panel, place, column.words(row) if column.words else text.number(value, column.digits))
        if value is not None:
            panel.line([0, value], [place] * 2, MID, 4, steps=False)


def _pairs(panel: Panel, column: _Column, rows: Sequence[Row], at: Sequence[float]) -> None:
    """Draw the first number as a filled and the second as an open dot, on one line."""
    firsts, seconds = column.values(rows, 0), column.values(rows, 1)
    panel.x.span(0, 1.06 * max([*(value or 0.0 for value in (*firsts, *seconds)), 1e-9]))
    for place, low, high in zip(at, firsts, seconds, strict=True):
        if low is not None and high is not None:
            panel.line([low, high], [place, place], SOFT, 2, steps=False, order=1)
        if low is not None:
            panel.points([low], place, "circle", INK, 5.6, over=True)
        if high is not None:
            panel.points([high], place, "circle", INK, 4.6, over=True, width=1, hollow=True)
        _number(panel, place, f"{text.number(low)}  ·  {text.number(high)}")


def _flow_bars(panel: Panel, comparison: Variants, at: Sequence[float]) -> None:
    """Draw the goodput of each flow as a small bar, in the order of the scenario."""
    _column(panel, "Goodput\nof each flow")
    rows = [[float(row["goodput_bps"] or 0.0) for row in v.run.summary["flows"]] for v in comparison.variants]
    most = max([1.0, *(value for row in rows for value in row)])
    panel.x.span(-0.6, max(map(len, rows)) - 0.4)
    high = 0.72 * (at[0] - at[1] if len(at) > 1 else 1.0)
    for place, row in zip(at, rows, strict=True):
        low = place - high / 2
        panel.bars(range(len(row)), [high * value / most for value in row], 0.7, MID, low)
        panel.line([-0.5, len(row) - 0.5], [low, low], MID, 0.5, steps=False)
