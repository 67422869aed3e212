"""What the theories of calls have in common: how a plan is read, and how rows are made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate.theory._match_rules import need

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Calls, Plan

#: A summary that begins so many mean times after an empty start is of the long run.
_SETTLED = 5

Row = dict[str, Any]


def alone(plan: Plan) -> list[Calls]:
    """Return the sources of calls of a plan that has nothing else."""
    sources = plan["calls"]
    need(sources, "the theory describes calls, and the scenario has none ([calls.x])")
    need(not plan["reservations"], "the circuits carry packets, so their calls do not arrive at random")
    need(
        not plan["flows"] and not plan["traffic"],
        "the scenario also has packets, which the theory does not describe",
    )
    for source in sources:
        need(
            source["retry_ps"] is None,
            f"refused calls of calls.{source['name']} are repeated; in the theory they are lost",
        )
        if source["every"] is not None:
            need(
                source["every"]["kind"] == "exponential",
                f"calls.{source['name']} do not arrive at random: their gaps are constant",
            )
        elif source["idle"] is not None:
            need(
                source["idle"]["kind"] == "exponential",
                f"the sources of calls.{source['name']} do not call at random: their idle times are constant",
            )
    return sources


def one_pool(sources: list[Calls]) -> int:
    """Return the one pool that calls take capacity from."""
    need(
        all(len(source["demands"]) == 1 for source in sources),
        "calls take capacity from several pools at once; the theory has one pool",
    )
    pools = {source["demands"][0]["pool"] for source in sources}
    need(len(pools) == 1, f"calls take capacity from {len(pools)} pools; the theory has one pool")
    return pools.pop()


def one_size(sources: list[Calls]) -> tuple[int, int]:
    """Return the one pool, and what each call asks of it."""
    pool = one_pool(sources)
    sizes = {source["demands"][0]["bps"] for source in sources}
    need(len(sizes) == 1, "calls have several rates; the theory has one")
    return pool, sizes.pop()


def without_end(sources: list[Calls]) -> None:
    """Need calls that come whatever is under way."""
    for source in sources:
        need(
            source["sources"] is None,
            f"calls.{source['name']} come from a fixed number of sources, which is Engset's model",
        )


def patient(sources: list[Calls]) -> None:
    """Need calls that wait for as long as it takes."""
    for source in sources:
        need(source["patience"] is None, f"calls.{source['name']} give up after waiting, which is Erlang A")


def lost(sources: list[Calls]) -> None:
    """Need blocked calls that are lost."""
    for source in sources:
        need(
            source["blocked"] == "refuse",
            f"blocked calls of calls.{source['name']} wait; in the theory they are lost",
        )


def gap_ps(source: Calls) -> int:
    """Return the mean time between the calls of a source without end."""
    assert source["every"] is not None
    return source["every"]["mean_ps"]


def idle_ps(source: Calls) -> int:
    """Return the mean time for which each of a number of sources is idle."""
    assert source["idle"] is not None
    return source["idle"]["mean_ps"]


def held_ps(source: Calls) -> int:
    """Return how long a call holds its capacity in the mean, set-up included."""
    return source["hold"]["mean_ps"] + source["setup_ps"]


def exponential(sources: list[Calls]) -> None:
    """Need exponential holding times with one mean."""
    for source in sources:
        need(
            source["hold"]["kind"] == "exponential" and source["setup_ps"] == 0,
            f"calls.{source['name']} wait, and their holding times are not exponential",
        )
    means = {source["hold"]["mean_ps"] for source in sources}
    need(len(means) == 1, "calls wait, and their mean holding times differ")


def unmet(plan: Plan, slowest_ps: float) -> tuple[str, ...]:
    """Return what the plan does not keep to the letter, if the slowest mean time is this."""
    settled = _SETTLED * slowest_ps + max(source["start_ps"] for source in plan["calls"])
    if plan["warmup_ps"] >= settled:
        return ()
    return ("the numbers are for the long run, but the run begins without calls",)


def slowest_ps(sources: list[Calls]) -> float:
    """Return the longest mean time of any source, holding or patience: idle sources only settle faster."""
    patience = [source["patience"]["mean_ps"] for source in sources if source["patience"] is not None]
    return float(max([held_ps(source) for source in sources] + patience))


def pool_row(plan: Plan, pool: int, used_bps: float, calls: Row) -> Row:
    """Return the row of a pool."""
    row = plan["pools"][pool]
    return {
        "name": row["name"],
        "capacity_bps": float(row["capacity_bps"]),
        "reserved_mean_bps": used_bps,
        "utilisation": used_bps / row["capacity_bps"],
        **calls,
    }


def waits(found: Any) -> Row:
    """Return the columns of waits that a system gives in seconds."""
    columns = {
        "call_wait_mean_s": found.mean,
        "call_wait_p50_s": found.quantile(0.5),
        "call_wait_p99_s": found.quantile(0.99),
    }
    return {name: value for name, value in columns.items() if math.isfinite(value)}
