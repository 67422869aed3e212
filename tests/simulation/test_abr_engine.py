"""The renewal model as an engine: which plans fit, in words, and the simulation beside it."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg

TCP: dict[str, Any] = {
    "base": "rfc",
    "cc": "reno",
    "dupthresh": "never",
    "mss": "460 B",
    "headers": "40 B",
    "delayed_ack": False,
    "sack": False,
    "limited_transmit": False,
    "initial_window": "1 segment",
    "ssthresh_rounding": "up",
    "go_back_n": True,
    "increase": "per window",
    "handshake": False,
    "idle_restart": False,
    "window": "100 segments",
    "initial_ssthresh": "100 segments",
    "rto": {"fixed": "400 ms", "restart": "departure"},
}
FOLLOW: dict[str, Any] = {"gate": "link", "every": "30 ms", "lag": "200 ms", "initial": "50 kB/s"}


def scenario(path: list[str], psi: float = 50, **changes: Any) -> dict[str, Any]:
    holding = f"{200 * psi:g} ms"
    return {
        "duration": "3000 s",
        "warmup": "30 s",
        "seed": 3,
        "gate": {
            "link": {
                "rate": {"markov": {"rates": ["100 kB/s", "50 kB/s"], "mean_holding": [holding, holding]}},
                "queue": {"limit": "10 packets", "counts": "all"},
                **changes.get("link", {}),
            },
            **(
                {"abr": {"host": True, "rate": {"follow": {**FOLLOW, **changes.get("follow", {})}}}}
                if "abr" in path
                else {}
            ),
            **({"pace": {"host": True, "rate": changes["rate"]}} if "pace" in path else {}),
            **changes.get("gates", {}),
        },
        "flow": {"bulk": {"path": path, "rtt": "200 ms", "tcp": {**TCP, **changes.get("tcp", {})}}},
    }


def judged(source: dict[str, Any]) -> Any:
    (told,) = [each for each in tg.theory.match(source) if each.theory == "abr"]
    return told


@pytest.mark.parametrize(
    ("path", "changes", "scheme"),
    [
        (["link"], {}, "tcp"),
        (["abr", "link"], {}, "abr"),
        (["pace", "link"], {"rate": "60 kB/s"}, "constant"),
    ],
)
def test_a_plan_that_fits(path: list[str], changes: dict[str, Any], scheme: str) -> None:
    fit = judged(scenario(path, **changes))
    assert fit, fit
    rate = {"rate": 0.6} if scheme == "constant" else {}
    alone = tg.theory.abr(psi=50, delta_packets=40, buffer=10, scheme=scheme, overhead=1, **rate)
    assert fit.result.efficiency == pytest.approx(alone.efficiency)
    (row,) = fit.flows
    assert row["goodput_bps"] == pytest.approx(alone.throughput_packets * 200 * 460 * 8)
    assert fit.gates[0]["rate_mean_bps"] == pytest.approx(600_000)
    assert any("full queue" in text for text in fit.unmet)


def test_the_simulation_comes_near_where_changes_are_rare() -> None:
    source = scenario(["abr", "link"])
    theory = tg.run(source, engine="theory")
    study = tg.study(source, runs=16, store=False)
    simulated = study.estimate("goodput_bps")
    assert simulated.low is not None
    assert simulated.high is not None
    told = judged(source)
    least, most = (bound * 600_000 * 0.92 for bound in told.result.bounds)
    assert theory.flows["bulk"]["goodput_bps"] == pytest.approx(most)
    # "To within a few percent": between the bounds with a twentieth to spare.
    assert 0.95 * least < simulated.low < simulated.high < 1.05 * most


def test_it_is_not_named_after_anything() -> None:
    source = scenario(["abr", "link"])
    renamed = {**source, "gate": {"x": source["gate"]["link"], "y": source["gate"]["abr"]}}
    renamed["gate"]["y"]["rate"]["follow"]["gate"] = "x"
    renamed["flow"] = {"z": {**source["flow"]["bulk"], "path": ["y", "x"]}}
    assert judged(renamed)


@pytest.mark.parametrize(
    ("path", "changes", "words"),
    [
        (["abr", "link"], {"psi": 0.5}, "psi must be above 1"),
        (["abr", "link"], {"follow": {"effcap": {"m": 7, "n": 49}}}, "EFFCAP with M = 7 and N = 49"),
        (["abr", "link"], {"follow": {"share": 0.5}}, "share of 0.5"),
        (["abr", "link"], {"follow": {"peak": "80 kB/s"}}, "the bounds (min, peak) of gate abr"),
        (["link"], {"tcp": {"dupthresh": 3}}, "fast retransmit"),
        (["link"], {"tcp": {"cc": "cubic"}}, 'tcp.cc = "cubic"'),
        (["link"], {"tcp": {"delayed_ack": {"every": 2, "timeout": "200 ms"}}}, "delays acknowledgements"),
        (["link"], {"link": {"queue": "unlimited"}}, "no packet is ever lost"),
        (["link"], {"link": {"loss": 0.01}}, "loses packets"),
        (["pace", "link"], {"rate": "200 kB/s"}, "paces no packets"),
        (["more", "link"], {"gates": {"more": {"rate": {"steps": [["0 s", "1 Mbit/s"]]}}}}, "has steps"),
        (["abr", "link"], {"gates": {"b": {"rate": "1 Mbit/s"}}}, None),
    ],
)
def test_a_miss_is_said_in_words(path: list[str], changes: dict[str, Any], words: str | None) -> None:
    told = judged(scenario(path, **changes))
    if words is None:
        assert told
    else:
        assert not told
        assert words in told.reason
