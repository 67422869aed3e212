"""Measurements of other tools: iperf3's ``--json``, flent's data files, results of ndt7."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tidegate._check import iperf, ndt
from tidegate._check.fields import Field, documents
from tidegate._check.measured import MOST_BPS, MOST_S, Measurement, Transfer
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from pathlib import Path

#: How ping's output begins, with -D and without.
_PING = re.compile(r"PING \S+ ?\(|\[\d{9,}\.\d+\] \d+ bytes from|\d+ bytes from .*icmp_seq")
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
    found = documents(path)
    if found is None:
        _no_log(path)
        return None
    if iperf.is_stream(found):
        return iperf.read([iperf.joined(found)])
    if found and all("end" in each and "start" in each for each in found):
        return iperf.read(found)
    failed = next((each for each in found if "error" in each), None)
    if failed is not None:
        raise ArgumentError(f"{path}: iperf3 failed: {failed.get('error').text()}")
    if any(ndt.is_client(each) for each in found):
        raise ArgumentError(
            f"{path}: this is output of a client of ndt7, which has no bytes and round trips over time; give "
            "the server's result (ServerMeasurements), or capture the transfer with tcpdump"
        )
    if len(found) != 1:
        raise ArgumentError(f"{path}: these {len(found)} JSON documents are not all of iperf3 (--json)")
    if ndt.is_server(found[0]):
        return ndt.read(found[0])
    if "results" in found[0] and "x_values" in found[0]:
        return _flent(found[0])
    if any(name in found[0] for name in ("TCPInfo", "tcp_info", "Snapshots")):
        raise ArgumentError(
            f"{path}: this is tcp_info of a connection, which says nothing of its transfers; capture them "
            "with tcpdump, or give ndt7's result with its ServerMeasurements"
        )
    raise ArgumentError(f"{path}: this JSON is neither of iperf3 (--json) nor a data file of flent")


def _no_log(path: Path) -> None:
    """Refuse what iperf3, iperf2 and ping print for people.

    Raises:
        ArgumentError: it is such a log.
    """
    with path.open("rb") as file:
        begin = file.read(400).decode("utf-8", "replace").lstrip("\ufeff-\r\n \t")
    if _IPERF2.match(begin):
        what = "iperf (iperf2); measure with iperf3 --json, or capture the transfer with tcpdump"
    elif _IPERF3.match(begin):
        what = "iperf3; measure with iperf3 --json (-J), whose output is read"
    elif _PING.match(begin):
        what = "ping, which has no transfer; capture one with tcpdump, or measure with iperf3 --json"
    else:
        return
    raise ArgumentError(f"{path}: this is text output of {what}")


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
    times = [each.number(-MOST_S, MOST_S) for each in found.get("x_values").items(2)]
    step = (times[-1] - times[0]) / (len(times) - 1)
    if any(after <= before for before, after in pairwise(times)):
        raise found.get("x_values").wrong("a list of times that grow")
    pings = [] if "Ping (ms) ICMP" not in results else results.get("Ping (ms) ICMP").items()
    trips = [ping.number(0, 1e3 * MOST_S) for ping in pings if ping.value is not None]
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
    mbps = [0.0 if each.value is None else each.number(0, MOST_BPS / 1e6) for each in read]
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
