"""quinn's own client and server behind the gates in real time, beside a flow of QUIC in virtual time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import ROOT, tidegate

if TYPE_CHECKING:
    from pathlib import Path

LINK = """\
title = "One QUIC download"
duration = "15 s"
warmup = "5 s"
gate.link = { rate = "20 Mbit/s", queue = "100 packets" }
flow.download = { transport = "quic", path = ["link"], rtt = "40 ms" }
"""


@pytest.fixture(scope="module")
def program() -> Path:
    """Return the example with quinn over sockets; skips where it cannot be built."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo here to build quinn over sockets")
    build = ["cargo", "build", "--locked", "--quiet", "--example", "sockets"]
    subprocess.run(build, cwd=ROOT, check=True)
    return ROOT / "target" / "debug" / "examples" / "sockets"


@pytest.mark.live
@pytest.mark.timeout(900)
def test_quinn_over_sockets_has_the_goodput_of_a_flow_of_quic(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "download.toml"
    file.write_text(LINK)
    try:
        tg.run(
            file,
            engine="live",
            changes={"duration": "50 ms", "warmup": "0 s", "flow.download.transport": "tcp"},
        )
    except tg.errors.EngineError as reason:
        pytest.skip(str(reason))
    simulated = tg.run(file)
    out = tmp_path / "out"
    address = "10.77.0.1:4433"
    done = tidegate(
        "live", "shell", "--peer", f"{program} server {address}", "--out", out, file,
        "--", program, "client", address, "15", "5",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = re.search(r"goodput ([\d.]+) Mbit/s from 5 s to 15 s", done.stdout)
    assert told, done.stdout
    # Measured: 19.17 in both, with the same packets of 1480 bytes.
    goodput_bps = simulated.flows["download"]["goodput_bps"]
    assert float(told[1]) * 1e6 == pytest.approx(goodput_bps, rel=0.02)
    incoming = json.loads((out / "summary.json").read_text())["incoming"]
    # CUBIC keeps the queue at the same level: half of the packets wait that long, of 59 ms at most.
    assert incoming["delay_p50_ms"] == pytest.approx(simulated.gates["link"]["queue_delay_p50_ms"], abs=5.0)
    assert incoming["dropped"] > 0
