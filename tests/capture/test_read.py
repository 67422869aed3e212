"""Captures are read into the numbers that another reader finds in them."""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tidegate as tg
from support.common import ROOT

#: Captures of real policers, beside the sources; not part of them.
CAPTURES = Path(os.environ.get("TIDEGATE_CAPTURES", ROOT.parent / "shared" / "captures")) / "policing"
TSHARK = shutil.which("tshark")

LINK = """
duration = "3 s"
seed = 4
[gate.line]
rate = "4 Mbit/s"
delay = "10 ms"
queue = "30 kB"
[flow.bulk]
path = ["line"]
tcp.cc = "cubic"
"""


def real() -> list[Path]:
    """Return captures with known truth, or skip with the reason."""
    found = sorted(CAPTURES.glob("*.pcap.xz"))
    if not found:
        pytest.skip(f"no captures in {CAPTURES} (TIDEGATE_CAPTURES names another folder)")
    return found


def test_a_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    run = tg.run(tg.Scenario.from_toml(LINK), record="events", pcap=tmp_path / "run.pcap")
    capture = tg.read_capture(tmp_path / "run.pcap")
    (connection,) = capture.connections
    packets = connection.packets
    assert connection.client == "10.1.0.0:40000"
    data = packets.payload > 0
    # A SYN announces what fits without options; timestamps take 12 bytes of it (RFC 6691).
    assert packets.has_ts[data].all()
    assert packets.payload[data].max() + 12 == connection.server_host.mss == 1460
    assert connection.handshake
    assert not capture.notes
    assert np.all(np.diff(packets.time_ns) >= 0)
    # What was sent again lies below what was sent before.
    ends = (packets.seq + packets.payload)[data]
    again = packets.seq[data][1:] < np.maximum.accumulate(ends)[:-1]
    assert again.sum() == run.summary["flows"][0]["segments_retransmitted"]


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt install tshark)")
@pytest.mark.parametrize("which", [0, 20, 55])
def test_another_reader_finds_the_same(which: int, tmp_path: Path) -> None:
    path = real()[which]
    plain = tmp_path / "capture.pcap"
    plain.write_bytes(lzma.decompress(path.read_bytes()))
    names = "tcp.stream frame.time_epoch tcp.seq tcp.ack tcp.len tcp.window_size ip.id ip.ttl frame.len"
    command = [str(TSHARK), "-r", str(plain), "-Y", "tcp", "-T", "fields", "-E", "separator=,"]
    # Relative numbers, and windows scaled as the SYNs said.
    for name in names.split():
        command += ["-e", name]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    told = [line.split(",") for line in lines]
    streams = sorted({int(each[0]) for each in told})
    connections = tg.read_capture(path).connections
    assert len(connections) == len(streams)
    for stream, connection in zip(streams, connections, strict=True):
        rows = [each for each in told if int(each[0]) == stream]
        packets = connection.packets
        assert packets.rows == len(rows)
        for column, place in (("payload", 4), ("ttl", 7), ("wire", 8)):
            assert packets[column].tolist() == [int(each[place]) for each in rows], column
        assert packets.ip_id.tolist() == [int(each[6], 16) for each in rows]
        if connection.handshake and connection.scale_known:
            assert packets.seq.tolist() == [int(each[2]) for each in rows]
            assert packets.ack.tolist() == [int(each[3] or 0) for each in rows]
            assert packets.window.tolist() == [int(each[5]) for each in rows]


def test_every_real_capture_is_read_without_a_doubt() -> None:
    for path in real()[::5]:
        capture = tg.read_capture(path)
        assert capture.connections, path
        assert capture.biggest is not None
        assert not [note for note in capture.notes if "damaged" in note or "ends" in note], path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"%PDF-1.4 is not a capture", 'begins with the text "%PDF'),
        (b"\x1f\x8b\x08\x00nothing", "gzip data end early or are damaged"),
    ],
)
def test_what_is_no_capture_is_refused_by_name(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.pcap"
    path.write_bytes(content)
    with pytest.raises(tg.errors.CaptureError, match=r"odd\.pcap: ") as refused:
        tg.read_capture(path)
    assert said in str(refused.value)
    with pytest.raises(FileNotFoundError):
        tg.read_capture(tmp_path / "none.pcap")


def test_progress_is_told(tmp_path: Path) -> None:
    shares: list[float] = []
    tg.run(tg.Scenario.from_toml(LINK), pcap=tmp_path / "run.pcap")
    whole = (tmp_path / "run.pcap").read_bytes()
    # Read often enough that the bar is asked for: the same packets again and again.
    (tmp_path / "long.pcap").write_bytes(whole[:24] + whole[24:] * 200)
    tg.read_capture(tmp_path / "long.pcap", shares.append)
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
