"""What a size at a gate is judged by: the numbers of a study, over the flows and copies that have them."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg
from tidegate._advise.gate_goodput import goodput_of
from tidegate._run.completion import together

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
