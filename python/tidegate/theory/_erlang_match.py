"""Erlang's theory for a plan: calls of one size from one pool, and nothing else."""

from __future__ import annotations

from typing import Any

from tidegate.theory._erlang import ErlangC, erlang_b, erlang_c
from tidegate.theory._match_rules import need

_PICOS = 10**12
#: A summary that begins so many mean holding times after an empty start is of the long run.
_SETTLED = 5


def read(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a fit.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    sources = plan["calls"]
    need(sources, "it is about calls, and there are none ([calls.x])")
    need(not plan["circuits"], "circuits carry packets here, and their calls do not come at random")
    need(not plan["flows"] and not plan["traffic"], "there are packets too, of which it says nothing")
    pool, bps = _pool(sources)
    waits = _manner(sources)
    holds = [source["hold"]["mean_ps"] + source["setup_ps"] for source in sources]
    rates = [1 / source["every"]["mean_ps"] for source in sources]
    load = sum(hold * rate for hold, rate in zip(holds, rates, strict=True))
    servers = plan["pools"][pool]["capacity_bps"] // bps
    mean_s = load / sum(rates) / _PICOS
    if waits:
        _exponential(sources)
        need(load < servers, f"a load of {load:.4g} Erlang is more than {servers} calls can ever carry")
    settled = _SETTLED * mean_s * _PICOS + max(source["start_ps"] for source in sources)
    bent = (
        ["numbers are those of the long run, and the run begins empty"] if plan["warmup_ps"] < settled else []
    )
    found: Any = erlang_c(load, servers, mean_s) if waits else erlang_b(load, servers)
    calls = _calls(found)
    carried = load if waits else load * (1 - found)
    row = plan["pools"][pool]
    return {
        "parameters": {
            "load": load,
            "servers": servers,
            "hold_s": mean_s,
            "blocked": "wait" if waits else "lost",
        },
        "bent": tuple(bent),
        "result": found,
        "flows": [],
        "gates": [],
        "pools": [
            {
                "name": row["name"],
                "capacity_bps": float(row["capacity_bps"]),
                "reserved_mean_bps": carried * bps,
                "utilisation": carried * bps / row["capacity_bps"],
                **calls,
            }
        ],
        "calls": [{"name": source["name"], **calls} for source in sources],
    }


def _pool(sources: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the one pool, and what each call asks of it."""
    need(
        all(len(source["demands"]) == 1 for source in sources),
        "calls ask several pools at once, and the theory knows one",
    )
    pools = {source["demands"][0]["pool"] for source in sources}
    need(len(pools) == 1, f"calls take from {len(pools)} pools, and the theory knows one")
    sizes = {source["demands"][0]["bps"] for source in sources}
    need(len(sizes) == 1, "calls are of several sizes, and the theory knows one")
    return pools.pop(), sizes.pop()


def _manner(sources: list[dict[str, Any]]) -> bool:
    """Return whether blocked calls wait."""
    for source in sources:
        need(
            source["every"]["kind"] == "exponential",
            f"calls.{source['name']} do not come at random: their gaps are constant",
        )
        need(
            source["retry_ps"] is None,
            f"refused calls of calls.{source['name']} are made again, and the theory knows lost ones",
        )
    manners = {source["blocked"] for source in sources}
    need(len(manners) == 1, "some calls wait and others are refused")
    return manners == {"wait"}


def _exponential(sources: list[dict[str, Any]]) -> None:
    for source in sources:
        need(
            source["hold"]["kind"] == "exponential" and source["setup_ps"] == 0,
            f"calls.{source['name']} wait, and their holding times are not exponential",
        )
    means = {source["hold"]["mean_ps"] for source in sources}
    need(len(means) == 1, "calls wait, and their mean holding times are not the same")


def _calls(found: ErlangC | float) -> dict[str, float]:
    if not isinstance(found, ErlangC):
        return {"calls_blocked": found}
    return {
        "calls_blocked": found.waiting,
        "call_wait_mean_s": found.mean,
        "call_wait_p50_s": found.quantile(0.5),
        "call_wait_p99_s": found.quantile(0.99),
    }
