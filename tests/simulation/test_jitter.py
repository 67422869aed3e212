"""Random delays in whole runs: how long they are, that they repeat, and what they are for."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
import tidegate as tg
from support.common import EXAMPLES

MS = 1e-3


def one_at_a_time(**changes: Any) -> dict[str, Any]:
    """One segment is sent when the one before it is acknowledged: 20 ms and the random delay apart."""
    tcp = {"base": "rfc", "cc": "fixed", "window": "1 segment", "delayed_ack": False, "handshake": False}
    scenario: dict[str, Any] = {
        "duration": "400 s",
        "gate": {"link": {"delay": "10 ms"}},
        "flow": {"x": {"path": ["link"], "tcp": tcp}},
    }
    for name, value in changes.items():
        part, key = name.split("_")
        scenario[part][key]["jitter"] = value
    return scenario


@pytest.mark.parametrize("where", ["gate_link", "flow_x"])
@pytest.mark.parametrize(("jitter", "mean"), [("5 ms", 2.5), ({"exponential": "1 ms"}, 1.0), ("0 s", 0.0)])
def test_a_round_trip_is_longer_by_what_is_drawn(where: str, jitter: Any, mean: float) -> None:
    run = tg.run(one_at_a_time(**{where: jitter}), seed=4)
    trip = 1460 * 8 / run.flows["x"]["goodput_bps"]
    # Some 18,000 draws: the standard error of their mean is 0.011 ms and less.
    assert trip == pytest.approx((20 + mean) * MS, abs=0.045 * MS)
    assert run.flows["x"]["timeouts"] == 0


def test_a_seed_is_a_run() -> None:
    scenario = one_at_a_time(gate_link="5 ms", flow_x={"exponential": "300 us"})
    first = tg.run(scenario, seed=1).to_json()
    assert tg.run(scenario, seed=1).to_json() == first
    other = tg.run(scenario, seed=2)
    assert other.flows["x"]["goodput_bps"] != tg.run(scenario, seed=1).flows["x"]["goodput_bps"]
    exact = tg.run({**scenario, "exact": True}, seed=1)
    assert exact.flows["x"]["goodput_bps"] == tg.run(scenario, seed=1).flows["x"]["goodput_bps"]


def test_a_sender_has_draws_of_its_own() -> None:
    """Another sender's jitter changes nothing for one that shares no gate with it."""
    alone = one_at_a_time(flow_x="5 ms")
    beside = one_at_a_time(flow_x="5 ms")
    beside["gate"]["other"] = {"delay": "3 ms"}
    beside["flow"]["y"] = {**alone["flow"]["x"], "path": ["other"]}
    found = [tg.run(scenario, seed=1).flows["x"]["goodput_bps"] for scenario in (alone, beside)]
    assert found[0] == found[1]


def test_a_phase_decides_without_jitter_and_not_with_it() -> None:
    """Two round trips, one of them changed by a few tenths of a millisecond, in one queue."""

    def share(trip: str, jitter: str) -> float:
        changes = {"flow.far.rtt": trip, "flow.near.jitter": jitter, "flow.far.jitter": jitter}
        changes |= {"gate.bottleneck.queue": "10 packets", "tcp.both.base": "rfc"}
        run = tg.run(EXAMPLES / "round-trip-times.toml", changes=changes, record="summary")
        near, far = (run.flows[name]["goodput_bps"] for name in ("near", "far"))
        return float(far / near)

    trips = ("99.4 ms", "99.7 ms", "100 ms", "100.3 ms", "100.6 ms")
    spread = {}
    for jitter in ("0 s", "5 ms"):
        shares = [share(trip, jitter) for trip in trips]
        spread[jitter] = statistics.stdev(shares) / statistics.mean(shares)
    assert spread["5 ms"] < spread["0 s"] / 3
