"""A program behind the gates reaches the world, and nothing of that outlives the shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tidegate as tg

pytestmark = pytest.mark.live

LINK = """\
title = "Into the world"
duration = "1 s"

[gate.link]
rate = "8 Mbit/s"
queue = "50 packets"
delay = "10 ms"

[flow.x]
path = ["link"]
rtt = "20 ms"
"""

#: In a network namespace of its own, which stands for a machine that does not forward: an uplink to
#: another namespace, the world, where a server says who asked and sends 300 kB; over UDP it only says who.
MACHINE = """
set -e
ip link set lo up
unshare -n sleep 60 > /dev/null 2>&1 & world=$!
sleep 0.2
ip link add up0 type veth peer name world0 netns $world
ip addr add 192.0.2.2/24 dev up0
ip link set up0 up
nsenter -n -t $world sh -c 'ip addr add 192.0.2.1/24 dev world0; ip link set world0 up'
nsenter -n -t $world "$PYTHON" server.py > /dev/null 2>&1 & server=$!
trap 'kill $world $server' EXIT
"$PYTHON" machine.py
"""

SERVER = """
import socket, threading
tcp = socket.create_server(("192.0.2.1", 8000))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("192.0.2.1", 8000))
def answer():
    while True:
        _, who = udp.recvfrom(100)
        udp.sendto(who[0].encode(), who)
threading.Thread(target=answer, daemon=True).start()
while True:
    connection, who = tcp.accept()
    with connection:
        connection.sendall(who[0].encode().ljust(20) + bytes(300_000))
"""

PROGRAM = """
import json, socket, time
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.settimeout(10)
udp.sendto(b"?", ("192.0.2.1", 8000))
by_udp = udp.recvfrom(100)[0].decode()
began = time.monotonic()
with socket.create_connection(("192.0.2.1", 8000), timeout=10) as connection:
    data = b"".join(iter(lambda: connection.recv(1 << 16), b""))
print(json.dumps([by_udp, data[:20].decode().strip(), len(data), time.monotonic() - began]))
"""

MACHINE_PY = """
import json, os, pathlib, signal, subprocess, sys, time
shell = [sys.executable, "-m", "tidegate", "live", "shell", "--nat", "link.toml", "--"]
def controls():
    folder = pathlib.Path("/proc/sys/net/ipv4")
    files = [folder / "ip_forward", *folder.glob("**/forwarding")]
    return {str(file): file.read_text().strip() for file in files}
for _ in range(100):
    if subprocess.run(["ip", "route", "get", "192.0.2.1"], capture_output=True).returncode == 0:
        break
    time.sleep(0.05)
time.sleep(0.3)
before = controls()
killed = subprocess.Popen([*shell, "sh", "-c", "echo up; exec sleep 60"], stdout=subprocess.PIPE, text=True)
killed.stdout.readline()
during = controls()
killed.kill()
killed.wait()
after_kill = controls()
clean = [sys.executable, "-m", "tidegate", "live", "clean", "--json"]
cleaned = subprocess.run(clean, capture_output=True, text=True)
done = subprocess.run([*shell, sys.executable, "program.py"], capture_output=True, text=True)
print(json.dumps({
    "before": before, "during": during, "after_kill": after_kill, "after": controls(),
    "cleaned": json.loads(cleaned.stdout),
    "status": done.returncode, "said": done.stdout, "errors": done.stderr,
}))
"""


def test_the_world_is_reached_and_nothing_is_left(tmp_path: Path) -> None:
    tools = [tool for tool in ("ip", "unshare", "nsenter") if shutil.which(tool) is None]
    if os.geteuid() != 0 or tools:
        pytest.skip(f"it takes root, and ip, unshare, nsenter (not here: {tools})")
    for name, text in {
        "link.toml": LINK,
        "server.py": SERVER,
        "program.py": PROGRAM,
        "machine.py": MACHINE_PY,
    }.items():
        (tmp_path / name).write_text(text)
    try:
        tg.run(tmp_path / "link.toml", engine="live", changes={"duration": "50 ms"})
    except tg.errors.EngineError as reason:
        pytest.skip(str(reason))
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", MACHINE],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHON": sys.executable, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if "nftables" in found["errors"]:
        pytest.skip(found["errors"])
    assert found["status"] == 0, found["errors"]
    by_udp, by_tcp, size, took_s = json.loads(found["said"])
    # The world sees the machine's own address; the answers pass the gate.
    assert (by_udp, by_tcp, size) == ("192.0.2.2", "192.0.2.2", 300_020)
    assert 0.3 < took_s < 5
    # The machine forwards for nobody: only the shell's device does, and it goes, even with kill -9.
    device = "/proc/sys/net/ipv4/conf/tide0/forwarding"
    assert set(found["before"].values()) == {"0"}
    assert found["during"] == {**found["before"], device: "1"}
    assert found["after_kill"] == found["before"]
    assert found["after"] == found["before"]
    assert len(found["cleaned"]["processes"]) == 1
    assert not Path("/sys/class/net/tide0").exists()


def test_a_peer_has_no_world_behind_it(tmp_path: Path) -> None:
    from support.common import tidegate

    (tmp_path / "link.toml").write_text(LINK)
    done = tidegate("live", "shell", "--nat", "--peer", "true", tmp_path / "link.toml", "--", "true")
    assert done.returncode == 2
    assert "--nat cannot be used with --peer" in done.stderr
