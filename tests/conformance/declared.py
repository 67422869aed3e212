"""Differences between the kernel and our endpoint that have a name: choices, and faults to be mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.beside import said_lines
from conformance.script import MSS, WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.beside import Difference, Held
    from conformance.script import Step


#: What one buffer of the kernel's holds (tcp_xmit_size_goal).
BUFFER = 65_000


@dataclass(frozen=True)
class Named:
    """A difference with a name, and whether one is of it."""

    name: str
    #: What the kernel does, where, and what ours does.
    tells: str
    fits: Callable[[Held, Difference], bool]
    #: It is to be mended: not a choice.
    fault: bool = True


def name(held: Held) -> Named | None:
    """Return the name of a conversation's difference; None: it is open."""
    if held.difference is None:
        return None
    return next((each for each in NAMED if each.fits(held, held.difference)), None)


def _last(held: Held, difference: Difference) -> Step | None:
    return said_lines(held.talk)[difference.after - 1] if difference.after else None


def _una(held: Held, difference: Difference) -> int:
    """What had been acknowledged before the line."""
    before = said_lines(held.talk)[: max(0, difference.after - 1)]
    return max([1, *(step.of.get("ack", 1) for step in before)])


def _without_sack(held: Held, _: Difference) -> bool:
    return held.talk.tcp.get("sack") is False


def _in(one: list[int], other: list[int]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def _old_ack(held: Held, difference: Difference) -> bool:
    una = 1
    for step in said_lines(held.talk)[: difference.after]:
        if step.of.get("ack", una) < una and "sack" in step.of:
            return True
        una = max(una, step.of.get("ack", 1))
    return False


def _two_blocks(held: Held, difference: Difference) -> bool:
    """Two blocks of one ACK are new."""
    seen: list[list[int]] = []
    for step in said_lines(held.talk)[: difference.after]:
        blocks = step.of.get("sack", [])
        new = [
            block
            for block in blocks
            if not any(_in(block, each) for each in seen) and block[1] > step.of["ack"]
        ]
        if len(new) > 1:
            return True
        seen += blocks
    return False


def _echo(held: Held, difference: Difference) -> bool:
    last = _last(held, difference)
    return held.talk.tcp.get("ecn") == "classic" and last is not None and "ECE" in last.of.get("flags", [])


def _window_use(_: Held, difference: Difference) -> bool:
    return (
        difference.what == "cwnd"
        and difference.ca == "Open"
        and float(difference.kernel) > float(difference.ours)
    )


def _reordering(held: Held, difference: Difference) -> bool:
    """Reordering was seen, and SACKed data widen the window."""
    last = _last(held, difference)
    seen = (
        0 < difference.after <= len(held.kernel.states)
        and held.kernel.states[difference.after - 1].get("reordering", 0) > 3
    )
    return seen and last is not None and "sack" in last.of and difference.ca in ("Open", "Disorder")


def _partial(_: Held, difference: Difference) -> bool:
    """A piece of a segment fills the announced window."""
    return difference.what in ("more", "segment") and _size(difference.kernel) % MSS != 0


def _size(said: str) -> int:
    """User bytes in the first segment of a text."""
    data = next((word.rstrip(",") for word in said.split() if ":" in word), "0:0")
    return int(data.split(":")[1]) - int(data.split(":")[0])


def _buffers(held: Held, difference: Difference) -> bool:
    """More was written than one buffer of the kernel's holds."""
    written = sum(
        step.of["bytes"] for step in said_lines(held.talk)[: difference.after] if step.what == "write"
    )
    return written > BUFFER and difference.ca in ("Open", "Disorder", "CWR")


def _narrower(held: Held, difference: Difference) -> bool:
    """A window became smaller without new data."""
    last = _last(held, difference)
    before = [
        step.of.get("win", WINDOW) for step in said_lines(held.talk)[: difference.after] if step.what == "<"
    ]
    return (
        last is not None
        and len(before) > 1
        and last.of.get("win", WINDOW) < before[-2]
        and last.of.get("ack", 0) <= _una(held, difference)
    )


def _within(held: Held, difference: Difference) -> bool:
    """An ACK ended within a segment, and nothing was SACKed."""
    return any(
        step.of.get("ack", 1) % MSS != 1
        for step in said_lines(held.talk)[: difference.after]
        if step.what == "<"
    )


def _pieces(held: Held, difference: Difference) -> bool:
    """Less than full segments were sent, each of which is one to the kernel."""
    sent = [said for said in held.kernel.said if 0 < said.payload < MSS]
    return bool(sent) and difference.what in ("less", "more", "out", "cwnd")


def _deferred(_: Held, difference: Difference) -> bool:
    """A rest of a burst was held back by one of the two only."""
    return difference.what in ("more", "less") and difference.ca in ("Open", "Disorder", "CWR") and _size(
        difference.kernel if difference.what == "more" else difference.ours
    ) > 0  # fmt: skip


def _compressed(held: Held, difference: Difference) -> bool:
    return (
        difference.what in ("less", "more", "segment")
        and "sack" in difference.kernel + difference.ours
        and _receives(held)
    )


def _receives(held: Held) -> bool:
    return not any(step.what == "write" for step in held.talk.steps)


def _quick(held: Held, difference: Difference) -> bool:
    return difference.what in ("less", "more", "time") and _receives(held)


def _data_later(held: Held, difference: Difference) -> bool:
    """A segment brought data and let others be sent again, which acknowledge them with one of the two."""
    last = _last(held, difference)
    return last is not None and "data" in last.of and difference.what in ("segment", "more", "less")


def _stale_blocks(_: Held, difference: Difference) -> bool:
    """The kernel's ACK of a FIN that filled a gap still has the blocks."""
    return difference.what == "segment" and difference.kernel.split(" sack ")[0] == difference.ours


def _interactive(held: Held, difference: Difference) -> bool:
    """Both ends send data, and an ACK alone comes now or later."""
    comes = any(step.of.get("data", [0, 0])[1] > 1 for step in said_lines(held.talk) if step.what == "<")
    alone = ":" not in difference.kernel + difference.ours
    return comes and not _receives(held) and alone and difference.what in ("less", "more", "time")


def _fin(held: Held, difference: Difference) -> bool:
    """A FIN is in flight, whose number is a byte to ours."""
    return difference.what in ("cwnd", "more", "less") and any("FIN" in said.flags for said in held.ours.said)


def _dsack_inside(held: Held, difference: Difference) -> bool:
    """The first block of an ACK lies within the second, above what is acknowledged (RFC 2883 4.2.2)."""
    if difference.what not in ("reordering", "cwnd", "less", "more"):
        return False
    for step in said_lines(held.talk)[: difference.after]:
        blocks = step.of.get("sack", [])
        if len(blocks) > 1 and _in(blocks[0], blocks[1]):
            return True
    return False


def _paced(held: Held, _: Difference) -> bool:
    return held.talk.tcp.get("cc") == "bbr"


NAMED = (
    Named(
        "rfc-without-sack",
        "without SACK our endpoint keeps to RFC 5681 and 6582 with any base",
        _without_sack,
        fault=False,
    ),
    Named(
        "compressed-sacks",
        "from the fourth ACK behind a hole on they wait (__tcp_ack_snd_check)",
        _compressed,
    ),
    Named(
        "quick-acks", "how many ACKs come at once (tcp_incr_quickack), and when a delayed one does", _quick
    ),
    Named("bbr", "BBR: not told apart yet", _paced),
    Named(
        "buffers",
        "where a buffer of 64 kB ends nothing is held back; what lies beyond it leaves some us later",
        _buffers,
        fault=False,
    ),
    Named(
        "narrower", "a narrower window without new data is not believed (tcp_may_update_window)", _narrower
    ),
    Named("old-ack", "SACK in an ACK below SND.UNA is taken (tcp_ack, old_ack)", _old_ack),
    Named("ece", "ECE at the end of a recovery, and beside one (tcp_try_to_open)", _echo),
    Named("block-order", "new blocks are walked by their numbers (tcp_sacktag_write_queue)", _two_blocks),
    Named("sacked-growth", "after reordering SACKed data widen the window (tcp_may_raise_cwnd)", _reordering),
    Named("partial", "a piece of a segment fills the announced window (tcp_mss_split_point)", _partial),
    Named("pieces", "a small segment counts as one in flight (tcp_packets_in_flight)", _pieces),
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
    Named("fin-in-flight", "a FIN beside data is a byte in flight, not none (tcp_packets_in_flight)", _fin),
    Named(
        "interactive",
        "who answers data soon with data puts its ACKs off (inet_csk_in_pingpong_mode)",
        _interactive,
    ),
    Named(
        "dsack-inside",
        "a D-SACK above what is acknowledged is reordering too (tcp_sacktag_one)",
        _dsack_inside,
    ),
    Named(
        "reordering",
        "how far segments came late, beside copies (tcp_check_sack_reordering)",
        lambda _, difference: difference.what == "reordering",
    ),
    Named("within", "the rest of a segment acknowledged in two parts is late (prior_fack)", _within),
    Named("window-use", "each ACK is a use of the window (tcp_cong_avoid)", _window_use),
    Named("deferred", "which rest of a burst is held back (tcp_tso_should_defer)", _deferred),
)
