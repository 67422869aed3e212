"""The kernel's queueing disciplines beside our gates: the kernel's TCP through each, in real time (root).

qdiscs.py [--runs N] [--seconds S]

One sender behind a router, 10 Mbit/s, a round trip of 40 ms. The delay is the live engine's in both cases.
The rate and the queue are once those of a gate, and once those of the kernel at the router's device: tbf or
htb with pfifo or red.
What this kernel does not offer is left out, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from tables import skip, table

TITLE = "Queueing disciplines of the kernel beside our gates: 10 Mbit/s, 40 ms, one flow of CUBIC"
PORT = 5000
#: Seconds that do not count.
WARMUP_S = 3.0
RED_MIN, RED_MAX, PACKET, RED_BURST = 10, 30, 1500, 60


class Case(NamedTuple):
    """One comparison: the queue of our gate, and the same as commands for the router's device."""

    name: str
    gate: str
    commands: tuple[str, ...]


def red_weight() -> float:
    """Return the weight that ``tc`` computes from ``burst`` for RED's average (``tc_red_eval_ewma``)."""
    need = RED_BURST + 1 - RED_MIN
    for shift in range(1, 32):
        weight = 0.5**shift
        if need <= (1 - (1 - weight) ** RED_BURST) / weight:
            return weight
    raise ValueError(RED_BURST)


TBF = "qdisc add dev tide0 root handle 1: tbf rate 10mbit burst 3080 limit 3000000"
RED = (
    f"qdisc add dev tide0 parent 1:1 red limit 600000 min {RED_MIN * PACKET} max {RED_MAX * PACKET} "
    f"avpkt {PACKET} burst {RED_BURST} probability 0.1 bandwidth 10mbit"
)
FIFO = "qdisc add dev tide0 parent 1:1 pfifo limit 50"
CASES = (
    Case("tbf, pfifo of 50", 'queue.limit = "50 packets"', (TBF, FIFO)),
    Case(
        "htb, pfifo of 50",
        'queue.limit = "50 packets"',
        (
            "qdisc add dev tide0 root handle 1: htb default 1",
            "class add dev tide0 parent 1: classid 1:1 htb rate 10mbit burst 3080 cburst 3080",
            FIFO,
        ),
    ),
    Case(
        "tbf, red",
        f'queue.limit = "400 packets"\nqueue.aqm.red = {{ min = "{RED_MIN} packets", '
        f'max = "{RED_MAX} packets", wq = {red_weight()}, mean_packet = "{PACKET} B", gentle = false }}',
        (TBF, RED),
    ),
)


def receive(path: str) -> None:
    """Take one connection and write how many bytes came after the first seconds, and in which time."""
    # The way back to the sender, which is behind the router.
    subprocess.run(["ip", "route", "add", "10.78.0.0/30", "dev", "tide0"], check=True)
    with socket.create_server(("", PORT)) as server:
        connection, _ = server.accept()
        begin = time.monotonic()
        first = last = 0.0
        counted = 0
        while data := connection.recv(1 << 16):
            last = time.monotonic()
            if last - begin >= WARMUP_S:
                first = first or last
                counted += len(data)
    Path(path).write_text(json.dumps({"bytes": counted, "seconds": last - first}))


def send(path: str, address: str, seconds: float) -> None:
    """Send for some seconds; write the round trips of the kernel, in ms, and segments sent again."""
    with socket.create_connection((address, PORT), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        end = time.monotonic() + seconds
        trips: list[float] = []

        def look() -> None:
            begin = time.monotonic()
            while time.monotonic() < end:
                if time.monotonic() - begin >= WARMUP_S:
                    # struct tcp_info: tcpi_rtt is the sixteenth of the 32-bit words behind eight bytes.
                    trips.append(info(connection, 8 + 15 * 4) / 1000)
                time.sleep(0.01)

        thread = threading.Thread(target=look)
        thread.start()
        block = bytes(1 << 14)
        while time.monotonic() < end:
            connection.send(block)
        thread.join()
        # tcpi_total_retrans is the 24th.
        again = info(connection, 8 + 23 * 4)
    found = {"rtt": mean(trips), "p99": sorted(trips)[len(trips) * 99 // 100], "again": again}
    Path(path).write_text(json.dumps(found))


def info(connection: socket.socket, place: int) -> int:
    """Return one of the 32-bit numbers of TCP_INFO."""
    found = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return int(struct.unpack_from("=I", found, place)[0])


def route(path: str, seconds: float, commands: list[str]) -> None:
    """Be the router: a network behind it has the sender; the commands set its device to the gates up."""

    def run(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True, text=True)

    behind = subprocess.Popen(["unshare", "-n", "sleep", str(seconds + 30)])
    try:
        time.sleep(0.2)
        inside = ("nsenter", "-t", str(behind.pid), "-n")
        run("ip", "link", "add", "inner0", "type", "veth", "peer", "name", "inner1")
        run("ip", "link", "set", "inner1", "netns", str(behind.pid))
        run("ip", "addr", "add", "10.78.0.1/30", "dev", "inner0")
        run("ip", "link", "set", "inner0", "up")
        # One segment at a time, as the gates have it.
        run(*inside, "ip", "link", "set", "inner1", "up", "gso_max_segs", "1")
        run(*inside, "ip", "addr", "add", "10.78.0.2/30", "dev", "inner1")
        run(*inside, "ip", "route", "add", "default", "via", "10.78.0.1")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        for command in commands:
            run("tc", *command.split())
        run(*inside, sys.executable, str(Path(__file__).resolve()), "send", path, "10.77.0.2", str(seconds))
        # What is still in the sender's buffer goes on; with the router's end the gates end.
        patience = time.monotonic() + 15
        while not Path(path).with_name("got").exists() and time.monotonic() < patience:
            time.sleep(0.1)
        time.sleep(0.2)
        show = ["tc", "-s", "qdisc", "show", "dev", "tide0"]
        shown = subprocess.run(show, capture_output=True, text=True, check=True)
        dropped = [int(number) for number in re.findall(r"dropped (\d+)", shown.stdout)]
        Path(path + ".dropped").write_text(str(max(dropped)))
    finally:
        behind.kill()
        behind.wait()


def once(gate: str, commands: tuple[str, ...], seconds: float) -> dict[str, float]:
    """Run one transfer and return its numbers."""
    rate = "" if commands else f'rate = "10 Mbit/s"\n{gate}'
    with tempfile.TemporaryDirectory() as folder:
        scenario, sent, got = (Path(folder) / name for name in ("link.toml", "sent", "got"))
        scenario.write_text(
            f"""
            duration = "1 h"
            [gate.link]
            {rate or 'rate = "unlimited"'}
            delay = "20 ms"
            [flow.one]
            path = ["link"]
            rtt = "40 ms"
            """
        )
        me = [sys.executable, str(Path(__file__).resolve())]
        command = [sys.executable, "-m", "tidegate", "live", "shell", "--upload"]
        command += ["--peer", " ".join([*me, "receive", str(got)]), str(scenario)]
        command += ["--", *me, "route", str(sent), str(seconds), *commands]
        # What the peer leaves open must not be waited for: so the output goes to a file.
        told = Path(folder) / "told"
        with told.open("w") as file:
            status = subprocess.run(
                command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, check=False, timeout=seconds + 30
            ).returncode
        text = told.read_text()
        if status != 0:
            raise SystemExit(text)
        time.sleep(0.3)
        end, begin = json.loads(got.read_text()), json.loads(sent.read_text())
        gates = re.search(r"(\d+) dropped by them", text)
        drops = int(Path(str(sent) + ".dropped").read_text()) if commands else int(gates[1]) if gates else 0
    return {
        "goodput Mbit/s": end["bytes"] * 8 / end["seconds"] / 1e6,
        "mean RTT ms": begin["rtt"],
        "p99 RTT ms": begin["p99"],
        "drops": drops,
        "sent again": begin["again"],
    }


def missing() -> str | None:
    """Return why nothing can be measured here; None if it can."""
    if os.geteuid() != 0:
        return "needs root"
    for program in ("tc", "ip", "unshare", "nsenter"):
        if subprocess.run(["which", program], capture_output=True, check=False).returncode != 0:
            return f"no {program} here (Debian packages iproute2 and util-linux)"
    return None


def offered(commands: tuple[str, ...]) -> str | None:
    """Return what this kernel says against the commands; None if it takes them."""
    script = " && ".join(["ip link add tide0 type veth peer name other", *(f"tc {one}" for one in commands)])
    command = ["unshare", "-n", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["refused"])[0]


def measure(runs: int, seconds: float) -> None:
    """Print the table."""
    reason = missing()
    if reason is not None:
        skip(TITLE, reason)
        return
    rows: list[list[object]] = []
    names: list[str] = []
    for case in CASES:
        refused = offered(case.commands)
        if refused is not None:
            skip(case.name, f"this kernel does not offer it: {refused}")
            continue
        for where, commands in (("kernel", case.commands), ("gate", ())):
            found = [once(case.gate, commands, seconds) for _ in range(runs)]
            names = list(found[0])
            row: list[object] = [f"{case.name}: {where}"]
            for name in names:
                values = [one[name] for one in found]
                row.append(f"{mean(values):.2f} ({min(values):.2f}-{max(values):.2f})")
            rows.append(row)
    table(TITLE, ["", *names], rows, [f"means of {runs} runs of {seconds:g} s, least and greatest"])


def main() -> None:
    """Measure, or be one of the programs that it starts."""
    if sys.argv[1:2] == ["receive"]:
        receive(sys.argv[2])
    elif sys.argv[1:2] == ["send"]:
        send(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    elif sys.argv[1:2] == ["route"]:
        route(sys.argv[2], float(sys.argv[3]), sys.argv[4:])
    else:
        parser = argparse.ArgumentParser(description=TITLE)
        parser.add_argument("--runs", type=int, default=3, help="runs of each")
        parser.add_argument("--seconds", type=float, default=20, help="of a run")
        args = parser.parse_args()
        measure(args.runs, args.seconds)


if __name__ == "__main__":
    main()
