"""What the scenario of a capture predicts beside what was measured: a law is tried before it is believed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number, percent, table, wrapped
from tidegate._identify.doubts import agrees, factor
from tidegate._identify.policer import at_rate, is_open
from tidegate._identify.prediction import Predicted
from tidegate._identify.scenario import (
    DEFAULT_CC,
    OTHER_CC,
    flow_name,
    main_limit,
    members_of,
    scenario,
)
from tidegate._identify.sent import LOST

if TYPE_CHECKING:
    from tidegate._identify.found import Direction, Law, Limit
    from tidegate._identify.sent import Sent
    from tidegate._identify.streams import Stream

#: A capture with more packets is not simulated whole: so many packets are enough.
_PACKETS, _MOST_S = 40_000, 60.0
#: Runs with small changes: what a loss more or less does is luck.
_CHANGES = 6
#: A prediction so many times the measured goodput is far from it, whatever luck does.
_FAR = 4.0
#: Rates that are tried where drops leave a policer's open, from the lowest up to so many times as high.
_RATES, _OPEN = 13, 100.0
#: How much losses count beside the goodput, what share of them is next to nothing, and by how much
#: predictions differ that luck may make differ.
_LOSSES, _SHARE, _ALIKE = 0.5, 0.001, 0.3
#: Shorter captures show a start and no rate.
_LEAST_S = 0.5


def predict(
    directions: list[Direction], limits: list[Limit], streams: list[Stream]
) -> tuple[list[Predicted], str]:
    """Return what the scenario of the limit that most packets met predicts; nothing where there is none.

    And the congestion control of senders whose own is not known: the one that predicts better.
    """
    limit = main_limit(directions, limits)
    rows = _predict(directions, limits, streams, DEFAULT_CC)
    if not rows or limit is None or all(directions[at].congestion.name for at in limit.members):
        return rows, DEFAULT_CC
    if not agrees(rows):
        others = _predict(directions, limits, streams, OTHER_CC)
        if factor(others) < factor(rows):
            return others, OTHER_CC
    return rows, DEFAULT_CC


def _predict(
    directions: list[Direction],
    limits: list[Limit],
    streams: list[Stream],
    assumed: str,
    changes: int = _CHANGES,
) -> list[Predicted]:
    from tidegate._ask.scenario import Scenario
    from tidegate._run.start import run

    limit = main_limit(directions, limits)
    if limit is None:
        return []
    members = members_of(limit, directions)
    begin = min(int(streams[at].sent.time_ns[0]) for at in members)
    until_s = _until([streams[at] for at in members], begin)
    whole = max(float(streams[at].sent.time_ns[-1] - begin) / 1e9 for at in members)
    if min(until_s, whole) < _LEAST_S:
        return []
    text = scenario(directions, limits, streams, assumed, until_s if until_s < whole else None)
    source = Scenario.from_toml(text)
    result = json.loads(run(source, record="summary").to_json())
    measured = sum(directions[at].goodput_bps for at in members)
    if changes and sum(row["goodput_bps"] or 0.0 for row in result["flows"]) <= _FAR * measured:
        result = json.loads(run(source, record="summary", perturb=changes).to_json())
    flows = {row["name"]: row for row in result["flows"]}
    numbers = result["perturbed"]["numbers"] if result.get("perturbed") else {}
    found = []
    for at in members:
        stream, direction = streams[at], directions[at]
        row = flows[flow_name(direction, directions)]
        if until_s < whole:
            part = stream.sent.between(begin, begin + int(until_s * 1e9))
            stream, direction = replace(stream, sent=part), _until_then(direction, part)
        if direction.data_packets:
            luck = numbers.get(f"flow.{row['name']}.goodput_bps", numbers.get("goodput_bps"))
            found.append(_beside(direction, stream, row, luck))
    return found


def with_likely_rate(directions: list[Direction], limits: list[Limit], streams: list[Stream]) -> list[Limit]:
    """Return the limits; where drops leave a policer's rate open, the middle of those that predict best.

    Rates of the whole range are tried. What counts is how far goodput and share of losses are from the
    measured ones, as logarithms. Most often many rates predict alike; the middle is that of their logarithms.
    """
    limit = main_limit(directions, limits)
    if limit is None or not is_open(limit.law):
        return limits
    assert limit.law.rate_bps is not None
    low, high = limit.law.rate_bps.interval

    def with_rate(law: Law) -> list[Limit]:
        return [replace(each, law=law) if each is limit else each for each in limits]

    rates = np.geomspace(low, min(high, _OPEN * low), _RATES)
    away = np.array(
        [
            _away(
                _predict(directions, with_rate(at_rate(limit.law, float(each), None)), streams, DEFAULT_CC, 0)
            )
            for each in rates
        ]
    )
    if not np.isfinite(away).all():
        return limits
    alike = rates[away <= away.min() + _ALIKE]
    first, last = float(alike[0]), float(alike[-1])
    return with_rate(at_rate(limit.law, (first * last) ** 0.5, (first, last)))


def _away(rows: list[Predicted]) -> float:
    """Return how far a prediction is from what was measured; infinite where there is none."""
    if not rows:
        return float("inf")
    measured, predicted = (sum(row.goodput_bps[at] for row in rows) for at in (0, 1))
    lost, resent = (sum((row.lost[at] or 0.0) for row in rows) / len(rows) for at in (0, 1))
    away = abs(np.log(max(predicted, 1.0) / max(measured, 1.0)))
    return float(away + _LOSSES * abs(np.log((resent + _SHARE) / (lost + _SHARE))))


def _until(streams: list[Stream], begin: int) -> float:
    """Return how many seconds of the capture are simulated: the run has a bounded number of packets."""
    time = np.sort(np.concatenate([each.sent.time_ns[each.sent.payload > 0] for each in streams]))
    last = time[min(len(time), _PACKETS) - 1]
    return min(float(last - begin) / 1e9, _MOST_S)


def _until_then(direction: Direction, part: Sent) -> Direction:
    data = part.payload > 0
    time = part.time_ns[data]
    span = float(time[-1] - time[0]) / 1e9 if len(time) > 1 else 0.0
    size = int(part.payload[data & (part.fate != LOST)].sum())
    return replace(
        direction,
        data_packets=part.data_packets,
        data_bytes=size,
        lost=part.lost,
        goodput_bps=8 * size / span if span > 0 else 0.0,
    )


def _beside(
    direction: Direction, stream: Stream, row: dict[str, Any], luck: dict[str, Any] | None
) -> Predicted:
    trips = stream.sent.round_trip_ns
    trips = trips[trips > 0]
    sent, took = row["segments_sent"], row["completion_s"]
    trip = row["rtt_p50_ms"]
    # A transfer's goodput is that of the time it took, as the capture's is.
    predicted = 8 * direction.data_bytes / took if took else row["goodput_bps"] or 0.0
    part = predicted / luck["as_written"] if luck and luck["as_written"] else 1.0
    spread = (predicted, part * luck["least"], part * luck["greatest"]) if luck else (predicted,)
    return Predicted(
        connection=direction.connection,
        goodput_bps=(direction.goodput_bps, predicted),
        range_bps=(min(spread), max(spread)),
        lost=(
            direction.lost / direction.data_packets if direction.data_packets else None,
            row["segments_retransmitted"] / sent if sent else None,
        ),
        round_trip_s=(
            float(np.median(trips)) / 1e9 if len(trips) else None,
            None if trip is None else trip / 1e3,
        ),
    )


def prediction_text(rows: list[Predicted], assumed: str | None) -> str:
    """Return the table of measured and predicted numbers.

    ``assumed``: what the scenario assumes of the queue.
    """
    lines = []
    for row in rows:
        trips = [None if each is None else 1e3 * each for each in row.round_trip_s]
        lines += [
            [str(row.connection), "goodput, Mbit/s", *(number(each / 1e6) for each in row.goodput_bps)],
            ["", "with small changes", "", " to ".join(number(each / 1e6) for each in row.range_bps)],
            ["", "lost, resent, %", *(percent(each) for each in row.lost)],
            ["", "round trip, median, ms", *(number(each) for each in trips)],
        ]
    head = "What a scenario with this law predicts"
    shown = [head, "", table([["no", "", "capture", "predicted"]], lines, left=2)]
    return "\n".join([*shown, *([wrapped(assumed)] if assumed else [])])
