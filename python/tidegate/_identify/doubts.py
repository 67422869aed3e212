"""What the prediction of a law says against it: the scenario has another goodput, round trip or loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate._base.text import number, percent
from tidegate._identify.scenario import main_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.found import Direction, Law, Limit
    from tidegate._identify.prediction import Predicted

#: A prediction agrees where the goodput lies within this factor of what its runs give, and contradicts the
#: law from that factor on.
AGREES, CONTRADICTS = 1.25, 2.0
#: Round trips differ by so much at least, in seconds, and losses by such a share of the packets.
_TRIP_S, _LOST = 0.003, 0.005
#: Laws that only trains of packets, or the absence of another explanation, speak for.
_WEAK = ("none", "steps", "varying")


def tried(limits: list[Limit], directions: list[Direction], rows: list[Predicted]) -> list[Limit]:
    """Return the limits, with what the prediction says of the law: doubts, or that it is withdrawn."""
    limit = main_limit(directions, limits)
    if limit is None or not rows:
        return limits
    law = limit.law if agrees(rows) else doubted(limit.law, rows, factor(rows))
    words = [] if law.kind == "cannot tell" else _others(rows)
    if words:
        law = replace(law, evidence=[*law.evidence, *words])
    return (
        limits if law is limit.law else [replace(each, law=law) if each is limit else each for each in limits]
    )


def _others(rows: list[Predicted]) -> list[str]:
    """Return what the scenario has of round trips and losses where that is far from what was measured."""
    found = []
    trip = _farthest([row.round_trip_s for row in rows], _TRIP_S)
    if trip is not None:
        measured, predicted = (number(1e3 * each) for each in trip)
        found.append(
            f"A simulation of this law has another round trip: the median is {predicted} ms, and "
            f"{measured} ms in the capture."
        )
    lost = _farthest([row.lost for row in rows], _LOST)
    if lost is not None:
        measured, predicted = (percent(each) for each in lost)
        found.append(
            f"A simulation of this law resends {predicted}% of the packets; {measured}% were lost in the "
            "capture."
        )
    return found


def _farthest(pairs: Sequence[tuple[float | None, float | None]], least: float) -> tuple[float, float] | None:
    """Return what was measured and predicted where these differ most; None where all agree."""
    known = [(one, two) for one, two in pairs if one is not None and two is not None]
    away = [pair for pair in known if abs(pair[1] - pair[0]) > least and max(pair) > AGREES * min(pair)]
    return max(away, key=lambda pair: abs(pair[1] - pair[0]), default=None)


def agrees(rows: list[Predicted]) -> bool:
    """Return whether the measured goodput lies near what the runs of the scenario give."""
    return factor(rows) <= AGREES


def factor(rows: list[Predicted]) -> float:
    """Return how many times the measured goodput of all lies outside of the predicted range; 1 if inside."""
    measured = sum(row.goodput_bps[0] for row in rows)
    low, high = (sum(row.range_bps[at] for row in rows) for at in (0, 1))
    return max(1.0, low / max(measured, 1.0), measured / max(high, 1.0))


def doubted(law: Law, rows: list[Predicted], off: float) -> Law:
    """Return the law with the doubt that its prediction is `off` times off, or its withdrawal."""
    measured, predicted = (sum(row.goodput_bps[at] for row in rows) / 1e6 for at in (0, 1))
    beside = f"a scenario with it predicts {number(predicted)} Mbit/s, and {number(measured)} were measured"
    if law.kind in _WEAK and off > CONTRADICTS:
        return replace(
            law,
            kind="cannot tell",
            sentence=f"Cannot tell: what explains the capture best contradicts it, because {beside}. "
            f"It was: {law.sentence}",
            rate_bps=None,
            pieces=[],
            trace=[],
            random_loss=None,
        )
    words = (
        f"The law does not explain the goodput: {beside}. Either the sender is another one than the scenario "
        "has, or something else held it back."
    )
    return replace(law, evidence=[*law.evidence, words])
