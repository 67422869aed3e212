"""Studies: axes, replications, the store, stopping, and the same bytes whoever works."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING

import polars as pl
import pytest
import tidegate as tg
from common import tidegate
from tidegate._ask.compiled import digest
from tidegate._base.estimate import estimate, paired
from tidegate._study import jobs as _jobs
from tidegate._study.prepare import prepare
from tidegate._study.start import execute_study
from tidegate._study.store import opened
from tidegate._study.until import Until

if TYPE_CHECKING:
    from pathlib import Path

MARKOV = """\
title = "Random"
duration = "4 s"
warmup = "1 s"
seed = 5
runs = 6

[gate.link]
queue = "15 packets"
delay = "10 ms"
rate.markov.rates = ["2 Mbit/s", "6 Mbit/s"]
rate.markov.mean_holding = ["300 ms", "300 ms"]

[flow.bulk]
path = ["link"]
rtt = "30 ms"
start.uniform = ["0 s", "100 ms"]
tcp.cc = "reno"
"""
CC = {"flow.bulk.tcp.cc": ["reno", "cubic"]}


@pytest.fixture
def random(tmp_path: Path) -> Path:
    path = tmp_path / "random.toml"
    path.write_text(MARKOV)
    return path


def counted(
    path: Path, vary: dict[str, list[str]] | None = None, **options: object
) -> tuple[tg.Study, int, int]:
    """A study, how many runs it computed, and how many it has."""
    counts: list[int] = []
    measure = {key: options.pop(key) for key in ("measure", "measure_version", "record") if key in options}
    prepared = prepare(path, vary or {}, options.pop("set", None), **options)
    with opened(True) as store:
        study = execute_study(
            prepared,
            workers=_jobs.Local(2),
            store=store,
            told=lambda *numbers: counts.extend(numbers),
            **measure,
        )
    return study, counts[0], counts[1]


# --- axes and replications --------------------------------------------------------------------


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
    with pytest.raises(tg.ArgumentError, match=r"sweeps it together with flow\.bulk\.rtt"):
        tg.study(random, vary={"gate.link.delay": ["7 ms"]})


def test_replications_differ_and_every_point_sees_the_same_networks(random: Path) -> None:
    study = tg.study(random, vary=CC)
    rates = [study.values("gate.link.rate_mean_bps", n) for n in (0, 1)]
    assert len({*rates[0]}) == 6, "each replication has a network of its own"
    assert rates[0] == rates[1], "and every variant sees it"
    steady = tg.study(random, set={"gate.link.rate": "4 Mbit/s"})
    assert len({*steady.values("gate.link.queue_delay_mean_ms")}) > 1, "only the start is random here"
    alone = tg.run(random, replication=3, record="summary", set={"flow.bulk.tcp.cc": "cubic"})
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


# --- the same bytes ---------------------------------------------------------------------------


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
    scenario = tg.load(random, set={"flow.bulk.tcp.cc": "cubic"})
    again = pickle.loads(pickle.dumps(scenario))
    assert digest(again, "summary") == digest(scenario, "summary")


def test_an_executor_that_is_none(random: Path) -> None:
    with pytest.raises(tg.ArgumentError, match="has no submit"):
        tg.study(random, executor=object())


# --- the store --------------------------------------------------------------------------------


def test_nothing_is_computed_twice(random: Path) -> None:
    assert counted(random)[1:] == (6, 6)
    assert counted(random)[1:] == (0, 6)
    assert counted(random, runs=9)[1:] == (3, 9), "more runs: only those"
    wider = {"gate.link.queue": ["15 packets", "30 packets"]}
    assert counted(random, wider)[1:] == (6, 12), "a wider axis: only the new point"
    random.write_text(MARKOV.replace("Random", "Another title"))
    assert counted(random)[1:] == (0, 6), "a title changes no number"


def test_what_changes_a_number_is_computed_again(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(random, runs=2)[1] == 2
    assert counted(random, runs=2, seed=6)[1] == 2, "another seed"
    assert counted(random, runs=2, set={"gate.link.delay": "11 ms"})[1] == 2, "another scenario"
    monkeypatch.setattr(_jobs, "engine_identity", lambda: "another build")
    assert counted(random, runs=2)[1] == 2, "another version"


def test_a_changed_trace_is_computed_again(tmp_path: Path) -> None:
    trace = tmp_path / "link.csv"
    trace.write_text("time_s,rate_bps\n0,2000000\n1,4000000\n2,4000000\n")
    file = tmp_path / "traced.toml"
    file.write_text(
        'duration = "3 s"\nseed = 1\n[gate.link]\nrate.trace = "link.csv"\nqueue = "20 packets"\n'
        '[flow.bulk]\npath = ["link"]\nrtt = "20 ms"\n'
    )
    assert counted(file)[1] == 1
    assert counted(file)[1] == 0
    trace.write_text("time_s,rate_bps\n0,2000000\n1,5000000\n2,4000000\n")
    assert counted(file)[1] == 1


def numbers(run: tg.Run) -> dict[str, float]:
    """A measurement whose source is all there is to know."""
    return {"top_cwnd": run.flows["bulk"].series("cwnd")["cwnd_segments"].max(), "none": math.nan}


def test_a_measurement_is_kept_under_what_it_does(random: Path) -> None:
    study, computed, _ = counted(random, measure=numbers, record="20 ms")
    assert computed == 6
    assert study.estimate("top_cwnd").mean > 2
    assert study.values("none") == [None] * 6
    assert {"top_cwnd", "none"} <= {*study.runs.columns}
    assert counted(random, measure=numbers, record="20 ms")[1] == 0
    assert counted(random, measure=numbers, record="40 ms")[1] == 6, "other columns"
    assert counted(random, measure=numbers, measure_version="2", record="20 ms")[1] == 6
    factor = 2.0

    def hidden(run: tg.Run) -> dict[str, float]:
        return {"x": factor * run.summary["duration_s"]}

    with pytest.raises(tg.ArgumentError, match="measure_version"):
        tg.study(random, measure=hidden)
    with pytest.raises(tg.ArgumentError, match="measure_version"):
        tg.study(random, measure=max)
    assert tg.study(random, measure=hidden, measure_version="1").estimate("x").mean == 8.0
    with pytest.raises(tg.NotRecordedError, match="record"):
        tg.study(random, measure=numbers)


def words(run: tg.Run) -> dict[str, str]:
    return {"title": run.title}


def test_a_measurement_gives_numbers(random: Path) -> None:
    with pytest.raises(tg.ArgumentError, match=r"title is 'Random'"):
        tg.study(random, measure=words)


def test_a_damaged_store_says_so(random: Path, own_store: Path) -> None:
    (own_store / "runs.sqlite").write_bytes(b"not a database, and long enough to be taken for one" * 40)
    with pytest.raises(tg.StoreError, match="delete it"):
        tg.study(random)
    done = tidegate("study", random)
    assert (done.returncode, done.stdout) == (2, "")
    assert "runs.sqlite" in done.stderr
    assert tidegate("study", random, "--no-store").returncode == 0


LONG = MARKOV.replace('"4 s"', '"1000 s"').replace("runs = 6", "runs = 24")


def kept(store: Path) -> int:
    """How many results are in the store; a look from outside."""
    file = store / "runs.sqlite"
    if not file.exists():
        return 0
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10) as base:
        try:
            return int(base.execute("SELECT count(*) FROM runs").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def stopped_midway(file: Path, store: Path, how: int) -> subprocess.CompletedProcess[str]:
    """Start a study and send it a signal when it has kept three runs."""
    command = [sys.executable, "-m", "tidegate", "study", str(file), "--workers", "1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        begin = time.monotonic()
        while kept(store) < 3 and child.poll() is None:
            assert time.monotonic() - begin < 60
            time.sleep(0.01)
        child.send_signal(how)
        out, err = child.communicate(timeout=30)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_was_stopped_goes_on_where_it_stopped(
    random: Path, own_store: Path, how: signal.Signals
) -> None:
    random.write_text(LONG)
    ended = stopped_midway(random, own_store, how)
    assert ended.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    there = kept(own_store)
    assert 3 <= there < 24
    if how == signal.SIGINT:
        assert f"stopped: {there} of 24 runs are kept" in ended.stderr
        assert "Traceback" not in ended.stderr
    again = tidegate("study", random, "--json")
    assert again.returncode == 0
    assert f"{there} of 24 runs were taken from the store" in again.stderr
    assert again.stdout == tg.study(random, store=False).to_json() + "\n"


# --- stopping early ---------------------------------------------------------------------------


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
        with pytest.raises(tg.ArgumentError, match="until"):
            Until.parse(wrong)
    with pytest.raises(tg.ArgumentError, match="one of"):
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
    }.items():
        with pytest.raises(tg.UnknownNameError, match=told):
            study.values(metric, 0)
    with pytest.raises(tg.UnknownNameError, match="cubic"):
        study.point({"cc": "cubik"})
    with pytest.raises(tg.ArgumentError, match="2 points match"):
        study.point()
    with pytest.raises(tg.UnknownNameError, match="goodput_bps"):
        tg.study(random, until="gooput_bps:2%")


# --- what comes out ---------------------------------------------------------------------------


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
    again = tg.open_study(tmp_path / "folder")
    assert again.to_json() == study.to_json()
    assert again.values("flow.bulk.rtt_p50_ms", 2) == study.values("flow.bulk.rtt_p50_ms", 2)
    with pytest.raises(tg.RunFolderError, match="open_study"):
        tg.open_run(tmp_path / "folder")
    with pytest.raises(tg.RunFolderError, match="study"):
        tg.open_comparison(tmp_path / "folder")
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
    assert "Difference from the first line" in done.stdout
    assert {path.name for path in (tmp_path / "s").iterdir()} >= {
        "manifest.json",
        "study.json",
        "runs.parquet",
    }
    result = json.loads((tmp_path / "s" / "study.json").read_text())
    assert [point["runs"] for point in result["points"]] == [3, 3]
    assert set(result["points"][1]["difference_from_first"]["goodput_bps"]) >= {"mean", "low", "high", "n"}
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
