"""A random scenario for tests of studies, its parts, and how many of its runs are computed and kept."""

from __future__ import annotations

import sqlite3
from contextlib import nullcontext
from typing import TYPE_CHECKING

import tidegate as tg
from tidegate._jobs.store import opened
from tidegate._jobs.workers import Local
from tidegate._study.points import prepare
from tidegate._study.start import execute_study

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._jobs.store import Store


#: Three points of the scenario.
VARY = {"gate.link.queue": ["10 packets", "20 packets", "40 packets"]}

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


def counted(
    path: Path, vary: dict[str, list[str]] | None = None, *, within: Store | None = None, **options: object
) -> tuple[tg.Study, int, int]:
    """A study, how many runs it computed, and how many it has; ``within``: a store that is open already."""
    counts: list[int] = []
    measure = {key: options.pop(key) for key in ("measure", "measure_version", "record") if key in options}
    prepared = prepare(path, vary or {}, options.pop("changes", None), **options)
    with opened(True) if within is None else nullcontext(within) as store:
        study = execute_study(
            prepared,
            workers=Local(2),
            store=store,
            told=lambda *numbers: counts.extend(numbers),
            **measure,
        )
    return study, counts[0], counts[1]


def parts_of(file: Path, folder: Path, count: int, **options: object) -> list[Path]:
    """Do every part of a study, and return the folders."""
    return [
        tg.study_part(file, f"{number}/{count}", folder / str(number), vary=VARY, store=False, **options)
        for number in range(1, count + 1)
    ]


def kept(store: Path) -> int:
    """Return how many results a store has; 0 where there is none yet."""
    try:
        with sqlite3.connect(f"file:{store / 'runs.sqlite'}?mode=ro", uri=True) as base:
            found: int = base.execute("SELECT count(*) FROM runs").fetchone()[0]
            return found
    except sqlite3.Error:
        return 0
