"""Policers in whole runs: what passes conforms, and tagged packets go first."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import tidegate as tg
from tidegate._run.text import run_report


def scenario(gate: dict[str, Any]) -> dict[str, Any]:
    """One source of 8 Mbit/s in packets of 1000 bytes before a gate, and a silent flow beside it."""
    return {
        "duration": "10 s",
        "gate": {"link": gate},
        "traffic": {
            "probe": {"path": ["link"], "source": {"poisson": {"rate": "8 Mbit/s", "packet": "1000 B"}}}
        },
        "flow": {
            "x": {
                "path": ["link"],
                "start": "9 s",
                "app": "bulk",
                "tcp": {"base": "rfc", "window": "1 segment"},
            }
        },
        "record": {"every": "events"},
    }


def test_a_policer_passes_its_rate_and_drops_the_rest() -> None:
    policed = tg.run(scenario({"rate": "20 Mbit/s", "police": {"pcr": "5 Mbit/s", "burst": "10 kB"}}))
    link = policed.gates.row("link")
    passed_bits = link.summary["delivered_packets"] * 1000 * 8
    assert passed_bits > 0.98 * 5e6 * 10
    # Never more than the rate and one full bucket.
    assert passed_bits <= 5e6 * 10 + 10_000 * 8
    assert link.summary["dropped_packets"] > 2000
    assert set(policed.drops["reason"]) == {"policed"}


def test_tagged_packets_are_dropped_first() -> None:
    contract = {"pcr": "5 Mbit/s", "burst": "10 kB", "action": "tag"}
    gate = {"rate": "6 Mbit/s", "queue": {"limit": "50 packets", "clp1": "5 packets"}, "police": contract}
    run = tg.run(scenario(gate))
    link = run.gates.row("link").summary
    # What conforms fits; what is above it uses what is left, and never more than five packets of queue
    # are there when one of those is let in.
    assert link["utilisation"] > 0.9
    assert link["dropped_packets"] > 1000
    # A full bucket of ten may stand behind those five.
    assert link["queue_max_packets"] <= 5 + 10 + 1


@pytest.mark.parametrize("slotted", [False, True])
def test_a_shapers_cells_pass_the_policer_of_the_same_contract(slotted: bool) -> None:
    contract = {"pcr": "3 Mbit/s", "cdvt": "500 us"}
    link = {"framing": "aal5", "rate": "20 Mbit/s", "slotted": slotted, "police": contract}
    cells = scenario(link)
    policed = tg.run(cells, seed=1)
    assert policed.gates.row("link").summary["dropped_cells"] > 1000
    assert "policed" in set(policed.drops["reason"])
    assert tg.run({**cells, "cells": "one-by-one"}, seed=1).to_json() == policed.to_json()
    shaper = {"framing": "aal5", "rate": {"gcra": {**contract, "link": "20 Mbit/s"}}}
    cells["gate"]["shaper"] = shaper
    cells["traffic"]["probe"]["path"] = ["shaper", "link"]
    cells["flow"]["x"]["path"] = ["shaper", "link"]
    assert tg.run(cells).gates.row("link").summary["dropped_cells"] == 0


def contract_of(police: dict[str, Any], **gate: Any) -> dict[str, Any]:
    """One long download over 40 ms through a policed gate of 1 Gbit/s."""
    return {
        "duration": "30 s",
        "warmup": "5 s",
        "gate": {"isp": {"rate": "1 Gbit/s", "delay": "20 ms", "police": police, **gate}},
        "flow": {"bulk": {"path": ["isp"], "tcp": {"base": "rfc", "cc": "cubic"}}},
    }


def summary_of(police: dict[str, Any], **gate: Any) -> dict[str, Any]:
    summary = tg.run(contract_of(police, **gate), seed=1, record="summary").summary
    return {key: value for key, value in summary.items() if key != "scenario"}


def test_a_policed_flow_names_its_policer() -> None:
    run = tg.run(contract_of({"rate": "20 Mbit/s", "burst": "50 kB"}), seed=1)
    flow, gate = run.flows["bulk"], run.gates["isp"]
    assert flow["limited_by"]["policer of isp"] > 0.9
    assert flow["policed_packets"] == flow["dropped_packets"] == gate["policed_packets"] > 10
    assert gate["drops"] == {"policed": gate["dropped_packets"]}
    # Of the contract, not of the line of 1 Gbit/s.
    assert 0.3 < gate["utilisation"] == gate["contract_utilisation"] < 0.6
    assert gate["contract_bps"] == 20e6
    report = run_report(run.summary, run.title)
    assert "policer of isp" in report
    assert "policed" in report


@pytest.mark.parametrize("slotted", [False, True])
def test_cells_one_by_one_are_told_the_same(slotted: bool) -> None:
    two = {"pir": "6 Mbit/s", "pbs": "50 cells", "cir": "3 Mbit/s", "cbs": "40 cells", "conformance": "vbr3"}
    link = {"framing": "aal5", "rate": "20 Mbit/s", "slotted": slotted, "police": two}
    trains = tg.run(scenario(link), seed=1)
    gate, probe = trains.gates["link"], trains.summary["traffic"][0]
    assert gate["tagged_cells"] >= probe["tagged_cells"] > 1000
    assert gate["policed_cells"] > 1000
    assert gate["conforming_bytes"] <= gate["contract_bytes"] + 53
    tokens = gate.series("tokens")["tokens"]
    assert tokens.max() <= 40 * 53
    one_by_one = tg.run({**scenario(link), "cells": "one-by-one"}, seed=1)
    assert one_by_one.to_json() == trains.to_json()
    assert one_by_one.gates["link"].series("tokens")["tokens"].equals(tokens)


def test_every_set_of_names_says_the_same() -> None:
    plain = summary_of({"rate": "20 Mbit/s", "burst": "50 kB"})
    assert summary_of({"cir": "20 Mbit/s", "cbs": "50 kB"}) == plain
    assert summary_of({"pcr": "20 Mbit/s", "burst": "50 kB"}) == plain
    two = {"pcr": "30 Mbit/s", "burst": "100 kB", "scr": "20 Mbit/s", "mbs": "60 kB", "conformance": "vbr3"}
    rfc = {"pir": "30 Mbit/s", "pbs": "100 kB", "cir": "20 Mbit/s", "cbs": "60 kB", "conformance": "vbr3"}
    assert summary_of(rfc) == summary_of(two)
    assert summary_of(rfc)["gates"][0]["contract_bps"] == 20e6


def test_names_of_a_token_bucket() -> None:
    def shaped(**law: str) -> dict[str, Any]:
        scenario = contract_of({})
        scenario["gate"]["isp"] = {"rate": {"token_bucket": law}, "queue": "60 packets", "delay": "20 ms"}
        return tg.run(scenario, seed=1).summary

    own = shaped(rate="20 Mbit/s", burst="50 kB", peak="1 Gbit/s")
    assert shaped(cir="20 Mbit/s", cbs="50 kB", pir="1 Gbit/s") == own


def test_cells_have_the_same_names() -> None:
    one = summary_of({"rate": "20 Mbit/s", "burst": "100 cells"}, framing="aal5")
    assert summary_of({"cir": "20 Mbit/s", "cbs": "100 cells"}, framing="aal5") == one
    gate = one["gates"][0]
    assert gate["policed_cells"] > 10
    # A lost last cell joins its packet to the next, which then fails too.
    assert gate["drops"].keys() == {"policed", "reassembly"}
    assert gate["policed_packets"] == gate["drops"]["policed"] > 1
    # Of the packets that wait for nothing it is never the window alone; some wait for the one before.
    shares = one["flows"][0]["limited_by"]
    assert shares["congestion window"] < 0.01
    assert shares["policer of isp"] > 0.8


def test_a_source_without_tcp_is_told_its_own_drops() -> None:
    file = scenario({"rate": "20 Mbit/s", "police": {"rate": "5 Mbit/s", "burst": "10 kB"}})
    run = tg.run(file)
    probe = run.summary["traffic"][0]
    assert probe["drops"] == {"policed": probe["policed_packets"]}
    assert set(run.drops["traffic"].cast(pl.String).drop_nulls()) == {"probe"}
    assert run.drops.filter(run.drops["flow"].is_null()).height == probe["dropped_packets"]
    assert "traffic probe" in run_report(run.summary, run.title)
    # Without any flow the column is still one of names.
    del file["flow"]
    alone = tg.run(file)
    assert alone.drops["flow"].null_count() == alone.drops.height > 1000


def test_tags_are_counted() -> None:
    contract = {"rate": "5 Mbit/s", "burst": "10 kB", "action": "tag"}
    run = tg.run(
        scenario(
            {"rate": "6 Mbit/s", "queue": {"limit": "50 packets", "clp1": "5 packets"}, "police": contract}
        )
    )
    link, probe = run.gates["link"].summary, run.summary["traffic"][0]
    flow = run.flows["x"]["tagged_packets"]
    assert link["tagged_packets"] == probe["tagged_packets"] + flow > 1000
    assert link["policed_packets"] == 0
    # A policer that tags does not limit: used is of the rate law.
    assert link["utilisation"] > link["contract_utilisation"] * 0.9


@pytest.mark.parametrize(
    ("burst", "least", "most"),
    [("25 kB", 0.17, 0.26), ("50 kB", 0.34, 0.52), ("100 kB", 0.74, 0.96), ("200 kB", 0.79, 1.02)],
)
def test_what_a_burst_is_worth(burst: str, least: float, most: float) -> None:
    """The rule that ``check --explain`` states: bandwidth × round trip is 100 kB."""
    for cc in ("reno", "cubic"):
        file = contract_of({"rate": "20 Mbit/s", "burst": burst})
        file["flow"]["bulk"]["tcp"]["cc"] = cc
        goodput = tg.run(file, seed=1).flows["bulk"]["goodput_bps"] / (20e6 * 1460 / 1500)
        assert least < goodput < most


def test_what_a_shaper_lets_out_conforms_to_the_same_contract() -> None:
    file = contract_of({"rate": "20 Mbit/s", "burst": "50 kB"})
    shaper = {
        "rate": {"token_bucket": {"rate": "20 Mbit/s", "burst": "50 kB", "peak": "1 Gbit/s"}},
        "queue": "67 packets",
    }
    file["gate"]["shaper"] = shaper
    file["flow"]["bulk"]["path"] = ["shaper", "isp"]
    run = tg.run(file, seed=1)
    assert run.gates["isp"]["dropped_packets"] == 0
    assert run.flows["bulk"]["goodput_bps"] > 0.95 * 20e6 * 1460 / 1500


def test_a_policer_holds_a_flow_back() -> None:
    file = contract_of({"rate": "20 Mbit/s", "burst": "50 kB"})
    del file["gate"]["isp"]["rate"]
    loaded = tg.Scenario.from_dict(file)
    assert loaded.warnings == []
    told = loaded.explain()
    assert "bottleneck: the policer of gate isp; 20 Mbit/s on the wire" in told
    assert "0.5 × bandwidth × round trip: expect one TCP flow below the rate, at 35 to 50% of it" in told
    file["flow"]["bulk"]["tcp"] = {}
    assert "below the rate, at 35 to 95% of it" in tg.Scenario.from_dict(file).explain()
