"""Reads captures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.lazy import Lazy
from tidegate._base.text import number
from tidegate._capture.value import Capture, Connection, Host, Packets, Traffic
from tidegate.errors import ArgumentError, CaptureError

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

_DAY_NS = 86_400 * 10**9
#: A run counts picoseconds to 213 days, and may take three times as long as what was measured.
_LONGEST_SILENCE_NS = 50 * _DAY_NS

#: One file, or several.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read_capture(
    paths: Paths, progress: Callable[[float], object] | None = None, most_packets: int | None = None
) -> Capture:
    """Read captures: pcap or pcapng, plain or packed by gzip, xz or zstd.

    Times count from the earliest packet of all files, so files of both ends need clocks that agree.
    A connection of two files is two connections. Columns of packets are made when they are asked for.

    Args:
        paths: one file, or several.
        progress: called now and then with the share of the files that has been read, from 0 to 1.
        most_packets: columns have the first packets of TCP in the capture, at most so many; all if left out.

    Raises:
        CaptureError: a file is empty or no capture; the message names it.
        OSError: a file cannot be read.
    """
    names = (
        [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]
    )
    if not names:
        raise ArgumentError("paths: there is no file to read")
    _check_once(names)
    total = sum(Path(name).stat().st_size for name in names)

    def tell(done: int) -> None:
        if progress is not None and total:
            progress(min(done / total, 1.0))

    data = _core.capture_read(names, tell, most_packets)
    about: dict[str, Any] = json.loads(data.about())
    rows = [each["packets"] for each in about["connections"]]
    if most_packets is not None:
        until, kept = data.first(most_packets)
        if until is not None:
            about["notes"].append(_first(sum(kept), about["tcp_packets"], until))
        rows = kept
    held = Capture(
        files=tuple(about["files"]),
        connections=[
            Connection(
                number=index + 1,
                file=each["file"],
                client_host=Host(**each["client"]),
                server_host=Host(**each["server"]),
                first_ns=each["first_ns"],
                last_ns=each["last_ns"],
                cut_packets=each["cut_packets"],
                packets=Packets(data, index, rows[index]),
            )
            for index, each in enumerate(about["connections"])
        ],
        traffic=[
            Traffic(each["from"], each["to"], each["file"], each["packets"], each["bytes"], data, index)
            for index, each in enumerate(about["traffic"])
        ],
        notes=about["notes"],
        packets=about["packets"],
        start_ns=about["start_ns"],
    )
    for connection in held.connections:
        _check_clock(connection)
    return held


def _check_clock(connection: Connection) -> None:
    """Refuse a connection in which time jumps.

    Raises:
        CaptureError: it does; the message names the file and the packet.
    """
    if connection.last_ns - connection.first_ns <= _LONGEST_SILENCE_NS:
        return
    silent = abs(np.diff(connection.packets.time_ns))
    at = int(silent.argmax()) if len(silent) else 0
    if len(silent) and silent[at] > _LONGEST_SILENCE_NS:
        days = number(int(silent[at]) / _DAY_NS)
        raise CaptureError(
            f"{connection.file}: time jumps by {days} days at packet {at + 2} of "
            f"connection {connection.name}; a silence of more than {_LONGEST_SILENCE_NS // _DAY_NS} days "
            "cannot be measured: cut the capture there"
        )


def _check_once(names: list[str]) -> None:
    """Refuse a file that is given twice: all that is in it would count twice.

    Raises:
        ArgumentError: it is; the message names it.
    """
    seen: set[tuple[int, int]] = set()
    for name in names:
        about = Path(name).stat()
        if (about.st_dev, about.st_ino) in seen:
            raise ArgumentError(f"{name}: the file is given twice; name each capture once")
        seen.add((about.st_dev, about.st_ino))


def _first(kept: int, all_packets: int, until_ns: int) -> str:
    return (
        f"the capture has {all_packets} packets of TCP; looked at are the first {kept}, which are those of "
        f"the first {number(until_ns / 1e9)} s"
    )
