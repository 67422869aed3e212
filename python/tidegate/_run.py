"""One run: starting it, and the value that comes back."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _columns, _core
from tidegate._errors import ArgumentError, EngineError, NotRecordedError
from tidegate._normalised import normalised_throughput
from tidegate._scenario import Scenario, Sets
from tidegate._seed import choose
from tidegate._table import CallsRow, FlowRow, GateRow, PoolRow, RequestRow, Table

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

#: What stands for a scenario in calls: a path, a dict of the file's keys, or a checked one.
Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario

ENGINES = ("sim", "theory", "live")

#: Samples that a picture needs over the whole run.
_SAMPLES = 2000

#: The kernel's state is read every millisecond at most.
_LIVE_SAMPLES_PER_S = 1000.0

HEADERS_NOTE = (
    "goodput counts payload only, delivered once and in order; throughput, rates and "
    "queues in bytes count every header on the gate's wire"
)


def as_scenario(source: Source, changes: Sets = None) -> Scenario:
    """Return the checked scenario that ``source`` stands for.

    Raises:
        ScenarioError, TraceError, OSError: as :meth:`Scenario.load`.
    """
    if isinstance(source, Scenario):
        if changes:
            raise TypeError("give set to tidegate.load: a checked scenario is not changed")
        return source
    if isinstance(source, Mapping):
        return Scenario.from_dict(source, set=changes)
    return Scenario.load(source, set=changes)


def check_engine(engine: str, usable: tuple[str, ...] = ("sim",)) -> None:
    """Refuse every engine but those that can be used here.

    Raises:
        EngineError: the engine does not exist, or not yet, or not here.
    """
    there = " or ".join(f'"{name}"' for name in usable)
    if engine not in ENGINES:
        raise EngineError(f'there is no engine "{engine}"; there is {there}')
    if engine not in usable:
        raise EngineError(f'the engine "{engine}" is not for this; use {there}')


def run(
    source: Source,
    *,
    seed: int | None = None,
    engine: str = "sim",
    record: str | None = None,
    set: Sets = None,  # noqa: A002
    replication: int = 0,
    pcap: str | os.PathLike[str] | None = None,
    exact_events: bool = False,
) -> Run:
    """Run a scenario and return its summary, columns and picture as one value.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        seed: every random stream derives from it. Left out: the file's; where the file
            has none, one is chosen, printed and stored.
        engine: ``"sim"``; ``"live"``, the Linux kernel's TCP in real time; or ``"theory"``, closed
            forms, where one applies (then the options below say nothing).
        record: ``"summary"``, ``"events"`` or a span such as ``"10 ms"``. Left out: what
            the file's ``[record]`` says, else samples fine enough for a picture.
        set: changes made before the checks, as a dict or as ``["key=value"]``.
        replication: which of the scenario's ``runs`` this is, from 0.
        pcap: a file to write every packet to, as the senders see it; a live run also writes what
            the receivers see, beside it as NAME-receiver.pcap.
        exact_events: make every arrival and departure an event; slower, equal results.

    Raises:
        ScenarioError, TraceError: the input is wrong; the message says where.
        EngineError: the engine cannot run here, or not this scenario; the message says why.
        RunError: the run stopped before its end.
        KeyboardInterrupt: as usual; the run stops within a moment.
    """
    check_engine(engine, ("sim", "live", "theory"))
    if engine == "theory":
        from tidegate.theory._engine import solve

        return solve(as_scenario(source, set))
    return execute(
        as_scenario(source, set),
        seed=seed,
        engine=engine,
        record=record,
        replication=replication,
        pcap=pcap,
        exact_events=exact_events,
    )


def execute(
    scenario: Scenario,
    *,
    seed: int | None = None,
    engine: str = "sim",
    record: str | None = None,
    replication: int = 0,
    pcap: str | os.PathLike[str] | None = None,
    exact_events: bool = False,
    tick: Callable[[float], bool] | None = None,
    command: list[str] | None = None,
    quiet: bool = False,
) -> Run:
    """:func:`run` for a checked scenario.

    ``tick`` is called every moment with the share of the run that is done; False stops it.
    ``quiet``: this is one of many, so nobody needs to hear that there are more.
    """
    chosen = choose(seed, scenario.seed)
    if not 0 <= chosen < 2**64:
        raise ArgumentError(f"the seed is a whole number from 0 to 2^64 - 1, not {chosen}")
    check_engine(engine, ("sim", "live"))
    if engine == "live":
        if exact_events:
            raise ArgumentError("exact_events is about virtual time; a live run has none")
        _core.live_enter()
        data = scenario._inner.run_live(
            seed=chosen,
            replication=replication,
            record=record or _default_record(scenario, _LIVE_SAMPLES_PER_S),
            pcap=None if pcap is None else (os.fspath(pcap), os.fspath(receiver_pcap(Path(pcap)))),
            tick=tick,
        )
    else:
        data = scenario._inner.run(
            seed=chosen,
            replication=replication,
            record=record or _default_record(scenario),
            pcap=None if pcap is None else os.fspath(pcap),
            exact_events=exact_events,
            tick=tick,
        )
    return assemble(
        scenario, data, seed=chosen, replication=replication, pcap=pcap, command=command, quiet=quiet
    )


def receiver_pcap(path: Path) -> Path:
    """Return where a live run keeps what the receivers see."""
    return path.with_name(f"{path.stem}-receiver{path.suffix}")


def assemble(
    scenario: Scenario,
    data: _core.RunData,
    *,
    seed: int,
    replication: int,
    pcap: str | os.PathLike[str] | None = None,
    command: list[str] | None = None,
    quiet: bool = False,
) -> Run:
    """Make the value that stands for a run out of what the engine gave."""
    summary: dict[str, Any] = json.loads(data.summary_json)
    warnings = list(scenario.warnings)
    warnings += [w for w in (*summary["warnings"], *data.warnings) if w not in warnings]
    if scenario.runs > 1 and not quiet:
        warnings.append(
            f"the scenario asks for {scenario.runs} runs; this is replication {replication} "
            "(tidegate study runs them all)"
        )
    if scenario.combinations > 1 and not quiet:
        warnings.append(
            f"the scenario's sweep makes {scenario.combinations} combinations; this run is of the "
            "values outside [[sweep]] (tidegate study runs them all)"
        )
    summary["warnings"] = warnings
    manifest = manifest_of(scenario, seed, replication, warnings, command, engine=summary["engine"])
    if data.live_json is not None:
        manifest["live"] = json.loads(data.live_json)
    # How the run was worked through, not what came out: it differs with exact_events.
    manifest["events"] = summary.pop("events", None)
    manifest["paths"] = data.paths
    flows = [row["name"] for row in summary["flows"]]
    gates = [row["name"] for row in summary["gates"]]
    raw = data.tables

    def load(table: str) -> pl.DataFrame | None:
        return _columns.frame(raw[table], flows, gates) if table in raw else None

    return Run(summary, manifest, load, pcap=None if pcap is None else Path(pcap))


def _default_record(scenario: Scenario, most_per_s: float = math.inf) -> str | None:
    """None leaves it to the file; where that records nothing, fine enough for a picture."""
    if scenario.records:
        return None
    return sample_span(scenario.duration_s, int(min(_SAMPLES, max(1.0, scenario.duration_s * most_per_s))))


def sample_span(duration_s: float, samples: int = _SAMPLES) -> str:
    """Return a round span (1, 2 or 5 times a power of ten) that divides a run into samples."""
    exact = max(duration_s / samples * 1e6, 1.0)
    power = 10 ** math.floor(math.log10(exact))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= exact * 0.999)
    return f"{round(step)} us"


def manifest_of(
    scenario: Scenario,
    seed: int | None,
    replication: int,
    warnings: list[str],
    command: list[str] | None,
    *,
    engine: str = "sim",
) -> dict[str, Any]:
    """Collect what a reader needs to make the run again and to understand its numbers."""
    import platform

    return {
        "kind": "run",
        "layout": 1,
        "engine": engine,
        "title": scenario.title,
        "scenario_file": scenario.name,
        "scenario": scenario.to_toml(),
        "seed": seed,
        "replication": replication,
        "inputs": scenario.inputs,
        "warnings": warnings,
        "headers": HEADERS_NOTE,
        "versions": {"python": platform.python_version(), **_core.build_info()},
        "machine": {"system": platform.platform(), "architecture": platform.machine()},
        "command": command,
        "tables": _columns.TABLES,
    }


class Run:
    """The result of a run.

    ``flows`` and ``gates`` are data frames with one row each, whose rows know their
    history: ``run.gates["bottleneck"].series("queue")``. ``requests`` is one as well, of the flows
    with requests and of all of them together (``run.requests["all"]``); elsewhere empty. ``pools``
    and ``calls`` are the same for pools and for sources of calls; they have no history. Goodput
    counts payload only; throughput and gate rates count every header.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        manifest: dict[str, Any],
        load: Callable[[str], pl.DataFrame | None],
        *,
        pcap: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        self.summary = summary
        self.manifest = manifest
        self.pcap = pcap
        self.folder = folder
        self.flows = Table([FlowRow(self, row) for row in summary["flows"]])
        self.gates = Table([GateRow(self, row) for row in summary["gates"]])
        self.requests = Table([RequestRow(self, row) for row in summary.get("requests", [])])
        self.pools = Table([PoolRow(self, row) for row in summary.get("pools", [])])
        self.calls = Table([CallsRow(self, row) for row in summary.get("calls", [])])
        self._load = load
        self._tables: dict[str, pl.DataFrame | None] = {}

    @property
    def title(self) -> str:
        """The scenario's title, or its file when it has none."""
        return str(self.manifest.get("title") or self.manifest.get("scenario_file") or "run")

    @property
    def seed(self) -> int | None:
        """The seed that was used; None where nothing is random, as in theory."""
        seed = self.summary.get("seed")
        return None if seed is None else int(seed)

    @property
    def warnings(self) -> list[str]:
        """What to look at before trusting the numbers."""
        return list(self.summary.get("warnings", []))

    def table(self, name: str) -> pl.DataFrame:
        """Return a recorded table: ``flows``, ``gates``, ``drops``, ``marks`` or ``requests``.

        Raises:
            NotRecordedError: the run kept only its summary.
        """
        if name not in _columns.TABLES:
            raise NotRecordedError(f'there is no table "{name}"; there is {list(_columns.TABLES)}')
        if name not in self._tables:
            self._tables[name] = self._load(name)
        found = self._tables[name]
        if found is None:
            if self.summary["engine"] == "theory":
                raise NotRecordedError(f"a theory gives no {name} over time; use engine sim")
            if name == "requests" and not len(self.requests):
                raise NotRecordedError("no flow of this run has requests (app.request)")
            raise NotRecordedError(
                f'the run recorded no {name}; run it again with record = "10 ms" (or "events")'
            )
        return found

    def has(self, name: str) -> bool:
        """Tell whether a table was recorded."""
        try:
            self.table(name)
        except NotRecordedError:
            return False
        return True

    @property
    def drops(self) -> pl.DataFrame:
        """Every dropped packet: time_s, gate, flow, bytes, reason."""
        return self.table("drops")

    @property
    def marks(self) -> pl.DataFrame:
        """Every timeout and fast retransmit: time_s, flow, kind."""
        return self.table("marks")

    def normalised_throughput(self, gate: str, *, under_abr: bool = False) -> dict[str, float]:
        """Return each flow's throughput over the mean capacity of a gate, by name.

        Args:
            gate: the link whose ``rate_mean_bps`` is 1.
            under_abr: with the factor 48/53 of cells that the scenario does not count: what
                the ABR paper calls efficiency.

        Raises:
            UnknownNameError: no gate has this name.
            ArgumentError: the gate has no capacity in bit/s.
        """
        capacity = self.gates.row(gate).summary["rate_mean_bps"]
        if not capacity:
            raise ArgumentError(f"gate {gate} has no capacity in bit/s to measure against")
        return {
            flow["name"]: normalised_throughput(flow["throughput_bps"], capacity, under_abr=under_abr)
            for flow in self.summary["flows"]
        }

    def to_json(self) -> str:
        """Return the summary as the JSON object that ``tidegate run --json`` prints."""
        return json.dumps(self.summary, indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the run folder: manifest, summary, columns, and the pcap if there is one.

        The folder appears whole or not at all. ``force`` replaces a folder that holds a
        run; nothing else is ever replaced.

        Raises:
            RunFolderError: the folder is there already.
            OSError: it cannot be written.
        """
        from tidegate._folder import save_run

        return save_run(self, Path(folder), force=force)

    def plot(self, path: str | os.PathLike[str] | None = None, *, gate: str | None = None) -> Figure:
        """Draw the run on one time axis; write PNG, SVG or PDF by the path's suffix.

        Args:
            path: where to write; left out, the figure is only returned.
            gate: whose rate and queue to show; left out, the one that holds flows back most.

        Raises:
            NotRecordedError: the run kept only its summary.
            ArgumentError: the suffix is none of .png, .svg, .pdf.
        """
        from tidegate._plot import run_figure
        from tidegate._plot_style import write

        figure = run_figure(self, gate=gate)
        if path is not None:
            write(figure, Path(path))
        return figure

    def __repr__(self) -> str:
        chance = "" if self.seed is None else f"seed {self.seed}, "
        return (
            f"<tidegate.Run {self.title!r}, {chance}{self.summary['engine']}: "
            f"{len(self.flows)} flows, {len(self.gates)} gates, "
            f"{self.summary['duration_s']:g} s>"
        )


def flows_through(run: Run, gate: str) -> list[str]:
    """Return the flows whose data passes a gate; all flows where none does."""
    paths = run.manifest.get("paths") or {}
    return [
        name for name in run.flows.names if gate in paths.get(name, {}).get("path", ())
    ] or run.flows.names
