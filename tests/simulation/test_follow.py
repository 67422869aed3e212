"""Fed-back rates in whole runs: the ABR paper's scenario, and what can be said exactly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, ROOT

#: The TCP that the paper means; its file names none.
RFC = {"tcp.model.base": "rfc"}
SCENARIOS = Path(os.environ.get("TIDEGATE_SCENARIOS", ROOT.parent / "shared" / "scenarios"))

#: The model's TCP with a window that never lets the source's buffer run empty.
MODEL = {
    "base": "rfc",
    "cc": "reno",
    "dupthresh": "never",
    "mss": "460 B",
    "headers": "40 B",
    "delayed_ack": False,
    "sack": False,
    "limited_transmit": False,
    "initial_window": "1 segment",
    "go_back_n": True,
    "handshake": False,
    "window": "100 segments",
    "rto": {"fixed": "400 ms", "restart": "departure"},
}


def one_session(rate: Any, **follow: Any) -> dict[str, Any]:
    """A source that follows a link, both as the paper has them: a packet is 5 ms, Δ is 200 ms."""
    law = {"gate": "link", "every": "30 ms", "initial": "50 kB/s", **follow}
    return {
        "duration": "60 s",
        "warmup": "20 s",
        "seed": 1,
        "gate": {
            "source": {"host": True, "rate": {"follow": law}},
            "link": {"rate": rate, "queue": {"limit": "10 packets", "counts": "all"}},
        },
        "flow": {"bulk": {"path": ["source", "link"], "rtt": "200 ms", "tcp": MODEL}},
    }


@pytest.fixture
def paper() -> Path:
    """The paper's two sessions as a scenario; it is not part of the project."""
    path = SCENARIOS / "tcp-over-abr.toml"
    if not path.is_file():
        pytest.skip(f"no tcp-over-abr.toml in {SCENARIOS} (set TIDEGATE_SCENARIOS)")
    return path


def test_the_papers_scenario_runs_whole(paper: Path) -> None:
    scenario = tg.load(paper, changes=RFC)
    assert scenario.warnings == []
    assert len(tg.study(scenario, runs=2).points) == 3
    for holding in ("108 ms", "360 ms", "7.2 s"):
        key = "gate.link.rate.markov.mean_holding"
        run = tg.run(tg.load(paper, changes={**RFC, key: [holding, holding]}), record="summary")
        near, far = run.normalised_throughput("link", under_abr=True).values()
        # Neither session starves, and together they do not take more than there is.
        assert 0.15 < near < 0.6
        assert 0.15 < far < 0.6
        assert near + far < 48 / 53


@pytest.mark.parametrize("law", [{}, {"effcap": {"m": 7, "n": 77}}, {"effcap": {"rtts": 12}}])
def test_a_constant_link_is_used_wholly(law: dict[str, Any]) -> None:
    run = tg.run(one_session("100 kB/s", **law), record="summary")
    assert run.normalised_throughput("link", under_abr=True) == {"bulk": 48 / 53}
    assert run.normalised_throughput("link") == {"bulk": 1.0}
    source = run.gates.row("source").summary
    assert (source["rate_min_bps"], source["rate_max_bps"], source["rate_changes"]) == (800e3, 800e3, 0)


def test_in_cells_the_headers_count_themselves() -> None:
    """A packet of 500 bytes is 11 cells of 53 bytes."""
    scenario = one_session("100 kB/s", share=0.5)
    for gate in scenario["gate"].values():
        gate["framing"] = "aal5"
    del scenario["gate"]["link"]["queue"]
    run = tg.run(scenario, record="summary")
    assert run.normalised_throughput("link")["bulk"] == pytest.approx(0.5 * 500 / (11 * 53), rel=1e-3)


def test_the_rate_in_force_is_the_capacity_a_round_trip_ago() -> None:
    """The link changes at whole slots, so every value is one of its rates."""
    markov = {
        "rates": ["100 kB/s", "50 kB/s"],
        "mean_holding": ["600 ms", "600 ms"],
        "step": "30 ms",
    }
    run = tg.run(one_session({"markov": markov}), record="10 ms")
    rates = {name: run.gates[name].series("rate")["rate_bps"].to_list() for name in ("link", "source")}
    # A slot of 30 ms and the lag of 200 ms: 23 samples.
    known = [rates["link"][(sample - 23) // 3 * 3] for sample in range(23, len(rates["source"]))]
    assert rates["source"][23:] == known
    assert set(known) == {800e3, 400e3}


def test_effcap_is_the_estimator_by_itself() -> None:
    markov = {"rates": ["100 kB/s", "50 kB/s"], "mean_holding": ["300 ms", "300 ms"], "step": "30 ms"}
    run = tg.run(one_session({"markov": markov}, effcap={"m": 3, "n": 5}, share=0.25), record="10 ms")
    link = run.gates["link"].series("rate")["rate_bps"].to_list()
    source = run.gates["source"].series("rate")["rate_bps"].to_list()
    estimates = tg.effcap.estimate(link[::3], m=3, n=5)
    for sample in range(23, len(source)):
        # Whole bit/s, rounded down.
        assert source[sample] == int(estimates[(sample - 23) // 3] / 4 + 1e-6), sample
    assert len(set(source[23:])) > 3


def test_an_outage_stops_the_source() -> None:
    """While the link says 0 nothing leaves, and nothing is lost."""
    scenario = one_session(
        {"steps": [["0 s", "100 kB/s"], ["30 s", "0 bit/s"], ["32 s", "100 kB/s"]]}, lag="0 s"
    )
    run = tg.run(scenario, record="10 ms")
    source = run.gates["source"].series("rate")
    silent = source.filter((source["time_s"] >= 30.03) & (source["time_s"] < 32.01))["rate_bps"]
    assert silent.to_list() == [0.0] * len(silent)
    assert run.gates.row("source").summary["rate_min_bps"] == 0
    gates = [run.gates.row(name).summary for name in ("source", "link")]
    assert [gate["dropped_packets"] for gate in gates] == [0, 0]
    # Two of forty seconds are missing.
    assert run.normalised_throughput("link")["bulk"] == pytest.approx(1.0, abs=0.02)


def test_a_signal_helps_where_the_link_changes_slowly() -> None:
    """The paper's main claim, on the project's own example."""
    signalled = tg.run(EXAMPLES / "follow.toml", record="summary")
    alone = tg.run(EXAMPLES / "follow.toml", record="summary", changes=["gate.sender.rate=unlimited"])
    assert (
        signalled.flows.row("bulk").summary["goodput_bps"]
        > 1.15 * alone.flows.row("bulk").summary["goodput_bps"]
    )


def test_what_cannot_be_normalised() -> None:
    run = tg.run(EXAMPLES / "follow.toml", record="summary", changes=["gate.sender.rate=unlimited"])
    with pytest.raises(tg.errors.ArgumentError, match="gate sender has no capacity in bit/s"):
        run.normalised_throughput("sender")
    with pytest.raises(tg.errors.UnknownNameError):
        run.normalised_throughput("radar")
