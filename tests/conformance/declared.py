"""Differences between the kernel and our endpoint that have a name: choices, and faults to be mended."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.beside import EXACT_MS, coarse, said_lines
from conformance.script import MSS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.beside import Difference, Held
    from conformance.judge import Record, Said
    from conformance.script import Step


#: What one buffer of the kernel's holds (tcp_xmit_size_goal).
BUFFER = 65_000
#: So long our endpoint puts an ACK off.
DELAYED_MS = 40.0
#: So near to a line a paced packet may leave before or after it.
PACED_MS = 0.7
#: So much later the kernel may send a copy, or see what is said of it.
COPY_MS = 0.3
#: So much earlier one of the two timers may ring: of those that are set for less than so long, and of others.
LONG_MS, SHORT_MS, TICK_MS = 200.0, 9.0, 18.0


@dataclass(frozen=True)
class Named:
    """A difference with a name, and whether one is of it."""

    name: str
    #: What the kernel does, where, and what ours does.
    tells: str
    fits: Callable[[Held, Difference], bool]
    #: It is to be mended: not a choice.
    fault: bool = True
    #: In another play the kernel may do as ours.
    chance: bool = False


def name(held: Held) -> Named | None:
    """Return the name of a conversation's difference; None: it is open."""
    if held.difference is None:
        return None
    return next((each for each in NAMED if each.fits(held, held.difference)), None)


def _last(held: Held, difference: Difference) -> Step | None:
    return said_lines(held.talk)[difference.after - 1] if difference.after else None


def _without_sack(held: Held, _: Difference) -> bool:
    return held.talk.tcp.get("sack") is False


def _buffers(held: Held, difference: Difference) -> bool:
    """More was written than a buffer of the kernel's holds, at most half the other end's window."""
    written = sum(
        step.of["bytes"] for step in said_lines(held.talk)[: difference.after] if step.what == "write"
    )
    data = ":" in difference.kernel + difference.ours
    sends = data and difference.what in ("segment", "more", "less", "time")
    more = written > min(BUFFER, held.talk.window // 2)
    # Of the first loss: what waits in another buffer leaves some us later, and is younger.
    before = held.kernel.states[: difference.after - 1]
    first = difference.what in ("less", "more", "segment", "lost", "cwnd") and all(
        state.get("ca") in ("Open", "Disorder") for state in before
    )
    sends = sends or difference.what in ("out", "lost", "cwnd")
    return sends and more and (difference.ca in ("Open", "Disorder", "CWR") or first)


def _receives(held: Held) -> bool:
    return not any(step.what == "write" for step in held.talk.steps)


def _data_later(held: Held, difference: Difference) -> bool:
    """A segment brought data and let others be sent again, which acknowledge them with one of the two."""
    last = _last(held, difference)
    return last is not None and "data" in last.of and difference.what in ("segment", "more", "less")


def _stale_blocks(_: Held, difference: Difference) -> bool:
    """The kernel's ACK of a FIN that filled a gap still has the blocks."""
    return difference.what == "segment" and difference.kernel.split(" sack ")[0] == difference.ours


def _accounting(held: Held, difference: Difference) -> bool:
    """Short segments were received, or some ahead of a gap, or a program has read some later."""
    if not _receives(held) or difference.what not in ("less", "more", "time", "segment"):
        return False
    steps = said_lines(held.talk)[: difference.after]
    if any(step.what == "read" for step in steps):
        return True
    data = [step.of["data"] for step in steps if "data" in step.of]
    short = len({right - left for left, right in data}) > 1
    return short or any(bool(one[1] != other[0]) for one, other in pairwise(data))


def _at_timer(held: Held, difference: Difference) -> bool:
    """A timer of one of the two rang just before the next line, or the end; the other's, just after it."""
    # What differs is seen after the line before which one of them rang, or after the next one.
    next_ms = [*held.kernel.times_ms, held.talk.end_ms]
    return any(
        after in (difference.after, difference.after - 1)
        and after < len(next_ms)
        and (after == difference.after) == (difference.what in ("more", "less"))
        and not at_once
        and (not _bbr(held, difference) or _repeats(record, said))
        and next_ms[after] - said.at_ms < _late(held, said.at_ms) + abs(held.late_ms)
        and not any(
            abs(said.at_ms - other.at_ms) < _late(held, said.at_ms) and said.seq == other.seq
            for other, (beside, _) in zip(against.said, against.afters, strict=True)
            if beside == after
        )
        for record, against in ((held.kernel, held.ours), (held.ours, held.kernel))
        for said, (after, at_once) in zip(record.said, record.afters, strict=True)
    )


def _late(held: Held, at_ms: float) -> float:
    """How late a timer may be that rings at a time, in ms: the longer, the more it was waited for."""
    before = [*held.kernel.times_ms, *(said.at_ms for said in held.kernel.said)]
    since = max((each for each in before if each < at_ms - PACED_MS), default=0.0)
    return SHORT_MS if at_ms - since < LONG_MS else TICK_MS + coarse(held, at_ms)


def _late_echo(held: Held, difference: Difference) -> bool:
    """The two know different round trips, because an ACK echoed what a timer had sent at different times."""
    if not held.talk.tcp.get("timestamps") or not 0 < difference.after <= len(held.kernel.states):
        return False
    kernel, mine = (record.states[difference.after - 1].get("srtt") for record in (held.kernel, held.ours))
    return held.ticks and None not in (kernel, mine) and abs(kernel - mine) > EXACT_MS


def _overdue(held: Held, difference: Difference) -> bool:
    """A segment had been out for a round trip when the kernel's time-out rang, and not yet when ours did."""
    if difference.ca != "Loss" or difference.what not in ("lost", "cwnd"):
        return False
    lines = list(zip(said_lines(held.talk), held.kernel.times_ms, strict=True))[: difference.after]
    acks = [(step.of["ack"], at_ms) for step, at_ms in lines if "ack" in step.of]
    una = max((ack for ack, _ in acks), default=1)
    ages = []
    for record in (held.kernel, held.ours):
        rang = [said.at_ms for said, _ in zip(record.said, record.afters, strict=True) if said.seq == una]
        sent = {said.seq: said.at_ms for said in record.said if una < said.seq and said.at_ms < rang[-1]}
        trips = [at_ms - said.at_ms for said in record.said for ack, at_ms in acks if said.end == ack == una]
        ages.append((rang[-1], sent, min(trips, default=0.0)))
    (late, theirs, trip), (early, mine, _) = ages
    return any(early - mine[seq] < trip <= late - theirs[seq] for seq in mine.keys() & theirs.keys())


def _copy_trip(held: Held, difference: Difference) -> bool:
    """A copy was reported after about the least round trip, but for what timers were late."""
    if difference.what not in ("segment", "less", "more", "lost", "retrans", "cwnd"):
        return False
    left = [[said for said in record.said if _repeats(record, said)] for record in (held.kernel, held.ours)]
    steps = zip(said_lines(held.talk), held.kernel.times_ms, held.kernel.states, strict=False)
    for step, at_ms, state in list(steps)[: difference.after]:
        least, told = state.get("min_rtt"), [[0, step.of.get("ack", 0)], *step.of.get("sack", [])]
        for one, other in zip(*left, strict=False):
            reported = any(low < one.end <= high for low, high in told)
            trips = sorted((at_ms - one.at_ms, at_ms - other.at_ms))
            about = least and trips[0] > 0 and trips[0] - COPY_MS < least < trips[1] + COPY_MS
            if about and reported and one.seq == other.seq:
                return True
    return False


def _repeats(record: Record, said: Said) -> bool:
    """Whether a segment had been sent before: the pacer lets new data go."""
    return any(other.end > said.seq for other in record.said if other.at_ms < said.at_ms)


def _idle(held: Held, difference: Difference) -> bool:
    """Data might leave when nothing had been sent for a time-out, or some of them, but for some ticks."""
    last = _last(held, difference)
    opens = last is not None and (last.what == "write" or "win" in last.of or last.of.get("ack"))
    if not opens or difference.what not in ("cwnd", "ssthresh", "more", "less"):
        return False
    at_ms = held.kernel.times_ms[difference.after - 1]
    data = (said.at_ms for said in held.kernel.said if said.payload and said.at_ms < at_ms)
    before = max(data, default=at_ms)
    rto = held.kernel.states[difference.after - 1]["rto"]
    # Each of them halves the window.
    outs = round((at_ms - before) / rto)
    return outs > 0 and abs(at_ms - before - outs * rto) < 4 + 4 * outs


def _inside(held: Held, difference: Difference) -> bool:
    """The ACK tells of a copy within another of its blocks; or one before it did, since the repair began."""
    lines = said_lines(held.talk)[: difference.after]
    calm = [state.get("ca") not in ("Recovery", "Loss") for state in held.kernel.states[: difference.after]]
    begins = max((at for at in range(1, len(calm)) if calm[at - 1] and not calm[at]), default=0)
    since = 0 if difference.what == "reordering" else begins
    blocks = [step.of.get("sack", []) for step in lines[since:]]
    return any(len(each) > 1 and each[1][0] <= each[0][0] and each[0][1] <= each[1][1] for each in blocks)


def _cut(held: Held, difference: Difference) -> bool:
    """A SACK block or a repeat ends within a segment, and an ACK or a window did before."""
    if difference.what == "segment" and difference.kernel.split(":")[0] == difference.ours.split(":")[0]:
        start = difference.kernel.split(":")[0]
        return start.isdigit() and any(said.seq < int(start) < said.end for said in held.kernel.said)
    lines = [step for step in said_lines(held.talk)[: difference.after] if step.what == "<"]
    at_ms = held.kernel.times_ms[difference.after - 1] if difference.after else 0.0
    before = [said for said in held.kernel.said if said.at_ms < at_ms]
    bounds = {1, *(edge for said in before for edge in (said.seq, said.end))}
    acks = any(step.of.get("ack", 1) not in bounds for step in lines)
    windows = any(said.payload and said.end - said.seq < MSS for said in before)
    blocks = lines[-1].of.get("sack", []) if lines else []
    start = difference.kernel.split(":")[0]
    again = difference.what == "segment" and start.isdigit() and int(start) not in bounds
    return (acks or windows) and (again or any(edge not in bounds for block in blocks for edge in block))


def _options(_: Held, difference: Difference) -> bool:
    """Data leave with SACK blocks, for which the kernel's are shorter."""
    if difference.what != "segment" or not ("sack" in difference.kernel and "sack" in difference.ours):
        return False
    (begin, end), (start, behind) = (
        each.removeprefix("FIN ").split(" ")[0].split(":") for each in (difference.kernel, difference.ours)
    )
    return begin == start and int(end) < int(behind)


def _bbr(held: Held, _: Difference) -> bool:
    return held.talk.tcp.get("cc") == "bbr"


def _paced(held: Held, difference: Difference) -> bool:
    """A paced packet left just before the line or after it, or so near to the next one."""
    if not _bbr(held, difference) or difference.what not in ("less", "more", "out", "time", "retrans"):
        return False
    near = held.kernel.times_ms[max(0, difference.after - 1) : difference.after + 1]
    return any(
        not at_once and abs(said.at_ms - at_ms) < PACED_MS
        for record in (held.kernel, held.ours)
        for said, (_, at_once) in zip(record.said, record.afters, strict=True)
        for at_ms in near
    )


NAMED = (
    Named(
        "rfc-without-sack",
        "without SACK our endpoint keeps to RFC 5681 and 6582 with any base",
        _without_sack,
        fault=False,
    ),
    Named(
        "accounting",
        "what packets take of the kernel's buffer (truesize) decides when its window grows, for which it"
        " acknowledges at once: short ones take as much as longer ones, and some are joined",
        _accounting,
        fault=False,
    ),
    Named(
        "paced",
        "a timer lets a paced packet leave, tenths of a millisecond late, and others with it: an ACK comes"
        " before or after it",
        _paced,
        fault=False,
        chance=True,
    ),
    Named(
        "at-timer",
        "a timer that counts ticks of 4 ms rings just before a line, and one that counts none just after it",
        _at_timer,
        fault=False,
        chance=True,
    ),
    Named(
        "late-echo",
        "an ACK echoes what a timer has sent, which the kernel's sends later: another round trip",
        _late_echo,
        fault=False,
        chance=True,
    ),
    Named(
        "overdue",
        "a time-out spares what has been out for less than a round trip, and the kernel's rings later",
        _overdue,
        fault=False,
        chance=True,
    ),
    Named(
        "copy-trip",
        "a copy that is reported sooner than the least round trip does not count as arrived: a timer, or"
        " tenths of a millisecond, decide",
        _copy_trip,
        fault=False,
        chance=True,
    ),
    Named("bbr", "BBR: not told apart yet", _bbr),
    Named(
        "buffers",
        "where a buffer of 64 kB ends nothing is held back; what lies beyond it leaves some us later",
        _buffers,
        fault=False,
    ),
    Named(
        "stale-blocks",
        "the ACK of a FIN that filled a gap still has SACK blocks (tcp_fin before tcp_sack_remove)",
        _stale_blocks,
        fault=False,
    ),
    Named(
        "data-later",
        "what an ACK lets go leaves before the segment's data are taken (tcp_ack, tcp_data_queue)",
        _data_later,
        fault=False,
    ),
    Named(
        "sack-options",
        "data that leave with SACK blocks are shorter by these (tcp_current_mss); ours are full segments",
        _options,
        fault=False,
    ),
    Named(
        "idle-ticks",
        "the kernel counts in ticks of 4 ms how long nothing was sent, and its time-out (tcp_cwnd_restart)",
        _idle,
        fault=False,
        chance=True,
    ),
    Named(
        "dsack-inside",
        "a copy of what is SACKed is told of: in what the kernel has joined to one buffer it passes the block"
        " over, or takes it for one of what was sent again (tcp_shift_skb_data)",
        _inside,
        fault=False,
    ),
    Named(
        "cut",
        "an ACK or a window within a segment cuts the packet, and the segments of its rest begin elsewhere"
        " (tcp_trim_head, tcp_fragment): a SACK block covers other ones, and so does what is sent again",
        _cut,
        fault=False,
    ),
)
