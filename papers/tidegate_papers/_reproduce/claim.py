"""Claims and figures of a paper: what it states or shows, and the function that measures or draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure as Picture

    from tidegate_papers._reproduce.lab import Lab
    from tidegate_papers._reproduce.verdict import Judgement


@dataclass(frozen=True)
class Finding:
    """What measuring a claim gives: a judgement by rule, and a sentence or two about it."""

    judgement: Judgement
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, or beyond it, and the function that measures it; made by :func:`claim`."""

    id: str
    where: str
    says: str
    measure: Callable[[Lab], Finding]
    unit: str = ""
    paper: float | str | None = None
    figures: tuple[str, ...] = ()
    exact: str = ""


def claim(
    name: str,
    *,
    where: str,
    says: str,
    unit: str = "",
    paper: float | str | None = None,
    figures: tuple[str, ...] = (),
    exact: str = "",
) -> Callable[[Callable[[Lab], Finding]], Claim]:
    """Make a claim of the function below: it runs studies in the lab that it is given and returns a finding.

    Args:
        name: its id, as in ``tidegate reproduce PAPER/ID``.
        where: where the paper says so, or "beyond the paper".
        says: the statement, in one sentence.
        unit: of the measured number; "share of cases" is counted, "A / B" is so many times.
        paper: the paper's own number, or words for it; None where it has none.
        figures: ids of the figures that show it.
        exact: why one run is enough. A claim without a reason is taken to be on chaotic TCP, which needs 16.
    """

    def made(measure: Callable[[Lab], Finding]) -> Claim:
        return Claim(name, where, says, measure, unit, paper, figures, exact)

    return made


@dataclass(frozen=True)
class Figure:
    """One picture: drawn from runs and studies of the lab it is given."""

    id: str
    where: str
    title: str
    caption: str
    draw: Callable[[Lab], Picture]
