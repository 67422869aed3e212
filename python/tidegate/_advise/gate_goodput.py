"""The goodput of the flows through a gate, of each run of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._run.completion import together, transfers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._study.value import Study


def goodput_of(study: Study, point: int, flows: Sequence[str]) -> list[float | None]:
    """Return the goodput of some flows together by replication, as a study's ``goodput_bps`` is that of all.

    None where no time was measured of any of them.
    """
    totals = study.values("goodput_bps", point)
    runs: list[list[dict[str, Any]]] = [[] for _ in totals]
    for row in study.flows.filter(point=point).to_dicts():
        runs[row["replication"]].append(row)
    if {*flows} >= {row["name"] for rows in runs for row in rows}:
        return totals
    begin = float(study.manifest["measured_from_s"])
    found = []
    for rows, total in zip(runs, totals, strict=True):
        end = _end(rows, begin, total) or float(study.manifest["duration_s"])
        span = {"measured_from_s": begin, "duration_s": end}
        found.append(together(span, [row for row in rows if row["name"] in flows], "goodput_bps"))
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
