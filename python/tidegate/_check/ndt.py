"""Results of ndt7 as its server archives them (M-Lab's ndt-server, ``ArchivalData``): one connection each.

A result holds a download or an upload, with snapshots of the connection's tcp_info over time. In a
download the server is the sender, and its tcp_info has what was sent, acknowledged and sent again. In an
upload only the bytes that arrived are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._check.measured import MOST_BPS, MOST_BYTES, MOST_S, Measurement, Transfer
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._check.fields import Field

_DIRECTIONS = ("Download", "Upload")


def is_server(found: Field) -> bool:
    """Tell whether this is a result of a server."""
    tables = (found.get(name) for name in _DIRECTIONS if name in found)
    return "ServerMeasurements" in found or any("ServerMeasurements" in each for each in tables)


def is_client(found: Field) -> bool:
    """Tell whether this is output of a client: a summary, or one of its measurements."""
    tables = (found.get(name) for name in _DIRECTIONS if name in found)
    summary = any("Throughput" in each for each in tables)
    return summary or ("Key" in found and "Value" in found) or ("Origin" in found and "Test" in found)


def read(found: Field) -> Measurement:
    """Read the download of a result, or its upload where it has none.

    Raises:
        ArgumentError: it has no snapshots, or a field that cannot be.
    """
    direction = next((name for name in _DIRECTIONS if name in found), "Download")
    table = found.get(direction) if direction in found else found
    snapshots = [each.get("TCPInfo") for each in table.get("ServerMeasurements").items() if "TCPInfo" in each]
    if not snapshots:
        raise ArgumentError(f"{found.file}: ndt7's result has no tcp_info (ServerMeasurements with TCPInfo)")
    last = snapshots[-1]
    # Times of tcp_info are in microseconds.
    long_s = last.get("ElapsedTime").number(1, 1e6 * MOST_S) / 1e6
    acked = last.number_or_none("BytesAcked", 0, MOST_BYTES) or 0.0
    received = last.number_or_none("BytesReceived", 0, MOST_BYTES) or 0.0
    upload = received > acked
    size = received if upload else acked
    if size < 1:
        raise ArgumentError(f"{found.file}: ndt7 carried no data")
    sent = None if upload else last.number_or_none("BytesSent", 0, MOST_BYTES)
    again = last.number_or_none("BytesRetrans", 0, MOST_BYTES)
    trips = [each.number_or_none("RTT", 0, 1e6 * MOST_S) for each in snapshots]
    known = [] if upload else [trip for trip in trips if trip]
    each = Transfer(
        label="upload" if upload else "download",
        start_s=0.0,
        sizes=(int(size),),
        pauses_s=(),
        goodput_bps=min(8 * size / long_s, MOST_BPS),
        resent=again / sent if again is not None and sent else None,
        rtt_mean_ms=sum(known) / len(known) / 1e3 if known else None,
        completion_s=long_s,
    )
    notes = (
        "ndt7's server sends by BBR where its kernel has it: let the scenario's flow do so too",
        "ndt7 takes round trips from the sender's kernel, smoothed, and its bytes include TLS",
    )
    return Measurement(str(found.file), (each,), notes)
