"""A capture of a run, read by tshark: sound headers, checksums, and the same retransmissions."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
title = "A capture"
duration = "{duration}"
[gate.bottleneck]
rate = "{rate} Mbit/s"
queue = "40 packets"
delay = "10 ms"
loss = {loss}
[flow.bulk]
path = ["bottleneck"]
rtt = "40 ms"
tcp.cc = "newreno"
tcp.sack = {sack}
tcp.timestamps = {timestamps}
tcp.window = "{window}"
"""
PLAIN = {
    "duration": "8 s",
    "rate": 8,
    "loss": 0.01,
    "sack": "true",
    "timestamps": "false",
    "window": "unlimited",
}
VARIANTS = {
    "SACK": {},
    "SACK and timestamps": {"timestamps": "true"},
    "neither": {"sack": "false"},
    "timestamps alone, a window": {"sack": "false", "timestamps": "true", "window": "20 segments"},
    "loss until time-outs": {"loss": 0.12, "duration": "30 s"},
    "no loss": {"loss": 0, "window": "10 segments"},
}


def tshark(capture: Path, *fields: str, keep: str = "") -> list[list[str]]:
    """Ask tshark for fields of the packets that a filter keeps, with every check switched on."""
    if shutil.which("tshark") is None:
        pytest.skip("no tshark here (Debian package tshark)")
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    for switch in (
        "ip.check_checksum:TRUE",
        "tcp.check_checksum:TRUE",
        "tcp.relative_sequence_numbers:FALSE",
    ):
        command += ["-o", switch]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run([*command, "-Y", keep], capture_output=True, text=True, check=True, timeout=100)
    return [line.split("\t") for line in done.stdout.splitlines()]


def inspect(capture: Path) -> Counter[str]:
    """Check every packet; return what tshark counts."""
    good, found = "1", Counter[str]()
    checked = ("frame.number", "ip.checksum.status", "tcp.checksum.status", "_ws.malformed")
    counted = ("tcp.len", "tcp.flags.syn", "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment")
    rows = tshark(capture, *checked, *counted)
    for number, ip, tcp, malformed, length, syn, gap, unseen in rows:
        assert (ip, tcp, malformed) == (good, good, ""), f"packet {number}"
        # At the sender's end nothing is missing: everything it sent and was told is there.
        assert (gap, unseen) == ("", ""), f"packet {number}"
        found["packets"] += 1
        found["data"] += int(length) > 0
        found["syn"] += syn in ("1", "True")
    assert tshark(capture, "frame.number", keep="_ws.malformed || _ws.expert.severity == error") == []
    again = (
        "tcp.len > 0 && (tcp.analysis.retransmission || tcp.analysis.fast_retransmission || "
        "tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order)"
    )
    found["again"] = len(tshark(capture, "frame.number", keep=again))
    return found


@pytest.mark.parametrize("name", VARIANTS)
def test_tshark_reads_it_and_counts_the_same(name: str, tmp_path: Path) -> None:
    text = SCENARIO.format(**{**PLAIN, **VARIANTS[name]})
    capture = tmp_path / "packets.pcap"
    run = tg.run(tg.Scenario.from_toml(text), seed=5, record="summary", pcap=capture)
    flow = run.summary["flows"][0]
    found = inspect(capture)
    assert found["data"] == flow["segments_sent"]
    assert found["again"] == flow["segments_retransmitted"]
    assert found["syn"] == 2
    if name == "loss until time-outs":
        assert flow["timeouts"] > 0
    assert (found["again"] > 0) == (name != "no loss")


@pytest.mark.parametrize("example", ["asymmetric", "round-trip-times", "random-loss"])
def test_examples(example: str, tmp_path: Path) -> None:
    capture = tmp_path / "packets.pcap"
    run = tg.run(
        EXAMPLES / f"{example}.toml",
        record="summary",
        pcap=capture,
        changes={"duration": "9 s", "warmup": "0 s"},
    )
    rows: list[dict[str, Any]] = run.summary["flows"]
    found = inspect(capture)
    assert found["data"] == sum(row["segments_sent"] for row in rows)
    assert found["again"] == sum(row["segments_retransmitted"] for row in rows)


def first_sequence_number(capture: Path) -> int:
    """Read the SYN's number: 24 bytes of file header, 16 of packet header, 20 of IP, 4 of ports."""
    with capture.open("rb") as file:
        return int(struct.unpack(">I", file.read(68)[64:68])[0])


def test_sequence_numbers_wrap(tmp_path: Path) -> None:
    """A connection that passes 2^32 on the wire, with losses on both sides of it."""
    scenario = tg.Scenario.from_toml(SCENARIO.format(**{**PLAIN, "loss": 0.02, "timestamps": "true"}))
    short = tg.Scenario.from_toml(SCENARIO.format(**{**PLAIN, "duration": "45 ms", "timestamps": "true"}))
    capture = tmp_path / "packets.pcap"
    for seed in range(20_000):
        tg.run(short, seed=seed, record="summary", pcap=capture)
        left = 2**32 - first_sequence_number(capture)
        if left < 2_000_000:
            break
    run = tg.run(scenario, seed=seed, record="summary", pcap=capture)
    flow = run.summary["flows"][0]
    numbers = [int(row[0]) for row in tshark(capture, "tcp.seq", keep="tcp.len > 0 && ip.src == 10.1.0.0/16")]
    assert numbers[0] > 2**32 - 2_000_000
    assert numbers[-1] < 2_000_000_000
    before, after = [n for n in numbers if n > 2**31], [n for n in numbers if n < 2**31]
    assert len(before) > len(set(before))
    assert len(after) > len(set(after)), "losses on both sides of the wrap"
    found = inspect(capture)
    assert found["data"] == flow["segments_sent"]
    assert found["again"] == flow["segments_retransmitted"]


def fields(capture: Path) -> list[tuple[str, int]]:
    """Return the source address and the field of codepoint and ECN of each packet."""
    data = capture.read_bytes()[24:]
    found = []
    while data:
        kept = struct.unpack("<I", data[8:12])[0]
        packet, data = data[16 : 16 + kept], data[16 + kept :]
        found.append((".".join(map(str, packet[12:16])), packet[1]))
    return found


def test_codepoints_and_ecn(tmp_path: Path) -> None:
    """Each packet has its flow's codepoint in the upper six bits, both ways, and ECN in the lower two."""
    flow = {"path": ["link"], "rtt": "20 ms"}
    scenario = {
        "duration": "2 s",
        "seed": 1,
        "gate": {"link": {"rate": "5 Mbit/s", "queue": {"limit": "100 packets", "aqm": "codel"}}},
        "flow": {
            "plain": flow,
            "marked": {**flow, "dscp": "AF41", "tcp": {"ecn": "classic"}},
        },
    }
    capture = tmp_path / "packets.pcap"
    run = tg.run(scenario, record="summary", pcap=capture)
    assert run.flows["marked"].summary["marked_segments"] > 0
    seen = fields(capture)
    plain = {field for address, field in seen if address in ("10.1.0.0", "10.2.0.0")}
    marked = {field for address, field in seen if address in ("10.1.0.1", "10.2.0.1")}
    assert plain == {0}
    assert {field >> 2 for field in marked} == {34}
    # SYNs and ACKs without ECN, data with ECT(0); CE is not seen at the sender.
    assert {field & 3 for field in marked} == {0, 2}


class Stops(tg.CongestionControl):
    """A controller that fails at the first loss."""

    def __init__(self, **_: Any) -> None:
        self.window_bytes = 400 * self.mss_bytes

    def on_ack(self, ack: tg.Ack) -> None:
        pass

    def on_loss(self, loss: tg.Loss) -> None:
        raise ValueError(f"a loss at {loss.time_s} s")

    on_timeout = on_loss


def test_a_run_that_fails_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    """A capture is written while the run goes on, and takes its name only when it is whole."""
    capture = tmp_path / "packets.pcap"
    capture.write_text("of an earlier run")
    text = SCENARIO.format(**{**PLAIN, "loss": 0.0})
    (tmp_path / "link.toml").write_text(text.replace('"newreno"', '"python:test_pcap:Stops"'))
    with pytest.raises(tg.errors.ControllerError):
        tg.run(tmp_path / "link.toml", pcap=capture)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["link.toml", "packets.pcap"]
    assert capture.read_text() == "of an earlier run"


def test_a_link_to_a_file_stays_a_link_and_what_is_no_file_is_written_itself(tmp_path: Path) -> None:
    """The target of a link is replaced; a device or a pipe stays what it is."""
    (tmp_path / "link.toml").write_text(SCENARIO.format(**PLAIN))
    (tmp_path / "real.pcap").touch()
    (tmp_path / "linked.pcap").symlink_to("real.pcap")
    (tmp_path / "null.pcap").symlink_to("/dev/null")
    for name in ("linked.pcap", "null.pcap", "new.pcap"):
        tg.run(tmp_path / "link.toml", seed=1, record="summary", pcap=tmp_path / name)
    assert (tmp_path / "linked.pcap").is_symlink()
    assert (tmp_path / "real.pcap").read_bytes() == (tmp_path / "new.pcap").read_bytes()
    assert (tmp_path / "null.pcap").resolve().is_char_device()


def test_a_folder_that_is_not_there_is_named_before_the_run(tmp_path: Path) -> None:
    """The error has the path that was asked for, not that of the file it would have been at first."""
    (tmp_path / "link.toml").write_text(SCENARIO.format(**PLAIN))
    with pytest.raises(FileNotFoundError) as raised:
        tg.run(tmp_path / "link.toml", pcap=tmp_path / "none" / "packets.pcap")
    assert raised.value.filename == str(tmp_path / "none" / "packets.pcap")
