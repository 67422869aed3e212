"""Names of a study's numbers, and the tables that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.nearest import nearest
from tidegate._run.summary import FIGURES, REQUESTS, figures_of
from tidegate._run.table import flat
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

#: The tables of a study, and the Parquet files of its folder.
TABLES = (
    *("runs", "flows", "flow_groups", "gates", "traffic", "traffic_groups"),
    *("requests", "videos", "pools", "calls"),
)
#: What a metric's first word means: the tables that its element may be in, the first that has its name.
KINDS = {
    "flow": ("flows", "flow_groups"),
    "gate": ("gates",),
    "traffic": ("traffic", "traffic_groups"),
    "request": ("requests",),
    "video": ("videos",),
    "pool": ("pools",),
    "calls": ("calls",),
}
#: Columns that say which run a row is of; the varied keys stand between them.
PLACE = ("point", "replication")
#: The column of a study's runs that has the gate that holds back a point's first run most.
MAIN_GATE = "main_gate"
#: Of what a share counts events: the first of these columns that its row has.
_SHARE_OF = {
    "loss": ("offered_packets", "offered_cells", "packets_sent"),
    "calls_blocked": ("calls_offered",),
    "calls_abandoned_share": ("calls_offered",),
}
#: Numbers that count events of a run.
_BY_RUN = (
    *("timeouts", "client_timeouts", "fast_retransmits", "segments_retransmitted", "stalls"),
    *("dropped_packets", "dropped_cells", "policed_packets", "policed_cells"),
)
#: What a gate's or flow's table has beside numbers.
WORDS = ("name", "cc", "tcp")


def metric_of(summary: dict[str, Any], measured: Mapping[str, float | None], metric: str) -> float | None:
    """Return one number of one run.

    ``flow.NAME.COLUMN``, ``gate.NAME.COLUMN``, ``traffic.NAME.COLUMN``, ``request.NAME.COLUMN``,
    ``video.NAME.COLUMN``, ``pool.NAME.COLUMN``, ``calls.NAME.COLUMN``; otherwise a number of all flows
    together, or one that was measured. Of traffic NAME is a source or a group of sources; of flows a flow or
    all its copies.

    Raises:
        UnknownNameError: the run has no such number; the message offers the nearest.
    """
    kind, _, rest = metric.partition(".")
    if rest and kind in KINDS:
        names = elements(kind, summary)
        name, column = split(kind, rest, names)
        row = flat(names[name])
        if column in row and column not in WORDS:
            return number(row[column])
        if is_absent_zero(column):
            return 0.0
        raise no_number(f"{kind}.{name}", column, row)
    if metric in measured:
        return measured[metric]
    of_flows = ["goodput_bps", "fairness", "segments_retransmitted", "timeouts", "completion_s"]
    of_flows += ["progress"] if any("progress" in row for row in summary["flows"]) else []
    of_flows += REQUESTS if summary.get("requests") else []
    if metric not in of_flows:
        known = [*measured, *of_flows]
        known += [f"{kind}.{name}" for kind in KINDS for name in elements(kind, summary)]
        raise UnknownNameError(nearest("metric", metric, known))
    return number(figures_of(summary, None)[metric])


def is_taken(name: str) -> bool:
    """Tell whether runs have a number, or a study's table of them a column, of this name themselves."""
    kind, _, rest = name.partition(".")
    return bool(rest and kind in KINDS) or name in (*FIGURES, *PLACE, MAIN_GATE)


def chances(metric: str, runs: int, total: Callable[[str], float | None]) -> float | None:
    """Return in how many chances what a number counts could have happened; None where it counts nothing.

    ``total``: gives the sum of another number over the same runs, by name.
    """
    place, _, last = metric.rpartition(".")
    if last in _BY_RUN:
        return float(runs)
    for column in _SHARE_OF.get(last, ()):
        try:
            found = total(f"{place}.{column}")
        except UnknownNameError:
            continue
        if found is not None:
            return found
    return None


def elements(kind: str, rows: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of a kind by name; ``rows``: those of each table."""
    return {row["name"]: row for table in reversed(KINDS[kind]) for row in rows.get(table, [])}


def is_absent_zero(column: str) -> bool:
    """Tell whether a column is 0 where a row has none: a gate that never limited, a reason without drops."""
    return column.startswith(("limited_by.gate.", "limited_by.policer of ", "drops.", "back_drops."))


def split(kind: str, rest: str, names: Collection[str]) -> tuple[str, str]:
    """Part NAME.COLUMN; names have dots (bulk.1), and so have shares (limited_by.gate.link)."""
    for name in sorted(names, key=len, reverse=True):
        if rest.startswith(f"{name}."):
            return name, rest[len(name) + 1 :]
    if rest in names:
        raise UnknownNameError(f"{kind}.{rest} has many numbers; put the name of one behind it")
    raise UnknownNameError(nearest(kind, rest.rpartition(".")[0] or rest, names))


def no_number(of: str, column: str, columns: Iterable[str]) -> UnknownNameError:
    """Return the error for a column that is not there, or whose values are words."""
    return UnknownNameError(
        nearest(f"number of {of}", column, [each for each in columns if each not in WORDS])
    )


def number(value: Any) -> float | None:
    """Return a number as a float; None stays None."""
    return None if value is None else float(value)
