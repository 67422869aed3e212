"""The paper's experiment as scenarios: what claims and figures share."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tidegate.theory import Spacer, match
from tidegate_papers.api import Estimate, Points, as_scenario
from tidegate_papers.cell_spacing import exact

if TYPE_CHECKING:
    from fractions import Fraction

    from tidegate_papers.api import Lab, Run, Study
    from tidegate_papers.cell_spacing.exact import Checked

EXACT = "Exact arithmetic: nothing is random"
ALONE = "One flow alone, no loss: nothing is random"
CELL_MS = 0.0125
SIGMA = 32
#: What 3.6 ms may be, with the rtt that makes it so: δ is a cell time more.
READINGS = (("Δ'", "1.8097222 ms"), ("Δ", "2.6986111 ms"), ("δ", "3.5875 ms"))
SPACER = "gate.spacer.rate"
RTT = "flow.x.rtt"


#: For the slowest rates, which take long to fill a window.
LONG = {"duration": "1500 ms", "warmup": "1 s"}


#: Spacing rates, Mbit/s, and round trips, ms, at which is measured what waits in the spacer.
RATES = Points((3, 5, 8, 10, 13, 16, 20, 24, 28, 32), quick=(3, 10, 20, 32))
TRIPS = Points((2, 4, 6, 8, 10, 15, 20, 25, 30), quick=(2, 10, 20, 30))
#: The exact simulations by number; even ones have an acknowledgement per segment, odd ones per two.
SETS = Points(tuple(range(600)), quick=tuple(range(120)))
#: The drawn scenarios that are simulated in cells, by number.
SCENARIOS = Points(tuple(range(40)), quick=tuple(range(8)))


def checked(lab: Lab) -> list[Checked]:
    """Return the exact simulations with every formula judged on them."""
    return exact.check_all(len(lab.points(SETS)), lab.progress)


def judged_sets(lab: Lab, per_ack: int | None = None) -> list[Checked]:
    """Return those that a claim is judged on: all, or those with so many segments per acknowledgement."""
    lab.judged(SETS.only(lambda number: per_ack in (None, 1 + number % 2)))
    return [each for each in checked(lab) if per_ack in (None, each.per_ack)]


def one(value: float | Fraction) -> Estimate:
    """Return a number that is known exactly as an estimate."""
    return Estimate(float(value), None, None, 1)


def theory(lab: Lab, name: str = "fig-3", changes: dict[str, Any] | None = None) -> Spacer:
    """Return what the theory says of a scenario.

    Raises:
        LookupError: it does not apply; the message says why.
    """
    answer, *_ = match(as_scenario(lab.file(name), changes))
    if not answer:
        raise LookupError(answer.reason)  # type: ignore[union-attr]
    found: Spacer = answer.result  # type: ignore[union-attr]
    return found


def contents(run: Run) -> dict[str, float | None]:
    """Return the least and the largest content of the spacer: in the end, and ever."""
    rows = run.gates["spacer"].series("queue")
    late = rows.filter(rows["time_s"] >= run.summary["measured_from_s"])
    return {
        "fluid_min": late["fluid"].min(),
        "fluid_max": late["fluid"].max(),
        "cells_min": late["cells"].min(),
        "cells_max": late["cells"].max(),
        "fluid_ever": rows["fluid"].max(),
        "cells_ever": rows["cells"].max(),
        "dropped": run.gates.row("spacer").summary["dropped_cells"],
    }


def simulated(lab: Lab, name: str = "fig-3", changes: dict[str, Any] | None = None) -> dict[str, float]:
    """Return :func:`contents` of one run, once the window has stopped growing."""
    study = lab.study(name, changes=changes, runs=1, gate="spacer", measure=contents, record="events")
    return {key: value_of(study, key) for key in (
        "fluid_min", "fluid_max", "cells_min", "cells_max", "fluid_ever", "cells_ever", "dropped"
    )}  # fmt: skip


def value_of(study: Study, metric: str) -> float:
    """Return the number of a study of one run.

    Raises:
        LookupError: the run has none.
    """
    (value,) = study.values(metric)
    if value is None:
        raise LookupError(f"no {metric}")
    return value


def judged_scenarios(lab: Lab) -> list[dict[str, Any]]:
    """Return the drawn changes of Fig. 3's scenario, all covered by the theory, that a claim is judged on."""
    draw = random.Random(7)
    drawn = []
    for n in lab.judged(SCENARIOS):
        per_ack = 1 + n % 2
        sigma = draw.choice([2, 8, 13, 32])
        first = draw.randrange(per_ack, per_ack + 3)
        b = first + draw.randrange(0, 16)
        w = b + draw.choice([0, 1, 5])
        drawn.append(
            {
                SPACER: f"{draw.randrange(3000, 32000)} kbit/s",
                RTT: f"{draw.randrange(100, 20000)} us",
                "flow.x.tcp.mss": f"{48 * sigma - 48} B",
                "flow.x.tcp.window": f"{w} segments",
                "flow.x.tcp.initial_window": f"{first} segments",
                "flow.x.tcp.initial_ssthresh": f"{b} segments",
                "flow.x.tcp.delayed_ack": False if per_ack == 1 else {"every": 2, "timeout": "never"},
                # A buffer of one window.
                "gate.spacer.queue": f"{w * sigma} cells",
                "gate.spacer.delay": "50 us",
                "duration": "1500 ms",
                "warmup": "1 s",
            }
        )
    return drawn


def steady(changes: dict[str, Any]) -> dict[str, Any]:
    """Return changes with the summary over the end, when the window no longer grows."""
    return {**changes, "warmup": "200 ms"}
