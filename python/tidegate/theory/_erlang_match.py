"""Theories for plans of calls of one size from one pool: Erlang B, C and A, and Engset's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.arguments import PICOS
from tidegate.theory import _calls_match as calls
from tidegate.theory._calls_match import Row
from tidegate.theory._engset import engset, engset_waiting
from tidegate.theory._erlang import ErlangC, erlang_b, erlang_c
from tidegate.theory._erlang_a import erlang_a
from tidegate.theory._match_rules import DoesNotApplyError, need

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Calls, Plan
    from tidegate.theory._birth_death import Waiting


def read(plan: Plan) -> Row:
    """Return the parts of a fit of Erlang's first or second formula.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    sources = calls.alone(plan)
    calls.without_end(sources)
    calls.patient(sources)
    pool, bps = calls.one_size(sources)
    waits = _manner(sources)
    load, mean_s = _load(sources)
    servers = plan["pools"][pool]["capacity_bps"] // bps
    if waits:
        calls.exponential(sources)
        need(load < servers, f"a load of {load:.4g} Erlang is more than {servers} calls can ever carry")
    found: ErlangC | float = erlang_c(load, servers, mean_s) if waits else erlang_b(load, servers)
    columns = (
        {"calls_blocked": found.waiting, **calls.waits(found)}
        if isinstance(found, ErlangC)
        else {"calls_blocked": found}
    )
    carried = load if isinstance(found, ErlangC) else load * (1 - found)
    parameters = {
        "load": load,
        "servers": servers,
        "hold_s": mean_s,
        "blocked": "wait" if waits else "lost",
    }
    return _parts(plan, parameters, found, pool, carried * bps, columns, mean_s * PICOS)


def read_erlang_a(plan: Plan) -> Row:
    """Return the parts of a fit of Erlang A.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    sources = calls.alone(plan)
    calls.without_end(sources)
    patience_s = _patience_ps(sources) / PICOS
    pool, bps = calls.one_size(sources)
    calls.exponential(sources)
    load, mean_s = _load(sources)
    servers = plan["pools"][pool]["capacity_bps"] // bps
    found = erlang_a(load, servers, patience_s, mean_s)
    parameters = {"load": load, "servers": servers, "hold_s": mean_s, "patience_s": patience_s}
    return _waiting(plan, parameters, found, pool, bps)


def read_engset(plan: Plan) -> Row:
    """Return the parts of a fit of Engset's system, in which blocked calls are lost or wait.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    sources = calls.alone(plan)
    need(
        all(source["sources"] is not None for source in sources),
        "calls do not come from a fixed number of sources",
    )
    need(len(sources) == 1, f"there are {len(sources)} kinds of sources; the theory has one")
    source = sources[0]
    count = source["sources"]
    assert count is not None
    pool, bps = calls.one_size(sources)
    hold_s, idle_s = calls.held_ps(source) / PICOS, calls.idle_ps(source) / PICOS
    need(hold_s > 0 and idle_s > 0, "a mean time is 0, so the time is not random")
    servers = plan["pools"][pool]["capacity_bps"] // bps
    parameters: Row = {"sources": count, "servers": servers, "idle_s": idle_s, "hold_s": hold_s}
    if source["blocked"] == "refuse":
        lost = engset(count, servers, idle_s, hold_s)
        parameters["blocked"] = "lost"
        columns = {"calls_blocked": lost.blocked}
        slowest = calls.slowest_ps(sources)
        return _parts(plan, parameters, lost, pool, lost.busy * bps, columns, slowest)
    calls.exponential(sources)
    patience_s = None
    if source["patience"] is not None:
        patience_s = parameters["patience_s"] = _patience_ps(sources) / PICOS
    parameters["blocked"] = "wait"
    found = engset_waiting(count, servers, idle_s, hold_s, patience_s)
    return _waiting(plan, parameters, found, pool, bps)


def _load(sources: list[Calls]) -> tuple[float, float]:
    """Return the load in Erlang and the mean holding time in seconds."""
    rates = [1 / calls.gap_ps(source) for source in sources]
    load = sum(calls.held_ps(source) * rate for source, rate in zip(sources, rates, strict=True))
    return load, load / sum(rates) / PICOS


def _manner(sources: list[Calls]) -> bool:
    """Return whether blocked calls wait."""
    manners = {source["blocked"] for source in sources}
    need(len(manners) == 1, "some calls wait and others are refused")
    return manners == {"wait"}


def _patience_ps(sources: list[Calls]) -> int:
    """Return the mean patience of calls that all give up after waiting, exponentially and alike."""
    patience = [(source["name"], source["patience"]) for source in sources]
    need(any(each is not None for _, each in patience), "no call gives up after waiting (calls.x.patience)")
    means = set()
    for name, each in patience:
        if each is None:
            raise DoesNotApplyError(f"calls.{name} never give up, but others do")
        need(
            each["kind"] == "exponential",
            f"the patience of calls.{name} is constant; in the theory it is exponential",
        )
        means.add(each["mean_ps"])
    need(len(means) == 1, "the calls differ in their mean patience")
    need(means != {0}, "the patience is 0, so no call waits")
    return means.pop()


def _waiting(plan: Plan, parameters: Row, found: Waiting, pool: int, bps: int) -> Row:
    columns = {"calls_blocked": found.waiting, **calls.waits(found)}
    if found.patience is not None:
        columns["calls_abandoned_share"] = found.abandoned
    slowest = calls.slowest_ps(plan["calls"])
    parts = _parts(plan, parameters, found, pool, found.busy * bps, columns, slowest)
    parts["pools"][0]["waiting_mean_calls"] = found.queue
    return parts


def _parts(
    plan: Plan,
    parameters: Row,
    found: Any,
    pool: int,
    used_bps: float,
    columns: Row,
    slowest_ps: float,
) -> Row:
    return {
        "parameters": parameters,
        "unmet": calls.unmet(plan, slowest_ps),
        "result": found,
        "flows": [],
        "gates": [],
        "pools": [calls.pool_row(plan, pool, used_bps, columns)],
        "calls": [{"name": source["name"], **columns} for source in plan["calls"]],
    }
