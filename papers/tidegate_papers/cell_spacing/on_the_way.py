"""What the paper says of the way to its limits, against the exact simulation: (1), (2), (10), (17), (20).

These statements are about single intervals of slow start, and about single growths of the window.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.theory import Spacer
    from tidegate_papers.cell_spacing.fluid import Flow

F = Fraction
#: (formula, whether it holds as printed, whether it holds as corrected); None: it says nothing.
Checks = list[tuple[str, bool | None, bool | None]]


def single(found: Spacer, to_b: Flow, flow: Flow) -> Checks:
    """Return the checks with an acknowledgement per segment; ``to_b`` never leaves the threshold."""
    return [
        *_thresholds(found, to_b),
        ("(n1+1)Δ", *_end_of_slow_start(found, to_b)),
        *_at_threshold(found, to_b),
        ("h < 2c", *_growths(found, flow)),
    ]


def _busy(flow: Flow, begin: Fraction, end: Fraction, c: Fraction) -> bool:
    """Tell whether the spacer served without a pause."""
    first, last = (int(at * flow.scale) for at in (begin, end))
    return flow.left(last) - flow.left(first) == c * (end - begin)


def _thresholds(found: Spacer, flow: Flow) -> Checks:
    """Judge (1): the window reaches b in interval n1; and (2): n0 is the first without a pause."""
    trip, c = F(found.Delta), F(found.c)
    grown = found.threshold - found.initial_window
    reached = flow.time(flow.acks[grown - 1]) if grown else F(0)
    in_n1 = found.n1 * trip <= reached <= (found.n1 + 1) * trip
    one = (in_n1, in_n1 if found.n1 <= found.n0 else None)
    pauses = not any(_busy(flow, n * trip, (n + 1) * trip, c) for n in range(found.nu))
    first = _busy(flow, found.n0 * trip, (found.n0 + 1) * trip, c) if found.n0 <= found.n1 else True
    # Where both are one interval the window may stop at b before the pipe is full.
    return [
        ("(1)", *one),
        ("(2)", pauses and first, pauses and (first or found.n0 == found.n1)),
    ]


def _end_of_slow_start(found: Spacer, flow: Flow) -> tuple[bool, bool]:
    """Judge that the content is within the limits of Theorem 1 at (n1 + 1)Δ; right: from t_b on."""
    low, high = F(found.V_b_minus), F(found.V_b_plus)

    def inside(at: Fraction) -> bool:
        return low <= flow.content(int(at * flow.scale)) <= high

    end = (found.n1 + 1) * F(found.Delta)
    return inside(end), inside(max(end, F(found.t_b)))


def _at_threshold(found: Spacer, flow: Flow) -> Checks:
    """Judge (10) and, where h < 2c, the ramp before it, in an interval n1 that is not after n0."""
    if not 0 < found.n1 <= found.n0:
        return []
    sigma, share = found.segment_cells, 1 - F(found.c) / F(found.h)
    acks = found.initial_window << (found.n1 - 1)
    before, more_window = acks - found.initial_window, found.threshold - acks
    rest = acks - more_window
    ramp = min(found.k0 or 0, rest)
    begin, end = flow.acks[before], flow.acks[before + acks - 1] + flow.span_c
    checks: Checks = []
    if rest > ramp:
        settled = flow.acks[before + more_window + ramp]
        limits = (F(more_window * sigma), more_window * sigma + sigma * share)
        holds = flow.extremes(settled, end) == limits
        checks.append(("(10)", holds, holds))
    # The source may be sending still when the last of these acknowledgements has come; where it is
    # when the next interval begins, the ramp goes on with that one's.
    sent = begin + found.threshold * flow.span_h
    if found.k0 is not None and sent <= flow.acks[before + acks]:
        peak = flow.extremes(begin, max(end, sent))[1]
        as_printed = (2 * more_window + ceil(F(found.printed.k0 or 0))) * sigma * share
        checks.append(("ramp", as_printed == peak, F(found.peaks[found.n1]) == peak))
    return checks


def _growths(found: Spacer, flow: Flow) -> tuple[bool | None, bool | None]:
    """Judge the transition where the window grows beyond b and h < 2c: its peak, and σ more after it."""
    c, h, sigma = F(found.c), F(found.h), found.segment_cells
    if h >= 2 * c or found.window == found.threshold or not found.c1_holds:
        return None, None
    more = floor(c / (h - c))
    judged = []
    for i in range(1, len(flow.windows) - more - 2):
        grew = found.window >= flow.windows[i] > flow.windows[i - 1] >= found.threshold
        # The ramp has to be over before the window grows again.
        if not grew or flow.windows[i - 1] < more + 3 or flow.time(flow.acks[i]) <= F(found.t_b):
            continue
        content = flow.content(flow.acks[i])
        after = flow.acks[i + more + 1]
        # A spacer that empties is another case; so is a source that has not caught up.
        if not content or flow.left(after) - flow.left(flow.acks[i]) != c * flow.time(after - flow.acks[i]):
            continue
        peak = flow.extremes(flow.acks[i], after)[1]
        right = content + (2 + more) * sigma * (1 - c / h)
        judged.append(peak == right and flow.content(after) == content + sigma)
    return (all(judged), all(judged)) if judged else (None, None)


def pairs(found: Spacer, flow: Flow) -> Checks:
    """Return the checks with an acknowledgement for every second segment: (17) and (20)."""
    starts = {each.n: int(F(each.start) * flow.scale) for each in found.intervals}
    before = [each for each in found.intervals if each.n < found.nu]
    sent = [
        sum(starts[each.n] <= at < starts[each.n + 1] for at in flow.starts) == each.segments
        for each in before
    ]
    recursion = all(sent) if sent else None
    empties = all(flow.content(starts[each.n + 1]) == 0 for each in before)
    stays = found.n0 > found.n1 or flow.content(starts[found.n0 + 1]) > 0
    return [
        ("(17)", recursion, recursion),
        ("(20)", empties and stays, empties and (stays or found.n0 == found.n1)),
    ]
