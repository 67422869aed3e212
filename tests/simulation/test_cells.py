"""Cells in whole runs: the papers' scenarios, trains and cells one by one, the fluid and the theorems."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tidegate as tg
from support.common import ROOT
from tidegate.theory import _spacer_match

SCENARIOS = Path(os.environ.get("TIDEGATE_SCENARIOS", ROOT.parent / "shared" / "scenarios"))
TABLES = ("flows", "gates", "drops", "marks")


def paper(name: str) -> Path:
    """A paper's scenario; they are not part of the project."""
    path = SCENARIOS / name
    if not path.is_file():
        pytest.skip(f"no {name} in {SCENARIOS} (set TIDEGATE_SCENARIOS)")
    return path


# --- a spacer -------------------------------------------------------------------------------------


def test_the_spacers_scenario_runs_as_it_is() -> None:
    scenario = tg.load(paper("cell-spacing.toml"))
    assert scenario.warnings == []
    assert "15.264 Mbit/s of cells = 13.6 Mbit/s of IP for 1516-byte packets" in scenario.explain()
    run = tg.run(scenario)
    host, spacer = (run.gates.row(name).summary for name in ("host", "spacer"))
    # 1516 bytes and a trailer of 8 are 32 cells of 48, with 12 bytes of padding.
    assert host["offered_cells"] == 32 * host["offered_packets"]
    assert host["padding_bytes"] == 12 * host["offered_packets"]
    # Packets count where they are put together again, after the delay of about one packet time.
    assert spacer["delivered_cells"] / 32 - spacer["delivered_packets"] <= 3
    # A buffer of one window loses nothing.
    assert spacer["dropped_cells"] == spacer["wasted_cells"] == 0
    assert spacer["queue_max_cells"] <= 1300
    # What a cell gate does not know is not there.
    assert host["delivered_packets"] is None
    assert spacer["offered_packets"] is None
    assert spacer["padding_bytes"] is None
    assert spacer["queue_mean_packets"] is None
    assert run.flows["x"]["goodput_bps"] == pytest.approx(15.264e6 / 424 / 32 * 1476 * 8, rel=2e-3)


@pytest.mark.parametrize(
    ("rtt", "low", "high"), [("1.8097222 ms", 1182.4, 1217.6), ("2.6986111 ms", 1150.4, 1185.6)]
)
def test_section_6_of_the_spacing_paper(rtt: str, low: float, high: float) -> None:
    """With w = 41 segments of 32 cells and 3.6 ms as Δ' and as Δ."""
    changes = {"flow.x.rtt": rtt, "duration": "500 ms"}
    run = tg.run(tg.load(paper("cell-spacing.toml"), changes=changes), record="events")
    end = run.gates["spacer"].series("queue").filter(pl.col("time_s") > 0.3)
    # The round trip is written to 0.1 ns only, which is 4e-6 cells.
    assert end["fluid"].min() == pytest.approx(low, abs=5e-6)
    assert end["fluid"].max() == pytest.approx(high, abs=5e-6)
    assert abs(end["cells"].min() - low) <= 2
    assert abs(end["cells"].max() - high) <= 2
    assert end.columns == ["time_s", "cells", "fluid"]


@pytest.mark.parametrize(("rate", "segments"), [("5 Mbit/s", 368.5), ("10 Mbit/s", 737.0)])
def test_goodput_follows_the_spacing_rate(rate: str, segments: float) -> None:
    changes = {"gate.spacer.rate": rate, "duration": "12 s", "warmup": "2 s"}
    run = tg.run(tg.load(paper("cell-spacing.toml"), changes=changes), record="summary")
    assert run.flows["x"]["goodput_bps"] / (8 * 1476) == pytest.approx(segments, abs=0.3)
    assert run.gates["spacer"]["dropped_cells"] == 0


def test_a_rate_that_is_changed_twice() -> None:
    """Fig. 2: 33.92, 5, then 10 Mbit/s, and an application that offers 2 Mbyte/s."""
    changes = {
        "duration": "18 s",
        "gate.spacer.rate": {"steps": [["0 s", "33.92 Mbit/s"], ["6 s", "5 Mbit/s"], ["12 s", "10 Mbit/s"]]},
        "flow.x.app": {"constant": {"rate": "2 MB/s", "write": "1476 B"}},
        "flow.x.tcp.delayed_ack": {"every": 2, "timeout": "200 ms"},
    }
    run = tg.run(tg.load(paper("cell-spacing.toml"), changes=changes), record="10 ms")
    assert run.gates["spacer"]["dropped_cells"] == 0
    sent = run.gates["spacer"].series("delivered")
    bytes_at = {float(row["time_s"]): float(row["bytes"]) for row in sent.iter_rows(named=True)}

    def carried(begin: float, end: float) -> float:
        return 8 * (bytes_at[end] - bytes_at[begin]) / (end - begin)

    assert carried(2, 6) == pytest.approx(16e6 / 1476 / 8 * 32 * 424, rel=0.01)
    assert carried(7, 12) == pytest.approx(5e6, rel=1e-3)
    assert carried(13, 17) == pytest.approx(10e6, rel=1e-3)


# --- the fluid and the theorems -------------------------------------------------------------------


def drawn(draw: random.Random) -> dict[str, Any]:
    """A scenario that the theory covers, in cells; rates and times are exact."""
    every = draw.choice([1, 2])
    sigma = draw.choice([2, 3, 8, 13, 32])
    initial = draw.randrange(every, every + 3)
    threshold = initial + draw.randrange(0, 30)
    window = threshold + draw.choice([0, 1, draw.randrange(0, 10)])
    # 12.5 us for a cell of the host; spacing rates below, at and above half of it.
    share = draw.choice([draw.randrange(10, 50), 50, draw.randrange(51, 96)])
    return {
        "duration": "1 s",
        "gate": {
            "host": {"framing": "aal5", "rate": "33.92 Mbit/s", "host": True},
            "spacer": {"framing": "aal5", "rate": f"{339_200 * share} bit/s"},
        },
        "flow": {
            "x": {
                "path": ["host", "spacer"],
                "rtt": f"{draw.randrange(1, 4000) * 12_500 + draw.randrange(3)} ns",
                "tcp": {
                    "base": "bsd44",
                    "cc": "reno",
                    "mss": f"{48 * sigma - 48} B",
                    "window": f"{window} segments",
                    "initial_window": f"{initial} segments",
                    "initial_ssthresh": f"{threshold} segments",
                    "increase": "per window",
                    "delayed_ack": False if every == 1 else {"every": 2, "timeout": "never"},
                    "handshake": False,
                },
            }
        },
        "record": {"every": "events", "spacer": ["queue_cells", "queue_fluid"]},
    }


def extremes(queue: pl.DataFrame, begin: float, end: float) -> tuple[float, float, int, int]:
    """Least and largest fluid, least and largest number of cells, in [begin, end]."""
    part = queue.filter(pl.col("time_s").is_between(begin, end))
    return part["fluid"].min(), part["fluid"].max(), part["cells"].min(), part["cells"].max()  # type: ignore[return-value]


def test_the_fluid_is_what_the_theorems_say() -> None:
    """Both regimes, to a millionth of a cell; whole cells within two."""
    draw = random.Random(11)
    kinds = set()
    at_threshold = 0
    for _ in range(250):
        text = drawn(draw)
        fit, *_ = tg.theory.match(text)
        assert isinstance(fit, tg.theory.Fit), fit
        found = fit.result
        cell = float(fit.parameters["cell_time_s"])
        trip = float(Fraction(found.delta) + Fraction(found.V_w_plus) / Fraction(found.c)) * cell
        settled = 1.2 * float(_spacer_match._settled(found)) * cell + 5 * trip
        if settled > 0.5:
            continue
        end = settled + 10 * trip + 0.001
        text["duration"] = f"{round(end * 1e6)} us"
        run = tg.run(text, seed=1)
        assert run.gates["spacer"]["dropped_cells"] == 0
        queue = run.gates["spacer"].series("queue")
        low, high, least, most = extremes(queue, settled, end)
        what = run.manifest["scenario"]
        assert low == pytest.approx(float(found.V_w_minus), abs=1e-6), what
        assert high == pytest.approx(float(found.V_w_plus), abs=1e-6), what
        assert abs(least - float(found.V_w_minus)) <= 2, what
        assert abs(most - found.V_w_plus_cells) <= 2, what
        kinds.add((found.segments_per_ack, 2 * found.c < found.h, 2 * found.c == found.h, low > 0))
        if found.first_increment is None or found.first_increment <= found.t_b:
            continue
        # Between the last step of slow start and the first of congestion avoidance. Theory counts from
        # the first bit in the spacer, one cell time after the start.
        begin, until = ((float(time) + 1) * cell for time in (found.t_b, found.first_increment))
        period = float(Fraction(found.segment_cells * found.segments_per_ack) / Fraction(found.c)) * cell
        if until - begin < 2 * period:
            continue
        low, high, _, _ = extremes(queue, begin + 1e-10, until - 1e-10)
        assert low == pytest.approx(float(found.V_b_minus), abs=1e-6), what
        assert high == pytest.approx(float(found.V_b_plus), abs=1e-6), what
        at_threshold += 1
    assert len(kinds) >= 8, kinds
    assert at_threshold >= 40


# --- shaped connections ---------------------------------------------------------------------------


def shaped(**changes: Any) -> tg.Scenario:
    sets = {key.replace("__", "."): value for key, value in changes.items()}
    return tg.load(paper("traffic-shaping.toml"), changes={"duration": "15 s", "warmup": "5 s", **sets})


def test_the_shaping_papers_scenario_runs_as_it_is() -> None:
    scenario = tg.load(paper("traffic-shaping.toml"))
    assert scenario.warnings == []
    assert scenario.combinations == 16
    names = [f"shaper/tcp.{n}" for n in range(1, 5)] + [f"bgshaper/bg.{n}" for n in range(1, 5)] + ["L0"]
    run = tg.run(scenario, record="summary")
    assert run.gates.names == names
    link = run.gates["L0"]
    # Four connections at 35 Mbit/s and 50 Mbit/s of background do not fit.
    assert link["dropped_cells"] > 0
    assert link["wasted_cells"] > 0
    # 9180 B + 40 B + 8 B are 193 cells.
    # Packets count when they are segmented, cells when they leave: what waits at either end differs.
    for gate in (run.gates[name] for name in names[:4]):
        difference = 193 * gate["offered_packets"] - gate["offered_cells"]
        assert abs(difference) <= gate["queue_max_cells"] + 1
    background = sum(run.gates[f"bgshaper/bg.{n}"]["offered_cells"] for n in range(1, 5))
    assert background * 424 / 35 == pytest.approx(50e6, rel=0.03)


@pytest.mark.parametrize(
    "changes",
    [
        # 4 × 20 + 4 × 15 = 140 Mbit/s.
        {"gate__shaper__rate__gcra__pcr": "20 Mbit/s"},
        # Rounded to whole slots: 4 × 37.5 = 150 Mbit/s, without background.
        {"gate__shaper__rate__gcra__slots": "rounded", "traffic__bg__count": 0},
        # 4 × 18.75 + 75 = 150 Mbit/s.
        {
            "gate__shaper__rate__gcra": {"pcr": "20 Mbit/s", "link": "150 Mbit/s", "slots": "rounded"},
            "gate__bgshaper__rate__gcra__pcr": "18.75 Mbit/s",
            "traffic__bg__source__messages__load": "15.625 Mbit/s",
        },
    ],
    ids=["140", "150 without background", "150 with background"],
)
@pytest.mark.parametrize("slotted", [True, False])
def test_what_fits_is_not_lost(changes: dict[str, Any], slotted: bool) -> None:
    run = tg.run(shaped(gate__L0__slotted=slotted, **changes), seed=3, record="summary")
    assert run.gates["L0"]["dropped_cells"] == run.gates["L0"]["wasted_cells"] == 0
    for flow in run.flows:
        assert flow["segments_retransmitted"] == 0
        # What is on its way at the end of the run has not been delivered yet.
        assert flow["efficiency"] > 0.98
        assert flow["goodput_bps"] > 16e6


def test_there_may_be_no_background() -> None:
    run = tg.run(shaped(traffic__bg__count=0), record="summary")
    assert run.summary["traffic"] == []
    assert run.gates.names == [f"shaper/tcp.{n}" for n in range(1, 5)] + ["L0"]


@pytest.mark.parametrize("record", ["summary", "7 ms"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cell-spacing.toml", {}),
        ("cell-spacing.toml", {"gate.spacer.queue": "700 cells"}),
        ("traffic-shaping.toml", {"gate.L0.slotted": False}),
        ("traffic-shaping.toml", {}),
        ("traffic-shaping.toml", {"gate.shaper.rate": "150 Mbit/s", "gate.L0.queue.epd": "800 cells"}),
    ],
)
def test_trains_are_cells_one_by_one(name: str, changes: dict[str, Any], record: str) -> None:
    """The same bytes on the papers' scenarios."""
    short = {"duration": "4 s", "warmup": "1 s", **changes}
    trains = tg.run(tg.load(paper(name), changes=short), seed=5, record=record)
    one = tg.run(tg.load(paper(name), changes={**short, "cells": "one-by-one"}), seed=5, record=record)
    assert one.to_json() == trains.to_json()
    if record != "summary":
        for table in TABLES:
            assert one.table(table).equals(trains.table(table)), table


def test_cells_one_by_one_keep_the_order_of_circuits_at_one_instant() -> None:
    """Acknowledgements that come without delay are behind nobody's cells of the same instant."""
    text = """
        duration = "2 s"
        seed = 2469
        gate.g0 = { framing = "aal5", rate = "465340 bit/s", queue = "40 cells" }
        gate.g1.framing = "aal5"
        gate.g1.rate.token_bucket = { rate = "2609889 bit/s", burst = "530 B" }
        gate.g1.queue = "100 cells"
        flow.f0 = { path = ["g1"], back = ["g0"] }
        flow.f1.path = ["g1"]
        traffic.m.path = ["g0"]
        traffic.m.source.messages = { load = "300 kbit/s", gaps = "constant", length = "5 cells" }
    """
    runs = [tg.run(tg.Scenario.from_toml(text), record="summary", exact=exact) for exact in (False, True)]
    one, exact = (run.summary["flows"] for run in runs)
    assert one == exact
