"""Advice is of the values outside [[sweep]], and says so in the words of a run."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL
from tidegate._advise.tune_search import INSTCAP

SWEEP = '\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "cubic"]\n"flow.bulk.rtt" = ["20 ms", "30 ms"]\n'
LINES = {"lines": {"capacity": "3 Mbit/s"}}
CALLS = {
    "duration": "20 s",
    "seed": 1,
    "pool": LINES,
    "calls": {
        "phones": {
            "pool": "lines",
            "rate": "1 Mbit/s",
            "every": {"exponential": "1 s"},
            "hold": {"exponential": "1 s"},
            "blocked": "refuse",
        }
    },
}


def told_by_a_run(scenario: dict[str, Any]) -> str:
    (warning,) = (each for each in tg.run(scenario, seed=1).warnings if "sweep" in each)
    assert "makes 2 combinations" in warning
    return warning


@pytest.mark.parametrize("of", [{"method": "sim"}, {}, {"goal": "loss < 5%", "runs": 2}])
def test_a_gate(of: dict[str, Any]) -> None:
    changes = {"gate.bottleneck.loss": "0", "flow.bulk.tcp.window": "20 segments", "duration": "3 s"}
    swept, plain = (tomllib.loads(text) for text in (SMALL + SWEEP, SMALL))
    found, without = (
        tg.size(each, "bottleneck", changes=changes, seed=1, store=False, **of) for each in (swept, plain)
    )
    assert found.notes == [told_by_a_run(swept), *without.notes]
    assert found.size == without.size


@pytest.mark.parametrize("method", ["sim", "theory"])
def test_a_pool(method: str) -> None:
    sweep = [{"calls.phones.hold.exponential": ["1 s", "2 s"]}]
    swept = {**CALLS, "sweep": sweep}
    of = {"pool": "lines", "goal": "blocked < 50%", "method": method, "runs": 2, "store": False}
    found, without = tg.size(swept, **of), tg.size(CALLS, **of)
    assert found.notes == (told_by_a_run(swept), *without.notes)
    assert told_by_a_run(swept) in " ".join(found.report().split())


def test_a_following_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("best_pair", "best_share"):
        monkeypatch.setattr(f"tidegate._advise.tune.{name}", lambda *_: INSTCAP)
    for name in ("best_rate", "best_window", "best_of_all"):
        monkeypatch.setattr(f"tidegate._advise.tune.{name}", lambda *_: INSTCAP)
    text = (EXAMPLES / "follow.toml").read_text(encoding="utf-8")
    swept = tomllib.loads(f'{text}\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "cubic"]\n')
    found = tg.tune(swept, changes={"duration": "3 s", "warmup": "1 s"}, runs=2, seed=1, store=False)
    assert found.notes[0] == told_by_a_run(swept)
