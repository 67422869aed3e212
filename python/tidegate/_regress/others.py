"""Measurements of other tools: iperf3's ``--json`` and flent's data files."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from tidegate._base.errors import ArgumentError
from tidegate._regress.fields import Field, whole
from tidegate._regress.measured import Measurement, Transfer

if TYPE_CHECKING:
    from pathlib import Path

#: The longest test, seconds; the most bytes of a transfer; the highest rate, bit/s. A scenario takes no more.
_MOST_S, _MOST_BYTES, _MOST_BPS = 1e6, 1e15, 1e13

#: How the text of iperf3, and of iperf2 with and without -y C, begins.
_IPERF3 = re.compile(r"iperf 3|Connecting to host|Accepted connection|Server listening on \d|\[ *(\d+|ID)\] ")
_IPERF2 = re.compile(r"(Client connecting to|Server listening on (TCP|UDP))|\d{14}(\.\d+)?,[^,]+,\d+,")


def other(path: Path) -> Measurement | None:
    """Read a measurement of another tool; None where the file is not JSON, so that it may be a capture.

    Raises:
        ArgumentError: the JSON is of neither tool, has no TCP, or a field that cannot be; the message names
            file and field.
        OSError: the file cannot be read.
    """
    found = whole(path)
    if found is None:
        _no_log(path)
        return None
    if "end" in found and "start" in found:
        return _iperf(found)
    if "results" in found and "x_values" in found:
        return _flent(found)
    if "error" in found:
        raise ArgumentError(f"{path}: iperf3 failed: {found.get('error').text()}")
    raise ArgumentError(f"{path}: this JSON is neither of iperf3 (--json) nor a data file of flent")


def _no_log(path: Path) -> None:
    """Refuse what iperf3 and iperf2 print for people.

    Raises:
        ArgumentError: it is such a log.
    """
    with path.open("rb") as file:
        begin = file.read(400).decode("utf-8", "replace").lstrip("\ufeff-\r\n \t")
    if _IPERF2.match(begin):
        what = "iperf (iperf2); measure with iperf3 --json, or capture the transfer with tcpdump"
    elif _IPERF3.match(begin):
        what = "iperf3; measure with iperf3 --json (-J), whose output is read"
    else:
        return
    raise ArgumentError(f"{path}: this is text output of {what}")


def _iperf(found: Field) -> Measurement:
    path = found.file
    if "error" in found:
        raise ArgumentError(f"{path}: iperf3 failed: {found.get('error').text()}")
    start = found.table("start")
    test = start.table("test_start")
    if "protocol" in test and (protocol := test.get("protocol").text()) != "TCP":
        raise ArgumentError(f"{path}: iperf3 measured {protocol}; only TCP is compared")
    mss = start.number_or_none("tcp_mss_default", 0, 1e6) or start.number_or_none("tcp_mss", 0, 1e6)
    end = found.table("end")
    streams = end.get("streams").items() if "streams" in end else []
    if not streams:
        raise ArgumentError(f"{path}: iperf3 wrote no streams")
    omit = test.number_or_none("omit", 0, _MOST_S) or 0.0
    transfers = tuple(_stream(stream, number, mss) for number, stream in enumerate(streams, 1))
    notes = ["iperf3 takes round trips from the sender's kernel, smoothed, once an interval"]
    if omit:
        transfers = tuple(_behind(omit, found, each) for each in transfers)
        notes.append(
            f"iperf3 left out the first {omit:g} s (omit), and so does the scenario, whose flow sends all "
            "the time; completion is not compared, as the test's time was set"
        )
    return Measurement(str(path), transfers, tuple(notes))


def _stream(stream: Field, number: int, mss: float | None) -> Transfer:
    """Read one stream of iperf3's end."""
    sender, receiver = stream.table("sender"), stream.table("receiver")
    sent = sender.number_or_none("bytes", 0, _MOST_BYTES)
    arrived = receiver.number_or_none("bytes", 0, _MOST_BYTES)
    of = receiver if arrived else sender
    size = int(arrived or sent or 0)
    if size < 1:
        raise ArgumentError(f"{stream.file}: stream {number} carried no data")
    again = sender.number_or_none("retransmits", 0, _MOST_BYTES)
    trip = sender.number_or_none("mean_rtt", 0, 1e6 * _MOST_S)
    return Transfer(
        label=f"stream {number}",
        start_s=sender.number_or_none("start", 0, _MOST_S) or 0.0,
        sizes=(size,),
        pauses_s=(),
        goodput_bps=of.get("bits_per_second").number(1, _MOST_BPS),
        resent=again * mss / sent if again is not None and mss and sent else None,
        # iperf3 writes microseconds.
        rtt_mean_ms=trip / 1e3 if trip else None,
        completion_s=of.number_or_none("seconds", 1e-6, _MOST_S),
    )


def _behind(omit: float, found: Field, whole: Transfer) -> Transfer:
    """Return a stream of which the first seconds were left out.

    The end's mean round trip counts those seconds as well; intervals tell which they are.
    """
    if whole.completion_s is None:
        raise ArgumentError(f"{found.file}: {whole.label}: seconds is missing, which omit needs")
    window = (omit, whole.completion_s)
    number = int(whole.label.removeprefix("stream ")) - 1
    trips = []
    for interval in found.get("intervals").items() if "intervals" in found else []:
        streams = interval.get("streams").items() if "streams" in interval else []
        if number < len(streams) and streams[number].value.get("omitted") is not True:
            trips.append(streams[number].number_or_none("rtt", 0, 1e6 * _MOST_S))
    known = [trip for trip in trips if trip]
    trip_ms = sum(known) / len(known) / 1e3 if known else None
    return replace(whole, completion_s=None, rtt_mean_ms=trip_ms, window_s=window)


def _flent(found: Field) -> Measurement:
    path = found.file
    results, about = found.get("results"), found.table("metadata").table("SERIES_META")
    series = [
        name
        for name in results.names()
        if name.startswith(("TCP upload", "TCP download"))
        and not name.endswith((" avg", " sum"))
        # What the kernel says of a connection beside its rate: TCP upload::1::tcp_rtt.
        and "::tcp_" not in name
        and _is_rate(about, name)
    ]
    if not series:
        raise ArgumentError(f"{path}: flent's data have no series of a TCP upload or download")
    times = [each.number(-_MOST_S, _MOST_S) for each in found.get("x_values").items(2)]
    step = (times[-1] - times[0]) / (len(times) - 1)
    if any(after <= before for before, after in pairwise(times)):
        raise found.get("x_values").wrong("a list of times that grow")
    pings = [] if "Ping (ms) ICMP" not in results else results.get("Ping (ms) ICMP").items()
    trips = [ping.number(0, 1e3 * _MOST_S) for ping in pings if ping.value is not None]
    trip = sum(trips) / len(trips) if trips else None
    read = (_series(name, results.get(name), times, step, trip) for name in series)
    transfers = [each for each in read if each is not None]
    if not transfers:
        raise ArgumentError(f"{path}: flent's series of TCP are empty")
    begin = min(each.start_s for each in transfers)
    moved = (Transfer(**{**vars(each), "start_s": each.start_s - begin}) for each in transfers)
    ordered = tuple(sorted(moved, key=lambda each: each.start_s))
    notes = ("flent's round trips are those of pings beside the transfers, over the whole test",)
    return Measurement(str(path), ordered, notes if trips else ())


def _is_rate(about: Field, name: str) -> bool:
    """Tell whether a series is in Mbit/s, by its unit where the file has one; flent's are Mbits/s."""
    meta = about.table(name)
    return "UNITS" not in meta or meta.get("UNITS").text().lower().startswith("mbit")


def _series(name: str, values: Field, times: list[float], step: float, trip: float | None) -> Transfer | None:
    """Read a series of Mbit/s in each step, null where nothing was measured; None where it is empty."""
    read = values.items()
    if len(read) != len(times):
        raise values.wrong(f"a list of {len(times)}, as x_values is,")
    mbps = [0.0 if each.value is None else each.number(0, _MOST_BPS / 1e6) for each in read]
    there = [(at, value) for at, value in zip(times, mbps, strict=True) if value]
    bits = sum(value for _, value in there) * 1e6 * step
    if bits < 8:
        return None
    span = there[-1][0] - there[0][0] + step
    return Transfer(
        label=name,
        start_s=there[0][0],
        sizes=(int(bits / 8),),
        pauses_s=(),
        goodput_bps=bits / span,
        rtt_mean_ms=trip,
        completion_s=span,
    )
