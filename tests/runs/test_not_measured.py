"""Flows of which no time was measured: over before the warm-up is, or not begun before the end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._compare.changed import changed_lines
from tidegate._compare.quantities import quantities_of
from tidegate._run.completion import total_goodput
from tidegate._run.perturbed import is_luck, spread_of, width_of
from tidegate._run.summary import figures_of
from tidegate._run.text import run_report

TEXT = """\
duration = "10 s"
warmup = "4 s"
seed = 1
[gate.line]
rate = "10 Mbit/s"
queue = "20 packets"
[flow.done]
path = ["line"]
rtt = "40 ms"
app.transfer = "1 MB"
[flow.late]
path = ["line"]
rtt = "40 ms"
start = "20 s"
"""
BULK = """
[flow.bulk]
path = ["line"]
rtt = "40 ms"
"""
RATES = ("goodput_bps", "in_order_bps", "throughput_bps")


def load(text: str, *sets: str) -> tg.Scenario:
    return tg.Scenario.from_toml(text, changes=list(sets))


def saved(folder: Path, text: str) -> Path:
    file = folder / "s.toml"
    file.write_text(text)
    return file


def test_they_have_no_goodput_and_no_part_in_what_all_have() -> None:
    run = tg.run(load(TEXT + BULK))
    done, late, bulk = run.summary["flows"]
    assert [row[rate] for row in (done, late) for rate in RATES] == [None] * 6
    figures = figures_of(run.summary, "line")
    assert figures["goodput_bps"] == bulk["goodput_bps"] > 9e6
    assert figures["fairness"] == 1.0
    quantities = quantities_of(run.summary, "line")
    whole = {each.name: each.of(run.summary) for each in quantities if each.place == "all"}
    assert whole["goodput of all"] == bulk["goodput_bps"]
    assert whole["fairness (Jain)"] == 1.0
    lines = run_report(run.summary, run.title).splitlines()
    cells = {line.split()[0]: line.split() for line in lines if line.split()}
    assert cells["done"][2:4] == cells["late"][2:4] == ["–", "–"]


def test_a_run_of_nothing_else_says_none_everywhere(tmp_path: Path) -> None:
    run = tg.run(load(TEXT))
    assert total_goodput(run.summary) is None
    figures = figures_of(run.summary, "line")
    assert (figures["goodput_bps"], figures["fairness"]) == (None, None)
    assert re.search(r"^all 2 +– +– ", run_report(run.summary, run.title), re.MULTILINE)
    run.plot(tmp_path / "one.svg")
    both = tg.compare(saved(tmp_path, TEXT), vary={"gate.line.queue": ["20 packets", "30 packets"]})
    both.plot(tmp_path / "both.svg")
    assert "<table" in both._repr_html_()
    assert [row["goodput_bps"] for row in both.rows()] == [None, None]


def test_check_run_has_nothing_to_judge(tmp_path: Path) -> None:
    file = saved(tmp_path, TEXT + BULK)
    said = tidegate("check-run", file, "--expect", "flow.done.goodput_bps < 1 Mbit/s")
    assert (said.returncode, "there is no such number" in said.stdout) == (1, True)


def test_copies_together_leave_them_out() -> None:
    copies = TEXT.replace("[flow.done]", "[flow.page]\ncount = 2")
    group = tg.run(load(copies)).summary["flow_groups"][0]
    assert (group["goodput_bps"], group["throughput_bps"], group["done"]) == (None, None, 2)


@pytest.mark.parametrize("early", ["1 us", "340 us", "1 ms", "2 ms", "13 ms"])
def test_a_transfer_that_ends_just_after_the_warm_up_is_not_faster_than_its_link(early: str) -> None:
    took = tg.run(load(TEXT)).flows["done"]["completion_s"]
    picos = round(took * 1e12) - round(float(early.split()[0]) * (1e6 if "us" in early else 1e9))
    row = tg.run(load(TEXT, f"warmup={picos} ps")).flows["done"]
    assert 0 < row["goodput_bps"] <= 10e6 * 1448 / 1500 * (1 + 1e-9)
    assert row["throughput_bps"] <= 10e6 * (1 + 1e-6)


def test_changes_that_take_the_number_away_are_luck() -> None:
    for written, values in ((5e6, [5e6, None]), (None, [5e6, 5e6])):
        spread = spread_of(written, values)
        assert is_luck("flow.a.goodput_bps", spread)
        assert width_of(spread) == (0.0 if written else None)
    assert not is_luck("flow.a.goodput_bps", spread_of(None, [None, None]))


def test_variants_are_compared_by_the_changes_that_both_have(tmp_path: Path) -> None:
    both = tg.compare(
        saved(tmp_path, TEXT + BULK), vary={"gate.line.queue": ["20 packets", "30 packets"]}, perturb=2
    )
    for each, lacking in zip(both.variants, ([None, 1e6], [2e6, 3e6]), strict=True):
        spread = each.run.summary["perturbed"]["numbers"]["goodput_bps"]
        spread.update(spread_of(spread["as_written"], lacking))
    text = "\n".join(map(str, changed_lines(both)))
    assert re.search(r"30 packets .* 2(\.00)? +2(\.00)?$", text, re.MULTILINE), text
