"""CAKE's ACK filter in whole runs: an upload that is too slow for the ACKs of a download."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg
from support.common import tidegate

LINE = """
duration = "10 s"
seed = 1
warmup = "2 s"
[gate.down]
rate = "50 Mbit/s"
queue = "200 packets"
delay = "10 ms"
[gate.up]
rate = "500 kbit/s"
queue.aqm.cake = {{ bandwidth = "500 kbit/s", ack_filter = "{word}" }}
delay = "10 ms"
[flow.download]
path = ["down"]
back = ["up"]
{more}
"""


def run(word: str, more: str = "") -> Any:
    return tg.run(tg.Scenario.from_toml(LINE.format(word=word, more=more)), record="summary")


def up(run: Any) -> dict[str, Any]:
    return dict(run.gates.row("up").summary)


def test_needless_acks_make_room_and_are_no_losses() -> None:
    off, conservative, aggressive = (run(word) for word in ("off", "conservative", "aggressive"))
    goodput = [each.flows["download"]["goodput_bps"] for each in (off, conservative, aggressive)]
    # 500 kbit/s are 1200 ACKs of 52 bytes in a second, each of two segments of 1448 bytes: 28 Mbit/s, and
    # what was in the queue before.
    assert goodput[0] < 30e6
    assert min(goodput[1:]) > 1.5 * goodput[0]
    assert up(off)["filtered_packets"] == 0
    for each in map(up, (conservative, aggressive)):
        assert each["filtered_packets"] > 1000
        assert each["offered_packets"] == each["delivered_packets"] + each["dropped_packets"]
        assert "ACK filter" not in each["drops"]
        assert each["loss"] == pytest.approx(each["dropped_packets"] / each["offered_packets"])
    assert up(aggressive)["queue_mean_packets"] < up(conservative)["queue_mean_packets"]


def test_what_the_filter_drops_is_recorded_with_its_reason() -> None:
    told = tg.run(tg.Scenario.from_toml(LINE.format(word="aggressive", more="")))
    assert "ACK filter" in set(told.drops["reason"])


def test_packets_that_are_no_tcp_are_kept() -> None:
    more = """[traffic.calls]
path = ["up"]
source.constant = { rate = "600 kbit/s", packet = "60 B" }
[flow.other]
path = ["up"]
back = ["down"]
"""
    for word in ("conservative", "aggressive"):
        each = run(word, more)
        assert up(each)["filtered_packets"] > 0
        assert each.flows["other"]["goodput_bps"] > 0


def test_live_runs_refuse_it(tmp_path: Any) -> None:
    file = tmp_path / "thin.toml"
    file.write_text(LINE.format(word="aggressive", more=""))
    found = tidegate("run", file, "--engine", "live")
    assert found.returncode != 0
    assert "gate.up.queue.aqm.cake.ack_filter" in found.stderr
