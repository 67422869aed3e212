"""The copies of a flow together: rates over their own span, and how long their transfers took."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tidegate as tg
from support.common import tidegate

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """
title = "short flows behind a download"
duration = "12 s"
warmup = "2 s"
seed = 1
gate.down.rate = "20 Mbit/s"
gate.down.queue = { limit = "1000 packets", aqm = "fq_codel" }
[flow.bulk]
path = ["down"]
rtt = "30 ms"
[flow.page]
count = 20
path = ["down"]
rtt = "30 ms"
start.uniform = ["5 s", "5.3 s"]
app.transfer = "60 kB"
"""


def test_a_group_is_no_faster_than_its_link() -> None:
    run = tg.run(tg.Scenario.from_toml(PAGE), record="summary")
    pages = [row for row in run.summary["flows"] if row["name"].startswith("page.")]
    first = min(row["start_s"] for row in pages)
    last = max(row["start_s"] + row["completion_s"] for row in pages)
    group = run.flow_groups["page"]
    assert run.flow_groups.names == ["page"]
    assert math.isclose(group["goodput_bps"], 20 * 60_000 * 8 / (last - first), rel_tol=1e-9)
    assert group["throughput_bps"] < 20e6 < sum(row["throughput_bps"] for row in pages)


def test_the_table_has_the_group_of_the_summary(tmp_path: Path) -> None:
    (tmp_path / "page.toml").write_text(PAGE)
    group = tg.run(tmp_path / "page.toml", record="summary").flow_groups["page"]
    done = tidegate("run", tmp_path / "page.toml", "--record", "summary")
    line = next(line for line in done.stdout.splitlines() if line.startswith("page.1–20"))
    assert f"{group['goodput_bps'] / 1e6:.3g}" in line.split()


def test_completions_of_a_group() -> None:
    run = tg.run(tg.Scenario.from_toml(PAGE), record="summary")
    took = sorted(row["completion_s"] for row in run.summary["flows"] if "start_s" in row)
    group = run.flow_groups["page"]
    assert (group["flows"], group["done"]) == (20, 20)
    assert math.isclose(group["completion_mean_s"], np.mean(took))
    assert [group[f"completion_p{p}_s"] for p in (50, 95, 99)] == [took[9], took[18], took[19]]
    assert group["completion_s"] == took[-1]
    short = tg.run(tg.Scenario.from_toml(PAGE, changes={"duration": "5.6 s"}), record="summary").flow_groups[
        "page"
    ]
    assert short["done"] < 20
    assert short["completion_s"] is None


def test_a_group_is_a_name_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "page.toml").write_text(PAGE)
    bound = ["--expect", "flow.page.completion_p99_s < 3 s", "--expect", "flow.page.goodput_bps > 1 Mbit/s"]
    assert tidegate("check-run", tmp_path / "page.toml", "--runs", "2", *bound).returncode == 0
    study = tg.study(tmp_path / "page.toml", vary={"gate.down.queue.aqm": ["none", "fq_codel"]}, runs=2)
    values = study.values("flow.page.completion_p50_s", 1)
    groups = study.flow_groups
    assert values == groups.filter(groups["point"] == 1)["completion_p50_s"].to_list()
    with pytest.raises(tg.errors.UnknownNameError):
        study.values("flow.pages.completion_p50_s", 1)


def test_a_distribution_is_over_the_copies_of_all_runs(tmp_path: Path) -> None:
    (tmp_path / "page.toml").write_text(PAGE)
    study = tg.study(tmp_path / "page.toml", vary={"gate.down.queue.aqm": ["none", "fq_codel"]}, runs=2)
    for metric in ("flow.page.completion_s", "completion_s"):
        figure = study.plot_cdf(metric=metric)
        flows = study.flows.filter((study.flows["point"] == 0) & study.flows["completion_s"].is_not_null())
        line = figure.axes[0].lines[0]
        assert sorted(flows["completion_s"]) == pytest.approx(list(line.get_xdata())[1:])
        assert figure.axes[0].get_ylabel() == "share of the flows at or below"


def test_a_path_is_no_longer_than_what_tcp_measures() -> None:
    text = PAGE.replace('app.transfer = "60 kB"', 'app.transfer = "1460 B"')
    for base in ("rfc", "linux"):
        run = tg.run(
            tg.Scenario.from_toml(text, changes={"flow.page.tcp.base": base, "flow.bulk.start": "11.9 s"}),
            record="summary",
        )
        row = run.flows["page.1"]
        # 1512 B at 20 Mbit/s are 0.6 ms; one segment waits for the delayed ACK: 200 ms, Linux 40 ms.
        assert 30.5 < row["rtt_path_ms"] < 30.8
        assert row["rtt_p50_ms"] > row["rtt_path_ms"]


def test_both_rates_of_a_bucket_are_shown() -> None:
    link = ["--link", "5 Gbit/s", "--rtt", "20 ms", "--set", 'duration="1 s"', "--record", "summary"]
    police = tidegate("run", *link, "--set", 'gate.link.police={rate="256 Mbit/s",burst="2 GB"}')
    lines = police.stdout.splitlines()
    assert next(line for line in lines if line.startswith("gate")).split()[1:4] == ["rate", "line", "used"]
    assert next(line for line in lines if line.startswith("link")).split()[2] == "5.00"
    bucket = 'gate.link.rate={token_bucket={rate="10 Mbit/s",burst="10 MB",peak="100 Mbit/s"}}'
    told = tidegate("run", *link, "--set", bucket).stdout.splitlines()
    assert next(line for line in told if line.startswith("gate")).split()[1:4] == ["rate", "peak", "used"]
    # In its first second it could pass 90 Mbit; its rate is that of its tokens all the same.
    assert next(line for line in told if line.startswith("link")).split()[1:3] == ["10.0", "100"]
    both = ["--set", bucket, "--set", 'gate.link.police={rate="5 Mbit/s",burst="50 kB"}']
    told = tidegate("run", *link, *both).stdout.splitlines()
    assert next(line for line in told if line.startswith("gate")).split()[1:4] == ["rate", "line", "peak"]
    assert next(line for line in told if line.startswith("link")).split()[1:4] == ["5.00", "10.0", "100"]
    explained = tidegate("check", *link[:6], "--set", bucket, "--explain").stdout
    # 10 MB and 1 s of 10 Mbit/s are 90 Mbit on the wire, 96.5% of it data.
    assert "9.65 Mbit/s of user data in the long run; with a burst of 10 MB at most 86.9 Mbit/s" in explained


def test_a_distribution_needs_nothing_varied(tmp_path: Path) -> None:
    file = tmp_path / "page.toml"
    file.write_text(PAGE)
    figure = tg.study(file, runs=2, seed=1).plot_cdf(metric="flow.page.completion_s")
    (line,) = figure.axes[0].lines
    assert len(line.get_xdata()) > 10
    done = tidegate(
        "study", file, "--runs", "2", "--cdf", "flow.page.completion_s", "--plot", tmp_path / "p.png"
    )
    assert done.returncode == 0, done.stderr
    with pytest.raises(tg.errors.ArgumentError, match="nothing is varied"):
        tg.study(file, runs=2, seed=1).plot()
