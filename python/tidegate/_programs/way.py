"""What both targets ask of a flow's way: its gates, their delay in sum, and the one that limits the rate."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from tidegate._ask.plan import packet_bytes

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Gate, Plan

#: Picoseconds of a millisecond.
MILLISECOND = 1_000_000_000


@dataclasses.dataclass
class Way:
    """One direction of a flow."""

    #: Its gates in order.
    gates: list[Gate]
    #: The sum of constant delays, picoseconds.
    delay_ps: int
    #: IP bytes of a full packet.
    packet: int

    def limiting(self) -> list[Gate]:
        """Return the gates that have a rate, a policer or a queue with a shaper."""
        return [
            gate
            for gate in self.gates
            if gate["rate"]["kind"] != "unlimited" or gate["polices"] or shaper_bps(gate) is not None
        ]

    def in_file(self, gate: Gate, gates: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return a gate as the file has it: that of a direction or of a flow, x/back, is x."""
        return gates.get(gate["name"].partition("/")[0], {})

    def unlike(self, jitter: str) -> list[str]:
        """Return what no other tool here can do of this way: one sentence each.

        ``jitter``: what the tool has instead of jitter that keeps the order.
        """
        found = []
        for gate in self.gates:
            if gate["jitters"]:
                found.append(f"gate {gate['name']} has jitter that keeps the order of packets; {jitter}")
            if gate["loses"] and gate["loss"] is None and gate["gilbert_elliott"] is None:
                found.append(f"gate {gate['name']} loses packets by count, not at random")
            if gate["polices"] and gate["contract"] is None:
                found.append(
                    f"gate {gate['name']} polices otherwise than with one rate for all flows and dropping "
                    "(two rates, marks, or a limit for each flow)"
                )
            if gate["framing"]["kind"] == "aal5":
                found.append(f"gate {gate['name']} sends packets as cells, one cell at a time")
        return found


def ways(plan: Plan, flow: Flow) -> tuple[Way, Way]:
    """Return the flow's way to the receiver and its way back."""
    packet = packet_bytes(flow["tcp"])

    def way(numbers: list[int], delay_ps: int) -> Way:
        gates = [plan["gates"][number] for number in numbers]
        return Way(gates, delay_ps + sum(gate["delay_ps"] for gate in gates), packet)

    return way(flow["path"], 0), way(flow["back"], flow["back_delay_ps"])


def extra_bytes(gate: Gate) -> int:
    """Return what a gate adds to an IP packet on its wire, the least size left out."""
    framing = gate["framing"]
    if framing["kind"] == "overhead":
        return framing["overhead"]
    return 0


def shaper_bps(gate: Gate) -> int | None:
    """Return the rate of the shaper that a gate's queue has of its own, beside the gate's rate."""
    aqm = gate["aqm"]
    return aqm["bandwidth_bps"] if gate["discipline"] == "cake" and aqm is not None else None
