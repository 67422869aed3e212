"""Queue disciplines and classes in front of the kernel's TCP: the same gates drop and mark its packets."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live


def link(queue: dict[str, Any], **gate: Any) -> dict[str, Any]:
    """Return two flows over 10 Mbit/s whose plain queue would hold 240 ms."""
    flow = {"path": ["link"], "rtt": "20 ms", "tcp": {"base": "linux", "cc": "cubic"}}
    limited = {"limit": "200 packets", **queue}
    return {
        "duration": "6 s",
        "warmup": "2 s",
        "seed": 1,
        "gate": {
            "link": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": limited, **gate},
        },
        "flow": {"one": flow, "two": {**flow}},
    }


def live(scenario: dict[str, Any]) -> tg.Run:
    try:
        return tg.run(scenario, engine="live", record="summary")
    except tg.errors.EngineError as reason:
        if "namespace" in str(reason):
            pytest.skip(str(reason))
        raise


@pytest.mark.parametrize("aqm", ["red", "codel", "pie", "fq_codel", "dualpi2", "cake"])
def test_a_discipline_holds_the_wait_of_the_kernels_packets(aqm: str) -> None:
    scenario = link({"aqm": aqm})
    seen = live(scenario).gates["link"].summary
    computed = tg.run(scenario, record="summary").gates["link"].summary
    for gate in (seen, computed):
        # The limit is not what drops: 200 packets would wait 240 ms.
        assert gate["drops"]["early"] > 0
        assert gate["queue_delay_mean_ms"] < 40
        assert gate["utilisation"] > 0.85
    # Drops are by chance or by microseconds, so that runs of few seconds are far from equal.
    assert seen["queue_delay_mean_ms"] == pytest.approx(computed["queue_delay_mean_ms"], rel=0.6)


def test_rates_of_classes_hold_for_the_kernels_packets() -> None:
    classes = {
        name: {
            "members": [name],
            "queue": "50 packets",
            "htb": {"rate": f"{rate} Mbit/s", "ceil": f"{rate} Mbit/s"},
        }
        for name, rate in (("one", 2), ("two", 6))
    }
    run = live(link({}, classes=classes, scheduler="htb"))
    for name, rate in (("one", 2e6), ("two", 6e6)):
        # Headers take 3.5% of it.
        assert 0.9 * rate < run.flows[name].summary["goodput_bps"] < rate


def test_the_kernels_packets_carry_the_codepoint(tmp_path: Path) -> None:
    """Both ends set it, ECN is the kernel's, and the class by codepoint has the flow's packets."""
    classes = {
        "marked": {"dscp": ["AF41"], "queue": "100 packets"},
        "rest": {"queue": "100 packets"},
    }
    scenario = link({}, classes=classes, scheduler="drr")
    scenario["duration"], scenario["warmup"] = "3 s", "0 s"
    scenario["flow"]["two"]["dscp"] = "AF41"
    try:
        run = tg.run(scenario, engine="live", record="summary", pcap=tmp_path / "packets.pcap")
    except tg.errors.EngineError as reason:
        if "namespace" in str(reason):
            pytest.skip(str(reason))
        raise
    codepoints: dict[int, set[int]] = {}
    sent = 0
    for name in ("packets.pcap", "packets-receiver.pcap"):
        data = (tmp_path / name).read_bytes()[24:]
        while data:
            kept = struct.unpack("<I", data[8:12])[0]
            packet, data = data[16 : 16 + kept], data[16 + kept :]
            ports = struct.unpack(">HH", packet[20:24])
            flow = next(port - 5001 for port in ports if 5001 <= port <= 5002)
            codepoints.setdefault(flow, set()).add(packet[1] >> 2)
            sent += 1
    assert sent > 1000
    assert codepoints == {0: {0}, 1: {34}}
    marked = run.gates["link"].summary["classes"][0]
    assert marked["delivered_packets"] > 500
