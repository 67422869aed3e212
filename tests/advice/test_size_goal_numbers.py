"""What a size at a gate is judged by: the numbers of a study, over the flows and copies that have them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES
from tidegate._advise.gate import _chosen
from tidegate._advise.gate_goal import parse
from tidegate._advise.gate_numbers import goodput_of
from tidegate._advise.gate_trials import GateTrials, Tried
from tidegate._base.estimate import Estimate
from tidegate._draw.drawing import Panel
from tidegate._run.completion import together

if TYPE_CHECKING:
    from pathlib import Path

LINK = {"rate": "8 Mbit/s", "queue": "40 packets", "delay": "10 ms"}
FLOW = {"path": ["link"], "rtt": "40 ms", "start": {"uniform": ["0 s", "100 ms"]}}
#: Two transfers, one after the other.
APART = {
    "duration": "10 s",
    "gate": {"link": LINK},
    "flow": {
        "a": {**FLOW, "app": {"transfer": "2 MB"}},
        "b": {**FLOW, "app": {"transfer": "2 MB"}, "start": {"uniform": ["5 s", "5.1 s"]}},
    },
}


def sized(scenario: Any, gate: str, goal: str, **more: Any) -> tg.GateSizing:
    return tg.size(scenario, gate, goal=goal, seed=3, runs=2, store=False, **more)


def test_goodput_is_the_total_of_a_study() -> None:
    found = sized(APART, "link", "goodput > 12 Mbit/s")
    assert not found.met
    for row in found.frontier:
        changes = {"gate.link.queue": f"{row.size} B"}
        study = tg.study(APART, changes=changes, seed=3, runs=2, store=False)
        assert row.goodput_bps == study.estimate("goodput_bps")
        assert row.goodput_share is not None
        assert (row.goodput_share.mean or 0) < 1


@pytest.mark.parametrize("duration", ["6 s", "until done"])
@pytest.mark.parametrize(
    "app", [{"transfer": "1 MB"}, {"request": {"response": "100 kB", "count": 3, "think": "100 ms"}}]
)
def test_goodput_of_some_flows(duration: str, app: dict[str, Any]) -> None:
    """A gate that not every flow passes: the same total over its flows, however long a run was."""
    flow = {**FLOW, "app": {"transfer": "1 MB"}}
    away = {**FLOW, "path": ["other"], "app": app, "start": {"uniform": ["1 s", "3 s"]}}
    scenario = {
        "duration": duration,
        "gate": {"link": LINK, "other": LINK},
        "flow": {"a": flow, "b": {**FLOW, "app": "bulk"}, "c": away},
    }
    study = tg.study(scenario, seed=3, runs=3, store=False)
    runs = [tg.run(scenario, seed=3, replication=n, record="summary").summary for n in range(3)]
    rows = [[row for row in run["flows"] if row["name"] in ("a", "b")] for run in runs]
    told = [together(run, row, "goodput_bps") for run, row in zip(runs, rows, strict=True)]
    assert goodput_of(study, 0, ["a", "b"]) == pytest.approx(told)


#: A flow that ends in the warm-up, and one that begins after the end.
WARM = {
    "duration": "6 s",
    "warmup": "3 s",
    "gate": {"isp": {"rate": "100 Mbit/s", "police": {"rate": "10 Mbit/s", "burst": "50 kB"}}},
    "flow": {
        "page": {**FLOW, "path": ["isp"], "app": {"transfer": "100 kB"}},
        "late": {**FLOW, "path": ["isp"], "start": "7 s"},
    },
}


def test_intervals_end_where_numbers_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of which one loses much and one nothing: no mean loss is below 0 or above 1."""
    few = {**APART, "duration": "2 s", "gate": {"link": {**LINK, "loss": 0.002}}, "flow": {"a": FLOW}}
    found = sized(few, "link", "loss < 0.5% and p99 rtt < 1 s")
    wide = [row for row in found.frontier if (row.loss.half_width or 0) > (row.loss.mean or 0)]
    assert wide, "no interval reaches below 0"
    for row in (*found.frontier, found.held_out):
        for number in (row.goodput_bps, row.goodput_share, row.delay_ms, row.rtt_ms):
            assert number is not None
            assert number.possible == (0.0, math.inf)
        assert row.loss.possible == (0.0, 1.0)
    told = [row["loss"]["low"] for row in found.to_dict()["frontier"]]
    assert min(low for low in told if low is not None) == 0.0
    drawn: list[tuple[list[float], list[float]]] = []
    monkeypatch.setattr(Panel, "uprights", lambda _self, _at, lows, highs, *_: drawn.append((lows, highs)))
    found.plot(tmp_path / "frontier.svg")
    assert len(drawn) == 3
    assert min(min(lows) for lows, _ in drawn) >= 0.0


def test_flows_without_a_number_have_no_part_in_a_goal() -> None:
    bulk = {**WARM, "flow": {**WARM["flow"], "bulk": {**FLOW, "path": ["isp"]}}}
    found = sized(bulk, "isp", "goodput > 90%")
    assert found.met
    alone = {**WARM, "flow": {"bulk": bulk["flow"]["bulk"]}}
    study = tg.study(bulk, changes={"gate.isp.police.burst": f"{found.size} B"}, seed=3, runs=2, store=False)
    answer = next(row for row in found.frontier if row.size == found.size)
    assert answer.goodput_bps == study.estimate("goodput_bps")
    assert sized(alone, "isp", "goodput > 90%").met


@pytest.mark.parametrize("goal", ["goodput > 90%", "loss < 1%", "p99 rtt < 1 s", "p99 delay < 1 s"])
def test_what_was_not_measured_is_open(goal: str) -> None:
    found = sized(WARM, "isp", goal)
    assert {row.verdict for row in found.frontier} == {"undecided"}
    assert (found.met, found.verdict) == (False, "undecided")
    assert "open, because nothing was measured" in found.report()
    assert "nearest" not in found.report()


def test_the_nearest_size_has_the_nearest_number() -> None:
    """A tight bucket makes the round trip of the worst packet longer, by time-outs."""
    policer = EXAMPLES / "policer.toml"
    found = sized(policer, "isp", "p99 rtt < 1 ms", changes={"duration": "15 s"})
    assert not found.met
    told = {row.size: row.rtt_ms.mean or 0.0 for row in found.frontier}
    assert told[found.size] == min(told.values())
    assert found.size > 12_500
    # The finer ladders are on both sides of it.
    sizes = sorted(told)
    place = sizes.index(found.size)
    for near in (sizes[place - 1], *sizes[place + 1 : place + 2]):
        assert max(near, found.size) / min(near, found.size) < 1.2


def test_near_is_by_the_bound_that_is_missed_most() -> None:
    bounds = parse("p99 delay < 100 ms and loss < 1%")

    def row(size: int, delay: float, loss: float) -> Tried:
        judged = (Estimate(delay, 1.0, None, 4), Estimate(loss, 0.0001, None, 4))
        verdicts = tuple(bound.verdict(found) for bound, found in zip(bounds, judged, strict=True))
        none = Estimate(None, None, None, 0)
        return Tried(size, none, None, none, none, none, judged, verdicts, ("", ""))

    rows = {each.size: each for each in (row(1, 90, 0.02), row(2, 105, 0.0105), row(3, 300, 0.001))}
    assert _chosen(rows, bounds, True).size == 2
    rows[4] = row(4, 99.5, 0.0001)
    assert _chosen(rows, bounds, True).size == 4


#: A gate with a copy for each flow: the window of one never fills its queue.
COPIES = {
    "duration": "4 s",
    "warmup": "1 s",
    "gate": {"link": {"per": "flow", "rate": "2 Mbit/s", "queue": "20 packets"}},
    "flow": {"good": {**FLOW, "tcp": {"window": "5 segments"}}, "bad": FLOW},
}


@pytest.mark.parametrize("goal", ["loss < 1%", "mean delay < 20 ms", "p99 delay < 50 ms"])
def test_the_worst_copy_decides(goal: str) -> None:
    found = sized(COPIES, "link", goal)
    answer = next(row for row in found.frontier if row.size == found.size)
    assert (found.met, found.copies, answer.decides) == (True, 2, ("link/bad",))
    assert "of 2 copies the worst decides: link/bad\n" in found.report()
    assert found.to_dict()["held_out"]["decides"] == ["link/bad"]
    (bound,) = parse(goal)
    column = "loss" if bound.what == "loss" else f"queue_delay_{bound.statistic}_ms"
    for row in found.frontier:
        changes = {"gate.link.queue": f"{row.size} B"}
        study = tg.study(COPIES, changes=changes, seed=3, runs=2, store=False)
        each = [bound.verdict(study.estimate(f"gate.link/{name}.{column}")) for name in ("good", "bad")]
        assert row.verdict == max(each, key=["met", "undecided", "missed"].index)


def test_what_copies_do_not_decide() -> None:
    found = sized(COPIES, "link", "p99 rtt < 10 s and goodput > 1 Mbit/s")
    assert "worst decides" not in found.report()
    assert "loss and wait are those of the worst" in found.report()


def test_goodput_of_copies_is_related_to_all_of_them() -> None:
    both = {**COPIES, "flow": {"one": FLOW, "two": {**FLOW, "tcp": {"mss": "500 B"}}}}
    found = sized(both, "link", "goodput > 95%")
    assert found.met
    shares = [row.goodput_share.mean or 0.0 for row in found.frontier if row.goodput_share is not None]
    assert 0.95 < max(shares) <= 1.001


def test_a_size_that_the_scenario_refuses_is_not_tried() -> None:
    """The rate of a token bucket is at most its peak, and the search begins near it."""
    bucket = {"rate": "40 Mbit/s", "burst": "30 kB", "peak": "100 Mbit/s"}
    scenario = {
        "duration": "3 s",
        "gate": {"link": {**LINK, "rate": {"token_bucket": bucket}}},
        "flow": {"bulk": FLOW},
    }
    key = "rate.token_bucket.rate"
    found = sized(scenario, "link", "goodput > 5 Mbit/s", key=key)
    assert found.met
    assert found.frontier[-1].size == 100_000_000
    assert "The scenario takes no rate.token_bucket.rate above 100 Mbit/s." in found.notes
    with pytest.raises(tg.errors.ScenarioError):
        tg.run(scenario, changes={f"gate.link.{key}": "100000001 bit/s"})


def test_a_smaller_size_that_the_scenario_refuses_is_not_tried() -> None:
    """The first flow has small packets, and the queue must hold those of the second."""
    flows = {"small": {**FLOW, "tcp": {"mss": "100 B"}}, "large": {**FLOW, "tcp": {"mss": "1460 B"}}}
    scenario = {"duration": "3 s", "gate": {"link": {**LINK, "rate": "1 Mbit/s"}}, "flow": flows}
    found = sized(scenario, "link", "loss < 90%")
    assert found.met
    assert found.size == found.frontier[0].size == 1512
    assert found.notes == ["The scenario takes no queue below 1.512 kB."]


def test_where_the_scenario_takes_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GateTrials, "floored", lambda *_: 100)
    message = r"takes no queue from 0\.1 kB to 0\.1 kB; gate\.link\.queue\.limit: a queue of 100 B cannot"
    with pytest.raises(tg.errors.ArgumentError, match=message):
        sized(APART, "link", "loss < 1%")


@pytest.mark.parametrize("key", ["queue", "police.burst"])
def test_a_gate_that_passes_cells_counts_in_cells(key: str, tmp_path: Path) -> None:
    police = {"police": {"rate": "2 Mbit/s", "burst": "500 cells"}} if key == "police.burst" else {}
    link = {"framing": "aal5", "rate": "4 Mbit/s", "queue": "200 cells", **police}
    scenario = {"duration": "4 s", "warmup": "1 s", "gate": {"link": link}, "flow": {"bulk": FLOW}}
    found = sized(scenario, "link", "goodput > 60%", key=key)
    assert (found.unit, found.key, found.met) == ("cells", key, True)
    assert f"{key} = {found.size} cells, the smallest" in found.report()
    assert found.plot(tmp_path / "cells.svg").is_file()
    # 1500 bytes and a trailer are 32 cells of 53 bytes.
    most = (2e6 if police else 4e6) * 1448 / (32 * 53)
    row = found.held_out
    assert row.goodput_share is not None
    assert row.goodput_share.mean == pytest.approx((row.goodput_bps.mean or 0) / most)
