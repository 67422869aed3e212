"""Theories for plans of lost calls: Kaufman and Roberts (several sizes), the product form (several pools)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tidegate._base.arguments import PICOS
from tidegate.errors import ArgumentError
from tidegate.theory import _calls_match as calls
from tidegate.theory._calls_match import Row
from tidegate.theory._loss_network import CallClass, LossSystem, kaufman_roberts, product_form
from tidegate.theory._match_rules import DoesNotApplyError, need

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Calls, Plan


def read(plan: Plan) -> Row:
    """Return the parts of a fit of Kaufman's and Roberts' recursion.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    sources = calls.alone(plan)
    calls.without_end(sources)
    calls.lost(sources)
    pool = calls.one_pool(sources)
    sizes = [source["demands"][0]["bps"] for source in sources]
    need(len({*sizes}) > 1, "all calls have the same rate, which is Erlang's model")
    step = math.gcd(*sizes)
    capacity = plan["pools"][pool]["capacity_bps"] // step
    loads = [calls.held_ps(source) / calls.gap_ps(source) for source in sources]
    widths = [size // step for size in sizes]
    try:
        found = kaufman_roberts(capacity, loads, widths)
    except ArgumentError as error:
        raise DoesNotApplyError(str(error)) from None
    parameters = _parameters(sources, loads) | {"units": capacity, "unit_bps": step}
    return _parts(plan, parameters, found, [pool], [step])


def read_product_form(plan: Plan) -> Row:
    """Return the parts of a fit of the product form of loss networks.

    Raises:
        DoesNotApplyError: the plan has another shape, or is too large.
    """
    sources = calls.alone(plan)
    calls.lost(sources)
    pools = sorted({demand["pool"] for source in sources for demand in source["demands"]})
    finite = [source for source in sources if source["sources"] is not None]
    need(
        len(pools) > 1 or (finite and len(sources) > 1),
        "calls use one pool, which other theories describe",
    )
    need(
        all(calls.idle_ps(source) > 0 for source in finite),
        "a mean idle time is 0, so the time is not random",
    )
    asked = [{demand["pool"]: demand["bps"] for demand in source["demands"]} for source in sources]
    steps = [math.gcd(*(each[pool] for each in asked if pool in each)) for pool in pools]
    capacities = [
        plan["pools"][pool]["capacity_bps"] // step for pool, step in zip(pools, steps, strict=True)
    ]
    loads = [
        calls.held_ps(source) / (calls.idle_ps(source) if source["every"] is None else calls.gap_ps(source))
        for source in sources
    ]
    kinds = [
        CallClass(
            tuple(each.get(pool, 0) // step for pool, step in zip(pools, steps, strict=True)),
            load,
            source["sources"],
        )
        for each, load, source in zip(asked, loads, sources, strict=True)
    ]
    try:
        found = product_form(capacities, kinds)
    except ArgumentError as error:
        raise DoesNotApplyError(str(error)) from None
    return _parts(plan, _parameters(sources, loads), found, pools, steps)


def _parameters(sources: list[Calls], loads: list[float]) -> Row:
    return {f"load.{source['name']}": load for source, load in zip(sources, loads, strict=True)}


def _parts(plan: Plan, parameters: Row, found: LossSystem, pools: list[int], steps: list[int]) -> Row:
    sources = plan["calls"]
    rates = [_rate(source, lost) for source, lost in zip(sources, found.blocked, strict=True)]
    rows = []
    for pool, step, used in zip(pools, steps, found.used, strict=True):
        users = [
            n for n, source in enumerate(sources) if any(each["pool"] == pool for each in source["demands"])
        ]
        lost = sum(rates[n] * found.blocked[n] for n in users) / sum(rates[n] for n in users)
        rows.append(calls.pool_row(plan, pool, used * step, {"calls_blocked": lost}))
    return {
        "parameters": parameters,
        "unmet": calls.unmet(plan, calls.slowest_ps(sources)),
        "result": found,
        "flows": [],
        "gates": [],
        "pools": rows,
        "calls": [
            {"name": source["name"], "calls_blocked": lost}
            for source, lost in zip(sources, found.blocked, strict=True)
        ],
    }


def _rate(source: Calls, lost: float) -> float:
    """Return how many calls a source makes in a second."""
    if source["every"] is not None:
        return PICOS / source["every"]["mean_ps"]
    assert source["sources"] is not None
    cycle = calls.idle_ps(source) + (1 - lost) * calls.held_ps(source)
    return PICOS * source["sources"] / cycle
