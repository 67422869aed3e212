"""Studies that stop by precision: of which numbers, of which gate, and what is refused before any run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.studies import VARY
from tidegate._jobs.workers import Local

if TYPE_CHECKING:
    from pathlib import Path

TWO_GATES = """
duration = "3 s"
seed = 3
runs = 4
[gate.access]
rate = "8 Mbit/s"
queue = "200 packets"
loss = 0.004
[gate.core]
rate = "10 Mbit/s"
queue = "12 packets"
[flow.bulk]
path = ["access", "core"]
rtt = "40 ms"
tcp.cc = "reno"
"""


@pytest.mark.parametrize("metric", ["loss", "utilisation", "queue_delay_p50_ms", "queue_delay_p99_ms"])
def test_numbers_of_the_gate_decide(random: Path, metric: str) -> None:
    until = tg.Until(metric, relative=0.5, at_least=3, at_most=12, step=3)
    own = tg.study(random, vary=VARY, until=until, store=False)
    named = tg.Until(f"gate.link.{metric}", relative=0.5, at_least=3, at_most=12, step=3)
    assert own.counts() == tg.study(random, vary=VARY, until=named, store=False).counts()
    for workers in (1, 3):
        again = tg.study(random, vary=VARY, until=until, store=False, workers=workers)
        assert again.to_json() == own.to_json()


def test_the_gate_is_the_one_that_is_reported() -> None:
    scenario = tg.Scenario.from_toml(TWO_GATES)
    vary = {"gate.core.rate": ["20 Mbit/s", "4 Mbit/s"]}
    for gate in (None, "access", "core"):
        until = tg.Until("queue_delay_p99_ms", relative=0.1, at_least=3, at_most=12, step=3)
        own = tg.study(scenario, vary=vary, gate=gate, until=until, store=False)
        assert own.gate == (gate or "access")
        named = tg.Until(f"gate.{own.gate}.queue_delay_p99_ms", relative=0.1, at_least=3, at_most=12, step=3)
        assert own.counts() == tg.study(scenario, vary=vary, until=named, store=False).counts()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"until": "los:±5%"}, "loss"),
        ({"until": "flow.blk.goodput_bps:±5%"}, "bulk"),
        ({"until": "gate.lnk.loss:±5%"}, "link"),
        ({"until": "loss:±5%", "gate": "lnk"}, "link"),
        ({"gate": "lnk"}, "link"),
    ],
)
def test_an_unknown_name_is_refused_before_any_run(
    random: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], said: str
) -> None:
    submitted: list[object] = []
    monkeypatch.setattr(Local, "submit", lambda _, jobs: submitted.extend(jobs))
    with pytest.raises(tg.errors.UnknownNameError, match=said):
        tg.study(random, store=False, **options)
    assert not submitted


def test_whose_number_it_is_has_to_be_known(random: Path, tmp_path: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=r"name the gate, such as gate\.NAME\.loss"):
        tg.study_part(random, "1/2", tmp_path / "part", vary=VARY, until="loss:±50%", store=False)
    empty = """
    duration = "200 s"
    seed = 1
    [pool.lines]
    capacity = "7 Mbit/s"
    [calls.phones]
    pool = "lines"
    rate = "1 Mbit/s"
    every = { exponential = "1 s" }
    hold = { exponential = "5 s" }
    blocked = "refuse"
    """
    with pytest.raises(tg.errors.ArgumentError, match="no gate in common"):
        tg.study(tg.Scenario.from_toml(empty), until="loss:±50%", store=False)


def test_a_gate_of_each_flow_has_its_own_name() -> None:
    text = TWO_GATES.replace("[gate.core]", '[gate.core]\nper = "flow"')
    until = tg.Until("gate.core/bulk.loss", relative=0.5, at_least=2, at_most=4, step=2)
    assert tg.study(tg.Scenario.from_toml(text), until=until, store=False).counts()[0] >= 2


def test_nothing_seen_is_no_narrow_interval(random: Path) -> None:
    rare = {"gate.link.loss": 0.000001, "flow.bulk.tcp.window": "8 segments"}
    for metric in ("loss", "gate.link.loss"):
        for relative, absolute, runs in ((0.5, None, 12), (None, 0.0001, 12), (None, 0.01, 4)):
            until = tg.Until(metric, relative, absolute, at_least=4, at_most=12, step=4)
            study = tg.study(random, changes=rare, until=until, store=False)
            assert {*study.values("loss")} == {0}
            assert study.counts() == [runs]
