"""Policers in whole runs: what passes conforms, and tagged packets go first."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg


def scenario(gate: dict[str, Any]) -> dict[str, Any]:
    """One source of 8 Mbit/s in packets of 1000 bytes before a gate, and a silent flow beside it."""
    return {
        "duration": "10 s",
        "gate": {"link": gate},
        "traffic": {
            "probe": {"path": ["link"], "source": {"poisson": {"rate": "8 Mbit/s", "packet": "1000 B"}}}
        },
        "flow": {"x": {"path": ["link"], "start": "9 s", "app": "bulk", "tcp": {"window": "1 segment"}}},
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
