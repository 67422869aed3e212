"""The theory engine: which scenarios it recognises, what it says of others, and the simulation beside it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import ROOT
from tidegate._ask.plan import plan_of
from tidegate._ask.source import as_scenario
from tidegate.theory import _abr_match, _spacer_match
from tidegate.theory._match_rules import DoesNotApplyError

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "window.toml"


def tidegate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidegate", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def test_what_is_recognised() -> None:
    fit, *_ = tg.theory.match(EXAMPLE)
    assert isinstance(fit, tg.theory.Fit)
    assert fit.unmet == ()
    # 1500 bytes are 0.12 ms at 100 Mbit/s: 20 ms and one packet.
    assert fit.parameters["delta"] == Fraction(20, 1) / Fraction("0.12") + 1
    assert (fit.parameters["c"], fit.parameters["segment_cells"]) == (Fraction(1, 5), 1)
    assert (fit.parameters["threshold"], fit.parameters["window"]) == (16, 64)


MISSES = [
    ({"gate.spacer.rate": "100 Mbit/s"}, "gate spacer is not slower than gate host before it"),
    ({"gate.spacer.loss": "1%"}, "gate spacer loses packets"),
    ({"gate.spacer.jitter": "1 ms"}, "gate spacer has jitter"),
    ({"flow.bulk.jitter": "1 ms"}, "gate jitter/bulk has jitter"),
    ({"gate.spacer.rate": '{ steps = [["0 s", "5 Mbit/s"]] }'}, "not a constant bit rate: it is steps"),
    ({"gate.host.rate": "unlimited"}, "the path of flow bulk has 1"),
    ({"gate.spacer.queue": "20 packets"}, "holds 20 packets; without loss it may need 30"),
    ({"flow.bulk.count": "2"}, "one flow, and the scenario has 2"),
    ({"flow.bulk.app.transfer": "1 MB"}, "does not always have data to send"),
    ({"flow.bulk.start.uniform": '["0 s", "1 s"]'}, "starts at a random time"),
    ({"flow.bulk.tcp.cc": "cubic"}, 'has tcp.cc = "cubic"'),
    ({"flow.bulk.tcp.window": "unlimited"}, "the window is unlimited"),
    ({"flow.bulk.tcp.delayed_ack": "{ every = 3 }"}, "acknowledges every 3 segments"),
    ({"flow.bulk.tcp.delayed_ack": "{ every = 2 }"}, "a window of one is never acknowledged"),
    ({"gate.host.advice": "2 Mbit/s", "flow.bulk.tcp.advice": "pace"}, "no faster than gates advise"),
    ({"flow.bulk.start": "1 h"}, "does not start before the run ends"),
    ({"gate.spacer.framing": "{ overhead = '38 B' }"}, "gates host and spacer have different framing"),
]

#: Theories that describe the changed scenario instead.
INSTEAD = {"gate.spacer.loss": "mathis", "gate.host.rate": "rfc-6349"}


@pytest.mark.parametrize(("sets", "reason"), MISSES, ids=[reason for _, reason in MISSES])
def test_what_is_not(sets: dict[str, str], reason: str) -> None:
    scenario = tg.load(EXAMPLE, changes=[f"{key}={value}" for key, value in sets.items()])
    miss, *others = tg.theory.match(scenario)
    assert isinstance(miss, tg.theory.Miss)
    assert reason in miss.reason
    assert "\n" not in miss.reason
    fit = next((each for each in others if isinstance(each, tg.theory.Fit)), None)
    assert (fit.theory if fit else None) == INSTEAD.get(next(iter(sets)))
    if fit is not None:
        assert tg.run(scenario, engine="theory").summary["theory"] == fit.theory
        return
    with pytest.raises(tg.errors.EngineError, match=r"no theory applies \(spacer: "):
        tg.run(scenario, engine="theory")


def test_bent_assumptions() -> None:
    sets = ["flow.bulk.tcp.handshake=true", "flow.bulk.tcp.increase=per ack", "warmup=1 s"]
    fit, *_ = tg.theory.match(tg.load(EXAMPLE, changes=sets))
    assert isinstance(fit, tg.theory.Fit)
    handshake, growth, end = fit.unmet
    assert handshake == "the handshake comes first; times count from its end"
    assert growth == 'the window grows "per ack", not by one with each window acknowledged'
    assert end.startswith("the numbers hold once the window stops growing, at about 1.3")


def cell_spacing() -> dict[str, Any]:
    """Return the plan of the paper's Fig. 3: cells, an ACK for every second segment, 1300 cells."""
    tcp = {
        "cc": "reno",
        "label": "reno, rfc",
        "halves": True,
        "mss": 1476,
        "headers": 40,
        "window": 60 * 1024,
        "initial_window": 2 * 1476,
        "initial_ssthresh": 41 * 1476,
        "increase": "per window",
        "quick_acks": 0,
        "read_bps": None,
        "obeys_advice": False,
        "handshake": False,
        "delayed_ack": {"every": 2, "timeout_ps": None},
        "timestamps": False,
        "least_timeout_ps": 10**12,
    }
    gate = {
        "queue_counts_all": False,
        "queue_limit": None,
        "loses": False,
        "discipline": "drop-tail",
        "polices": False,
        "jitters": False,
        "slotted": False,
        "epd": None,
        "delay_ps": 0,
        "framing": {"kind": "aal5", "llc": False},
    }
    host = {**gate, "name": "host", "rate": {"kind": "constant", "bps": 33_920_000}}
    spacer = {
        **gate,
        "name": "spacer",
        "rate": {"kind": "constant", "bps": 15_264_000},
        "delay_ps": 900_000_000,
        "queue_limit": {"unit": "cells", "count": 1300},
    }
    flow = {
        "name": "x",
        "path": [0, 1],
        "back": [],
        "back_delay_ps": 909_722_200,
        "start_ps": 0,
        "latest_start_ps": 0,
        "app": "bulk",
        "transport": "tcp",
        "tcp": tcp,
    }
    times = {"duration_ps": 5 * 10**12, "warmup_ps": 10**12}
    return {"title": "", **times, "gates": [host, spacer], "flows": [flow], "traffic": []}


def test_cells() -> None:
    parts = _spacer_match.read(cell_spacing())
    assert parts["unmet"] == ()
    assert parts["parameters"]["segment_cells"] == 32
    assert float(parts["parameters"]["delta"]) == pytest.approx(145.78, abs=0.005)
    found = parts["result"]
    assert (float(found.V_w_minus), float(found.V_w_plus)) == pytest.approx((1182.4, 1217.6), abs=1e-3)
    assert parts["gates"][0]["queue_max_cells"] == found.V_w_plus_cells - 1 == 1218
    assert parts["gates"][0]["queue_fluid_max_cells"] == float(found.V_w_plus)
    assert parts["flows"][0]["goodput_bps"] == pytest.approx(15_264_000 / 424 / 32 * 1476 * 8)
    small = cell_spacing()
    small["gates"][1]["queue_limit"]["count"] = 1200
    with pytest.raises(DoesNotApplyError, match="holds 1200 cells; without loss it may need"):
        _spacer_match.read(small)


def renewal(**changes: Any) -> dict[str, Any]:
    """Return the parts of a fit of the renewal model to a link of two rates."""
    scenario = {
        "duration": "100 s",
        "warmup": "2 s",
        "gate": {
            "radio": {
                "rate": {"markov": {"rates": ["20 Mbit/s", "8 Mbit/s"], "mean_holding": ["2 s", "2 s"]}},
                "queue": "20 packets",
                "delay": "50 ms",
            }
        },
        "flow": {"bulk": {"path": ["radio"], "tcp": {"base": "rfc", "cc": "newreno", "dupthresh": "never"}}},
    }
    scenario["flow"]["bulk"]["tcp"]["delayed_ack"] = False
    return _abr_match.read(plan_of(as_scenario(scenario, changes)))


def test_the_renewal_model_asks_what_the_others_ask() -> None:
    late = "flow bulk starts at 50 s, and the summary at 2 s: it counts a time without packets"
    assert late not in renewal()["unmet"]
    assert late in renewal(**{"flow.bulk.start": "50 s"})["unmet"]
    assert late not in renewal(**{"flow.bulk.start": "50 s", "warmup": "50 s"})["unmet"]
    with pytest.raises(DoesNotApplyError, match="no faster than gates advise"):
        renewal(**{"gate.radio.advice": "2 Mbit/s", "flow.bulk.tcp.advice": "pace"})
    with pytest.raises(DoesNotApplyError, match="does not start before the run ends"):
        renewal(**{"flow.bulk.start": "200 s"})


def random_scenario(draw: random.Random) -> dict[str, Any]:
    """Return a scenario that the theory covers, ended by its window, exact in whole bits per second."""
    every = draw.choice([1, 2])
    window = draw.randrange(2, 50)
    initial = draw.randrange(every, 5)
    tcp: dict[str, Any] = {
        "base": "rfc",
        "cc": draw.choice(["reno", "newreno", "tahoe"]),
        "window": f"{window} segments",
        "initial_window": f"{initial} segments",
        "initial_ssthresh": f"{draw.randrange(2, 60)} segments",
        "increase": "per window",
        "delayed_ack": False if every == 1 else {"every": 2, "timeout": "never"},
        "handshake": False,
        "mss": f"{draw.randrange(200, 1460)} B",
    }
    fast = draw.choice([10, 33, 100])
    return {
        "duration": "60 s",
        "warmup": "40 s",
        "gate": {
            "host": {"rate": f"{fast} Mbit/s", "host": True},
            "spacer": {"rate": f"{draw.randrange(fast // 5, fast)} Mbit/s"},
        },
        "flow": {"x": {"path": ["host", "spacer"], "rtt": f"{draw.randrange(1, 40)} ms", "tcp": tcp}},
    }


def test_the_simulation_meets_it() -> None:
    """Rate and largest queue, on random scenarios of whole packets."""
    draw = random.Random(3)
    met = 0
    for _ in range(60):
        scenario = tg.Scenario.from_dict(random_scenario(draw))
        told, *_ = tg.theory.match(scenario)
        if not told:
            assert isinstance(told, tg.theory.Miss)
            assert "a window of one" in told.reason
            continue
        theory = tg.run(scenario, engine="theory")
        simulated = tg.run(scenario, seed=1, record="summary")
        flow, gate = theory.summary["flows"][0], theory.summary["gates"][0]
        measured, spacer = simulated.summary["flows"][0], simulated.summary["gates"][1]
        what = scenario.to_toml()
        assert measured["goodput_bps"] == pytest.approx(flow["goodput_bps"], rel=2e-3), what
        assert measured["throughput_bps"] == pytest.approx(flow["throughput_bps"], rel=2e-3), what
        assert spacer["utilisation"] == pytest.approx(gate["utilisation"], abs=2e-3), what
        # Whole units: within two, as the theory says of whole cells.
        assert abs(spacer["queue_max_packets"] - gate["queue_max_packets"]) <= 2, what
        assert measured["segments_retransmitted"] == measured["timeouts"] == 0, what
        assert set(flow) <= set(measured)
        assert set(gate) <= set(spacer)
        if "rtt_mean_ms" in flow:
            assert measured["rtt_mean_ms"] == pytest.approx(flow["rtt_mean_ms"], rel=5e-3), what
        met += 1
    assert met >= 40


def test_a_run_of_the_theory(tmp_path: Path) -> None:
    run = tg.run(EXAMPLE, engine="theory")
    assert run.seed is None
    assert "seed" not in repr(run)
    assert run.flows["bulk"]["goodput_bps"] == 20e6 * 1460 / 1500
    assert "rtt_p99_ms" not in run.flows["bulk"].keys()  # noqa: SIM118
    with pytest.raises(tg.errors.NotRecordedError, match="a theory has no flows over time"):
        run.table("flows")
    again = tg.open(run.save(tmp_path / "run"))
    assert again.summary == run.summary
    assert again.manifest["engine"] == "theory"


def test_the_command_line(tmp_path: Path) -> None:
    done = tidegate("run", EXAMPLE, "--engine", "theory", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "engine theory · spacer" in done.stdout
    assert (tmp_path / "run" / "summary.json").exists()
    told = json.loads(tidegate("run", EXAMPLE, "--engine", "theory", "--json").stdout)
    assert told["engine"] == "theory"
    assert told["gates"][0]["queue_max_packets"] == 30
    refused = tidegate("run", ROOT / "examples" / "lte.toml", "--engine", "theory")
    assert refused.returncode == 2
    assert "no theory applies (spacer: " in refused.stderr
    assert tidegate("run", EXAMPLE, "--engine", "theory", "--exact").returncode == 2
    explained = tidegate("check", EXAMPLE, "--explain")
    assert "theory\n  spacer  applies\n" in explained.stdout
    told = json.loads(tidegate("check", ROOT / "examples" / "lte.toml", "--explain", "--json").stdout)
    assert told["theories"][0]["applies"] is False
