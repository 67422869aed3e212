"""A process that makes one live run for the laboratory and tells of it while it lasts.

A job as a line of JSON in; out come lines ``{"event": …, "data": …}``: ``begin`` with what is known before,
``rows`` with what came since the last one, and ``end`` with the answer or ``refused`` with why there is none.
The run stops when its input ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._ask.plan import plan_of
from tidegate._lab.limits import Limits, RefusedError
from tidegate._lab.work import COMMAND, answer_of, refusal, scenario_of

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario

#: A run shorter than this is sampled as if it lasted so long: every 10 ms, because the kernel's state is read
#: no more often.
_LEAST_S = 10.0
#: What is said of a run that ends when all is done: nobody knows how long it is.
_GUESS_S = 60.0


def main() -> None:
    """Make the run that standard input asks for."""
    # Results go where standard output was; what a library prints must not stand between them.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.buffer.readline())
    limits = replace(Limits(), **job["limits"])
    lock = threading.Lock()

    def tell(event: str, data: Any) -> None:
        text = json.dumps({"event": event, "data": data}, allow_nan=False)
        with lock:
            out.write(text.encode() + b"\n")
            out.flush()

    try:
        tell("end", _run(job, limits, tell))
    except BaseException as error:
        found = refusal(error, limits)
        tell("refused", {"status": found["status"], **found["body"]})
    os._exit(0)


def _run(job: dict[str, Any], limits: Limits, tell: Any) -> dict[str, Any]:
    from tidegate._run.start import execute, sample_span

    # Only a process with one thread may enter a user namespace.
    _core.live_enter()
    scenario = scenario_of(job.get("text"), job["folder"], limits)
    if scenario.duration_s > limits.live_s:
        raise RefusedError(
            413,
            f"the scenario lasts {scenario.duration_s:g} s in real time; live, the laboratory runs "
            f"{limits.live_s:g} s at most (tidegate run --engine live runs it)",
        )
    stopped = threading.Event()
    threading.Thread(target=_listen, args=(stopped,), daemon=True).start()
    tell("begin", _about(scenario))
    length = _GUESS_S if scenario.until_done else scenario.duration_s
    run = execute(
        scenario,
        seed=scenario.seed or 1,
        engine="live",
        record=sample_span(max(_LEAST_S, length), limits.samples),
        tick=lambda _share: not stopped.is_set(),
        heard=lambda share, tables: tell("rows", {"share": share, "tables": _plain(tables)}),
        command=[*COMMAND, "--engine", "live"],
        quiet=True,
    )
    return answer_of(scenario, run)


def _listen(stopped: threading.Event) -> None:
    """Wait until nobody wants the run any more."""
    sys.stdin.buffer.read()
    stopped.set()


def _about(scenario: Scenario) -> dict[str, Any]:
    """Return what the page needs to draw rows as they come: names, ways, the constants of gates."""
    from tidegate._run.columns import WORDS

    plan = plan_of(scenario)
    names = [gate["name"] for gate in plan["gates"]]
    laws = scenario.laws()

    def ways(gates: list[int]) -> list[str]:
        return [names[gate] for gate in gates]

    return {
        "title": scenario.title,
        "summary": {
            "engine": "live",
            "duration_s": scenario.duration_s,
            "measured_from_s": scenario.warmup_s,
            "flows": [{"name": name} for name in scenario.flow_names],
            "gates": [_gate(name, laws.get(name) or {}) for name in scenario.gate_names],
            "warnings": [],
        },
        "paths": {
            flow["name"]: {"path": ways(flow["path"]), "back": ways(flow["back"])} for flow in plan["flows"]
        },
        "laws": laws,
        "words": WORDS,
    }


def _gate(name: str, law: dict[str, Any]) -> dict[str, Any]:
    """Return what a summary would say of a gate before its run."""
    contract = law.get("contract")
    return {"name": name, **({"contract_bps": contract["rate_bps"]} if contract else {})}


def _plain(tables: dict[str, dict[str, tuple[str, bytes]]]) -> dict[str, dict[str, list[float | None]]]:
    """Return columns as lists; what has no value is null."""
    return {
        table: {name: _column(kind, data) for name, (kind, data) in columns.items()}
        for table, columns in tables.items()
    }


def _column(kind: str, data: bytes) -> list[float | None]:
    import numpy as np

    types = {"f64": "<f8", "u64": "<u8", "maybe_u64": "<u8", "u32": "<u4", "u8": "u1"}
    values = np.frombuffer(data, dtype=types[kind])
    known = np.isfinite(values) if kind == "f64" else values != 2**64 - 1
    return [value if there else None for value, there in zip(values.tolist(), known.tolist(), strict=True)]


if __name__ == "__main__":
    main()
