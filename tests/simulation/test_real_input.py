"""Recorded links, whole, with every congestion control: not a byte of capacity is unaccounted for.

Deliverable bytes are counted by a script that knows nothing of Tidegate.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest
import tidegate as tg
from support.common import INDEPENDENT, summary, trace

LINKS = {
    "Verizon-LTE-short.down": "140 s",
    "ATT-LTE-driving-2016.down": "120.002 s",
    "TMobile-UMTS-driving.down": "928.424 s",
    "drp_munich_outskirt.csv": "610.3 s",
}
CONTROLS = ("tahoe", "reno", "newreno", "cubic", "fixed")

SCENARIO = """
title = "{file} with {cc}"
duration = "{duration}"
seed = 1
[gate.bottleneck]
rate.trace = "{path}"
queue = "300 packets"
delay = "20 ms"
[flow.bulk]
path = ["bottleneck"]
rtt = "50 ms"
tcp.cc = "{cc}"
"""


@cache
def deliverable(file: str, seconds: str) -> int:
    """Ask the independent script: bytes in [0, seconds)."""
    done = subprocess.run(
        [sys.executable, INDEPENDENT / "deliverable_bytes.py", trace(file), "--seconds", seconds],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def scenario(file: str, cc: str) -> str:
    text = SCENARIO.format(file=file, cc=cc, duration=LINKS[file], path=trace(file))
    return text + ('tcp.window = "120 segments"\n' if cc == "fixed" else "")


@pytest.mark.traces
@pytest.mark.parametrize("cc", CONTROLS)
@pytest.mark.parametrize("file", LINKS)
def test_capacity_is_accounted_for(file: str, cc: str) -> None:
    result = summary(scenario(file, cc))
    gate, flow = result["gates"][0], result["flows"][0]
    assert result["warnings"] == []
    assert gate["capacity_bytes"] == deliverable(file, LINKS[file].split()[0])
    parts = gate["delivered_bytes"] + gate["unused_bytes"] + gate["in_transit_bytes"]
    # Opportunities are whole bytes; shares of a rate in bit/s are each rounded to a byte.
    assert abs(gate["capacity_bytes"] - parts) <= (0 if file.endswith(".down") else 1), gate
    assert 0 <= gate["in_transit_bytes"] < 1500
    assert gate["offered_packets"] >= gate["delivered_packets"] + gate["dropped_packets"]
    assert 1500 * flow["segments_delivered"] <= gate["delivered_bytes"]
    assert flow["goodput_bps"] > 0.5 * gate["rate_mean_bps"], "something is wrong with the flow"


@pytest.mark.traces
def test_the_recording_itself_says_the_same() -> None:
    for file, duration in LINKS.items():
        whole = subprocess.run(
            [sys.executable, INDEPENDENT / "deliverable_bytes.py", trace(file)],
            capture_output=True,
            text=True,
            check=True,
        )
        info = tg.traces.info(trace(file))
        assert info["deliverable_bytes"] == int(whole.stdout), file
        assert f"{info['duration_s']:.3f}" == f"{float(duration.split()[0]):.3f}"
