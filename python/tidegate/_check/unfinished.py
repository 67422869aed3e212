"""Runs that end before a transfer is done: how long it took at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.estimate import Estimate, estimate
from tidegate._check.expectation import is_completion
from tidegate._run.words import possible

if TYPE_CHECKING:
    from tidegate._study.value import Study


def at_least(study: Study, metric: str, point: int) -> Estimate | None:
    """Return the mean of a completion time in which a run without one counts as long as it was watched.

    That is from the first start of a transfer that was not done to the end of the shortest run. None of
    any other number, and where every run has it.
    """
    values = study.values(metric, point)
    if not is_completion(metric) or None not in values:
        return None
    import polars as pl

    flows = study.scan("flows")
    if not {"completion_s", "progress", "start_s"} <= {*flows.collect_schema().names()}:
        return None
    open_ones = flows.filter(
        pl.col("point") == point, pl.col("completion_s").is_null(), pl.col("progress").is_not_null()
    )
    if metric != "completion_s":
        name = metric.removeprefix("flow.").removesuffix(".completion_s")
        open_ones = open_ones.filter(pl.col("name").cast(pl.String) == name)
    begun = open_ones.group_by("replication").agg(pl.col("start_s").min()).collect()
    starts = dict(zip(begun["replication"], begun["start_s"], strict=True))
    end = float(study.manifest.get("shortest_s", study.manifest["duration_s"]))
    watched = {
        number: max(0.0, end - start) if start is not None else 0.0 for number, start in starts.items()
    }
    at_least_so_long = (watched.get(n, 0.0) if value is None else value for n, value in enumerate(values))
    return estimate(at_least_so_long, possible(metric))
