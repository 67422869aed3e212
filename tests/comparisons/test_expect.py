"""Thresholds: what is read, what holds, and the exit status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import SMALL, tidegate
from tidegate._base.estimate import Estimate
from tidegate._check.expectation import Expectation

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("flow.bulk.goodput_bps > 20e6", 20e6),
        ("flow.bulk.goodput_bps>20 Mbit/s", 20e6),
        ("gate.link.queue_delay_p99_ms < 0.1 s", 100.0),
        ("completion_s <= 250 ms", 0.25),
        ("loss < 1%", 0.01),
        ("timeouts <= 0", 0.0),
    ],
)
def test_bounds_have_units(text: str, bound: float) -> None:
    assert Expectation.parse(text).bound == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["goodput", "goodput_bps = 3", "goodput_bps > many", "goodput_bps > 3 ms", "> 3"]
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="read"):
        Expectation.parse(text)


@pytest.mark.parametrize(
    ("mean", "half", "relation", "verdict"),
    [
        (12.0, 1.0, ">", "holds"),
        (12.0, 3.0, ">", "undecided"),
        (8.0, 1.0, ">", "fails"),
        (8.0, 1.0, "<", "holds"),
        (8.0, 3.0, "<=", "undecided"),
        (10.0, None, ">=", "holds"),
        (10.0, None, ">", "fails"),
        (None, None, ">", "fails"),
    ],
)
def test_the_whole_interval_decides(
    mean: float | None, half: float | None, relation: str, verdict: str
) -> None:
    expectation = Expectation.parse(f"goodput_bps {relation} 10")
    assert expectation.judge(Estimate(mean, half, half, 8), 8) == verdict


@pytest.mark.parametrize(
    ("n", "mean", "half", "relation", "verdict"),
    [
        (7, 12.0, 1.0, ">", "undecided"),
        (7, 12.0, 3.0, ">", "undecided"),
        (7, 8.0, 1.0, ">", "fails"),
        (1, 8.0, None, ">", "undecided"),
        (1, 8.0, None, "<", "undecided"),
        (0, None, None, "<", "fails"),
    ],
)
def test_a_number_that_some_runs_lack_never_holds(
    n: int, mean: float | None, half: float | None, relation: str, verdict: str
) -> None:
    expectation = Expectation.parse(f"goodput_bps {relation} 10")
    assert expectation.judge(Estimate(mean, half, half, n), 8) == verdict


UNFINISHED = """
duration = "6 s"
seed = 5
[gate.link]
rate = "2 Mbit/s"
queue = "20 packets"
loss = 0.01
[flow.file]
path = ["link"]
rtt = "80 ms"
tcp.cc = "reno"
app.transfer = "1200 kB"
"""


def test_a_transfer_that_is_not_done_has_not_kept_its_time(tmp_path: Path) -> None:
    place = tmp_path / "unfinished.toml"
    place.write_text(UNFINISHED)
    done = tidegate("check-run", place, "--runs", "8", "--no-store", "--expect", "completion_s < 5.2 s")
    # Seven runs took 6 s at least.
    assert (done.returncode, done.stdout) == (1, "fails      completion_s < 5.2 s: 5.091 s (1 of 8 runs)\n")
    found = tg.check_run(
        place,
        [
            "flow.file.completion_s < 5.2 s",
            "completion_s < 20 s",
            "completion_s > 5 s",
            "completion_s > 9 s",
            "progress > 80%",
        ],
        runs=8,
        store=False,
    )
    verdicts = [each.verdict for each in found.judged]
    assert verdicts == ["fails", "undecided", "undecided", "undecided", "holds"]
    assert [each["runs"] for each in found.to_dict()["expectations"]] == [8] * 5
    never = tg.check_run(place, ["completion_s < 5 s"], runs=4, changes={"duration": "1 s"}, store=False)
    assert never.report() == "fails      completion_s < 5 s: there is no such number (0 of 4 runs)"


def test_exit_status(tmp_path: Path) -> None:
    place = tmp_path / "small.toml"
    place.write_text(SMALL + "\nseed = 1\n" if "seed" in SMALL else "seed = 1\n" + SMALL)
    mean = tg.study(place, runs=4, store=False).estimate("flow.bulk.goodput_bps").mean
    assert mean is not None
    common = ("check-run", place, "--runs", "4", "--no-store")
    holds = f"flow.bulk.goodput_bps > {mean / 2:g}"
    fails = "gate.bottleneck.queue_delay_p99_ms < 1 ms"
    open_ = f"flow.bulk.goodput_bps > {mean:.1f}"
    done = tidegate(*common, "--expect", holds)
    assert (done.returncode, done.stdout.split()[0]) == (0, "holds")
    done = tidegate(*common, "--expect", holds, "--expect", fails, "--expect", open_)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["holds", "fails", "undecided"]
    done = tidegate(*common, "--expect", open_, "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["verdict"] == "undecided"
    (tmp_path / "limits.txt").write_text(f"# what was agreed\n{holds}\n\n{fails}\n")
    assert len(tidegate(*common, "--expect", f"@{tmp_path / 'limits.txt'}").stdout.splitlines()) == 2
    for wrong in ("flow.bulk.goodput > 1", "nonsense"):
        assert tidegate(*common, "--expect", wrong).returncode == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# what was agreed\nloss < 5%\nloss <\n", ':3: read "loss <"; write a number'),
        (b"loss < 5%\r\nloss < 200%\r\n", ':2: read "loss < 200%"; loss is never above 1'),
        (b"loss < 5%\n\n# d\xe9lai\n", ":3: this line is not UTF-8"),
        ("loss < 5%\n".encode("utf-16"), ":1: this line is not UTF-8"),
        (b"\n# nothing\n", ": there is no expectation in it"),
        (b"loss < 5%\nlos < 5%\n", ':2: no metric is called "los"; did you mean "loss"?'),
        (b"flow.bulk.loss < 5%\n", ':1: no number of flow.bulk is called "loss"'),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "limits.txt").write_bytes(content)
    done = tidegate("check-run", "small.toml", "--no-store", "--expect", "@limits.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert f"error: limits.txt{said}" in done.stderr


def test_a_mark_in_front_of_a_file_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "limits.txt").write_bytes(b"\xef\xbb\xbfgoodput_bps > 1 kbit/s\r\n")
    done = tidegate("check-run", "small.toml", "--no-store", "--expect", "@limits.txt", cwd=tmp_path)
    assert done.stdout.startswith("holds      goodput_bps > 1 kbit/s: ")
    assert done.returncode == 0


def test_every_point_of_a_sweep_is_judged() -> None:
    sweep = "\n[[sweep]]\nflow.bulk.tcp.cc = ['reno', 'cubic']\n"
    found = tg.check_run(tg.Scenario.from_toml(SMALL + sweep), ["goodput_bps > 1e3"], seed=1, store=False)
    assert [each.point for each in found.judged] == ["reno", "cubic"]
    assert found.verdict == "holds"
    assert "at cubic" in found.report()


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("flow.a.goodput_bps > 1Mbps", 1e6),
        ("flow.a.goodput_bps > 20.5 Mbit/s", 20.5e6),
        ("flow.a.rtt_p99_ms < 2000 us", 2.0),
        ("flow.a.completion_s < 1 min", 60.0),
        ("gate.link.queue_max_packets <= 1 packet", 1.0),
        ("gate.link.loss < 2%", 0.02),
        ("gate.link.loss <= 1", 1.0),
        ("gate.link.utilisation < 120%", 1.2),
        ("fairness > 90%", 0.9),
        ("flow.a.limited_by.gate.link > 50%", 0.5),
        ("gate.link.overallocation_bps_mean < 5 Mbit/s", 5e6),
    ],
)
def test_a_bound_has_the_units_of_a_scenario(text: str, bound: float) -> None:
    assert Expectation.parse(text).bound == pytest.approx(bound)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("flow.a.goodput_bps > 1 Mb", 'the unit of "1 Mb" is not known; write "1 Mbit/s"'),
        ("flow.a.goodput_bps > 50%", 'the unit of "50%" is not known; units here: bit/s, kbit/s'),
        ("flow.a.rtt_p99_ms < 1 Mbit/s", "is a rate, not a time"),
        ("gate.link.loss < 1 ms", '"ms" is no unit of gate.link.loss; units here: %, or none'),
        ("goodput > 1 Mbit/s", "names of numbers in Mbit/s end in _bps or _bps_mean"),
        ("gate.link.queue_max_packets < 5%", "units here: packets, or none"),
        ("gate.link.loss < 2", "gate.link.loss is never above 1, so this says nothing; write 2% or 0.02"),
        ("gate.link.loss < 150%", "gate.link.loss is never above 1"),
        ("fairness > -0.5", "fairness is never below 0"),
        ("flow.a.goodput_bps > -5", "flow.a.goodput_bps is never below 0"),
        ("flow.a.goodput_bps < 1e999", "the bound is larger than any number of a run"),
        ("goodput_bps >= 0 and loss < 1%", "these are two comparisons: each is an expectation of its own"),
        ("flow.x.rtt_p99_ms < 5 Mbit/s", '"5 Mbit/s" is a rate, not a time'),
        ("flow.a.goodput_bps > 2.5 Mb", 'the unit of "2.5 Mb" is not known; write "2.5 Mbit/s"'),
        ("flow.x.segments_sent > 5%", '"%" is no unit of flow.x.segments_sent, a plain count'),
        ("gate.link.drops.queue full < 1%", "a plain count"),
        ("timeouts < 50%", '"%" is no unit of timeouts, a plain count; units here: none'),
        ("pool.ring.utilisation > 101%", "pool.ring.utilisation is never above 1"),
        ("gate.link.contract_utilisation > 101%", "gate.link.contract_utilisation is never above 1"),
        ("late < 1e308e1", "write a number, a comparison and a bound"),
    ],
)
def test_a_bound_that_says_nothing_is_refused(text: str, said: str) -> None:
    with pytest.raises(tg.errors.ArgumentError) as refused:
        Expectation.parse(text)
    assert said in str(refused.value)
    assert text in str(refused.value)


@pytest.mark.parametrize("metric", ["utilisation", "gate.bottleneck.utilisation"])
def test_only_a_gate_whose_rate_changes_can_be_used_by_more_than_all_of_it(metric: str) -> None:
    constant = tg.Scenario.from_toml(SMALL)
    with pytest.raises(tg.errors.ArgumentError) as refused:
        tg.check_run(constant, [f"{metric} > 150%"], seed=1, store=False)
    assert f'read "{metric} > 150%"; {metric} is never above 100%, as the rate of' in str(refused.value)
    assert tg.check_run(constant, [f"{metric} <= 100%"], seed=1, store=False).verdict == "holds"
    steps = tg.Scenario.from_toml(
        SMALL.replace('rate = "4 Mbit/s"', 'rate.steps = [["0 s", "4 Mbit/s"], ["1 s", "2 Mbit/s"]]')
    )
    assert tg.check_run(steps, [f"{metric} > 150%"], seed=1, store=False).verdict == "fails"


RARE = """
duration = "4 s"
warmup = "1 s"
seed = 4
[gate.link]
rate = "2 Mbit/s"
queue = "1000 packets"
loss = 0.001
[flow.bulk]
path = ["link"]
rtt = "40 ms"
tcp.window = "20 segments"
"""


def test_what_a_few_random_runs_did_not_see_may_happen_all_the_same() -> None:
    scenario = tg.Scenario.from_toml(RARE)
    asked = {
        "gate.link.loss < 0.05%": "undecided",
        "loss < 0.05%": "undecided",
        "loss < 0.2%": "holds",
        "loss <= 0": "holds",
        "timeouts < 0.5": "undecided",
        "timeouts < 1": "holds",
        "timeouts > 0": "undecided",
        "gate.link.queue_max_packets > 0": "holds",
    }
    found = tg.check_run(scenario, list(asked), runs=4, store=False)
    assert {each.expectation.text: each.verdict for each in found.judged} == asked
    line = "undecided  gate.link.loss < 0.05%: none seen, at most 0.15 % (4 runs)"
    assert found.report().splitlines()[0] == line
    told = found.to_dict()["expectations"][0]["measured"]
    assert (told["mean"], told["low"], told["n"]) == (0, 0, 4)
    assert told["high"] == pytest.approx(3 / 1996, rel=0.01)
    # One run decides by its value, and so do runs that cannot differ.
    assert tg.check_run(scenario, ["loss < 0.05%"], runs=1, store=False).verdict == "holds"
    fixed = tg.Scenario.from_toml(RARE.replace("loss = 0.001\n", ""))
    assert tg.check_run(fixed, ["loss < 0.05%"], runs=4, store=False).verdict == "holds"
