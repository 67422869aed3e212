"""The checked plan of a scenario, typed: what theories and advice read of gates, flows, pools and calls.

The only reader of the compiled part's plan. The types of its objects are in ``plan_objects``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Framing, Plan, RateKind, Tcp
    from tidegate._ask.scenario import Scenario

#: How a sentence says what a rate is.
RATE_WORDS: dict[RateKind, str] = {
    "unlimited": "unlimited",
    "constant": "constant",
    "packets": "in packets",
    "steps": "steps",
    "token_bucket": "a token bucket",
    "markov": "a Markov chain",
    "trace": "a trace",
    "cellreplay": "a recorded cellular link",
    "gcra": "a GCRA shaper",
    "dtm": "set by an allocator",
    "abr": "told by a switch",
    "follow": "fed back",
    "reserve": "a circuit",
}


def plan_of(scenario: Scenario) -> Plan:
    """Return the plan that a scenario amounts to."""
    plan: Plan = json.loads(scenario._inner.plan_json())
    return plan


def packet_bytes(tcp: Tcp) -> int:
    """Return the bytes of a full packet as IP counts them, the option of timestamps included (RFC 7323)."""
    return tcp["mss"] + tcp["headers"]


def packet_cells(tcp: Tcp, framing: Framing) -> int:
    """Return the ATM cells of a full packet (ITU-T I.363.5).

    They carry the packet, a trailer of 8 bytes and, with RFC 2684, 8 bytes of LLC/SNAP.
    """
    return -(-(packet_bytes(tcp) + 8 + 8 * bool(framing.get("llc"))) // 48)


def round_trip_ps(plan: Plan, flow: Flow) -> int:
    """Return the fixed delay of a flow's way there and back, without service and waiting."""
    gates = (plan["gates"][n] for n in (*flow["path"], *flow["back"]))
    return sum(gate["delay_ps"] for gate in gates) + flow["back_delay_ps"]
