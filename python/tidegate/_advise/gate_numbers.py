"""What runs of a study say of a gate: its flows' goodput and round trips, and its worst copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._advise.tune_result import MET, MISSED, UNDECIDED
from tidegate._base.estimate import Estimate, estimate
from tidegate._run.completion import together, transfers
from tidegate._run.words import possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._advise.gate_goal import Bound
    from tidegate._study.value import Study

_BETTER = (MET, UNDECIDED, MISSED)


def goodput_of(study: Study, point: int, flows: Sequence[str]) -> list[float | None]:
    """Return the goodput of some flows together by replication, as a study's ``goodput_bps`` is that of all.

    None where no time was measured of any of them.
    """
    totals = study.values("goodput_bps", point)
    runs: list[list[dict[str, Any]]] = [[] for _ in totals]
    for row in study.scan("flows").filter(point=point).collect().to_dicts():
        runs[row["replication"]].append(row)
    wanted = {*flows}
    if wanted >= {row["name"] for rows in runs for row in rows}:
        return totals
    begin = float(study.manifest["measured_from_s"])
    found = []
    for rows, total in zip(runs, totals, strict=True):
        end = _end(rows, begin, total) or float(study.manifest["duration_s"])
        span = {"measured_from_s": begin, "duration_s": end}
        found.append(together(span, [row for row in rows if row["name"] in wanted], "goodput_bps"))
    return found


def _end(rows: Sequence[dict[str, Any]], begin: float, total: float | None) -> float | None:
    """Return when a run ended, seconds; None where it makes no difference.

    A study keeps no run's length. It follows from the goodput of all flows: that of transfers that are done
    is over the whole measured time there, and in their own rows over their own time.
    """
    known = [row for row in rows if row["goodput_bps"] is not None]
    done = [row for row in transfers(known) if row["completion_s"] is not None]
    names = {row["name"] for row in done}
    rest = sum(row["goodput_bps"] for row in known if row["name"] not in names)
    bits = sum(
        row["goodput_bps"] * max(0.0, row["start_s"] + row["completion_s"] - max(begin, row["start_s"]))
        for row in done
    )
    return None if total is None or total <= rest or not bits else begin + bits / (total - rest)


def rtt_of(study: Study, point: int, flows: Sequence[str], statistic: str) -> Estimate:
    """Return the round trip of the worst flow of each replication, as an estimate, ms."""
    wanted, runs = {*flows}, dict[int, list[float]]()
    for replication, name, found in _rows(study, "flows", point, f"rtt_{statistic}_ms"):
        if name in wanted and found is not None:
            runs.setdefault(replication, []).append(found)
    return estimate((max(found) for found in runs.values()), possible(f".rtt_{statistic}_ms"))


def worst_of(
    study: Study, point: int, copies: Sequence[str], column: str, bound: Bound | None = None
) -> tuple[str, Estimate]:
    """Return the copy of a gate that keeps to a bound least, with its number; without a bound the largest.

    Copies of which nothing was measured have no part in it, unless that is so of all.
    """
    values: dict[str, list[float]] = {name: [] for name in copies}
    for _, name, found in _rows(study, "gates", point, column):
        if name in values and found is not None:
            values[name].append(found)
    known = {name: estimate(found, possible(f".{column}")) for name, found in values.items() if found}
    if not known:
        return copies[0], Estimate(None, None, None, 0)

    def badness(name: str) -> tuple[int, float]:
        found = known[name]
        top = (found.mean or 0.0) + found.arms[1]
        return (0 if bound is None else _BETTER.index(bound.verdict(found))), top

    worst = max(known, key=badness)
    return worst, known[worst]


def _rows(study: Study, table: str, point: int, column: str) -> list[tuple[int, str, float | None]]:
    """Return a number of each row of one point, in the order of replications."""
    found = study.scan(table).filter(point=point).select("replication", "name", column).collect()
    return found.sort("replication", maintain_order=True).rows()
