"""How a reader of plans says that its theory does not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Plan


class DoesNotApplyError(Exception):
    """The first condition of a theory that a plan does not meet."""


def need(holds: object, reason: str) -> None:
    """Refuse a plan for a reason."""
    if not holds:
        raise DoesNotApplyError(reason)


def only_flow(plan: Plan) -> Flow:
    """Return the flow of a plan that has one flow, which starts in the run, and nothing beside it.

    Raises:
        DoesNotApplyError: there are more, or there is other traffic, or the flow starts too late.
    """
    need(len(plan["flows"]) == 1, f"the model has one flow, and the scenario has {len(plan['flows'])}")
    need(not plan["traffic"], "the scenario has other traffic")
    flow = plan["flows"][0]
    need(flow["transport"] == "tcp", f"flow {flow['name']} is not of TCP")
    need(
        flow["latest_start_ps"] < plan["duration_ps"],
        f"flow {flow['name']} does not start before the run ends",
    )
    return flow


def need_endless(flow: Flow) -> None:
    """Need a flow that always has data to send and may send them, and a receiver that takes them at once."""
    need(flow["app"] == "bulk", f'flow {flow["name"]} does not always have data to send: app is not "bulk"')
    read = flow["tcp"]["read_bps"]
    need(read is None, f"the receiver of flow {flow['name']} does not read at once: app.read is {read} bit/s")
    need(
        not flow["tcp"]["obeys_advice"], f"flow {flow['name']} sends no faster than gates advise (tcp.advice)"
    )
