"""Studies with the kernel's TCP: one run at a time, measured anew unless asked."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from tidegate._jobs.store import opened
from tidegate._study import live as _study_live
from tidegate._study.points import prepare
from tidegate._study.start import execute_study, workers_for

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live

LINK = """\
title = "Measured"
duration = "300 ms"
seed = 3
runs = 2

[gate.link]
rate = "8 Mbit/s"
queue = "20 packets"
delay = "5 ms"

[flow.bulk]
path = ["link"]
rtt = "20 ms"
start.uniform = ["0 s", "20 ms"]
tcp.base = "linux"
tcp.cc = "reno"
"""
QUEUES = {"gate.link.queue": ["10 packets", "40 packets"]}


@pytest.fixture
def link(tmp_path: Path) -> Path:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    return file


@pytest.fixture
def live(link: Path) -> Path:
    """Skip where this machine allows no network namespaces."""
    try:
        tg.run(link, engine="live", changes={"duration": "50 ms"})
    except tg.errors.EngineError as reason:
        pytest.skip(str(reason))
    return link


def measured(file: Path, runs: int, *, resume: bool = False) -> tuple[tg.Study, int]:
    """Return the study and how many of its runs were made."""
    prepared = prepare(file, QUEUES, runs=runs, engine="live")
    counts: list[int] = []
    with opened(True) as store:
        study = execute_study(
            prepared,
            workers=workers_for("live", None),
            store=store,
            resume=resume,
            told=lambda *numbers: counts.extend(numbers),
        )
    return study, counts[0]


def test_runs_are_measured_anew_unless_asked(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[tuple[int, int]] = []
    do = _study_live.OneByOne._do
    monkeypatch.setattr(
        _study_live.OneByOne,
        "_do",
        lambda self, job: turns.append((job.number, job.replication)) or do(self, job),
    )
    first, made = measured(live, 2)
    assert made == 4
    assert [replication for _, replication in turns] == [0, 0, 1, 1]
    assert first.manifest["engine"] == "live"
    assert first.estimate("goodput_bps", 0).n == 2
    assert 2e6 < first.estimate("goodput_bps", 0).mean < 8e6
    assert "A live run cannot be repeated exactly." in " ".join(first.report().split())
    # The simulator's results are no measurements, and the other way round.
    assert not any("measured before" in text for text in tg.study(live, vary=QUEUES, runs=2).warnings)
    again, made = measured(live, 2)
    assert made == 4
    assert not any("measured before" in text for text in again.warnings)
    more, made = measured(live, 3, resume=True)
    assert made == 2
    assert more.warnings[0].startswith("4 of 6 runs were measured before, from 20")
    # What was measured last counts.
    assert more.values("goodput_bps", 0)[:2] == again.values("goodput_bps", 0)


def test_stopping_ends_the_run_and_says_how_to_go_on(live: Path) -> None:
    prepared = prepare(live, {}, {"duration": "30 s"}, engine="live")
    began = time.monotonic()

    def progress(share: float) -> None:
        if share > 0:
            raise KeyboardInterrupt

    with opened(True) as store, pytest.raises(tg.errors.StudyStoppedError, match=r"0 of 2 runs .* --resume"):
        execute_study(prepared, workers=workers_for("live", 1), store=store, progress=progress)
    assert time.monotonic() - began < 5


def test_what_has_no_meaning_is_refused(link: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="one after the other"):
        tg.study(link, engine="live", workers=2)
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(tg.errors.ArgumentError, match="the kernel of this machine"),
    ):
        tg.study(link, engine="live", executor=pool)
    with pytest.raises(tg.errors.ArgumentError, match="resume: it is for live runs"):
        tg.study(link, resume=True)


def test_warnings_that_differ_in_numbers_are_said_once() -> None:
    late = ["written 83 us late", "another", "written 120.5 us late", "written 9 us late"]
    assert _study_live.alike(late) == [
        "written 83 us late (2 more warnings differ only in their numbers)",
        "another",
    ]
