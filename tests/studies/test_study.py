"""Studies: axes, replications, the store, stopping, and the same bytes whoever works."""

from __future__ import annotations

import json
import math
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING

import polars as pl
import pytest
import tidegate as tg
from support.common import SMALL, tidegate
from support.studies import MARKOV
from tidegate._ask.compiled import digest
from tidegate._base.estimate import estimate, paired
from tidegate._study.page import study_page
from tidegate._study.until import Until

if TYPE_CHECKING:
    from pathlib import Path

CC = {"flow.bulk.tcp.cc": ["reno", "cubic"]}


def test_the_file_s_sweep_and_what_is_varied_multiply(random: Path) -> None:
    random.write_text(
        MARKOV
        + '\n[[sweep]]\n"gate.link.queue" = ["5 packets", "10 packets"]\n'
        + '\n[[sweep]]\n"gate.link.delay" = ["5 ms", "20 ms"]\n"flow.bulk.rtt" = ["20 ms", "60 ms"]\n'
    )
    study = tg.study(random, vary=CC, runs=1)
    assert study.axes == ["gate.link.queue", "gate.link.delay", "flow.bulk.rtt", "flow.bulk.tcp.cc"]
    assert len(study.points) == 8
    assert study.points[1].values == {
        "gate.link.queue": "5 packets",
        "gate.link.delay": "5 ms",
        "flow.bulk.rtt": "20 ms",
        "flow.bulk.tcp.cc": "cubic",
    }
    replaced = tg.study(random, vary={"gate.link.queue": ["7 packets"]}, runs=1)
    assert [p.values["gate.link.queue"] for p in replaced.points] == ["7 packets"] * 2
    with pytest.raises(tg.errors.ArgumentError, match=r"sweeps it together with flow\.bulk\.rtt"):
        tg.study(random, vary={"gate.link.delay": ["7 ms"]})


def test_replications_differ_and_every_point_sees_the_same_networks(random: Path) -> None:
    study = tg.study(random, vary=CC)
    rates = [study.values("gate.link.rate_mean_bps", n) for n in (0, 1)]
    assert len({*rates[0]}) == 6, "each replication has a network of its own"
    assert rates[0] == rates[1], "and every variant sees it"
    steady = tg.study(random, changes={"gate.link.rate": "4 Mbit/s"})
    assert len({*steady.values("gate.link.queue_delay_mean_ms")}) > 1, "only the start is random here"
    alone = tg.run(random, replication=3, record="summary", changes={"flow.bulk.tcp.cc": "cubic"})
    assert study.values("goodput_bps", 1)[3] == alone.flows["bulk"]["goodput_bps"]


def test_means_and_intervals_are_student_s() -> None:
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
    found = estimate([*values, None])
    assert (found.n, found.mean) == (8, 3.875)
    assert found.sd == pytest.approx(2.7483761439387144)
    assert found.half_width == pytest.approx(2.364624251592785 * found.sd / math.sqrt(8), rel=1e-9)
    assert (found.low, found.high) == (found.mean - found.half_width, found.mean + found.half_width)
    assert estimate([2.0]) == tg.Estimate(2.0, None, None, 1)
    assert estimate([None]).mean is None
    assert estimate([7.0, 7.0]).half_width == 0
    assert paired([1.0, None, 5.0], [0.0, 3.0, 2.0]) == estimate([1.0, 3.0])


def test_pairs_are_narrower_than_their_parts(random: Path) -> None:
    study = tg.study(random, vary={"gate.link.queue": ["15 packets", "16 packets"]}, runs=12)
    both = [study.values("goodput_bps", n) for n in (0, 1)]
    found = study.difference("goodput_bps", {"queue": "16 packets"}, {"queue": "15 packets"})
    assert found == estimate([b - a for a, b in zip(*both, strict=True)])
    assert found.half_width < study.estimate("goodput_bps", 0).half_width


def test_whoever_works_the_bytes_are_the_same(random: Path, tmp_path: Path) -> None:
    expected = tg.study(random, vary=CC, workers=1, store=False)
    text = expected.to_json()
    expected.save(tmp_path / "one")
    names = sorted(path.name for path in (tmp_path / "one").glob("*.parquet"))
    assert names == ["flows.parquet", "gates.parquet", "runs.parquet", "table.parquet"]
    with (
        ThreadPoolExecutor(3) as threads,
        ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes,
    ):
        others = {
            "five threads": tg.study(random, vary=CC, workers=5),
            "from the store": tg.study(random, vary=CC),
            "an executor of threads": tg.study(random, vary=CC, store=False, executor=threads),
            "other processes": tg.study(random, vary=CC, store=False, executor=processes),
        }
    for name, study in others.items():
        assert study.to_json() == text, name
        study.save(tmp_path / "other", force=True)
        for file in names:
            assert (tmp_path / "other" / file).read_bytes() == (tmp_path / "one" / file).read_bytes(), name
    done = tidegate("study", random, "--vary", "flow.bulk.tcp.cc=reno,cubic", "--json", "--workers", "2")
    assert done.returncode == 0
    assert done.stdout == text + "\n"


def test_a_scenario_travels_to_another_process(random: Path) -> None:
    scenario = tg.load(random, changes={"flow.bulk.tcp.cc": "cubic"})
    again = pickle.loads(pickle.dumps(scenario))
    assert digest(again, "summary") == digest(scenario, "summary")


def test_an_executor_that_is_none(random: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="has no submit"):
        tg.study(random, executor=object())


def test_a_point_stops_when_its_interval_is_narrow(random: Path) -> None:
    until = Until("goodput_bps", relative=0.05, at_least=4, at_most=60, step=4)
    vary = {"gate.link.queue": ["5 packets", "30 packets"]}
    one = tg.study(random, vary=vary, until=until, workers=1, store=False)
    four = tg.study(random, vary=vary, until=until, workers=4, store=False)
    assert one.to_json() == four.to_json()
    counts = [len(one.values("goodput_bps", n)) for n in (0, 1)]
    assert all(count % 4 == 0 and 4 < count < 60 for count in counts), counts
    for point, count in enumerate(counts):
        found = one.estimate("goodput_bps", point)
        assert found.half_width <= 0.05 * found.mean
        before = estimate(one.values("goodput_bps", point)[: count - 4])
        assert before.half_width > 0.05 * before.mean, "it did not go on for nothing"
    most = Until("goodput_bps", absolute=1.0, at_least=2, at_most=5, step=2)
    assert len(tg.study(random, until=most).values("goodput_bps")) == 5


def test_until_is_read_from_text() -> None:
    assert Until.parse("goodput_bps:±2%") == Until("goodput_bps", relative=0.02)
    assert Until.parse("gate.a/b.1.loss: 0.5") == Until("gate.a/b.1.loss", absolute=0.5)
    for wrong in ("goodput_bps", "goodput_bps:", "goodput_bps:±%", "goodput_bps:-3%", ":2%", "x:0"):
        with pytest.raises(tg.errors.ArgumentError, match="until"):
            Until.parse(wrong)
    with pytest.raises(tg.errors.ArgumentError, match="one of"):
        Until("x")


def test_metrics_have_names(random: Path) -> None:
    study = tg.study(random, vary=CC, runs=2)
    assert study.values("flow.bulk.goodput_bps", 0) == study.values("goodput_bps", 0)
    assert study.values("gate.link.loss", 0) == study.values("loss", 0)
    shares = study.values("flow.bulk.limited_by.gate.link", 1)
    assert all(0 < share <= 1 for share in shares)
    assert study.point({"cc": "cubic"}).number == 1
    for metric, told in {
        "goodput": "goodput_bps",
        "gate.lnk.loss": '"link"',
        "gate.link.los": '"loss"',
        "flow.bulk.name": "name",
        "flow.bulk": "put the name of one behind it",
        "flow.bulk.cc": r'no number of flow.bulk is called "cc"; (known|did you mean "(?!cc"))',
    }.items():
        with pytest.raises(tg.errors.UnknownNameError, match=told):
            study.values(metric, 0)
    with pytest.raises(tg.errors.UnknownNameError, match="cubic"):
        study.point({"cc": "cubik"})
    with pytest.raises(tg.errors.ArgumentError, match="2 points match"):
        study.point()
    with pytest.raises(tg.errors.UnknownNameError, match="goodput_bps"):
        tg.study(random, until="gooput_bps:2%")


def test_tables_group_and_come_back_from_the_folder(random: Path, tmp_path: Path) -> None:
    study = tg.study(random, vary={**CC, "flow.bulk.tcp.dupthresh": [3, 5]}, runs=3)
    assert study.flows.shape[0] == 4 * 3
    means = study.flows.group_by("flow.bulk.tcp.cc", "flow.bulk.tcp.dupthresh").agg(
        pl.col("goodput_bps").mean()
    )
    assert means.shape[0] == 4
    assert study.runs["flow.bulk.tcp.dupthresh"].dtype.is_integer(), "bare numbers are numbers"
    row = study.table.row(0, named=True)
    assert row["metric"] == "goodput_bps"
    assert row["mean"] == study.estimate("goodput_bps", 0).mean
    study.save(tmp_path / "folder")
    again = tg.open(tmp_path / "folder")
    assert again.to_json() == study.to_json()
    assert again.values("flow.bulk.rtt_p50_ms", 2) == study.values("flow.bulk.rtt_p50_ms", 2)
    with pytest.raises(tg.errors.RunFolderError, match="holds a Study, and no Run"):
        tg.open(tmp_path / "folder", tg.Run)
    with pytest.raises(tg.errors.RunFolderError, match="Comparison"):
        tg.open(tmp_path / "folder", tg.Comparison)
    done = tidegate("plot", tmp_path / "folder", "--metric", "gate.link.loss", "--axis", "cc", "--json")
    assert done.returncode == 0
    assert (tmp_path / "folder" / "study.png").stat().st_size > 5_000


def test_the_command_line(random: Path, tmp_path: Path) -> None:
    done = tidegate(
        "study", random, "--vary", "flow.bulk.tcp.cc=reno,cubic", "--runs", "3", "--out", tmp_path / "s",
        "--plot", tmp_path / "s.png", COLUMNS="80",
    )  # fmt: skip
    assert done.returncode == 0
    assert "±" in done.stdout
    assert "Difference from cc=reno, replication by replication" in done.stdout
    assert {path.name for path in (tmp_path / "s").iterdir()} >= {
        "manifest.json",
        "study.json",
        "runs.parquet",
    }
    result = json.loads((tmp_path / "s" / "study.json").read_text())
    assert [point["runs"] for point in result["points"]] == [3, 3]
    ((axis, apart),) = result["points"][1]["difference_from_first"].items()
    assert axis in result["first"]
    assert set(apart["goodput_bps"]) >= {"mean", "low", "high", "n"}
    ascii_only = tidegate("study", random, "--runs", "2", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert ascii_only.stdout.isascii()
    for wrong in (
        ["--runs", "0"],
        ["--until", "goodput_bps"],
        ["--max-runs", "9"],
        ["--plot", "x.png"],
        ["--gate", "lnk"],
        ["--vary", "seed=1,2"],
        ["--vary", "flow.bulk.tcp.cc=rno"],
        ["--workers", "0"],
    ):
        failed = tidegate("study", random, *wrong, cwd=tmp_path)
        assert failed.returncode == 2, (wrong, failed.stderr)
        assert failed.stderr.startswith(("error", "Usage")), failed.stderr


def test_one_run_says_that_there_is_no_interval(random: Path) -> None:
    study = tg.study(random, runs=1)
    assert any("no interval" in warning for warning in study.warnings)
    assert study.estimate("goodput_bps").half_width is None
    assert "runs them all" in " ".join(tg.run(random, record="summary").warnings)


def test_differences_name_the_value_that_they_are_from(random: Path) -> None:
    # Points that differ in both keys are compared with none: the difference would have no cause.
    done = tidegate(
        "study", random, "--vary", "flow.bulk.tcp.cc=reno,cubic",
        "--vary", "gate.link.rate=4 Mbit/s,40 Mbit/s", "--runs", "3", COLUMNS="120",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    of_cc, of_rate = done.stdout.split("Difference from ")[1:]
    assert of_cc.startswith("cc=reno, other values alike")
    assert of_rate.startswith("rate=4 Mbit/s, other values alike")


def test_a_point_without_chance_runs_once_and_every_replication_has_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for of each replication is there; only the first is simulated."""
    from tidegate._jobs.store import Store
    from tidegate._jobs.workers import Local
    from tidegate._study.points import prepare
    from tidegate._study.start import execute_study
    from tidegate._study.work import Work

    calm = tmp_path / "calm.toml"
    calm.write_text(SMALL.replace("loss = 0.002\n", ""), encoding="utf-8")
    queue = {"gate.bottleneck.queue": ["10 packets", "20 packets"]}

    def tables() -> tuple[list[pl.DataFrame], tuple[int, int]]:
        prepared = prepare(calm, queue, runs=4, seed=3, equal_runs=True)
        assert not any(point.draws for point in prepared.points)
        counts: list[tuple[int, int]] = []
        found = execute_study(
            prepared, workers=Local(1), store=Store(None), told=lambda *each: counts.append(each)
        )
        return [found.runs, found.flows, found.gates, found.table], counts[-1]

    once, counts = tables()
    assert counts == (2, 8)
    monkeypatch.setattr(Work, "_draws", lambda *_: True)
    each, counts = tables()
    assert counts == (8, 8)
    assert all(one.equals(other) for one, other in zip(once, each, strict=True))
    assert once[0]["replication"].to_list() == [0, 1, 2, 3] * 2


def test_a_point_that_stops_without_its_interval_is_named(tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    file.write_text(
        'duration = "1 s"\nseed = 1\n'
        'gate.link = { rate = "10 Mbit/s", queue = "50 packets", delay = "10 ms", loss = "1%" }\n'
        'flow.a.path = ["link"]\n'
    )
    words = ("study", str(file), "--until", "goodput_bps:0.001%", "--no-store", "--max-runs", "3")
    done = tidegate(*words)
    assert "warning: the interval of goodput_bps is not as narrow as asked: 3 runs" in done.stderr
    assert any("3 runs" in each for each in json.loads(tidegate(*words, "--json").stdout)["warnings"])
    some = tidegate(*words, "--vary", "gate.link.loss=0%,1%")
    assert "at 1 of the 2 points (1%)" in some.stderr
    refused = tidegate(*words, "--runs", "20")
    assert refused.returncode == 2
    assert "--max-runs: read 3, fewer than --runs 20" in refused.stderr


def test_an_interval_has_only_what_is_possible(random: Path) -> None:
    bounds = estimate([0.0, 0.0, 0.0, 1.0], (0.0, 1.0))
    assert bounds.half_width is not None
    assert bounds.mean is not None
    assert bounds.mean + bounds.half_width > 1
    assert (bounds.low, bounds.high, bounds.arms) == (0.0, 1.0, (0.25, 0.75))
    assert (bounds.to_dict()["low"], bounds.to_dict()["high"]) == (bounds.low, bounds.high)
    assert paired([1.0, 0.0, 1.0], [0.0, 1.0, 0.0], (0.0, 1.0)).high == 1.0
    assert estimate([0.0, 0.0, 1.0]).arms == (estimate([0.0, 0.0, 1.0]).half_width,) * 2
    assert estimate([1.0]).arms == (0.0, 0.0)
    text = random.read_text() + '[flow.other]\npath = ["link"]\nrtt = "60 ms"\ntcp.cc = "cubic"\n'
    random.write_text(text)
    study = tg.study(random, vary={"gate.link.queue": ["2 packets", "15 packets"]}, runs=4)
    rows = {(row["point"], row["metric"]): row for row in study.table.iter_rows(named=True)}
    cut = 0
    for point in study.points:
        told = study.to_dict()["points"][point.number]["metrics"]
        for metric in study.metrics:
            found = study.estimate(metric, point.number)
            if found.low is None or found.high is None or not found.half_width or found.mean is None:
                continue
            cut += found.low > found.mean - found.half_width or found.high < found.mean + found.half_width
            assert found.low >= 0
            assert found.high <= (1 if metric in ("fairness", "loss") else math.inf)
            for same in (told[metric], rows[point.number, metric]):
                assert (same["low"], same["high"]) == (found.low, found.high)
        figure = study.plot(metric="timeouts")
        drawn = [mark.get_segments() for mark in figure.axes[0].collections if hasattr(mark, "get_segments")]
        assert all(y >= 0 for segments in drawn for segment in segments for _, y in segment)
    assert cut, "this study has none that would reach beyond"


UNFINISHED = """
duration = "6 s"
seed = 5
runs = 8
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


def test_a_mean_says_of_how_many_runs_it_is() -> None:
    vary = {"flow.file.app.transfer": ["300 kB", "1200 kB", "9 MB"]}
    study = tg.study(tg.Scenario.from_toml(UNFINISHED), vary=vary, store=False)
    assert [study.estimate("completion_s", n).n for n in range(3)] == [8, 1, 0]
    told = " ".join(study.report(columns=["completion_s"]).split())
    assert "5.091 ±– (1 of 8 runs) 9 MB (12%)" in told
    assert "1200 kB 3.680 ±– (1 of 8 runs) 9 MB –" in told
    assert "Of runs in brackets: the others have no such number." in told
    assert "done: a share in brackets had arrived" in told
    assert "(1 of 8 runs)" in study_page(study)
    whole = study.report(columns=["goodput_bps"])
    assert "of 8 runs" not in whole
    assert "brackets" not in whole
