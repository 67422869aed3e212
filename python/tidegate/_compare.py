"""Comparisons: the same scenario with some keys varied, over the same network.

Every variant runs with the same seed, so rate laws, losses and traffic draw the same
random numbers (common random numbers): differences come from what was varied.
"""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _text
from tidegate._axes import combinations, spelled
from tidegate._errors import ArgumentError
from tidegate._numbers import common_gate, figures_of, short_keys
from tidegate._run import Run, Source, as_scenario, check_engine, execute, sample_span
from tidegate._scenario import Scenario, Sets, as_sets
from tidegate._seed import choose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from matplotlib.figure import Figure

#: Samples per variant: enough for a small picture.
_SAMPLES = 1000


@dataclass(frozen=True)
class Variant:
    """One run of a comparison and the changes that make it."""

    changes: dict[str, str]
    run: Run

    def label(self, axes: Sequence[str]) -> str:
        """Return the values of the varied keys, in order."""
        return " · ".join(self.changes[key] for key in axes)


class Comparison:
    """Variants of one scenario, run over the same network.

    ``table`` is one row per variant; ``variants`` holds the runs themselves.
    """

    def __init__(
        self, title: str, axes: Sequence[str], variants: Sequence[Variant], gate: str | None
    ) -> None:
        self.title = title
        self.axes = list(axes)
        self.variants = list(variants)
        self.gate = gate

    @property
    def seed(self) -> int:
        """The seed of every variant (of the first, where seeds are varied)."""
        return int(self.variants[0].run.summary["seed"])

    @property
    def seeds(self) -> str:
        """How the variants were seeded, in words."""
        if "seed" in self.axes:
            return "seed varied"
        return f"seed {self.seed} in all"

    @property
    def warnings(self) -> list[str]:
        """Return the variants' warnings, each once."""
        return list(dict.fromkeys(w for v in self.variants for w in v.run.warnings))

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per variant: the varied keys, then the numbers with units in their names.

        ``goodput_bps`` is the sum over the flows (payload only); queueing delays, loss and
        utilisation are those of the gate compared. None: there is no such number.
        """
        return [{**v.changes, **figures_of(v.run.summary, self.gate)} for v in self.variants]

    @property
    def table(self) -> pl.DataFrame:
        """The rows as a polars data frame."""
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate compare --json`` prints."""
        first = self.variants[0].run.summary
        return {
            "engine": first["engine"],
            "scenario": first["scenario"],
            "seed": self.seed,
            "duration_s": first["duration_s"],
            "measured_from_s": first["measured_from_s"],
            "gate": self.gate,
            "vary": self.axes,
            "variants": [
                {"set": v.changes, **figures_of(v.run.summary, self.gate), "summary": v.run.summary}
                for v in self.variants
            ],
            "warnings": self.warnings,
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def plot(self, path: str | os.PathLike[str] | None = None, *, gate: str | None = None) -> Figure:
        """Draw the variants side by side; write PNG, SVG or PDF by the path's suffix.

        ``gate`` is the one to show; left out, the one that was compared.

        Raises:
            UnknownNameError: a variant has no gate of this name.
            ArgumentError: the suffix is none of .png, .svg, .pdf.
            OSError: the file cannot be written.
        """
        from tidegate import _plot_compare, _plot_style

        shown = self
        if gate is not None:
            for variant in self.variants:
                variant.run.gates.row(gate)
            shown = Comparison(self.title, self.axes, self.variants, gate)
        figure = _plot_compare.comparison_figure(shown)
        if path is not None:
            _plot_style.write(figure, Path(path))
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a folder with the comparison, its picture, and a run folder per variant.

        Raises:
            RunFolderError: the folder is there already.
            OSError: it cannot be written.
        """
        from tidegate import _folder, _folder_group

        place = Path(folder)
        with _folder.staged(place, force=force) as work:
            _folder_group.fill_comparison(self, work)
        return place

    def report(self) -> str:
        """Return the table for people."""
        return _report(self)

    def __repr__(self) -> str:
        return (
            f"<tidegate.Comparison {self.title!r}, {len(self.variants)} variants of "
            f"{', '.join(self.axes)}, seed {self.seed}>"
        )


def compare(
    source: Source,
    *,
    vary: Mapping[str, Sequence[Any]],
    seed: int | None = None,
    engine: str = "sim",
    set: Sets = None,  # noqa: A002
    record: str | None = None,
    gate: str | None = None,
    jobs: int | None = None,
) -> Comparison:
    """Run a scenario once for every combination of the varied keys, with the same seed.

    Args:
        source: a scenario file, or a dict of its keys.
        vary: keys with the values each shall take; several keys multiply.
        seed: as :func:`tidegate.run`.
        engine: ``"sim"``, or ``"live"``: the kernel's TCP, one run after the other.
        set: changes for every variant.
        record: as :func:`tidegate.run`; left out, samples fine enough for the picture.
        gate: the gate to compare; left out, the one that holds flows back most.
        jobs: runs at a time; left out, one per processor. Results do not depend on it.

    Raises:
        ScenarioError, TraceError, EngineError, RunError: as :func:`tidegate.run`.
        ArgumentError: nothing is varied, or a key has no values.
    """
    check_engine(engine, ("sim", "live"))
    if isinstance(source, Scenario):
        raise TypeError("give compare the scenario's file or dict: it has to be checked once per variant")
    prepared = prepare(source, vary, set)
    return execute_all(prepared, seed=seed, engine=engine, record=record, gate=gate, jobs=jobs)


@dataclass(frozen=True)
class Prepared:
    """Every variant, checked before the first run begins."""

    axes: list[str]
    variants: list[tuple[dict[str, str], Scenario]]


def prepare(source: Source, vary: Mapping[str, Sequence[Any]], changes: Sets = None) -> Prepared:
    """Check every combination of the varied keys.

    Raises:
        ScenarioError, TraceError, OSError: a variant is wrong.
        ArgumentError: nothing is varied, or a key has no values.
    """
    if not vary:
        raise ArgumentError(
            'nothing to compare: vary takes keys with values, such as {"flow.a.tcp.cc": ["reno", "cubic"]}'
        )
    base = as_sets(changes)
    variants = []
    for chosen in combinations(spelled(vary)):
        sets = [*base, *(f"{key}={value}" for key, value in chosen.items())]
        variants.append((chosen, as_scenario(source, sets)))
    return Prepared(list(vary), variants)


def execute_all(
    prepared: Prepared,
    *,
    seed: int | None = None,
    engine: str = "sim",
    record: str | None = None,
    gate: str | None = None,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
    command: list[str] | None = None,
) -> Comparison:
    """Run every variant, several at a time; ``progress`` is told the share that is done.

    Raises:
        RunError: a run stopped before its end.
        KeyboardInterrupt: every run stops within a moment.
    """
    first = prepared.variants[0][1]
    if "seed" in prepared.axes and seed is not None:
        raise ArgumentError("the seed is varied and given; do one of the two")
    chosen = choose(seed, first.seed)
    stop = threading.Event()
    done = [0.0] * len(prepared.variants)

    def one(index: int) -> Run:
        def tick(share: float) -> bool:
            done[index] = share
            return not stop.is_set()

        scenario = prepared.variants[index][1]
        result = execute(
            scenario,
            seed=scenario.seed if "seed" in prepared.axes else chosen,
            engine=engine,
            record=record or sample_span(scenario.duration_s, _SAMPLES),
            tick=tick,
            command=command,
        )
        done[index] = 1.0
        return result

    # Live runs would take each other's processors and be late.
    at_once = 1 if engine == "live" else jobs or os.cpu_count() or 1
    workers = min(at_once, len(prepared.variants))
    runs: list[Run] = []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            waiting = [pool.submit(one, index) for index in range(len(prepared.variants))]
            for future in waiting:
                while not _finished(future):
                    if progress is not None:
                        progress(sum(done) / len(done))
                runs.append(future.result())
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    if progress is not None:
        progress(1.0)
    variants = [
        Variant(changes, result) for (changes, _), result in zip(prepared.variants, runs, strict=True)
    ]
    shown = gate if gate is not None else common_gate([result.summary for result in runs])
    if shown is not None:
        for result in runs:
            result.gates.row(shown)
    return Comparison(first.title or first.name, prepared.axes, variants, shown)


def _finished(future: Any) -> bool:
    from concurrent.futures import wait

    return bool(wait([future], timeout=0.1).done)


def _report(comparison: Comparison) -> str:
    rows = comparison.rows()
    asks = any(row.get("response_mean_s") is not None for row in rows)
    # Who asks more gets more: its share says nothing of the network.
    several = len(comparison.variants[0].run.flows) > 1 and not asks
    factor, unit = _text.rate_scale(max((row["goodput_bps"] for row in rows), default=0.0))
    short = short_keys(comparison.axes)
    count = len(short)
    head = [
        [*short, "goodput", "wait p50", "p99", "loss", "used", "timeouts"],
        [""] * count + [unit, "ms", "ms", "%", "%", ""],
    ]
    if several:
        head[0].append("fairness")
        head[1].append("Jain")
    finite = any(row["completion_s"] is not None for row in rows)
    if finite:
        head[0].append("done")
        head[1].append("s")
    if asks:
        head[0] += ["response", "p95"]
        head[1] += ["mean, s", "s"]
    body = []
    for row in rows:
        cells = [
            *(str(row[key]) for key in comparison.axes),
            _text.number(row["goodput_bps"] / factor),
            _text.number(row["queue_delay_p50_ms"]),
            _text.number(row["queue_delay_p99_ms"]),
            _text.percent(row["loss"], 2),
            _text.percent(row["utilisation"]),
            _text.number(row["timeouts"]),
        ]
        if several:
            cells.append(_text.number(row["fairness"]))
        if finite:
            cells.append(_text.number(row["completion_s"], 4))
        if asks:
            cells += [_text.number(row.get(name)) for name in ("response_mean_s", "response_p95_s")]
        body.append(cells)
    first = comparison.variants[0].run.summary
    at = f"gate {comparison.gate}" if comparison.gate else "no gate in common"
    gates = [row for row in first["gates"] if row["name"] == comparison.gate]
    units = "cells" if any(map(_text.counts_cells, gates)) else "whole packets"
    lines = [
        comparison.title,
        _text.wrapped(
            f"engine {first['engine']} · {comparison.seeds} · {at} · counted from "
            f"{first['measured_from_s']:g} to {_text.seconds(first['duration_s'])}"
        ),
        "",
        _text.table(head, body, left=count),
        "",
        _text.wrapped(
            "wait: queueing delay; used: share of the capacity. Goodput counts payload only; "
            f"rates, queues and loss are of {units}."
        ),
    ]
    return _text.plain("\n".join(lines))
