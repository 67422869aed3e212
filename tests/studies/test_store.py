"""The store of studies: nothing is computed twice, and a study that was stopped goes on."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import tidegate
from support.studies import MARKOV, counted
from tidegate._advise.bench import bench_for
from tidegate._advise.gate import find
from tidegate._check.expect import judged
from tidegate._check.expectation import Expectation
from tidegate._jobs import job as _job
from tidegate._jobs.store import opened
from tidegate._study.points import prepare

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_computed_twice(random: Path) -> None:
    assert counted(random)[1:] == (6, 6)
    assert counted(random)[1:] == (0, 6)
    assert counted(random, runs=9)[1:] == (3, 9), "more runs: only those"
    wider = {"gate.link.queue": ["15 packets", "30 packets"]}
    assert counted(random, wider)[1:] == (6, 12), "a wider axis: only the new point"
    random.write_text(MARKOV.replace("Random", "Another title"))
    assert counted(random)[1:] == (0, 6), "a title changes no number"


def test_a_command_without_a_store_computes_nothing_twice_and_keeps_nothing(
    random: Path, own_store: Path
) -> None:
    with opened(False) as shared:
        assert counted(random, within=shared)[1:] == (6, 6)
        assert counted(random, within=shared, runs=8)[1:] == (2, 8)
    assert not [*own_store.iterdir()]
    with opened(False) as another:
        assert counted(random, within=another)[1:] == (6, 6)


def test_what_changes_a_number_is_computed_again(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(random, runs=2)[1] == 2
    assert counted(random, runs=2, seed=6)[1] == 2, "another seed"
    assert counted(random, runs=2, changes={"gate.link.delay": "11 ms"})[1] == 2, "another scenario"
    monkeypatch.setattr(_job, "engine_identity", lambda: "another build")
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

    with pytest.raises(tg.errors.ArgumentError, match="measure_version"):
        tg.study(random, measure=hidden)
    with pytest.raises(tg.errors.ArgumentError, match="measure_version"):
        tg.study(random, measure=max)
    assert tg.study(random, measure=hidden, measure_version="1").estimate("x").mean == 8.0
    with pytest.raises(tg.errors.NotRecordedError, match="record"):
        tg.study(random, measure=numbers)


def words(run: tg.Run) -> dict[str, str]:
    return {"title": run.title}


def test_a_measurement_gives_numbers(random: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=r"title is 'Random'"):
        tg.study(random, measure=words)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_a_measured_number_has_an_end(value: float, random: Path) -> None:
    def endless(run: tg.Run) -> dict[str, float]:
        return {"late": value * run.seed}

    words = f"late is {value}; give a finite number, or None where there is none"
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.study(random, measure=endless, measure_version=str(value), store=False)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flow.bulk.late", "every run has flow.bulk.late"),
        ("goodput_bps", "every run has goodput_bps; choose another name"),
        ("timeouts", "every run has timeouts; choose another name"),
        ("loss", "every run has loss; choose another name"),
        ("utilisation", "every run has utilisation; choose another name"),
        ("queue_delay_p99_ms", "every run has queue_delay_p99_ms; choose another name"),
        ("fairness", "every run has fairness; choose another name"),
        ("response_p95_s", "every run has response_p95_s; choose another name"),
        ("replication", "every run has replication; choose another name"),
        ("main_gate", "every run has main_gate; choose another name"),
        (5, "read 5 as a name"),
    ],
)
def test_a_measured_number_has_a_name_of_its_own(name: Any, words: str, random: Path) -> None:
    def named(run: tg.Run) -> dict[Any, float]:
        return {name: run.seed}

    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.study(random, measure=named, measure_version=str(name), store=False)


def test_a_damaged_store_says_so(random: Path, own_store: Path) -> None:
    (own_store / "runs.sqlite").write_bytes(b"not a database, and long enough to be taken for one" * 40)
    with pytest.raises(tg.errors.StoreError, match="delete it"):
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


def ctrl_c(share: float) -> None:
    """Hear how far something is, and stop it."""
    if share > 0:
        raise KeyboardInterrupt


def test_what_was_stopped_is_called_what_was_asked_for(random: Path, tmp_path: Path) -> None:
    runs = {"runs": 20, "seed": 5, "workers": 1, "store": tmp_path / "own"}
    with bench_for(random, {}, **runs, progress=ctrl_c) as bench:
        with pytest.raises(tg.errors.StudyStoppedError, match="are kept: the same size continues from there"):
            find(bench, "link", "goodput > 1 kbit/s")
        bench.asked_by = "tune"
        with pytest.raises(tg.errors.StudyStoppedError, match="are kept: the same tune continues from there"):
            bench.study([["gate.link.delay=12 ms"]], 20)
    wanted = [Expectation.parse("goodput_bps > 1 kbit/s")]
    words = "are kept: the same check-run continues from there"
    with pytest.raises(tg.errors.StudyStoppedError, match=words):
        judged(random, wanted, 20, 6, {}, "sim", 1, tmp_path / "own", ctrl_c)
    live = replace(prepare(random, {}, engine="live"), asked_by="check-run")
    assert live.goes_on() == "are done: another check-run measures them anew"


def test_a_full_disk_is_no_damage(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept stays, and the same call goes on."""
    assert counted(random, runs=2)[1:] == (2, 2)
    connect = sqlite3.connect

    def narrow(*arguments: Any, **more: Any) -> sqlite3.Connection:
        base = connect(*arguments, **more)
        base.execute("PRAGMA max_page_count = 1")
        return base

    with monkeypatch.context() as full:
        full.setattr(sqlite3, "connect", narrow)
        with pytest.raises(tg.errors.StoreFullError, match="no room is left for results; make room and give"):
            counted(random, runs=40)
    done, known = counted(random, runs=40)[1:]
    assert done < known == 40, "what was kept is not done again"


def test_a_record_without_a_measurement_is_refused(random: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="record: is for measure"):
        tg.study(random, record="10 parsecs")


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
