"""What a run left behind: its summary, its columns, and tables of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.json_text import pieces
from tidegate._base.lazy import Lazy
from tidegate._run.columns import TABLES
from tidegate._run.flow_groups import group_rows
from tidegate._run.table import (
    CallsRow,
    FlowGroupRow,
    FlowRow,
    GateRow,
    GroupRow,
    PoolRow,
    RequestRow,
    Table,
    TrafficGroupRow,
    TrafficRow,
    VideoRow,
)
from tidegate._run.throughput import normalised_throughput
from tidegate.errors import ArgumentError, NotRecordedError

if TYPE_CHECKING:
    import polars as pl

    from tidegate._run.arrays import Arrays
else:
    pl = Lazy("polars")


@checked_methods
class Recorded:
    """The summary, the columns and the tables of a run."""

    def __init__(
        self,
        summary: dict[str, Any],
        manifest: dict[str, Any],
        load: Callable[[str], pl.DataFrame | None],
        *,
        arrays: Callable[[str], Arrays | None] | None = None,
        pcap: Path | None = None,
        qlog: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        self.summary = summary
        self.manifest = manifest
        self.pcap = pcap
        self.qlog = qlog
        self.folder = folder
        self.flows = Table([FlowRow(self, row) for row in summary["flows"]])
        copies = summary.get("flow_groups", [])
        self.flow_groups = Table([FlowGroupRow(self, row) for row in copies])
        self.gates = Table([GateRow(self, row) for row in summary["gates"]])
        self.requests = Table([RequestRow(self, row) for row in summary.get("requests", [])])
        self.videos = Table([VideoRow(self, row) for row in summary.get("videos", [])])
        recorded = manifest.get("groups") or []
        self.groups = Table([GroupRow(self, row) for row in group_rows(summary, recorded)])
        self.traffic = Table([TrafficRow(self, row) for row in summary.get("traffic", [])])
        groups = summary.get("traffic_groups", [])
        self.traffic_groups = Table([TrafficGroupRow(self, row) for row in groups])
        self.pools = Table([PoolRow(self, row) for row in summary.get("pools", [])])
        self.calls = Table([CallsRow(self, row) for row in summary.get("calls", [])])
        self._load = load
        self._arrays = arrays
        self._known_arrays: dict[str, Arrays] = {}
        self._tables: dict[str, pl.DataFrame | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to another process: with the tables, whatever they were to be loaded from."""
        tables = {name: self._load(name) for name in TABLES}
        return {**self.__dict__, "_load": tables.get, "_arrays": None, "_known_arrays": {}, "_tables": {}}

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
        """Return a recorded table.

        They are ``flows``, ``gates``, ``groups``, ``classes``, ``drops``, ``marks`` and ``requests``.

        Raises:
            NotRecordedError: the run kept only its summary.
        """
        if name not in TABLES:
            raise NotRecordedError(f'there is no table "{name}"; known: {", ".join(TABLES)}')
        if name not in self._tables:
            self._tables[name] = self._load(name)
        found = self._tables[name]
        if found is None:
            raise self._missing(name)
        return found

    def arrays(self, name: str) -> Arrays:
        """Return the columns of a recorded table as arrays, as pictures read them.

        Raises:
            NotRecordedError: the run kept only its summary.
        """
        if self._arrays is None:
            from tidegate._run.arrays import of_frame

            if name not in self._known_arrays:
                self._known_arrays[name] = of_frame(self.table(name))
            return self._known_arrays[name]
        found = self._known_arrays.get(name) or self._arrays(name)
        if found is None:
            raise self._missing(name)
        return self._known_arrays.setdefault(name, found)

    def _missing(self, name: str) -> NotRecordedError:
        """Say why there is no such table."""
        if self.summary["engine"] == "theory":
            return NotRecordedError(f"a theory has no {name} over time; use engine sim")
        if name == "requests" and not len(self.requests):
            return NotRecordedError("no flow of this run has requests (app.request)")
        if name == "segments" and not len(self.videos):
            return NotRecordedError("no flow of this run has a player of video (app.video)")
        if name == "advice" and not any("advice_signals" in flow for flow in self.summary["flows"]):
            return NotRecordedError("no packet of this run carries a rate signal (flow.x.scone)")
        if name == "groups" and not len(self.groups):
            return NotRecordedError("this run recorded no flows together (record.groups)")
        if name == "classes" and not any(gate.get("classes") for gate in self.summary["gates"]):
            return NotRecordedError("no gate of this run has classes (gate.x.classes)")
        return NotRecordedError(
            f'the run recorded no {name}; run it again with record = "10 ms" (or "events")'
        )

    def has(self, name: str) -> bool:
        """Tell whether a table was recorded."""
        try:
            self.table(name) if self._arrays is None else self.arrays(name)
        except NotRecordedError:
            return False
        return True

    @property
    def drops(self) -> pl.DataFrame:
        """Every dropped packet: time_s, gate, flow or traffic (its source), bytes, reason."""
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

        Flows of which no time was measured are left out.

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
            if flow["throughput_bps"] is not None
        }

    def to_json(self) -> str:
        """Return the summary as the JSON object that ``tidegate run --json`` prints."""
        return "".join(self.json_pieces())

    def json_pieces(self) -> Iterator[str]:
        """Give the same text in pieces, for a run with many flows."""
        return pieces(self.summary)


def not_recorded(gate: str, recorded: Sequence[str]) -> str:
    """Say that a gate cannot be drawn, as it is not recorded; ``recorded``: the gates that are."""
    some = ", ".join(sorted(recorded)[:8]) + (", …" if len(recorded) > 8 else "")
    key = gate.partition("/")[0]
    return (
        f'gate "{gate}" is not recorded, so it cannot be drawn; recorded gates: {some or "none"}; '
        f'add {key} = ["queue_packets"] to [record]'
    )


def flows_through(run: Recorded, gate: str) -> list[str]:
    """Return the flows whose data passes a gate; all flows where no paths are known."""
    paths = run.manifest.get("paths")
    if not paths:
        return run.flows.names
    return [name for name in run.flows.names if gate in paths.get(name, {}).get("path", ())]
