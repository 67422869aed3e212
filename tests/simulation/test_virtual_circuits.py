"""Virtual circuits in a path: equal shares of equal circuits, contracts, and what one queue would do."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg
from support.common import EXAMPLES

CELL = 53
SECONDS = 8


def path(
    rates: list[float], *, cells: bool, scheduler: str | None = None, cdvt: str = "200 us"
) -> dict[str, Any]:
    """Return sources that send more than their own contract on a path of 10 Mbit/s."""

    def shaper(rate: float) -> dict[str, Any]:
        if cells:
            return {"gcra": {"pcr": f"{rate} Mbit/s", "cdvt": cdvt, "link": "150 Mbit/s"}}
        return {"token_bucket": {"rate": f"{rate} Mbit/s", "burst": "6 kB"}}

    framing = {"framing": "aal5"} if cells else {}
    limit = "500 cells" if cells else "50 packets"
    gates: dict[str, Any] = {
        f"own{n}": {"per": "flow", "rate": shaper(rate), "queue": limit, **framing}
        for n, rate in enumerate(rates)
    }
    gates["path"] = {"rate": shaper(10), "queue": limit, **framing}
    if scheduler:
        gates["path"]["scheduler"] = scheduler
    source = {"constant": {"rate": "20 Mbit/s", "packet": "1500 B"}}
    return {
        "duration": f"{SECONDS} s",
        "warmup": "1 s",
        "seed": 1,
        "gate": gates,
        "traffic": {f"s{n}": {"path": [f"own{n}", "path"], "source": source} for n in range(len(rates))},
    }


def shares(scenario: dict[str, Any]) -> list[float]:
    """Return what each circuit sends, in Mbit/s on the wire."""
    classes = tg.run(scenario, record="summary").gates["path"].summary["classes"]
    return [8e-6 * row["delivered_bytes"] / (SECONDS - 1) for row in classes]


@pytest.mark.parametrize("cells", [True, False])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_equal_circuits_are_within_one_unit(count: int, cells: bool) -> None:
    run = tg.run(path([8] * count, cells=cells), record="summary")
    units = [
        row["delivered_bytes"] // (CELL if cells else 1500) for row in run.gates["path"].summary["classes"]
    ]
    assert max(units) - min(units) <= 1
    assert sum(units) * (CELL if cells else 1500) * 8 / (SECONDS - 1) == pytest.approx(10e6, rel=1e-3)


@pytest.mark.parametrize("cells", [True, False])
def test_circuits_that_fit_have_their_contracts(cells: bool) -> None:
    assert shares(path([1, 2, 4], cells=cells)) == pytest.approx([1, 2, 4], rel=1e-3)


def test_of_unequal_circuits_the_larger_has_more() -> None:
    large, small = shares(path([8, 4], cells=True))
    assert large + small == pytest.approx(10, rel=1e-3)
    assert 3 < small < 4 < large < 8


def test_without_tolerance_what_is_late_stays_late() -> None:
    """A cell that waits for its slot delays all after it, and part of the path is idle."""
    large, small = shares(path([8, 4], cells=True, cdvt="0 s"))
    assert (large, small) == pytest.approx((6.154, 3.077), rel=2e-3)


def test_one_queue_shuts_a_circuit_out() -> None:
    """With one queue for all, cells that come at the same instants are not served alike."""
    goodput = {}
    for scheduler in ("fifo", "spacer"):
        run = tg.run(
            EXAMPLES / "virtual-path.toml", changes={"gate.vp.scheduler": scheduler}, record="summary"
        )
        assert ("classes" in run.gates["vp"].summary) == (scheduler == "spacer")
        goodput[scheduler] = sorted(run.flows[name]["goodput_bps"] for name in "ab")
    assert goodput["fifo"][1] > 5 * goodput["fifo"][0]
    assert goodput["spacer"][0] == pytest.approx(goodput["spacer"][1], rel=0.01)
    assert goodput["spacer"][0] > 4e6


def test_classes_of_cells_have_their_weights() -> None:
    """WFQ at a cell gate: shares by weight, packet discard by class, every way of passing cells alike."""
    scenario = path([30, 30], cells=True)
    limit = {"limit": "300 cells"}
    scenario["gate"]["path"] = {
        "framing": "aal5",
        "rate": "10 Mbit/s",
        "queue": {"epd": "200 cells", "ppd": True},
        "scheduler": "wfq",
        "classes": {
            "heavy": {"members": ["s0"], "queue": limit, "weight": 3},
            "rest": {"queue": limit},
        },
    }
    run = tg.run(scenario, record="summary")
    gate = run.gates["path"].summary
    heavy, rest = gate["classes"]
    assert heavy["delivered_cells"] == pytest.approx(3 * rest["delivered_cells"], rel=0.01)
    for key in ("offered_cells", "delivered_cells", "dropped_cells"):
        assert heavy[key] + rest[key] == gate[key]
    assert set(rest["drops"]) == {"packet discard"}
    assert rest["queue_max_cells"] <= 300
    single = tg.run({**scenario, "cells": "one-by-one"}, record="summary")
    assert single.gates["path"].summary == gate
