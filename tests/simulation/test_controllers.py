"""What the papers of the controllers promise, on a link of 20 Mbit/s with a round trip of 40 ms."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg


def alone(cc: str, gate: dict[str, Any] | None = None, **more: Any) -> tg.Run:
    """Run one flow for 40 s; the first 10 s do not count."""
    return tg.run(scenario({"bulk": flow(cc)}, gate, **more), seed=1, record="summary")


def flow(cc: str, **tcp: Any) -> dict[str, Any]:
    return {
        "path": ["link"],
        "rtt": "40 ms",
        "tcp": {"base": "rfc", "cc": cc, "delayed_ack": False, "sack": True, **tcp},
    }


def scenario(flows: dict[str, Any], gate: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    link = {"rate": "20 Mbit/s", "queue": "100 packets", **(gate or {})}
    return {"duration": "40 s", "warmup": "10 s", "gate": {"link": link}, "flow": flows, **more}


def used(run: tg.Run) -> float:
    return float(run.gates["link"]["utilisation"])


@pytest.mark.parametrize("base", ["rfc", "linux"])
def test_vegas_keeps_two_to_four_packets_in_the_queue(base: str) -> None:
    run = tg.run(scenario({"bulk": flow("vegas", base=base)}), seed=1, record="summary")
    assert 1 < run.gates["link"]["queue_mean_packets"] < 5
    assert used(run) > 0.98
    assert run.gates["link"]["dropped_packets"] == 0


def test_westwood_fills_a_link_that_loses_at_random() -> None:
    westwood, reno = (used(alone(cc, {"loss": 0.01})) for cc in ("westwood", "reno"))
    assert westwood > 1.5 * reno


def test_copas_queue_is_short() -> None:
    run = alone("copa")
    # 1/delta are 2; the window swings by as much (§2.2: 2.5/delta at most).
    assert 0.5 < run.gates["link"]["queue_mean_packets"] < 6
    assert used(run) > 0.95


def test_copa_competes_with_cubic() -> None:
    both = scenario({"copa": flow("copa"), "cubic": flow("cubic")})
    run = tg.run(both, seed=1, record="summary")
    rates = {name: run.flows[name]["goodput_bps"] for name in ("copa", "cubic")}
    assert rates["copa"] > 0.15 * rates["cubic"]


def test_ledbat_yields_to_cubic_and_fills_a_link_alone() -> None:
    assert used(alone("ledbat++")) > 0.9
    both = scenario({"back": flow("ledbat++"), "cubic": flow("cubic")}, {"queue": "200 packets"})
    run = tg.run(both, seed=1, record="summary")
    rates = {name: run.flows[name]["goodput_bps"] for name in ("back", "cubic")}
    assert rates["back"] < 0.15 * sum(rates.values())


def test_hystart_pp_leaves_slow_start_before_it_loses_much() -> None:
    def lost(slow_start: str, cc: str) -> int:
        flows = {"bulk": flow(cc, slow_start=slow_start, initial_window="10 segments")}
        run = tg.run({**scenario(flows), "duration": "3 s", "warmup": "0 s"}, seed=1, record="summary")
        return int(run.gates["link"]["dropped_packets"])

    for cc in ("reno", "newreno", "cubic"):
        assert lost("hystart++", cc) < 0.5 * lost("standard", cc)


@pytest.mark.parametrize(
    ("tcp", "problem"),
    [
        ({"cc": "copa", "sack": False}, "copa needs sack = true"),
        (
            {"cc": "cubic", "slow_start": "hystart++", "sack": False},
            'slow_start = "hystart\\+\\+" needs sack',
        ),
    ],
)
def test_who_hears_of_every_ack_needs_sack(tcp: dict[str, Any], problem: str) -> None:
    with pytest.raises(tg.errors.ScenarioError, match=problem):
        alone(tcp["cc"], flow={"bulk": {**flow("reno"), "tcp": tcp}})
