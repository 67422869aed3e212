"""Two knobs, one table that people can read, compared to the last digit.

A change of a number is a change of behaviour: look at the difference, and if it is meant, write the
tables again and say in the commit why the numbers moved:

    TIDEGATE_UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/golden/test_golden_tables.py
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.common import summary

GOLDEN = Path(__file__).parent

CELLULAR = Path(__file__).resolve().parents[2] / "examples" / "cellular.csv"

LINE = """
title = "one flow over {rate}, 20 ms, round trip 60 ms, 60 s after 5 s of warm-up"
duration = "65 s"
warmup = "5 s"
[gate.line]
{law}
queue = "50 packets"
delay = "20 ms"
[flow.bulk]
path = ["line"]
rtt = "60 ms"
tcp.base = "rfc"
"""
SHARED = """
title = "three flows share 12 Mbit/s and 80 packets with 2 Mbit/s on and off, 60 s after 5 s of warm-up"
duration = "65 s"
warmup = "5 s"
[gate.line]
rate = "12 Mbit/s"
queue = "80 packets"
delay = "10 ms"
[flow.near]
path = ["line"]
rtt = "25 ms"
tcp.base = "rfc"
[flow.middle]
path = ["line"]
rtt = "60 ms"
start = "1 s"
tcp.base = "rfc"
[flow.far]
path = ["line"]
rtt = "140 ms"
start = "2 s"
tcp.base = "rfc"
[traffic.noise]
path = ["line"]
source.on_off = { rate = "4 Mbit/s", on = { exponential = "1 s" }, off = { exponential = "1 s" } }
"""
#: name: (scenario, seed, first knob with its values, second knob with its values)
TABLES: dict[str, tuple[str, int, tuple[str, list[str]], tuple[str, list[str]]]] = {
    "buffer-and-loss": (
        LINE.format(rate="10 Mbit/s", law='rate = "10 Mbit/s"'),
        1,
        ("gate.line.queue", ["5 packets", "25 packets", "100 packets", "unlimited"]),
        ("gate.line.loss", ["0", "0.001", "0.01", "0.05"]),
    ),
    "buffer-and-control": (
        LINE.format(rate="a cellular link", law=f'rate.trace = "{CELLULAR.as_posix()}"'),
        2,
        ("gate.line.queue", ["20 packets", "100 packets", "400 packets"]),
        ("flow.bulk.tcp.cc", ["tahoe", "reno", "newreno", "cubic"]),
    ),
    "sack-and-control": (
        LINE.format(rate="10 Mbit/s with 0.5% loss", law='rate = "10 Mbit/s"\nloss = 0.005'),
        3,
        ("flow.bulk.tcp.sack", ["true", "false"]),
        ("flow.bulk.tcp.cc", ["tahoe", "reno", "newreno", "cubic"]),
    ),
    "shared-line": (
        SHARED,
        4,
        ("flow.far.tcp.cc", ["reno", "cubic"]),
        ("gate.line.queue", ["20 packets", "80 packets", "200 packets"]),
    ),
}


def row(first: str, second: str, flow: dict[str, Any], gate: dict[str, Any]) -> list[str]:
    limits: dict[str, float] = flow["limited_by"]
    most = max(limits, key=lambda name: limits[name])
    return [
        first,
        second,
        flow["name"],
        f"{flow['goodput_bps'] / 1e6:.4f}",
        str(gate["dropped_packets"]),
        str(flow["segments_retransmitted"]),
        str(flow["timeouts"]),
        f"{gate['queue_delay_p99_ms']:.2f}",
        f"{flow['rtt_mean_ms']:.2f}",
        f"{100 * limits[most]:.1f}% {most}",
    ]


HEAD = [
    "flow",
    "goodput Mbit/s",
    "drops",
    "again",
    "time-outs",
    "p99 wait ms",
    "mean RTT ms",
    "limited most by",
]


def measured(name: str) -> str:
    scenario, seed, (first, firsts), (second, seconds) = TABLES[name]
    rows = [[first, second, *HEAD]]
    title = ""
    for one in firsts:
        for two in seconds:
            result = summary(scenario, seed=seed, sets=(f"{first}={one}", f"{second}={two}"))
            title = result["scenario"]
            rows += [row(one, two, flow, result["gates"][0]) for flow in result["flows"]]
    widths = [max(len(line[n]) for line in rows) for n in range(len(rows[0]))]
    left = (0, 1, 2, len(widths) - 1)
    lines = [
        "  ".join(
            cell.ljust(width) if n in left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in rows
    ]
    return "\n".join([f"# {title}; seed {seed}", *lines]) + "\n"


@pytest.mark.parametrize("name", TABLES)
def test_table(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    found = measured(name)
    if os.environ.get("TIDEGATE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found.splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_no_table_is_left_behind() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(TABLES)
