"""JSON of iperf3: one run, several in a file, and the events of ``--json-stream``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tidegate._check.fields import Field
from tidegate._check.measured import MOST_BPS, MOST_BYTES, MOST_S, Measurement, Transfer
from tidegate.errors import ArgumentError


def is_stream(found: Sequence[Field]) -> bool:
    """Tell whether these documents are the events of ``--json-stream`` (iperf3 3.17 and later)."""
    return bool(found) and all("event" in each and "data" in each for each in found)


def joined(found: Sequence[Field]) -> Field:
    """Return the events of one run as ``--json`` writes them.

    Raises:
        ArgumentError: there is not one start and one end.
    """
    of: dict[str, list[Any]] = {}
    for each in found:
        of.setdefault(each.get("event").text(), []).append(each.value["data"])
    path = found[0].file
    if "error" in of:
        return Field(path, {"start": {}, "end": {}, "error": str(of["error"][0])})
    if len(of.get("start", [])) != 1 or len(of.get("end", [])) != 1:
        raise ArgumentError(
            f"{path}: the stream of iperf3 has {len(of.get('start', []))} starts and "
            f"{len(of.get('end', []))} ends; one run is read (a run that was broken off has no end)"
        )
    return Field(path, {"start": of["start"][0], "end": of["end"][0], "intervals": of.get("interval", [])})


def read(found: Sequence[Field]) -> Measurement:
    """Read one run, or the mean of several.

    Raises:
        ArgumentError: a run failed, has no TCP, or a field that cannot be; the runs are not alike.
    """
    runs = [_run(each) for each in found]
    if len(runs) == 1:
        return runs[0]
    first = runs[0]
    alike = all(_shape(each) == _shape(first) for each in runs)
    if not alike:
        raise ArgumentError(
            f"{first.source}: its {len(runs)} runs of iperf3 differ in streams or omit; give each in a file "
            "of its own"
        )
    streams = zip(*(each.transfers for each in runs), strict=True)
    notes = (f"{len(runs)} runs of iperf3: each number is the mean over them", *first.notes)
    return Measurement(first.source, tuple(map(_mean, streams)), notes)


def _shape(run: Measurement) -> list[tuple[str, bool]]:
    return [(each.label, each.window_s is None) for each in run.transfers]


def _mean(of: Sequence[Transfer]) -> Transfer:
    """Return a stream whose numbers are the means over runs; a number that a run lacks has none."""

    def mean(name: str) -> float | None:
        values = [getattr(each, name) for each in of]
        return None if None in values else sum(values) / len(values)

    windows = [each.window_s for each in of if each.window_s is not None]
    window = (windows[0][0], sum(long for _, long in windows) / len(windows)) if windows else None
    return replace(
        of[0],
        start_s=mean("start_s") or 0.0,
        sizes=(round(sum(sum(each.sizes) for each in of) / len(of)),),
        goodput_bps=mean("goodput_bps"),
        resent=mean("resent"),
        rtt_mean_ms=mean("rtt_mean_ms"),
        completion_s=mean("completion_s"),
        window_s=window,
    )


def _run(found: Field) -> Measurement:
    path = found.file
    if "error" in found:
        raise ArgumentError(f"{path}: iperf3 failed: {found.get('error').text()}")
    start = found.table("start")
    test = start.table("test_start")
    if "protocol" in test and (protocol := test.get("protocol").text()) != "TCP":
        raise ArgumentError(f"{path}: iperf3 measured {protocol}; only TCP is compared")
    both = any(name.endswith("bidir_reverse") for name in found.table("end").names())
    if both or ("bidir" in test and test.get("bidir").value == 1):
        raise ArgumentError(f"{path}: iperf3 measured both directions at once (--bidir); measure each alone")
    mss = start.number_or_none("tcp_mss_default", 0, 1e6) or start.number_or_none("tcp_mss", 0, 1e6)
    end = found.table("end")
    streams = end.get("streams").items() if "streams" in end else []
    if not streams:
        raise ArgumentError(f"{path}: iperf3 wrote no streams")
    omit = test.number_or_none("omit", 0, MOST_S) or 0.0
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
    sent = sender.number_or_none("bytes", 0, MOST_BYTES)
    arrived = receiver.number_or_none("bytes", 0, MOST_BYTES)
    of = receiver if arrived else sender
    size = int(arrived or sent or 0)
    if size < 1:
        raise ArgumentError(f"{stream.file}: stream {number} carried no data")
    again = sender.number_or_none("retransmits", 0, MOST_BYTES)
    trip = sender.number_or_none("mean_rtt", 0, 1e6 * MOST_S)
    return Transfer(
        label=f"stream {number}",
        start_s=sender.number_or_none("start", 0, MOST_S) or 0.0,
        sizes=(size,),
        pauses_s=(),
        goodput_bps=of.get("bits_per_second").number(1, MOST_BPS),
        resent=again * mss / sent if again is not None and mss and sent else None,
        # iperf3 writes microseconds.
        rtt_mean_ms=trip / 1e3 if trip else None,
        completion_s=of.number_or_none("seconds", 1e-6, MOST_S),
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
            trips.append(streams[number].number_or_none("rtt", 0, 1e6 * MOST_S))
    known = [trip for trip in trips if trip]
    trip_ms = sum(known) / len(known) / 1e3 if known else None
    return replace(whole, completion_s=None, rtt_mean_ms=trip_ms, window_s=window)
