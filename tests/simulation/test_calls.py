"""Pools, circuits and calls in whole runs: what is reserved, who is served first, the examples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, summary
from tidegate._ask.compiled import simulate
from tidegate._ask.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path


def test_a_smaller_call_passes_only_where_it_may() -> None:
    text = """
duration = "2000 s"
[pool.p]
capacity = "10 Mbit/s"
order = "ORDER"
[calls.large]
pool = "p"
rate = "8 Mbit/s"
every = { exponential = "30 s" }
hold = { exponential = "2 s" }
[calls.small]
pool = "p"
rate = "2 Mbit/s"
every = { exponential = "0.3 s" }
hold = { exponential = "1 s" }
"""
    waits = {}
    for order in ("asked", "first fit"):
        rows = summary(text.replace("ORDER", order))["calls"]
        waits[order] = {row["name"]: row["call_wait_mean_s"] for row in rows}
    assert waits["first fit"]["small"] < 0.8 * waits["asked"]["small"]
    assert waits["first fit"]["large"] > 2 * waits["asked"]["large"]


def example(name: str, **options: Any) -> dict[str, Any]:
    scenario = Scenario.load(EXAMPLES / name, **options)
    found: dict[str, Any] = json.loads(simulate(scenario, seed=1, record="summary").summary_json)
    return found


@pytest.mark.parametrize("name", ["circuits.toml", "links.toml"])
def test_what_is_reserved_is_what_is_open(name: str) -> None:
    """Without set-up a circuit holds of each of its pools what it has, for as long as it is open."""
    # Other calls hold more than their circuits show: none here.
    sets = {"calls.others.every": "1000000 s", "gate.vc.rate.reserve.setup": "0 s"}
    found = example(name, changes=sets if name == "circuits.toml" else {})
    rate = {"vc": 50e6}.get("vc" if name == "circuits.toml" else "", 40e6)
    over = {
        "vp": ("vc/",),
        "server": ("near/", "middle/", "far/"),
        "a-b": ("middle/", "far/"),
        "b-c": ("far/",),
    }
    for pool in found["pools"]:
        circuits = [
            row
            for row in found["gates"]
            if row["name"].startswith(over[pool["name"]]) and not row["name"].endswith("/back")
        ]
        reserved = sum(rate * row["open_share"] for row in circuits)
        assert pool["reserved_mean_bps"] == pytest.approx(reserved, rel=1e-9)
        assert pool["reserved_max_bps"] <= pool["capacity_bps"]
        assert pool["calls_offered"] == sum(row["calls_offered"] for row in circuits)
    for row in found["gates"]:
        if row["name"].endswith("/back"):
            there = next(other for other in found["gates"] if f"{other['name']}/back" == row["name"])
            assert row["open_share"] == there["open_share"], "one call for both directions"


def test_clients_at_three_switches_share_links_and_a_processor() -> None:
    found = example("links.toml")
    gates = {row["name"]: row for row in found["gates"]}
    # Data and acknowledgements of all five pass the server's processor.
    through = sum(row["delivered_packets"] for name, row in gates.items() if name.endswith("/back"))
    sent = sum(row["segments_sent"] for row in found["flows"])
    assert gates["ip"]["offered_packets"] == pytest.approx(sent + through, rel=0.01)
    assert [row["name"] for row in found["pools"]] == ["server", "a-b", "b-c"]
    # One circuit fits on the last link, two on the one before it, three on the first.
    most = {row["name"]: row["reserved_max_bps"] for row in found["pools"]}
    assert most == {"server": 120e6, "a-b": 80e6, "b-c": 40e6}
    assert all(flow["goodput_bps"] > 1e6 for flow in found["flows"])


TRANSFER = """
duration = "20 s"
[pool.p]
capacity = "10 Mbit/s"
[gate.vc]
duplex = true
delay = "30 ms"
rate.reserve = { pool = "p", rate = "10 Mbit/s", hold = "HOLD" }
[flow.one]
path = ["vc"]
back = ["vc"]
app.transfer = "300 kB"
tcp.delayed_ack = false
tcp.base = "rfc"
"""


def test_a_transfer_keeps_its_circuit_to_its_last_acknowledgement() -> None:
    found = summary(TRANSFER.replace("HOLD", "0 s"))
    flow, there = found["flows"][0], found["gates"][0]
    # Many round trips in which nothing is in the circuit, and one call.
    assert there["calls_offered"] == 1
    # From the SYN to the last ACK, which takes 40 bytes and the way back after the last byte.
    last_ack = 40 * 8 / 10e6 + 0.03
    assert there["open_share"] * 20 == pytest.approx(flow["completion_s"] + last_ack, abs=1e-9)
    held = summary(TRANSFER.replace("HOLD", "1.5 s"))
    assert held["gates"][0]["open_share"] * 20 == pytest.approx(there["open_share"] * 20 + 1.5, abs=1e-9)
    bulk = summary(TRANSFER.replace("HOLD", "0 s").replace('app.transfer = "300 kB"', ""))
    assert bulk["gates"][0]["open_share"] == 1.0


def test_packets_without_tcp_ask_one_by_one_or_keep_the_circuit() -> None:
    text = (
        TRANSFER.split("[flow.one]")[0]
        + """
[traffic.bg]
path = ["vc"]
source.constant = { rate = "1 Mbit/s", packet = "1250 B" }
"""
    )
    alone = summary(text.replace("HOLD", "0 s"))
    assert alone["pools"][0]["calls_offered"] == alone["traffic"][0]["packets_sent"] == 2000
    # A packet takes a millisecond every ten.
    assert alone["gates"][0]["open_share"] == pytest.approx(0.1)
    kept = summary(text.replace("HOLD", "9.5 ms"))
    assert (kept["pools"][0]["calls_offered"], kept["gates"][0]["open_share"]) == (1, 1.0)


def test_a_packet_whose_call_is_refused_is_dropped_for_that_reason() -> None:
    text = (
        TRANSFER.replace('hold = "HOLD"', 'blocked = "refuse"')
        + """
[calls.other]
pool = "p"
rate = "1 Mbit/s"
every = "1 ms"
hold = "1 h"
blocked = "refuse"
[record]
every = "events"
"""
    )
    run = tg.run(Scenario.from_toml(text.replace("[flow.one]", '[flow.one]\nstart = "1 s"')), seed=1)
    drops = run.gates["vc"].drops()
    # SYN after SYN: 1, 2, 4 and 8 seconds apart.
    assert [round(at, 3) for at in drops["time_s"]] == [1, 2, 4, 8, 16]
    assert set(drops["reason"].cast(str).to_list()) == {"refused"}
    assert run.gates["vc"]["calls_refused"] == len(drops)
    assert run.calls["other"]["calls_carried"] == 10


def test_a_study_has_pools_and_calls(tmp_path: Path) -> None:
    study = tg.study(EXAMPLES / "circuits.toml", vary={"pool.vp.order": ["asked", "first fit"]}, runs=3)
    assert study.pools.height == study.calls.height == 6
    where = {"order": "asked"}
    shares = study.values("pool.vp.calls_blocked", where)
    assert shares == [
        row["calls_blocked"] for row in study.pools.filter(study.pools["pool.vp.order"] == "asked").to_dicts()
    ]
    assert study.estimate("calls.others.calls_offered", where).mean > 5
    assert study.estimate("gate.vc/client.1.open_share", where).mean > 0.1
    again = tg.open(study.save(tmp_path / "study"))
    assert again.values("pool.vp.calls_blocked", where) == shares
    with pytest.raises(tg.errors.UnknownNameError, match="calls_blocked"):
        study.values("pool.vp.calls_blockd", where)


def test_a_closed_pool_is_told_of() -> None:
    found = example(
        "circuits.toml",
        changes={
            "pool.vp.capacity": "60 Mbit/s",
            "gate.vc.rate.reserve.hold": "forever",
            "calls.others.every": "1000000 s",
        },
    )
    opened = [row for row in found["gates"] if row["open_share"] > 0]
    assert len(opened) == 2, "the first client keeps the only circuit, both ways"
    assert sum("was not open in the measured time" in text for text in found["warnings"]) == 4
