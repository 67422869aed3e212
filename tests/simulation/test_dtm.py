"""DTM channels in whole runs: the paper's scenario, and ns-2 beside it."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import mean

import pytest
import tidegate as tg
from simulation import dtm_ns2 as referee
from support.common import ROOT

#: The TCP that the paper means; its file names none.
RFC = ["flow.bulk.tcp.base=rfc"]
SCENARIOS = Path(os.environ.get("TIDEGATE_SCENARIOS", ROOT.parent / "shared" / "scenarios"))


@pytest.fixture
def paper() -> Path:
    """The paper's Fig. 9 as a scenario; it is not part of the project."""
    path = SCENARIOS / "dtm.toml"
    if not path.is_file():
        pytest.skip(f"no dtm.toml in {SCENARIOS} (set TIDEGATE_SCENARIOS)")
    return path


def test_the_papers_scenario_runs_as_it_is(paper: Path) -> None:
    scenario = tg.load(paper, changes=RFC)
    assert scenario.warnings == []
    assert "slots of 512 kbit/s" in scenario.explain()
    runs = [tg.run(scenario, seed=1, replication=n, record="summary") for n in range(16)]
    goodput = mean(sum(flow["goodput_bps"] for flow in run.flows) for run in runs)
    channels = [run.gates.row("channel").summary for run in runs]
    # Fig. 9: neither flow manages 5 Mbit/s, and packets are dropped at node 3, the channel's queue.
    assert goodput < 0.5 * 9.6e6
    assert all(channel["dropped_packets"] > 20 for channel in channels)
    assert all(channel["slots_min"] >= 1 for channel in channels)
    # An allocation is a little above what was measured.
    assert 0.3e6 < mean(channel["overallocation_bps_mean"] for channel in channels) < 1.5e6


def test_a_static_channel_serves_both(paper: Path) -> None:
    run = tg.run(tg.load(paper, changes=[*RFC, "gate.channel.rate=10 Mbit/s"]), seed=1, record="summary")
    # Fig. 8: 5 Mbit/s on the wire each, and no drop at node 3.
    assert [flow["throughput_bps"] for flow in run.flows] == pytest.approx([5e6, 5e6], rel=1e-3)
    assert run.gates.row("channel").summary["dropped_packets"] == 0


@pytest.fixture(scope="module")
def _ns2() -> None:
    missing = referee.no_ns2()
    if missing is not None:
        pytest.skip(missing)


@pytest.mark.parametrize(
    ("name", "tcp", "phases"),
    [
        ("fig. 6", "Tahoe", 2),
        ("fig. 6", "Newreno", 2),
        ("fig. 8, static", "Newreno", 2),
        ("fig. 9", "Newreno", 16),
    ],
)
@pytest.mark.usefixtures("_ns2")
def test_ns2_agrees(name: str, tcp: str, phases: int) -> None:
    """Few phases where a run says much; all where one says little."""
    setting = next(each for each in referee.SETTINGS if each.name == name)
    mine = [referee.ours(setting, tcp, phase) for phase in range(phases)]
    theirs = [referee.theirs(setting, tcp, phase) for phase in range(phases)]
    for agreement in referee.compared(mine, theirs):
        assert agreement.good, (
            f"{agreement.quantity}: {mean(agreement.mine):.6g}, ns-2 {mean(agreement.theirs):.6g}, "
            f"allowed {agreement.allowed:.3g}, joint interval {agreement.interval:.3g}"
        )
