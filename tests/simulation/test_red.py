"""Random early detection in whole runs: what it keeps short, marks, drops, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg


def scenario(aqm: Any, ecn: str = "off") -> dict[str, Any]:
    """Return two downloads over one queue."""
    flow = {"path": ["link"], "tcp": {"cc": "cubic", "ecn": ecn}}
    return {
        "duration": "20 s",
        "warmup": "4 s",
        "seed": 1,
        "gate": {
            "link": {
                "rate": "10 Mbit/s",
                "queue": {"limit": "200 packets", "aqm": aqm},
                "delay": "20 ms",
            }
        },
        "flow": {"one": flow, "two": flow},
        "record": {"every": "events"},
    }


def test_it_keeps_the_queue_near_its_thresholds() -> None:
    """All losses are early; the queue is longer with higher thresholds."""
    means = []
    for aqm in ("red", {"red": {"min": "20 packets"}}):
        run = tg.run(scenario(aqm))
        link = run.gates["link"]
        assert set(run.drops["reason"]) == {"early"}
        assert link["dropped_packets"] > 20
        means.append(link["queue_mean_packets"])
    assert means[0] < 15 < means[1] < 60
    assert tg.run(scenario("none")).gates["link"]["queue_mean_packets"] > 100


def test_it_marks_what_is_capable() -> None:
    """With ECN nothing is lost; what is marked is what would have been dropped."""
    link = tg.run(scenario({"red": {"hard_drop": False}}, ecn="classic")).gates["link"]
    assert link["dropped_packets"] == 0
    assert link["marked_packets"] > 20


@pytest.mark.parametrize(
    "red",
    [
        {},
        {"min": "6 kB", "gentle": False, "by_size": True},
        {"adaptive": True, "wq": "auto", "update": "70 ms"},
        {"wait": True, "hard_drop": False, "bandwidth": "1 Mbit/s"},
    ],
)
@pytest.mark.parametrize("rate", ["10 Mbit/s", {"token_bucket": {"rate": "9 Mbit/s", "burst": "9 kB"}}])
def test_stated_ahead_or_event_by_event(red: dict[str, Any], rate: Any) -> None:
    """Its decisions are certain at the arrival: both ways give the same rows, and so does the same seed."""
    asked = scenario({"red": red}, ecn="classic")
    asked["gate"]["link"]["rate"] = rate
    asked["flow"]["two"] = {"path": ["link"], "start": "3 s"}
    runs = [tg.run({**asked, "exact": exact}) for exact in (False, True, False)]
    for other in runs[1:]:
        assert other.summary["gates"] == runs[0].summary["gates"]
        assert other.summary["flows"] == runs[0].summary["flows"]
        assert other.gates["link"].columns().equals(runs[0].gates["link"].columns())
    other_seed = tg.run(asked, seed=2).summary
    assert other_seed["gates"] != runs[0].summary["gates"]


def test_adapting_raises_the_probability_where_many_flows_share() -> None:
    """Sixty flows hold the queue above the thresholds; a probability that adapts lets it fall."""
    means = []
    for adaptive in (False, True):
        # A fixed greatest probability of a hundredth is too small for so many.
        asked = scenario({"red": {"adaptive": adaptive, "max_p": "1%", "min": "20 packets"}})
        asked["flow"] = {"many": {"path": ["link"], "count": 60, "start": {"uniform": ["0 s", "2 s"]}}}
        asked["duration"] = "30 s"
        asked["record"] = {"every": "1 s"}
        means.append(tg.run(asked, record="summary").gates["link"]["queue_mean_packets"])
    assert means[1] < means[0] - 5
    assert 20 < means[1] < 60


def test_chance_is_named() -> None:
    """The stream is the gate's own."""
    assert "gate.link/aqm" in tg.Scenario.from_dict(scenario("red")).draws


@pytest.mark.parametrize(
    ("red", "message"),
    [
        ({"min": "9 packets", "max": "3 packets"}, "max, 3 packets, is not above min, 9 packets"),
        ({"min": "9 packets", "max": "30 kB"}, "min and max have different units"),
        ({"wq": 2}, "2 is not a share"),
        ({"max_p": 2}, "2 is not a probability"),
        ({"alpha": 0.1}, "unknown key"),
        ({"decrease": 0.8}, "max_p does not adapt here"),
    ],
)
def test_bad_values(red: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.errors.ScenarioError, match=message):
        tg.Scenario.from_dict(scenario({"red": red}))


@pytest.mark.parametrize("aqm", ["red", "pie", "dualpi2"])
def test_the_probability_is_recorded(aqm: str) -> None:
    """It is a number from 0 to 1 that moves; a queue without one has none."""
    run = tg.run(scenario(aqm))
    seen = run.gates["link"].series("drop_probability")["drop_probability"]
    assert seen.null_count() == 0
    assert 0 <= float(seen.min()) < float(seen.max()) <= 1
    plain = tg.run(scenario("codel")).gates["link"].series("drop_probability")["drop_probability"]
    assert plain.null_count() == len(plain)
