"""What the paper's queue limits mean: both readings, side by side.

ns-2's ``DropTail`` refuses a packet when the queue's length plus one reaches the limit, so a queue of N
holds N - 1 packets that wait. The scenarios here let N packets wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, claim, count, ratio, shown, within
from tidegate_papers.dtm.cases import times

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab

#: "The same": the whole interval of the ratio lies within this of 1.
SAME = 0.05
#: (words, scenario, packets that the paper gives each gate).
CASES: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("one flow, 50 packets (Fig. 4)", "one-flow", {"own": 50, "channel": 50}),
    ("one flow, 10 packets (Fig. 5)", "small-queue", {"own": 10, "channel": 50}),
    ("two flows, static channel (Fig. 8)", "two-flows-static", {"own": 50, "channel": 10}),
    ("two flows, dynamic channel (Fig. 9)", "two-flows", {"own": 50, "channel": 10}),
)


@claim(
    "queue-limit",
    where="beyond the paper",
    says=(
        "A queue of N packets may be read as N waiting packets or, as in ns-2, as N - 1: goodput is the "
        "same within 5%."
    ),
    unit="share of cases",
)
def claim_queue_limit(lab: Lab) -> Finding:
    """Measure goodput with N - 1 waiting packets in place of N, at every gate that has a limit."""
    found = [(words, _ratio(lab, scenario, limits)) for words, scenario, limits in CASES]
    numbers = "; ".join(f"{words}: {shown(value)}" for words, value in found)
    return Finding(
        count(
            [within(value, 1 - SAME, 1 + SAME, words) for words, value in found],
            runs=min(value.n for _, value in found),
        ),
        f"Goodput with N - 1 waiting packets over that with N: {numbers}",
    )


def _ratio(lab: Lab, scenario: str, limits: dict[str, int]) -> Estimate:
    length = times(lab) if scenario.startswith("two") else {}
    fewer = {f"gate.{gate}.queue": f"{packets - 1} packets" for gate, packets in limits.items()}
    one_less = lab.study(scenario, changes={**length, **fewer}, gate="channel")
    as_written = lab.study(scenario, changes=length, gate="channel")
    return ratio(one_less.values("goodput_bps"), as_written.values("goodput_bps"))
