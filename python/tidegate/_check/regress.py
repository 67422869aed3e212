"""Runs a scenario with the applications of a measurement, and compares number by number."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tidegate._ask.changes import Sets
from tidegate._ask.scenario import Scenario
from tidegate._ask.seed import choose
from tidegate._ask.source import as_scenario
from tidegate._ask.swept import sweep_warnings
from tidegate._base.limits import MOST_PACKETS
from tidegate._capture.start import Paths, read_capture
from tidegate._check.judge import NUMBERS, bounds, judge
from tidegate._check.measured import Measurement, Transfer
from tidegate._check.others import other
from tidegate._check.regression import Regression
from tidegate._run.start import run
from tidegate.errors import ArgumentError

#: Runs of a scenario in which something is random, unless told otherwise.
RUNS = 8
#: A run may take this many times as long as the measurement, and this much more, before it ends.
SLACK, SLACK_S = 3.0, 5.0
#: A think time is not zero.
_LEAST_THINK_S = 1e-6


def regress(
    scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario,
    measurement: Paths,
    *,
    connections: Sequence[int] | None = None,
    within: Mapping[str, str] | None = None,
    runs: int = RUNS,
    seed: int | None = None,
    changes: Sets = None,
    progress: Callable[[float], object] | None = None,
) -> Regression:
    """Compare a scenario with a measurement: its links and its TCP, with the measurement's own applications.

    Each measured connection becomes a flow: a copy of the scenario's only flow, or, where it has as many
    flows as connections were measured, the one of the same place in the order of starts. Its application is
    replaced: sizes, pauses and start are those that were measured. Both sides are measured by the same code:
    a simulated run writes a capture, which is read as the measured one.

    Args:
        scenario: a scenario file, a dict of its keys, or a loaded one.
        measurement: a capture, several, or a file of iperf3 (``--json``), flent or ndt7's server.
        connections: numbers of connections of a capture; left out, all with at least 10 kB of data.
        within: the difference that is allowed, for ``goodput``, ``resent``, ``rtt`` and ``completion``: a
            share of what was measured such as ``"5%"``, or so much, such as ``"3 ms"``.
        runs: how often a scenario with something random runs.
        seed: every random stream derives from it; left out, the scenario's.
        changes: of the scenario, made before.
        progress: called with the share that is done, from 0 to 1.

    Raises:
        ScenarioError, TraceError: the scenario is wrong.
        CaptureError: a file is no measurement, or has no TCP data, or the connections begin more than 30 days
            apart.
        ArgumentError: the scenario's flows do not fit the connections, or a value is wrong.
        OSError: a file cannot be read.
    """
    allowed = bounds(within)
    asked = as_scenario(scenario, changes, seed=seed)
    found = _measurement(measurement, connections)
    notes = [*found.notes]
    prepared = _with_applications(asked, found, notes)
    chosen = choose(seed, asked.seed)
    exact = prepared.draws == []
    count = 1 if exact else runs
    simulated: list[dict[int, Transfer]] = []
    for replication in range(count):
        simulated.append(_simulate(prepared, chosen, replication, found.transfers))
        if progress is not None:
            progress((replication + 1) / count)
    rows = []
    for index, each in enumerate(found.transfers):
        for name, about in NUMBERS.items():
            value = getattr(each, about.field)
            if value is None:
                continue
            those = [getattr(run_[index], about.field) if index in run_ else None for run_ in simulated]
            watched_s = prepared.duration_s - each.start_s
            rows.append(
                judge(each.label, about, value, those, allowed[name], exact=exact, watched_s=watched_s)
            )
    if not rows:
        raise ArgumentError(f"{found.source}: nothing of it can be compared with the scenario")
    bounds_ = {name: bound.text for name, bound in allowed.items()}
    return Regression(
        asked.title,
        found.source,
        chosen,
        count,
        exact,
        bounds_,
        tuple(rows),
        tuple(notes),
        (*sweep_warnings(asked), *prepared.warnings),
    )


def _measurement(paths: Paths, connections: Sequence[int] | None) -> Measurement:
    names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if len(names) == 1 and (found := other(Path(names[0]))) is not None:
        return found
    from tidegate._check.captured import measured

    # As many packets as identify looks at: memory is bounded by them.
    return measured(read_capture(names, most_packets=MOST_PACKETS), connections)


def _with_applications(scenario: Scenario, found: Measurement, notes: list[str]) -> Scenario:
    """Return the scenario with a flow for each transfer, which has its sizes, pauses and start."""
    document = tomllib.loads(scenario.to_toml())
    flows: dict[str, dict[str, Any]] = document.get("flow", {})
    several = [name for name, flow in flows.items() if flow.get("count", 1) != 1]
    if len(flows) == 1 and (several or len(found.transfers) != 1):
        templates = list(flows.values()) * len(found.transfers)
    elif len(flows) == len(found.transfers) and not several:
        templates = sorted(flows.values(), key=_start_of)
    else:
        raise ArgumentError(
            f"{scenario.name} has {len(flows)} flows and {found.source} {len(found.transfers)} transfers; "
            "needed is one flow, or as many as transfers (--connection chooses connections)"
        )
    document["flow"] = {
        _name(index): _flow(template, each, notes)
        for index, (template, each) in enumerate(zip(templates, found.transfers, strict=True))
    }
    parts = [each.start_s + sum(each.window_s) for each in found.transfers if each.window_s is not None]
    last = max(each.start_s + (each.completion_s or _spoken(each)) for each in found.transfers)
    # A flow that sends all the time ends behind the part that was measured.
    document["duration"] = _span((max(parts) if parts else SLACK * last) + SLACK_S)
    for key in ("warmup", "sweep", "record", "runs"):
        document.pop(key, None)
    folder = Path(scenario.name).parent if Path(scenario.name).is_file() else Path()
    return Scenario.from_dict(document, name=scenario.name, folder=folder, allow_outside=True)


def _name(index: int) -> str:
    return f"transfer{index + 1}"


def _start_of(flow: Mapping[str, Any]) -> float:
    from tidegate import _core

    start = flow.get("start", "0 s")
    return float(_core.read_instant("start", start)) if isinstance(start, str) else 0.0


def _spoken(each: Transfer) -> float:
    """Return how long a transfer lasted that was cut off: its data at its goodput."""
    return 8 * sum(each.sizes) / each.goodput_bps if each.goodput_bps else 1.0


def _flow(template: Mapping[str, Any], each: Transfer, notes: list[str]) -> dict[str, Any]:
    flow = {key: value for key, value in template.items() if key not in ("app", "count", "start", "stop")}
    if each.start_s > 0:
        flow["start"] = _span(each.start_s)
    if each.window_s is not None:
        flow["app"] = "bulk"
        return flow
    if len(each.sizes) == 1:
        flow["app"] = {"transfer": f"{each.sizes[0]} B"}
        return flow
    size = round(sum(each.sizes) / len(each.sizes))
    if max(abs(own - size) for own in each.sizes) > 1:
        notes.append(
            f"{each.label} carried {len(each.sizes)} pieces of {min(each.sizes)} to {max(each.sizes)} bytes; "
            f"the scenario runs with as many of {size} bytes, their mean"
        )
    thinks = [_LEAST_THINK_S, *each.pauses_s]
    flow["app"] = {
        "request": {
            "response": f"{size} B",
            "think": [_span(max(think, _LEAST_THINK_S)) for think in thinks],
            "count": len(each.sizes),
        }
    }
    return flow


def _span(seconds: float) -> str:
    return f"{max(round(seconds * 1e6), 1)} us"


def _simulate(
    scenario: Scenario, seed: int, replication: int, asked: Sequence[Transfer]
) -> dict[int, Transfer]:
    """Run once; measure the capture of the run as any other."""
    from tidegate._check.captured import transfer

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.pcap"
        run(scenario, seed=seed, replication=replication, record="summary", pcap=file)
        capture = read_capture(file)
    found = {}
    for connection in capture.connections:
        # A flow's sender has the address 10.1.x.y, with the flow's number 256·x + y.
        ends = (connection.client, connection.server)
        sender = next(end for end in ends if end.startswith("10.1."))
        high, low = sender.split(":")[0].split(".")[2:]
        if connection.sender.payload_bytes:
            number = 256 * int(high) + int(low)
            found[number] = transfer(connection, asked[number].window_s)
    return found
