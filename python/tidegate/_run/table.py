"""The tables of a run: a data frame whose rows have names and a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from tidegate._base import text
from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._base.nearest import nearest
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")


#: Numbers of a row that its repr shows.
_SHOWN = 3
#: The name of the row of all requests together.
ALL = "all"


class Columns(Protocol):
    """What rows ask of their run: the recorded columns."""

    def table(self, name: str) -> pl.DataFrame:
        """Return a recorded table."""

    @property
    def drops(self) -> pl.DataFrame:
        """Every dropped packet."""

    @property
    def marks(self) -> pl.DataFrame:
        """Every timeout and fast retransmit."""


@checked_methods
class Row:
    """One flow or one gate: its summary, and what was recorded of it."""

    _what = "row"
    _table = ""
    _series: ClassVar[dict[str, dict[str, str]]] = {}

    __slots__ = ("_run", "summary")

    def __init__(self, run: Columns, summary: dict[str, Any]) -> None:
        self._run = run
        self.summary = summary

    @property
    def name(self) -> str:
        """Its name in the scenario."""
        return str(self.summary["name"])

    def __getitem__(self, key: str) -> Any:
        """One number of the summary; the unit is in its name."""
        try:
            return self.summary[key]
        except (KeyError, TypeError):
            raise UnknownNameError(nearest("column", key, self.summary)) from None

    def keys(self) -> list[str]:
        """Return the names in the summary."""
        return list(self.summary)

    def columns(self) -> pl.DataFrame:
        """Return everything recorded of it: one row per sample.

        Raises:
            NotRecordedError: the run kept only its summary.
        """
        import polars as pl

        table = self._run.table(self._table)
        name = self._table.removesuffix("s")
        return table.filter(pl.col(name).cast(pl.String) == self.name).drop(name)

    def series(self, name: str) -> pl.DataFrame:
        """Return one recorded quantity over time: ``time_s`` and its columns.

        Raises:
            UnknownNameError: there is no such series; the message lists what there is.
            NotRecordedError: the run kept only its summary.
        """
        known = self._known()
        if name not in known:
            raise UnknownNameError(nearest("series", name, known))
        wanted = {"time_s": "time_s", **known[name]}
        return self.columns().select(list(wanted)).rename(wanted)

    def _known(self) -> dict[str, dict[str, str]]:
        """Return its series: for each its columns, and what they are called in it."""
        return self._series

    def __repr__(self) -> str:
        numbers = [(key, value) for key, value in self.summary.items() if isinstance(value, int | float)]
        shown = ", ".join(f"{key}={text.number(value)}" for key, value in numbers[:_SHOWN])
        more = f", … {len(self.summary) - 1} in all" if len(numbers) > _SHOWN else ""
        return f"<tidegate.{type(self).__name__} {self.name!r}: {shown}{more}>"

    def _repr_html_(self) -> str:
        from tidegate._page.render import fragment
        from tidegate._page.sheet import Grid

        rows = [
            [key, text.number(value, 5) if isinstance(value, int | float) else str(value)]
            for key, value in flat(self.summary).items()
            if value is not None and not isinstance(value, list)
        ]
        return fragment(f"{self._what} {self.name}", "", [Grid(text.table([["", ""]], rows))])


class FlowRow(Row):
    """One flow.

    Series: ``cwnd`` (cwnd_segments, ssthresh_segments), ``rtt`` (srtt_ms, rtt_ms, rto_ms), ``delay``
    (rtt_ms, one_way_ms), ``in_flight`` (segments), ``delivered`` (bytes, payload at its first arrival),
    ``in_order`` (bytes, payload that became readable), ``retransmitted`` (segments), ``state`` (phase,
    held_by). Each has ``time_s`` first.
    """

    _what = "flow"
    _table = "flows"
    _series: ClassVar[dict[str, dict[str, str]]] = {
        "cwnd": {c: c for c in ("cwnd_segments", "ssthresh_segments")},
        "rtt": {c: c for c in ("srtt_ms", "rtt_ms", "rto_ms")},
        "delay": {"rtt_ms": "rtt_ms", "one_way_ms": "one_way_ms"},
        "in_flight": {"in_flight_segments": "segments"},
        "delivered": {"delivered_bytes": "bytes"},
        "in_order": {"in_order_bytes": "bytes"},
        "retransmitted": {"retransmitted_segments": "segments"},
        "state": {c: c for c in ("phase", "held_by")},
    }
    __slots__ = ()

    def marks(self) -> pl.DataFrame:
        """Return its timeouts and fast retransmits: ``time_s``, ``kind``."""
        import polars as pl

        marks = self._run.marks
        return marks.filter(pl.col("flow").cast(pl.String) == self.name).drop("flow")


class GroupRow(Row):
    """The copies of one flow, recorded together (``record.groups``).

    Its numbers are sums over the flows; ``goodput_p10_bps``, ``_p50_`` and ``_p90_`` are flows' shares: a
    tenth, half and nine tenths of them have less. Series: ``cwnd`` (segments in sum, p10, p50, p90), ``rtt``
    (p10, p50, p90 in ms of the round trips measured since the row before), ``goodput`` (p10, p50, p90 in
    bit/s of the flows since the row before), ``delivered`` (bytes in sum), ``retransmitted`` (segments in
    sum), ``timeouts`` (in sum). Each has ``time_s`` first.
    """

    _what = "group"
    _table = "groups"
    _series: ClassVar[dict[str, dict[str, str]]] = {
        "cwnd": {"cwnd_segments": "segments", **{f"cwnd_{p}_segments": p for p in ("p10", "p50", "p90")}},
        "rtt": {f"rtt_{p}_ms": p for p in ("p10", "p50", "p90")},
        "goodput": {f"goodput_{p}_bps": p for p in ("p10", "p50", "p90")},
        "delivered": {"delivered_bytes": "bytes"},
        "retransmitted": {"retransmitted_segments": "segments"},
        "timeouts": {"timeouts": "timeouts"},
    }
    __slots__ = ()


class FlowGroupRow(Row):
    """The copies of one flow together: rates over their span, and how long transfers took. No history."""

    _what = "flow"
    _table = "flow_groups"
    _series: ClassVar[dict[str, dict[str, str]]] = {}
    __slots__ = ()


class RequestRow(Row):
    """The requests of one flow, or of all (named ``all``).

    Series: ``response`` (response_s), ``server`` (arrived_s, answered_s), ``size``
    (request_bytes, response_bytes). Each has ``time_s``, when the request was asked, first.
    """

    _what = "request"
    _table = "requests"
    _series: ClassVar[dict[str, dict[str, str]]] = {
        "response": {"response_s": "response_s"},
        "server": {c: c for c in ("arrived_s", "answered_s")},
        "size": {c: c for c in ("request_bytes", "response_bytes")},
    }
    __slots__ = ()

    def columns(self) -> pl.DataFrame:
        """Return everything recorded of its requests, in order of asking.

        Raises:
            NotRecordedError: the run kept only its summary.
        """
        import polars as pl

        table = self._run.table(self._table)
        if self.name == ALL:
            return table.sort("time_s", maintain_order=True)
        return table.filter(pl.col("flow").cast(pl.String) == self.name).drop("flow")


class GateRow(Row):
    """One gate.

    Series: ``queue`` (packets, bytes), ``wait`` (wait_ms), ``rate`` (rate_bps), ``slots`` (slots),
    ``delivered`` (bytes, every header counted), ``dropped`` (packets); of a cell gate ``queue`` (cells,
    fluid) and ``dropped`` (cells); of a gate with a bucket ``tokens`` (tokens, in bytes); of a queue under
    red, pie or dualpi2 ``drop_probability``. Each has ``time_s`` first.
    """

    _what = "gate"
    _table = "gates"
    _series: ClassVar[dict[str, dict[str, str]]] = {
        "queue": {"queue_packets": "packets", "queue_bytes": "bytes"},
        "wait": {"wait_ms": "wait_ms"},
        "rate": {"rate_bps": "rate_bps"},
        "slots": {"slots": "slots"},
        "delivered": {"delivered_bytes": "bytes"},
        "dropped": {"dropped_packets": "packets"},
        "tokens": {"tokens": "tokens"},
        "drop_probability": {"drop_probability": "drop_probability"},
    }
    _of_cells: ClassVar[dict[str, dict[str, str]]] = {
        "queue": {"queue_cells": "cells", "queue_fluid": "fluid"},
        "dropped": {"dropped_cells": "cells"},
    }
    __slots__ = ()

    def _known(self) -> dict[str, dict[str, str]]:
        return {**self._series, **self._of_cells} if text.counts_cells(self.summary) else self._series

    def drops(self) -> pl.DataFrame:
        """Return the packets it dropped: ``time_s``, ``flow``, ``traffic``, ``bytes``, ``reason``."""
        import polars as pl

        drops = self._run.drops
        return drops.filter(pl.col("gate").cast(pl.String) == self.name).drop("gate")


class TrafficRow(Row):
    """One background source: packets, one-way delay, interarrival jitter, loss, media frames. No history."""

    _what = "source"
    _table = "traffic"
    _series: ClassVar[dict[str, dict[str, str]]] = {}
    __slots__ = ()


class TrafficGroupRow(Row):
    """The background sources of one group, or all of them (named ``all``). No history."""

    _what = "group"
    _table = "traffic_groups"
    _series: ClassVar[dict[str, dict[str, str]]] = {}
    __slots__ = ()


class VideoRow(Row):
    """The video of one flow: what its viewer saw.

    Series: ``bitrate`` (bitrate_bps), ``bytes`` (bytes), ``buffer`` (ended_s, buffer_s) and ``stalled``
    (ended_s, stalled_s). Each has ``time_s``, when the segment was asked for, first.
    """

    _what = "video"
    _table = "segments"
    _series: ClassVar[dict[str, dict[str, str]]] = {
        "bitrate": {"bitrate_bps": "bitrate_bps"},
        "bytes": {"bytes": "bytes"},
        "buffer": {c: c for c in ("ended_s", "buffer_s")},
        "stalled": {c: c for c in ("ended_s", "stalled_s")},
    }
    __slots__ = ()

    def columns(self) -> pl.DataFrame:
        """Return everything recorded of its segments, in order.

        Raises:
            NotRecordedError: the run kept only its summary.
        """
        import polars as pl

        segments = self._run.table(self._table)
        return segments.filter(pl.col("flow").cast(pl.String) == self.name).drop("flow")


class PoolRow(Row):
    """One pool: capacity, what is reserved of it, and its calls. No history."""

    _what = "pool"
    _table = "pools"
    _series: ClassVar[dict[str, dict[str, str]]] = {}
    __slots__ = ()


class CallsRow(Row):
    """One source of calls. No history."""

    _what = "call"
    _table = "calls"
    _series: ClassVar[dict[str, dict[str, str]]] = {}
    __slots__ = ()


RowT = TypeVar("RowT", bound=Row)


@checked_methods
class Table(Generic[RowT]):
    """A data frame, one row per flow or gate, whose rows are also found by name.

    ``table["bulk"]`` is that row with its history; iterating gives all rows. Everything
    else is the data frame's: ``table["goodput_bps"]``, ``table.sort(...)``; ``.frame`` is
    the data frame itself.
    """

    def __init__(self, rows: Sequence[RowT]) -> None:
        self._rows = list(rows)
        self._by_name = {row.name: row for row in rows}
        self._frame: pl.DataFrame | None = None

    @property
    def names(self) -> list[str]:
        """The rows' names, in order."""
        return list(self._by_name)

    @property
    def frame(self) -> pl.DataFrame:
        """The summary as a polars data frame; shares become one column each."""
        if self._frame is None:
            import polars as pl

            rows = [flat(row.summary) for row in self._rows]
            self._frame = pl.DataFrame(rows, infer_schema_length=None)
        return self._frame

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, int):
            if not -len(self._rows) <= key < len(self._rows):
                raise IndexError(f"row {key} does not exist; there are {len(self._rows)}, counted from 0")
            return self._rows[key]
        if isinstance(key, str) and key in self._by_name:
            return self._by_name[key]
        if isinstance(key, str) and key in self.frame.columns:
            return self.frame[key]
        what = self._rows[0]._what if self._rows else "row"
        raise UnknownNameError(nearest(what, key, self._by_name))

    def row(self, name: str) -> RowT:
        """Return the row of this name.

        Raises:
            UnknownNameError: there is none; the message offers the nearest.
        """
        if name not in self._by_name:
            what = self._rows[0]._what if self._rows else "row"
            raise UnknownNameError(nearest(what, name, self._by_name))
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[RowT]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not defined here: the rest of a data frame.
        if name.startswith("_") and name != "_repr_html_":
            raise AttributeError(name)
        return getattr(self.frame, name)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return repr(self.frame)


def flat(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary row without nesting: ``limited_by`` becomes ``limited_by.NAME``."""
    flat: dict[str, Any] = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            for inner, number in value.items():
                flat[f"{key}.{inner}"] = number
        else:
            flat[key] = value
    return flat
