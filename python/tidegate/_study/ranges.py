"""What small changes that nobody can know make of a study's numbers: least and greatest at each point."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from tidegate._base.text import number, table, wrapped
from tidegate._run.perturbed import is_luck, sentence, spread_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._study.point import Point

    #: The values of a metric by point, in the order of replications.
    Values = Callable[[str, int], list[float | None]]

#: (metric, head, unit, divisor) of a column.
Column = tuple[str, str, str, float]
#: Columns of the table: the first ones of the means.
_COLUMNS = 5
#: The number by which people compare.
_GOODPUT = "goodput_bps"


def is_perturbed(points: Sequence[Point]) -> bool:
    """Tell whether replication i of each point has small change i, and replication 0 none."""
    return all(tomllib.loads(point.scenario).get("perturb") is True for point in points)


def spreads(points: Sequence[Point], values: Values, metric: str) -> list[dict[str, Any]]:
    """Return a number of each point as written, and least, median and greatest of its runs with changes."""
    found = [values(metric, point.number) for point in points]
    return [spread_of(each[0] if each else None, each[1:]) for each in found]


def range_lines(
    points: Sequence[Point],
    values: Values,
    heads: Sequence[str],
    places: Sequence[Sequence[str]],
    columns: Sequence[Column],
) -> list[str]:
    """Return a table of the ranges of some numbers, and what hangs on luck; nothing where no run has changes.

    ``heads`` and ``places``: what stands at the left of each line.
    """
    if not is_perturbed(points):
        return []
    shown = columns[:_COLUMNS]
    found = {metric: spreads(points, values, metric) for metric, *_ in shown}
    counts = [len(of["values"]) for of in next(iter(found.values()), [])]
    if not counts or min(counts) < 1:
        return []
    head = [
        [*heads, *(name for _, name, _, _ in shown)],
        [""] * len(heads) + [unit for _, _, unit, _ in shown],
    ]
    body = [
        [*place, *(_range(found[metric][row], by) for metric, _, _, by in shown)]
        for row, place in enumerate(places)
    ]
    runs = f"{counts[0]}" if len({*counts}) == 1 else f"{min(counts)} to {max(counts)}"
    about = (
        f"Least to greatest in {runs} runs of each point with small changes that nobody can know: whether "
        "one setting is better than another is told by the differences, change by change."
    )
    lucky = [
        wrapped(f"{point.label()}: {sentence(_GOODPUT, of, len(of['values']))}.", "  ")
        for point, of in zip(points, found.get(_GOODPUT, []), strict=False)
        if is_luck(_GOODPUT, of)
    ]
    return ["", table(head, body, left=len(heads)), wrapped(about), *lucky]


def _range(spread: dict[str, Any], by: float) -> str:
    if spread["least"] is None:
        return "–"
    low, high = number(spread["least"] / by), number(spread["greatest"] / by)
    return low if low == high else f"{low} to {high}"
