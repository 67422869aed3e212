"""Measurements of other tools: iperf3's ``--json`` and flent's data files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tidegate._base.errors import ArgumentError
from tidegate._regress.measured import Measurement, Transfer

#: gzip's first bytes (RFC 1952 §2.3.1).
_GZIP = b"\x1f\x8b"


def other(path: Path) -> Measurement | None:
    """Read a measurement of another tool; None where the file is not JSON, so that it may be a capture.

    Raises:
        ArgumentError: the JSON is of neither tool, or has no TCP; the message names the file.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(2)
    if head[:1] not in (b"{", b"\n", b" ") and not (head == _GZIP and _is_json(path)):
        return None
    try:
        text = gzip.decompress(path.read_bytes()) if head == _GZIP else path.read_bytes()
        found = json.loads(text)
    except (ValueError, OSError, EOFError) as error:
        raise ArgumentError(f"{path}: this is not whole JSON ({error})") from None
    if isinstance(found, dict) and isinstance(found.get("end"), dict) and "start" in found:
        return _iperf(path, found)
    if isinstance(found, dict) and isinstance(found.get("results"), dict) and "x_values" in found:
        return _flent(path, found)
    raise ArgumentError(f"{path}: this JSON is neither of iperf3 (--json) nor a data file of flent")


def _is_json(path: Path) -> bool:
    try:
        with gzip.open(path) as file:
            return file.read(1) == b"{"
    except (OSError, EOFError):
        return False


def _iperf(path: Path, found: dict[str, Any]) -> Measurement:
    if found.get("error"):
        raise ArgumentError(f"{path}: iperf3 failed: {found['error']}")
    test = found["start"].get("test_start", {})
    if test.get("protocol", "TCP") != "TCP":
        raise ArgumentError(f"{path}: iperf3 measured {test['protocol']}; only TCP is compared")
    mss = found["start"].get("tcp_mss_default") or found["start"].get("tcp_mss")
    transfers = []
    for number, stream in enumerate(found["end"].get("streams", []), 1):
        sender, receiver = stream.get("sender", {}), stream.get("receiver", {})
        of = receiver if receiver.get("bytes") else sender
        if not of.get("bytes"):
            raise ArgumentError(f"{path}: stream {number} carried no data")
        again = sender.get("retransmits")
        resent = again * mss / sender["bytes"] if again is not None and mss and sender.get("bytes") else None
        trip = sender.get("mean_rtt")
        transfers.append(
            Transfer(
                label=f"stream {number}",
                start_s=float(sender.get("start", 0)),
                sizes=(int(of["bytes"]),),
                pauses_s=(),
                goodput_bps=float(of["bits_per_second"]),
                resent=resent,
                # iperf3 writes microseconds.
                rtt_mean_ms=trip / 1e3 if trip else None,
                completion_s=float(of["seconds"]) if "seconds" in of else None,
            )
        )
    if not transfers:
        raise ArgumentError(f"{path}: iperf3 wrote no streams")
    notes = ("iperf3 takes round trips from the sender's kernel, smoothed, once an interval",)
    return Measurement(str(path), tuple(transfers), notes)


def _flent(path: Path, found: dict[str, Any]) -> Measurement:
    times = found["x_values"]
    series = {
        name: values
        for name, values in found["results"].items()
        if name.startswith(("TCP upload", "TCP download"))
        and not name.endswith((" avg", " sum"))
        and isinstance(values, list)
    }
    if not series or len(times) < 2:
        raise ArgumentError(f"{path}: flent's data have no series of a TCP upload or download")
    step = (times[-1] - times[0]) / (len(times) - 1)
    pings = [value for value in found["results"].get("Ping (ms) ICMP", []) if value is not None]
    transfers = []
    for name, values in series.items():
        # Mbit/s in each step; none where nothing was measured.
        there = [(at, value) for at, value in zip(times, values, strict=True) if value]
        if not there:
            continue
        span = there[-1][0] - there[0][0] + step
        bits = sum(value for _, value in there) * 1e6 * step
        transfers.append(
            Transfer(
                label=name,
                start_s=there[0][0],
                sizes=(int(bits / 8),),
                pauses_s=(),
                goodput_bps=bits / span,
                rtt_mean_ms=sum(pings) / len(pings) if pings else None,
                completion_s=span,
            )
        )
    if not transfers:
        raise ArgumentError(f"{path}: flent's series of TCP are empty")
    begin = min(each.start_s for each in transfers)
    moved = (Transfer(**{**vars(each), "start_s": each.start_s - begin}) for each in transfers)
    ordered = tuple(sorted(moved, key=lambda each: each.start_s))
    notes = ("flent's round trips are those of pings beside the transfers, over the whole test",)
    return Measurement(str(path), ordered, notes if pings else ())
