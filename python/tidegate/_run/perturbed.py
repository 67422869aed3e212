"""How much of a run's numbers is luck: the run again and again, with small changes that nobody can know.

What a small change is stands in ``crates/tidegate-core/src/plan/perturb.rs``.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._ask import compiled
from tidegate._base.text import TextTable, number, percent, rate, table, wrapped
from tidegate._run.metric import metric_of
from tidegate._run.summary import main_gate
from tidegate._run.table import ALL
from tidegate._run.words import MOST_ROWS
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate._ask.scenario import Scenario

#: A number that differs by more than this share is said to hang on luck.
LARGE = 0.1
#: Differences that matter to nobody, whatever share of the number they are, by what a number's name ends in.
_SMALL = {"_ms": 0.5, "loss": 0.005}


def check_perturb(perturb: int | None, engine: str = "sim") -> int:
    """Return how many runs with small changes are wanted; None: none.

    Raises:
        ArgumentError: it is no number of runs, or the engine makes no small changes.
    """
    if perturb is None:
        return 0
    if engine != "sim":
        raise ArgumentError(
            f"perturb: small changes are for engine sim, not for engine {engine}"
            + (", whose machine makes its own: repeat the run" if engine == "live" else "")
        )
    return perturb


def repeat(
    scenario: Scenario,
    summary: Mapping[str, Any],
    runs: int,
    *,
    seed: int,
    replication: int,
    threads: int | None = None,
    tick: Callable[[float], bool] | None = None,
) -> dict[str, Any]:
    """Run a scenario with small changes 1 to ``runs``; return what they make of the headline numbers.

    ``summary`` is the run as written. ``tick`` hears the share that is done; False stops.

    Returns:
        ``{"runs", "changes", "numbers": {name: {"as_written", "least", "median", "greatest", "values"}}}``:
        names as for ``check-run``; ``values`` in the order of the changes, None where a run has no such
        number; least, median and greatest are of the runs with changes that have it.
    """
    import threading
    from concurrent.futures import ThreadPoolExecutor

    names = headline(summary)
    stop = threading.Event()
    at_once = min(threads or os.cpu_count() or 1, runs)

    def one(change: int) -> dict[str, Any]:
        data = compiled.simulate(
            scenario, seed=seed, replication=replication, record="summary", threads=1,
            tick=lambda _: not stop.is_set(), perturbation=change,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(data.summary_json)
        return {name: metric_of(found, {}, name) for name in names}

    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        try:
            for future in [pool.submit(one, change) for change in range(1, runs + 1)]:
                rows.append(future.result())
                if tick is not None and not tick(len(rows) / runs):
                    stop.set()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    written = {name: metric_of({**summary}, {}, name) for name in names}
    numbers = {name: spread_of(written[name], [row[name] for row in rows]) for name in names}
    return {"runs": runs, "changes": _core.small_changes(), "numbers": numbers}


def headline(summary: Mapping[str, Any]) -> list[str]:
    """Return the numbers of a run that people read first, by their names."""
    whole = {**summary}
    flows = whole["flows"]
    names = ["goodput_bps"] if flows else []
    if len(flows) <= MOST_ROWS:
        for row in flows:
            names.append(f"flow.{row['name']}.goodput_bps")
            if row.get("completion_s") is not None:
                names.append(f"flow.{row['name']}.completion_s")
    elif metric_of(whole, {}, "completion_s") is not None:
        names.append("completion_s")
    if len(flows) > 1:
        names.append("fairness")
    if any(row["name"] == ALL for row in whole.get("requests", [])):
        names += ["response_mean_s", "response_p95_s"]
    gate = main_gate(whole)
    if gate is not None:
        names += [f"gate.{gate}.{column}" for column in ("queue_delay_p99_ms", "loss", "utilisation")]
    for row in whole.get("traffic_groups", []):
        if row["name"] != ALL:
            names += [f"traffic.{row['name']}.{c}" for c in ("delay_p99_ms", "loss") if c in row]
    return [name for name in names if metric_of(whole, {}, name) is not None]


def spread_of(written: float | None, values: Sequence[float | None]) -> dict[str, Any]:
    """Return a number as written, and what it is in runs with small changes."""
    from statistics import median

    there = [value for value in values if value is not None]
    return {
        "as_written": written,
        "least": min(there, default=None),
        "median": median(there) if there else None,
        "greatest": max(there, default=None),
        "values": list(values),
    }


def width_of(spread: Mapping[str, Any]) -> float | None:
    """Return the width of a number's range, of the run as written and those with changes, in parts of itself.

    (greatest - least) / the number as written, or / the median where that is 0; None where both are, and
    where the run as written or all others have no such number.
    """
    if spread["least"] is None or spread["as_written"] is None:
        return None
    written = spread["as_written"]
    width = max(spread["greatest"], written) - min(spread["least"], written)
    base = abs(written) or abs(spread["median"])
    return width / base if base else None


def is_luck(name: str, spread: Mapping[str, Any]) -> bool:
    """Tell whether small changes make a large difference to a number.

    Its range is more than 10% of it and, of a wait, at least 0.5 ms, of a loss at least half a percentage
    point; or some of the runs have no such number, as of a transfer that is not done.
    """
    if None in spread["values"]:
        return any(value is not None for value in (spread["as_written"], *spread["values"]))
    if spread["as_written"] is None:
        return bool(spread["values"])
    width = width_of(spread)
    if width is None or width <= LARGE:
        return False
    base = abs(spread["as_written"]) or abs(spread["median"])
    least = next((least for end, least in _SMALL.items() if name.endswith(end)), 0.0)
    return bool(width * base >= least)


def named(name: str) -> str:
    """Return what a number is called in a sentence: "goodput of bulk"."""
    kind, _, rest = name.partition(".")
    element, _, column = rest.rpartition(".")
    of_all = {
        "goodput_bps": "goodput of all flows",
        "completion_s": "time until all is done",
        "response_mean_s": "mean response time",
        "response_p95_s": "response time p95",
        "queue_delay_p99_ms": "wait p99",
        "utilisation": "use",
    }
    if not element:
        return of_all.get(name, name)
    words = {
        "goodput_bps": "goodput",
        "completion_s": "time until done",
        "queue_delay_p99_ms": "wait p99",
        "delay_p99_ms": "delay p99",
        "utilisation": "use",
    }
    place = {"gate": "gate ", "traffic": "traffic "}.get(kind, "")
    return f"{words.get(column, column)} of {place}{element}"


def valued(name: str, value: float | None) -> str:
    """Return a number with its unit."""
    if value is None:
        return "–"
    if name.endswith("_bps"):
        return rate(value)
    if name.endswith(("loss", "utilisation")):
        return f"{percent(value)}%"
    unit = " ms" if name.endswith("_ms") else " s" if name.endswith("_s") else ""
    return f"{number(value)}{unit}"


def ranged(name: str, spread: Mapping[str, Any]) -> str:
    """Return "9.77 to 10.1 Mbit/s"."""
    if spread["least"] is None:
        return "–"
    low, high = (valued(name, spread[which]) for which in ("least", "greatest"))
    plain, _, unit = low.partition(" ")
    return f"{plain} to {high}" if unit and high.endswith(f" {unit}") else f"{low} to {high}"


def sentence(name: str, spread: Mapping[str, Any], runs: int) -> str:
    """Say that a number depends on luck."""
    lacking = sum(value is None for value in spread["values"])
    if lacking:
        runs_words = f"{lacking} of {runs} runs with small changes have none"
    else:
        runs_words = f"{ranged(name, spread)} in {runs} runs with small changes"
    return f"{named(name)} depends on luck: {valued(name, spread['as_written'])}, but {runs_words}"


def lucky(perturbed: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each number that depends on luck."""
    numbers = shown(perturbed)
    return [sentence(name, of, perturbed["runs"]) for name, of in numbers.items() if is_luck(name, of)]


def shown(perturbed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers that are told; what all flows have together is that of a flow alone."""
    numbers = perturbed["numbers"]
    alone = sum(name.startswith("flow.") and name.endswith(".goodput_bps") for name in numbers) == 1
    return {name: of for name, of in numbers.items() if not (alone and name == "goodput_bps")}


def perturbed_lines(perturbed: Mapping[str, Any]) -> list[str]:
    """Return the ranges as a table, what was changed, and what depends on luck."""
    runs = perturbed["runs"]
    sentences = [wrapped(f"{each[:1].upper()}{each[1:]}.", "  ") for each in lucky(perturbed)]
    about = f"Small changes that nobody can know, in {runs} runs: {'; '.join(perturbed['changes'])}."
    return ["", _ranges(perturbed), wrapped(about), *sentences]


def _ranges(perturbed: Mapping[str, Any]) -> TextTable:
    head = [["with small changes", "as written", f"in {perturbed['runs']} runs", "width, %"]]
    rows = [
        [named(name), valued(name, of["as_written"]), ranged(name, of), percent(width_of(of))]
        for name, of in shown(perturbed).items()
    ]
    return table(head, rows)
