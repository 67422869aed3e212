"""What ``tidegate live shell`` tells, and what it keeps of the packets."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._programs.shell import ShellRecord
from tidegate._programs.welcome import banner, with_tag

LINK = """\
title = "A slow link"
duration = "1 s"

[gate.link]
rate = "2 Mbit/s"
queue = "10 packets"
delay = "10 ms"

[flow.x]
path = ["link"]
rtt = "30 ms"
"""

#: Answers a request of some bytes with so many packets of 1000 bytes payload.
PEER = """
import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("10.77.0.1", 9000))
while True:
    asked, who = udp.recvfrom(100)
    for number in range(int(asked)):
        udp.sendto(number.to_bytes(2, "big") + bytes(998), who)
"""
PROGRAM = """
import socket, time
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.settimeout(0.5)
for _ in range(50):
    udp.sendto(b"1", ("10.77.0.1", 9000))
    try:
        udp.recv(2000)
        break
    except OSError:
        time.sleep(0.05)
udp.sendto(b"30", ("10.77.0.1", 9000))
count = 0
try:
    while True:
        udp.recv(2000)
        count += 1
except OSError:
    pass
print(count)
"""


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A scenario; skips where this machine allows no network namespaces."""
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    try:
        tg.run(file, engine="live", changes={"duration": "50 ms"})
    except tg.errors.EngineError as reason:
        pytest.skip(str(reason))
    return file


@pytest.mark.live
def test_packets_are_kept_drawn_and_captured(link: Path, tmp_path: Path) -> None:
    (tmp_path / "peer.py").write_text(PEER)
    out, picture, pcap = tmp_path / "out", tmp_path / "shell.png", tmp_path / "shell.pcap"
    done = tidegate(
        "live", "shell", "--peer", f"{sys.executable} {tmp_path / 'peer.py'}", "--out", out,
        "--plot", picture, "--pcap", pcap, link, "--", sys.executable, "-c", PROGRAM,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    arrived = int(done.stdout)
    packets = pl.read_parquet(out / "packets.parquet")
    incoming = packets.filter((pl.col("way") == "incoming") & (pl.col("bytes") == 1028))
    burst = incoming.tail(30)
    dropped = burst["dropped_by"].drop_nulls()
    # 30 packets of 4.1 ms each at once: 10 wait, about one is on its way, and the gate names the rest.
    assert set(dropped) == {"link"}
    assert 30 - len(dropped) == arrived
    assert 10 <= arrived < 30
    delays = burst.filter(pl.col("dropped_by").is_null())["delay_ms"]
    service_ms = 1028 * 8 / 2e6 * 1e3
    assert delays.min() >= 10 + service_ms - 0.01
    assert delays.max() <= 10 + 12 * service_ms
    asked = packets.filter((pl.col("way") == "outgoing") & (pl.col("bytes") == 30))["delay_ms"]
    assert asked.to_list() == [20.0]
    summary = json.loads((out / "summary.json").read_text())
    assert summary["incoming"]["dropped"] == len(dropped)
    assert summary["incoming"]["packets"] == len(packets.filter(pl.col("way") == "incoming"))
    assert summary["incoming"]["delay_max_ms"] == pytest.approx(
        float(incoming["delay_ms"].drop_nulls().max())
    )
    assert 0 < summary["duration_s"] < 60
    assert f"incoming: {summary['incoming']['packets']} packets" in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    # The program's end sees what it sends, and what was not dropped on the way to it.
    seen = capture_count(pcap)
    assert seen == len(packets) - summary["incoming"]["dropped"]
    redrawn = tidegate("plot", out)
    assert redrawn.returncode == 0, redrawn.stderr
    assert (out / "shell.png").read_bytes() == picture.read_bytes()
    again = tidegate("live", "shell", "--out", out, link, "--", "true")
    assert again.returncode == 2
    assert "already holds results" in again.stderr


def capture_count(path: Path) -> int:
    """Return how many records a pcap file has (24 bytes, then 16 before each packet)."""
    data, at, count = path.read_bytes(), 24, 0
    while at < len(data):
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        count += 1
    return count


@pytest.mark.live
def test_it_says_that_a_sweep_is_left_out(link: Path) -> None:
    link.write_text(f'{LINK}\n[[sweep]]\n"gate.link.rate" = ["1 Mbit/s", "2 Mbit/s"]\n')
    done = tidegate("live", "shell", link, "--", "true")
    assert done.stderr.count("this is of the values outside [[sweep]]") == 1


@pytest.mark.live
def test_a_program_that_wants_the_world_is_told_how(link: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("without root there is no --nat to point at")
    ask = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'?', ('{}', 53))"
    done = tidegate("live", "shell", link, "--", sys.executable, "-c", ask.format("192.0.2.1"))
    assert done.returncode == 0, done.stderr
    assert "hint: packets for hosts other than 10.77.0.1 went nowhere (1 of them)" in done.stderr
    assert "--nat" in done.stderr
    near = tidegate("live", "shell", link, "--", sys.executable, "-c", ask.format("10.77.0.1"))
    assert "hint" not in near.stderr


@pytest.mark.live
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_the_prompt_says_where_one_is(shell: str, link: Path) -> None:
    place = shutil.which(shell)
    if place is None:
        pytest.skip(f"there is no {shell} here")
    if shell == "sh" and Path(place).resolve().name == "bash":
        pytest.skip("sh is bash here, which takes no prompt from its environment")
    inside, outside = pty.openpty()
    work = subprocess.Popen(
        [sys.executable, "-m", "tidegate", "live", "shell", str(link)],
        stdin=outside, stdout=outside, stderr=outside, start_new_session=True,
        env={**os.environ, "SHELL": place, "COLUMNS": "80", "TERM": "dumb"},
    )  # fmt: skip
    os.close(outside)
    screen = read_until(inside, "[tidegate link.toml] ")
    os.write(inside, b"echo tag=$TIDEGATE_SHELL; exit 3\n")
    screen += read_until(inside, "passed the gates")
    assert work.wait(timeout=30) == 3
    os.close(inside)
    assert "tag=tidegate link.toml" in screen
    head = screen[: screen.index("[tidegate link.toml]")]
    assert "tidegate live shell: A slow link" in head
    assert "gate link (2.00 Mbit/s, queue 10 packets, delay 10 ms)" in head
    assert "a delay of 20 ms" in head
    assert "exit, or Ctrl-D" in head


def read_until(terminal: int, text: str) -> str:
    """Return what a terminal shows until this text, or for 30 s at most."""
    shown, end = "", time.monotonic() + 30
    while text not in shown and time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        shown += part.decode(errors="replace")
    return shown


def test_the_banner_names_the_other_end(tmp_path: Path) -> None:
    scenario = tg.Scenario.from_toml(LINK)

    def told(**changes: object) -> str:
        given = {"peer": None, "uploads": False, "nat": False, "root": True, **changes}
        return " ".join(banner(scenario, **given).split())  # type: ignore[arg-type]

    assert "10.77.0.2 is this shell, 10.77.0.1 is this machine; no other host can be reached (--nat" in told()
    assert "other hosts are reached through this machine" in told(nat=True)
    assert '10.77.0.1 is the peer, "iperf3 -s" try' in told(peer="iperf3 -s")
    assert "an empty network" in told(root=False)
    swapped = told(uploads=True)
    assert "10.77.0.1 is this shell, 10.77.0.2 is this machine" in swapped
    assert "outgoing gate link" in swapped
    for shell in ("zsh", "fish", "dash"):
        command, environment = with_tag(f"/bin/{shell}", "tidegate 100%.toml", tmp_path)
        assert command[0] == f"/bin/{shell}"
        assert environment["TIDEGATE_SHELL"] == "tidegate 100%.toml"
    assert "PROMPT='[tidegate 100%%.toml] '$PROMPT" in (tmp_path / ".zshrc").read_text()


def test_numbers_of_a_shell_without_packets() -> None:
    told = {"program": "true", "status": 0, "duration_s": 0.02}
    record = ShellRecord.of(
        tg.Scenario.from_toml(LINK), told, ([], [], [], [], []), uploads=False, command=["tidegate"]
    )
    assert record.report() == ""
    assert record.summary["incoming"]["delay_p50_ms"] is None
    assert record.summary["outgoing"]["packets"] == 0


def test_places_are_looked_at_before_the_program_starts(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    for options, said in (
        (("--plot", "x.gif"), "the name of a picture ends in"),
        (("--pcap", str(tmp_path / "no" / "x.pcap")), "there is no folder"),
        (("--force",), "--force needs --out"),
    ):
        done = tidegate("live", "shell", *options, file, "--", "echo", "started")
        if "Linux" in done.stderr:
            pytest.skip(done.stderr)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
