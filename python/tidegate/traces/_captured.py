"""The capacity that saturated transfers of a capture saw, as a link trace."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.arguments import PICOS
from tidegate._base.calls import checked, checked_methods
from tidegate._base.files import write_text
from tidegate._base.lazy import Lazy
from tidegate._base.limits import MOST_PACKETS
from tidegate._base.text import number
from tidegate._capture.start import Paths, read_capture
from tidegate._capture.value import Capture, Connection
from tidegate.errors import ArgumentError, CaptureError

if TYPE_CHECKING:
    import numpy as np

    from tidegate._capture.delivery import Deliveries
else:
    np = Lazy("numpy")

#: Waiting below this does not show a queue, in seconds: clocks, interrupts and delayed ACKs make as much.
LEAST_WAIT_S = 0.002
#: A window of the trace is saturated if something waited during this share of it.
SATURATED_SHARE = 0.9
#: What stands in the trace where the link was not saturated.
FILLS = ("mean", "seen", "cut")
#: The receive window was the limit if most data left no more room in it than this many segments.
ROOM_SEGMENTS = 2
#: More windows are a slip of a unit, or a clock that was set.
MOST_WINDOWS = 10_000_000


@dataclass(frozen=True)
class Stretch:
    """A time in which the link was saturated, or was not.

    Attributes:
        begin_s: seconds since the first packet of the connections.
        end_s: where it ends.
        saturated: something waited at the link nearly all the time.
        why: what held the transfer back instead; empty where it was saturated.
    """

    begin_s: float
    end_s: float
    saturated: bool
    why: str


@checked_methods
@dataclass(frozen=True)
class CapturedTrace:
    """Rates that a link delivered in windows of equal length, and where they were all that it could.

    Attributes:
        connections: what was looked at.
        at: where the capture was taken: ``"sender"`` or ``"receiver"``.
        window_s: length of a window.
        rates_bps: bits of IP packets delivered in each window, a second.
        saturated: whether each window was saturated.
        stretches: the same in pieces, with what was the limit instead.
        notes: what should be known of it.
    """

    connections: tuple[str, ...]
    at: str
    window_s: float
    rates_bps: tuple[int, ...]
    saturated: tuple[bool, ...]
    stretches: tuple[Stretch, ...]
    notes: tuple[str, ...]

    @property
    def mean_bps(self) -> float | None:
        """The mean rate of saturated windows; None without any."""
        found = [rate for rate, full in zip(self.rates_bps, self.saturated, strict=True) if full]
        return sum(found) / len(found) if found else None

    @property
    def saturated_share(self) -> float:
        """The share of the time in which the link was saturated."""
        return sum(self.saturated) / len(self.saturated) if self.saturated else 0.0

    def csv(self, fill: str = "mean") -> str:
        """Return the trace as CSV: time, rate, and whether the window was saturated.

        Args:
            fill: what stands where it was not: the ``"mean"`` of the saturated windows, what was ``"seen"``
                (less than the link could do), or nothing (``"cut"``: the trace is shorter).

        Raises:
            ArgumentError: there is no such fill.
            CaptureError: no window is saturated, so there is no capacity to tell.
        """
        if fill not in FILLS:
            raise ArgumentError(f'unsaturated: read "{fill}"; takes {", ".join(FILLS)}')
        mean = self.mean_bps
        if mean is None:
            raise CaptureError(
                f"connection {', '.join(self.connections)}: the link was never saturated "
                f"({self.stretches[0].why}), so the capture does not show what it can carry"
            )
        step = round(self.window_s * PICOS)
        lines = ["time_s,rate_bps,saturated"]
        place = 0
        for rate, full in zip(self.rates_bps, self.saturated, strict=True):
            if full or fill != "cut":
                shown = rate if full or fill == "seen" else round(mean)
                lines.append(f"{_seconds(place * step)},{shown},{int(full)}")
                place += 1
        # A last row without a rate ends the recording.
        return "\n".join([*lines, f"{_seconds(place * step)},,"]) + "\n"

    def write(self, target: str | os.PathLike[str], *, to: str | None = None, fill: str = "mean") -> Path:
        """Write the trace: CSV, Mahimahi or DRP, by its suffix or ``to``.

        Raises:
            ArgumentError: the format is not known.
            CaptureError: no window is saturated.
            OSError: the file cannot be written.
        """
        from tidegate.traces._files import convert, format_of

        place = Path(target)
        text = self.csv(fill)
        if (to or format_of(place)) == "csv":
            return write_text(place, text)
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / "trace.csv"
            plain.write_text(text, encoding="utf-8", newline="\n")
            return convert(plain, place, to=to)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate traces from --json`` prints."""
        return {
            "connections": list(self.connections),
            "at": self.at,
            "window_s": self.window_s,
            "mean_bps": self.mean_bps,
            "saturated_share": self.saturated_share,
            "rates_bps": list(self.rates_bps),
            "saturated": list(self.saturated),
            "stretches": [asdict(each) for each in self.stretches],
            "notes": list(self.notes),
        }


def _seconds(picos: int) -> str:
    return f"{picos // PICOS}.{picos % PICOS:012d}".rstrip("0").rstrip(".")


@checked
def from_capture(
    capture: Capture | Paths,
    *,
    connections: Sequence[int] | None = None,
    at: str | None = None,
    window: str = "100 ms",
    least_wait_s: float = LEAST_WAIT_S,
) -> CapturedTrace:
    """Tell the capacity of a link from a transfer that saturated it.

    A packet that waited longer than the shortest shows that the link was busy all that time, so a window of
    the trace is saturated where such waiting covers it. At the sender, round trips of data that was sent
    once tell the waiting; at the receiver, the sender's timestamps do.

    Args:
        capture: a capture, or its files.
        connections: numbers of connections that shared the link, whose deliveries are added; left out, the
            one with the most data. One that was captured at both ends counts once, at the end that ``at``
            names, or at its sender.
        at: ``"sender"`` or ``"receiver"``; left out, found in the packets.
        window: rates are means over this long.
        least_wait_s: shorter waiting, in seconds, does not count.

    Raises:
        CaptureError: a file is no capture, or has no data of TCP, or the connections begin more than 30 days
            apart.
        ArgumentError: there is no such connection, or a value is wrong.
        OSError: a file cannot be read.
    """
    from tidegate import _core
    from tidegate._capture.delivery import deliveries
    from tidegate._capture.ends import each_once, of_one_time

    if at not in (None, "sender", "receiver"):
        raise ArgumentError(f'at: read "{at}"; takes sender or receiver')
    step = _core.read_span("window", window) / PICOS
    held = capture if isinstance(capture, Capture) else read_capture(capture, most_packets=MOST_PACKETS)
    notes: list[str] = []
    named, at_both = each_once(chosen_of(held, connections), at or "sender")
    of_one_time(named)
    notes += at_both
    chosen = [_whole(each, notes) for each in named]
    found = [deliveries(each, at) for each in chosen]
    begin = min(each.first_ns for each in chosen) / 1e9
    end = max((float(each.time_s[-1]) for each in found if len(each.time_s)), default=begin) - begin
    count = int(end / step)
    if count > MOST_WINDOWS:
        raise ArgumentError(
            f"window: {window} gives {count} windows in {number(end)} s, more than {MOST_WINDOWS}; take "
            "longer ones"
        )
    if count == 0:
        raise CaptureError(
            f"connection {chosen[0].name}: nothing was delivered for as long as one window ({window})"
        )
    volume = np.zeros(count)
    intervals: list[tuple[float, float]] = []
    for each in found:
        place = ((each.time_s - begin) / step).astype(np.int64)
        inside = (place >= 0) & (place < count)
        volume += np.bincount(place[inside], each.ip_bytes[inside], minlength=count)
        least = max(least_wait_s, 2 * each.grain_s)
        for now, waited in zip(each.time_s - begin, each.waited_s, strict=True):
            if waited > least:
                intervals.append((now - waited, now))
    saturated = _covered(intervals, count, step) >= SATURATED_SHARE
    return CapturedTrace(
        connections=tuple(each.name for each in chosen),
        at=" and ".join(dict.fromkeys(each.at for each in found)),
        window_s=step,
        rates_bps=tuple(round(8 * float(each) / step) for each in volume),
        saturated=tuple(bool(each) for each in saturated),
        stretches=tuple(_stretches(saturated, step, begin, found)),
        notes=(*_notes(found, chosen, held), *notes),
    )


def _whole(connection: Connection, notes: list[str]) -> Connection:
    """Return a connection with the packets that the capture missed, and say that it did."""
    if not connection.packets.rows:
        return connection
    from tidegate._capture.uncaptured import handshake_ns, missed_words, uncaptured

    from_client = connection.sender == connection.client_host
    base = handshake_ns(connection.packets)
    packets, missed = uncaptured(connection.packets, from_client=from_client, base_ns=base)
    if missed.packets:
        notes.append(missed_words(connection, from_client, missed).removesuffix("."))
    # It has the columns that deliveries are told from.
    return replace(connection, packets=packets)


def chosen_of(capture: Capture, numbers: Sequence[int] | None) -> list[Connection]:
    """Return the connections of these numbers, or the one with the most data.

    Raises:
        CaptureError: there are none.
        ArgumentError: there is none of a number.
    """
    files = ", ".join(capture.files)
    if not capture.connections:
        left = f" ({'; '.join(capture.notes)})" if capture.notes else ""
        raise CaptureError(f"{files}: there is no TCP in the capture{left}")
    if numbers is None:
        biggest = capture.biggest
        numbers = [biggest.number] if biggest is not None else []
    elif not len(numbers):
        raise ArgumentError("connections: the list is empty; name one or more, or leave it out")
    for place, each in enumerate(numbers):
        if each in numbers[:place]:
            raise ArgumentError(f"connection: read {each} twice; name each connection once")
        if not 1 <= each <= len(capture.connections):
            raise ArgumentError(
                f"connection: read {each}; {files} has connections 1 to {len(capture.connections)}"
            )
    chosen = [capture.connections[each - 1] for each in numbers]
    for connection in chosen:
        if connection.sender.payload_bytes == 0:
            raise CaptureError(f"{connection.file}: connection {connection.name} carries no data")
    return chosen


def _covered(intervals: list[tuple[float, float]], count: int, step: float) -> np.ndarray[Any, Any]:
    """Return the share of each window that the intervals cover together."""
    covered = np.zeros(count)
    reach = 0.0
    for begin, end in sorted(intervals):
        left, right = max(begin, reach, 0.0), min(end, count * step)
        reach = max(reach, end)
        place = int(left / step)
        while left < right and place < count:
            until = min(right, (place + 1) * step)
            covered[place] += until - left
            left, place = until, place + 1
    return covered / step


def _stretches(
    saturated: np.ndarray[Any, Any], step: float, begin: float, found: Sequence[Deliveries]
) -> list[Stretch]:
    edges = [
        0,
        *(int(each) + 1 for each in np.flatnonzero(np.diff(saturated.astype(np.int8)))),
        len(saturated),
    ]
    stretches = []
    for left, right in pairwise(edges):
        full = bool(saturated[left])
        why = "" if full else _limit(found, begin + left * step, begin + right * step)
        stretches.append(Stretch(left * step, right * step, full, why))
    return stretches


def _limit(found: Sequence[Deliveries], begin: float, end: float) -> str:
    """Say what held the transfer back where nothing waited at the link."""
    if all(np.isnan(each.waited_s).all() for each in found):
        return "whether anything waited cannot be told: the packets have no timestamps"
    sent = [(each.sent_s >= begin) & (each.sent_s < end) for each in found]
    if not any(each.any() for each in sent):
        return "no data was sent"
    if any(each.outstanding is None for each in found):
        return "nothing waited: the sender, its window or the receiver's was the limit"
    for each, inside in zip(found, sent, strict=True):
        if each.outstanding is not None and each.window is not None and inside.any():
            room = each.window[inside] - each.outstanding[inside]
            if (room < ROOM_SEGMENTS * each.segment).mean() > 1 / 2:
                return "the receive window was full"
    return "nothing waited: the congestion window, the pace or the application was the limit"


def _notes(found: Sequence[Deliveries], chosen: Sequence[Connection], capture: Capture) -> list[str]:
    notes = list(capture.notes)
    if any(each.at == "sender" for each in found):
        notes.append("times are those at which ACKs came back, so rates are late by part of a round trip")
        notes += [
            f"connection {each.name} has no SACK: what arrived behind a lost segment is counted when the "
            "loss is repaired"
            for each in chosen
            if each.handshake and not each.sack_permitted
        ]
    return notes
