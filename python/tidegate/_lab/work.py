"""What the page asks for, done in a process of its own: check, run, compare, downloads."""

from __future__ import annotations

import json
import time
import tomllib
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._ask.scenario import Scenario
from tidegate._base.limits import bounds, takes
from tidegate._lab.files import problem_of
from tidegate._lab.limits import Limits, RefusedError
from tidegate.errors import ArgumentError, EngineError, RunError, ScenarioError, TraceError

if TYPE_CHECKING:
    from tidegate._run.value import Run

Tick = Callable[[float], bool]


class StoppedError(Exception):
    """The page asked for something else."""


def answer(job: Mapping[str, Any], limits: Limits, tick: Tick) -> dict[str, Any]:
    """Do what is asked for and return what goes to the page: ``status`` and ``body``, or ``file``."""
    try:
        return {"status": 200, **_WORK[job["do"]](job, limits, tick)}
    except Exception as error:
        if isinstance(error, ArgumentError | EngineError | RunError | TraceError) and not tick(0.0):
            return refusal(StoppedError(), limits)
        return refusal(error, limits)


def refusal(error: BaseException, limits: Limits) -> dict[str, Any]:
    """Return what goes to the page where there is no answer: ``status`` and ``body``.

    Raises:
        BaseException: ``error`` is a mistake of the program, which a page is not told.
    """
    status = 422
    body: dict[str, Any] = {"error": str(error), "problems": []}
    if isinstance(error, RefusedError):
        status, body = error.status, {"error": error.reason}
    elif isinstance(error, StoppedError):
        status, body = 409, {"error": "stopped: the page asked for something newer"}
    elif isinstance(error, ScenarioError):
        problems = [problem_of(each) for each in (error, *(error.others or []))]
        body = {"error": problems[0]["problem"], "problems": problems}
    elif isinstance(error, ArgumentError | EngineError | RunError | TraceError):
        body = {"error": str(error), "problems": [problem_of(error)]}
    elif isinstance(error, MemoryError):
        status, body = 413, {"error": too_much(limits)}
    elif isinstance(error, OSError):
        body = {"error": str(error.strerror or error), "problems": []}
    else:
        raise error
    return {"status": status, "body": body}


def too_much(limits: Limits) -> str:
    """Say that a run needs more memory than it may have."""
    most = limits.memory // 1_000_000
    return f"the run needs more than {most} MB of memory; make it shorter, or use tidegate run"


def scenario_of(text: Any, folder: str, limits: Limits, name: str = "scenario") -> Scenario:
    """Check a scenario, first that it is not too large for a page.

    Raises:
        RefusedError: it lasts too long, or has too many flows.
    """
    if not isinstance(text, str):
        raise RefusedError(400, "the request has no scenario (text)")
    _count(text, limits)
    scenario = Scenario.confined(text, name=name, folder=folder)
    if scenario.duration_s > limits.duration_s:
        raise RefusedError(
            413,
            f"the scenario lasts {scenario.duration_s:g} s; the laboratory runs {limits.duration_s:g} s at "
            "most (tidegate run runs it)",
        )
    return scenario


def _count(text: str, limits: Limits) -> None:
    """Refuse more flows than a page runs, before any of them is made."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # The checker says where.
    for kind in ("flow", "traffic", "calls"):
        tables = document.get(kind)
        each = [table.get("count", 1) for table in _tables(tables)]
        count = sum(number for number in each if isinstance(number, int))
        if count > limits.flows:
            raise RefusedError(
                413,
                f"{kind}: the scenario has {count}; the laboratory runs {limits.flows} at most "
                "(tidegate run runs more)",
            )


def _tables(tables: Any) -> list[dict[str, Any]]:
    return [table for table in tables.values() if isinstance(table, dict)] if isinstance(tables, dict) else []


def _check(job: Mapping[str, Any], limits: Limits, _: Tick) -> dict[str, Any]:
    scenario = scenario_of(job.get("text"), job["folder"], limits)
    return {"body": {"problems": [], **_facts(scenario)}}


def _facts(scenario: Scenario) -> dict[str, Any]:
    return {
        "title": scenario.title,
        "length": scenario.length_told,
        "flows": scenario.flow_names,
        "gates": scenario.gate_names,
        "random": bool(scenario.draws),
        "warnings": scenario.warnings,
    }


def _seed(job: Mapping[str, Any]) -> int | None:
    seed = job.get("seed")
    if seed is None:
        return None
    least, greatest = bounds("seed")
    if not isinstance(seed, int) or isinstance(seed, bool) or not least <= seed <= greatest:
        raise RefusedError(400, f"seed: read {str(seed)[:40]}; {takes(least, greatest)}")
    return seed


def _perturb(job: Mapping[str, Any], limits: Limits) -> int | None:
    """Return how many runs with small changes are asked for beside the run."""
    runs = job.get("perturb")
    if runs is None:
        return None
    if not isinstance(runs, int) or isinstance(runs, bool) or not 1 <= runs <= limits.perturb:
        raise RefusedError(
            400, f"perturb: read {str(runs)[:40]}; 1 to {limits.perturb} runs with small changes are made"
        )
    return runs


def _executed(scenario: Scenario, job: Mapping[str, Any], limits: Limits, tick: Tick) -> Run:
    """Run a scenario with samples for charts, whatever it says of records itself."""
    from tidegate._run.start import execute, sample_span

    # Without a seed of its own, every change is drawn with the same random numbers.
    seed = _seed(job)
    seed = seed if seed is not None else (scenario.seed or 1)
    perturb = _perturb(job, limits)
    length = scenario.duration_s
    if scenario.until_done:
        length = float(
            execute(scenario, seed=seed, record="summary", tick=tick, quiet=True).summary["duration_s"]
        )
    record = sample_span(length, limits.samples)
    return execute(
        scenario, seed=seed, record=record, tick=tick, command=COMMAND, quiet=True, perturb=perturb
    )


#: What a report says made it.
COMMAND = ["tidegate", "lab"]


def _run(job: Mapping[str, Any], limits: Limits, tick: Tick) -> dict[str, Any]:
    begun = time.perf_counter()
    scenario = scenario_of(job.get("text"), job["folder"], limits)
    run = _executed(scenario, job, limits, tick)
    found = answer_of(scenario, run)
    return {"body": {**found, "ms": round(1000 * (time.perf_counter() - begun), 1)}}


def answer_of(scenario: Scenario, run: Run) -> dict[str, Any]:
    """Return what the page shows of a run, whichever engine ran it."""
    from tidegate._run.view import run_view

    view = run_view(run)
    return {
        **_facts(scenario),
        "warnings": run.warnings,
        "summary": run.summary,
        "view": None if view is None else view.to_dict(),
        "report": run.report(),
        "theory": theory_rows(scenario, run.summary),
    }


def theory_rows(scenario: Scenario, summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what each theory that applies says, beside what was simulated, if it was."""
    from tidegate.theory._match import Fit, match

    found = []
    for fit in match(scenario):
        if not isinstance(fit, Fit):
            continue
        rows = []
        for kind in ("flows", "gates", "pools", "calls"):
            simulated = {row["name"]: row for row in summary.get(kind, [])}
            for row in getattr(fit, kind):
                for column, value in row.items():
                    if isinstance(value, int | float) and not isinstance(value, bool):
                        beside = simulated.get(row["name"], {}).get(column)
                        rows.append([f"{kind.removesuffix('s')} {row['name']}", column, value, beside])
        found.append({"theory": fit.theory, "assumptions": list(fit.unmet), "rows": rows})
    return found


def _theory(job: Mapping[str, Any], limits: Limits, _: Tick) -> dict[str, Any]:
    from tidegate.theory._match import match

    scenario = scenario_of(job.get("text"), job["folder"], limits)
    misses = [
        {"theory": each.theory, "because": getattr(each, "reason", "")}
        for each in match(scenario)
        if not each
    ]
    return {"body": {"theories": theory_rows(scenario, {}), "others": misses}}


def _compare(job: Mapping[str, Any], limits: Limits, tick: Tick) -> dict[str, Any]:
    comparison = _with_traffic(_compared(job, limits, tick))
    from tidegate._compare.view import comparison_cloud, comparison_view

    view, cloud = comparison_view(comparison), comparison_cloud(comparison)
    return {
        "body": {
            "rows": comparison.rows(),
            "warnings": comparison.warnings,
            "gate": comparison.gate,
            "seed": comparison.seed,
            "report": comparison.report(),
            "view": None if view is None else view.to_dict(),
            "cloud": None if cloud is None else cloud.to_dict(),
            "summaries": [variant.run.summary for variant in comparison.variants],
        }
    }


def _with_traffic(comparison: Any) -> Any:
    """Return a comparison that also has the delay of the background traffic that all variants have."""
    from tidegate._compare.value import Comparison

    groups = [
        {row["name"] for row in each.run.summary.get("traffic_groups", [])} for each in comparison.variants
    ]
    first = comparison.variants[0].run.summary.get("traffic_groups", [])
    common = [row["name"] for row in first if all(row["name"] in names for names in groups)]
    columns = [f"traffic.{name}.delay_p99_ms" for name in common]
    return Comparison(comparison.title, comparison.axes, comparison.variants, comparison.gate, columns)


def _compared(job: Mapping[str, Any], limits: Limits, tick: Tick) -> Any:
    from tidegate._compare.start import Prepared, execute_all
    from tidegate._compare.variants import SCENARIO
    from tidegate._run.start import sample_span

    variants = job.get("variants")
    if not isinstance(variants, list) or not 2 <= len(variants) <= limits.variants:
        count = len(variants) if isinstance(variants, list) else 0
        raise RefusedError(400, f"variants: read {count}; 2 to {limits.variants} are compared")
    wrong = next((each for each in variants if not isinstance(each, dict)), None)
    if wrong is not None or None in variants:
        raise RefusedError(400, f"variants: read {str(wrong)[:40]!r}; each is an object with name and text")
    named = [
        (str(each.get("name") or place)[:60], each.get("text")) for place, each in enumerate(variants, 1)
    ]
    checked = [(name, scenario_of(text, job["folder"], limits, name)) for name, text in named]

    def progress(share: float) -> None:
        if not tick(share):
            raise StoppedError

    longest = max(scenario.duration_s for _, scenario in checked)
    prepared = Prepared(checked[0][1].title, [SCENARIO], [({SCENARIO: name}, each) for name, each in checked])
    seed = _seed(job)
    return execute_all(
        prepared, seed=1 if seed is None and checked[0][1].seed is None else seed,
        record=sample_span(longest, limits.samples), progress=progress, command=COMMAND,
        perturb=_perturb(job, limits),
    )  # fmt: skip


def _download(job: Mapping[str, Any], limits: Limits, tick: Tick) -> dict[str, Any]:
    """Return a file of a run, or of a comparison where there are variants."""
    kind = job.get("what")
    if kind not in ("toml", "json", "png", "svg", "pdf", "html"):
        raise RefusedError(400, f"what: read {str(kind)[:40]!r}; toml, json, png, svg, pdf or html is right")
    if job.get("variants"):
        result = _compared(job, limits, tick)
    else:
        scenario = scenario_of(job.get("text"), job["folder"], limits)
        if kind == "toml":
            return _file(str(job["text"]).encode(), "toml")
        result = _executed(scenario, job, limits, tick)
    if kind == "html":
        return _file(result.page().encode(), kind)
    if kind in ("json", "toml"):
        text = result.to_json() if hasattr(result, "to_json") else json.dumps(result.to_dict())
        return _file(text.encode(), "json")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"picture.{kind}"
        result.plot(path)
        return _file(path.read_bytes(), kind)


def _file(data: bytes, kind: str) -> dict[str, Any]:
    return {"file": b64encode(data).decode("ascii"), "kind": kind}


_WORK: dict[str, Callable[[Mapping[str, Any], Limits, Tick], dict[str, Any]]] = {
    "check": _check,
    "run": _run,
    "compare": _compare,
    "theory": _theory,
    "download": _download,
}
