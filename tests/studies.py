"""A random scenario for tests of studies, and how many of its runs are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._study.prepare import prepare
from tidegate._study.start import execute_study
from tidegate._study.store import opened
from tidegate._study.workers import Local

if TYPE_CHECKING:
    from pathlib import Path

    import tidegate as tg

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
    path: Path, vary: dict[str, list[str]] | None = None, **options: object
) -> tuple[tg.Study, int, int]:
    """A study, how many runs it computed, and how many it has."""
    counts: list[int] = []
    measure = {key: options.pop(key) for key in ("measure", "measure_version", "record") if key in options}
    prepared = prepare(path, vary or {}, options.pop("set", None), **options)
    with opened(True) as store:
        study = execute_study(
            prepared,
            workers=Local(2),
            store=store,
            told=lambda *numbers: counts.extend(numbers),
            **measure,
        )
    return study, counts[0], counts[1]
