"""The paper's experiment once more with a real TCP: the Linux kernel's, across the same cells.

The stack is that of the nineties (``tcp.base = "bsd44"``): Reno without SACK and timestamps,
a window of 41 segments, of which every one is seen in flight. The kernel acknowledges every second
segment, but now and then a single one. That shifts which segments leave together, and the content by a
segment, until the next one. So limits are medians over the bursts, beside the 5th and 95th percentile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    ACCENT,
    DASHED,
    INK,
    MID,
    Figure,
    Finding,
    below,
    claim,
    estimate,
    graded,
    panels,
    together,
    within,
)
from tidegate_papers.cell_spacing import cases
from tidegate_papers.cell_spacing.claims import SOURCE, TITLE

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray
    from tidegate_papers.api import Estimate, Lab, Run

    Floats = NDArray[np.float64]

__all__ = ["CLAIMS", "FIGURES", "QUICK", "SOURCE", "TITLE"]

QUICK = "Quick: two runs and not five, and shorter ones"
ALONE = "One flow alone, nothing is random: runs differ by what the machine's timing does"
#: Payload over the bits of 32 cells.
SHARE = 1476 * 8 / (32 * 424)
#: Each rate of Fig. 2 in bit/s, and its time in shares of the run.
PHASES = ((33.92e6, 0, 1 / 3), (5e6, 1 / 3, 2 / 3), (10e6, 2 / 3, 1))


def runs(lab: Lab) -> int:
    """Return how many runs a claim rests on."""
    return 2 if lab.quick else 5


def standing(lab: Lab) -> list[Run]:
    """Return runs of Fig. 3's scenario, long enough for many bursts."""
    span = {"duration": "5 s", "warmup": "2 s"} if lab.quick else {"duration": "10 s", "warmup": "4 s"}
    return lab.live("fig-3", changes=span, runs=runs(lab), record="events")


def stepped(lab: Lab) -> list[Run]:
    """Return runs of Fig. 2's scenario under a greedy source."""
    steps = [["0 s", "33.92 Mbit/s"], ["2 s", "5 Mbit/s"], ["4 s", "10 Mbit/s"]]
    quick: dict[str, Any] = {"duration": "6 s", "gate.spacer.rate.steps": steps} if lab.quick else {}
    changes = {"flow.x.app": "bulk", "flow.x.start": "0 s", **quick}
    return lab.live("fig-2", changes=changes, runs=2 if lab.quick else 3)


def bursts(run: Run) -> tuple[Floats, Floats]:
    """Return the spacer's content, in cells, before and after each burst of the measured time."""
    import numpy as np

    rows = run.gates["spacer"].series("queue")
    rows = rows.filter(rows["time_s"] >= run.summary["measured_from_s"])
    content = rows["fluid"].to_numpy()
    content = content[np.concatenate(([True], np.diff(content) != 0))]
    rises = np.diff(content) > 0
    before = content[1:-1][~rises[:-1] & rises[1:]]
    after = content[1:-1][rises[:-1] & ~rises[1:]]
    return before, after


def medians(lab: Lab) -> tuple[list[float], list[float]]:
    """Return each run's median content before and after a burst."""
    import numpy as np

    pairs = [bursts(run) for run in standing(lab)]
    return [float(np.median(before)) for before, _ in pairs], [float(np.median(after)) for _, after in pairs]


@claim(
    "live-window",
    where="§6",
    says="A window of 60 KiB holds 41 segments, and all of them are in flight.",
    unit="segments",
    paper=41,
    figures=("live-fig-3",),
    exact=ALONE,
)
def claim_window(lab: Lab) -> Finding:
    """See whether 41 segments are really in flight."""
    in_force = [run.manifest["live"]["verified"][0]["in_force"] for run in standing(lab)]
    window = [next((line for line in lines if line.startswith("tcp.window")), "") for lines in in_force]
    held = estimate(float(line.split("(")[1].split()[0]) if line else None for line in window)
    return Finding(within(held, 41, 41), window[0])


@claim(
    "live-limits",
    where="§6, (23), Fig. 3",
    says="In the end the content oscillates between the limits of the theory.",
    unit="cells away at most",
    paper=0.0,
    figures=("live-fig-3",),
    exact=ALONE,
)
def claim_limits(lab: Lab) -> Finding:
    """Compare the median content before and after a burst with (23)."""
    import numpy as np

    found = cases.theory(lab)
    low, high = float(found.V_w_minus), float(found.V_w_plus)
    before, after = medians(lab)
    away = estimate(max(abs(a - low), abs(b - high)) for a, b in zip(before, after, strict=True))
    numbers = []
    for middle, each in zip((before, after), zip(*map(bursts, standing(lab)), strict=True), strict=True):
        p5, p95 = np.percentile(np.concatenate(each), (5, 95))
        numbers.append(f"{np.mean(middle):.1f} (p5 {p5:.1f}, p95 {p95:.1f})")
    late = max(run.manifest["live"]["lateness"]["p99_us"] for run in standing(lab))
    return Finding(
        graded(away, full=1.0, some=2.5),
        f"before a burst {numbers[0]} cells, theory {low:.1f}; after it {numbers[1]}, theory {high:.1f}; "
        f"99% of the packets were at most {late:.0f} us late",
    )


@claim(
    "live-swing",
    where="§5, (22), (23)",
    says="A burst of two segments adds 2σ(1 - c/h) cells.",
    unit="cells",
    paper=35.2,
    figures=("live-fig-3",),
    exact=ALONE,
)
def claim_swing(lab: Lab) -> Finding:
    """Compare what a burst adds with 2σ(1 - c/h)."""
    before, after = medians(lab)
    found = cases.theory(lab)
    swing = float(found.V_w_plus - found.V_w_minus)
    got = estimate(b - a for a, b in zip(before, after, strict=True))
    return Finding(within(got, swing - 0.5, swing + 0.5), f"theory: {swing:.1f}")


@claim(
    "live-no-loss",
    where="§6, Fig. 2",
    says="When the spacing rate goes from 33.92 to 5 to 10 Mbit/s nothing is lost, sent again or timed out.",
    unit="events",
    paper=0.0,
    figures=("live-fig-2",),
    exact=ALONE,
)
def claim_no_loss(lab: Lab) -> Finding:
    """Count what was lost, sent again or timed out while the rate changed."""

    def troubles(run: Run) -> float:
        flow = run.summary["flows"][0]
        dropped = sum(gate["dropped_cells"] for gate in run.summary["gates"])
        return float(dropped + flow["segments_retransmitted"] + flow["timeouts"])

    return Finding(below(estimate(map(troubles, stepped(lab))), 0.5))


def goodputs(run: Run) -> list[float]:
    """Return the goodput in bit/s of each phase's second half."""
    import numpy as np

    rows = run.flows["x"].series("delivered")
    time, data = rows["time_s"].to_numpy(), rows["bytes"].to_numpy().astype(float)
    duration = run.summary["duration_s"]
    found = []
    for _, begin, end in PHASES:
        at = np.array([(begin + end) / 2, end - 0.01]) * duration
        got = np.interp(at, time, data)
        found.append(float(got[1] - got[0]) * 8 / float(at[1] - at[0]))
    return found


def phase(lab: Lab, number: int) -> Estimate:
    """Return goodput over what the phase's spacing rate carries."""
    return estimate(goodputs(run)[number] / (PHASES[number][0] * SHARE) for run in stepped(lab))


@claim(
    "live-rates",
    where="§6, Fig. 2",
    says="TCP follows the spacing rate: it takes all that the cells can carry.",
    unit="share of the payload that 5 Mbit/s carry",
    paper=1.0,
    figures=("live-fig-2",),
    exact=ALONE,
)
def claim_rates(lab: Lab) -> Finding:
    """Compare the goodput of each phase with what the cells can carry."""
    parts = [phase(lab, number) for number in range(3)]
    at = [f"at {rate / 1e6:g} Mbit/s" for rate, _, _ in PHASES]
    judged = [within(part, 0.99, 1.01, where) for part, where in zip(parts, at, strict=True)]
    numbers = ", ".join(
        f"{(part.mean or 0) * rate * SHARE / 1e6:.3f} of {rate * SHARE / 1e6:.3f} Mbit/s at {rate / 1e6:g}"
        for part, (rate, _, _) in zip(parts, PHASES, strict=True)
    )
    return Finding(together(judged[1], judged[0], judged[2]), numbers)


def draw_content(lab: Lab) -> Picture:
    """Draw the end of a run closely, and all contents before and after bursts as distributions."""
    import numpy as np

    found = cases.theory(lab)
    run = standing(lab)[0]
    rows = run.gates["spacer"].series("queue")
    begin = run.summary["duration_s"] - 0.5
    late = rows.filter((rows["time_s"] > begin) & (rows["time_s"] < begin + 0.008))
    picture, axes = panels(8.6, 3.2, 1, 2, width_ratios=[3, 2])
    left, right = axes[0]
    left.plot((late["time_s"] - begin) * 1e3, late["fluid"], color=ACCENT, lw=1.0)
    left.set_xlabel("time, ms")
    left.set_ylabel("content, cells")
    left.set_title("8 ms near the end of a run", fontsize=8)
    before, after = bursts(run)
    for values, style, words in ((before, DASHED, "before a burst"), (after, "-", "after it")):
        ordered = np.sort(values)
        right.plot(ordered, np.linspace(0, 100, len(ordered)), color=ACCENT, lw=1.2, ls=style, label=words)
    for value in (found.V_w_minus, found.V_w_plus):
        left.axhline(float(value), color=INK, lw=0.9, ls=DASHED)
        right.axvline(float(value), color=INK, lw=0.9, ls=DASHED)
        right.text(float(value), 103, f"{float(value):.1f}", fontsize=7.5, ha="center")
    middle = float(found.V_w_minus + found.V_w_plus) / 2
    right.set_xlim(middle - 60, middle + 60)
    right.set_ylim(0, 109)
    right.set_xlabel("content, cells")
    right.set_ylabel("bursts below, %")
    right.legend(frameon=False, fontsize=7.5, loc="center left")
    return picture


def draw_steps(lab: Lab) -> Picture:
    """Draw goodput and content of the spacer while the spacing rate changes."""
    import numpy as np

    run = stepped(lab)[0]
    rows = run.flows["x"].series("delivered")
    time = rows["time_s"].to_numpy()
    edges = np.arange(0, float(time[-1]), 0.1)
    data = np.interp(edges, time, rows["bytes"].to_numpy().astype(float))
    picture, axes = panels(7.2, 4.4, 2, 1, sharex=True)
    above, under = axes[0][0], axes[1][0]
    above.plot(
        edges[1:], np.diff(data) * 8 / 0.1 / 1e6, color=ACCENT, lw=1.1, label="payload delivered, each 100 ms"
    )
    rate = run.gates["spacer"].series("rate")
    above.plot(
        rate["time_s"], rate["rate_bps"].to_numpy() * SHARE / 1e6, color=INK, lw=1.0, ls=DASHED,
        drawstyle="steps-post", label="payload that the spacing rate carries",
    )  # fmt: skip
    above.set_ylabel("Mbit/s")
    above.set_ylim(0, 33)
    above.legend(frameon=False, fontsize=7.8, loc="upper right")
    content = run.gates["spacer"].series("queue")
    under.plot(content["time_s"], content["fluid"], color=ACCENT, lw=0.7)
    under.axhline(1300, color=MID, lw=0.9, ls=DASHED)
    under.text(0.05, 1310, "room of the spacer", fontsize=7.5, color=MID, va="bottom")
    under.set_ylim(0, 1450)
    under.set_ylabel("content, cells")
    under.set_xlabel("time, s")
    return picture


CLAIMS = [
    claim_window,
    claim_limits,
    claim_swing,
    claim_no_loss,
    claim_rates,
]

FIGURES = [
    Figure(
        "live-fig-3", "Fig. 3", "Content of the spacer under the kernel's TCP",
        "Dashed: the limits of (23). Right: of all bursts of a run, the share with less in the spacer "
        "before and after them. Steps aside are bursts of a single segment, after which the content is "
        "off by a segment for a while.",
        draw_content,
    ),
    Figure(
        "live-fig-2", "Fig. 2", "The kernel's TCP follows the spacing rate",
        "A greedy source over a spacer of 33.92, 5 and 10 Mbit/s in turn: goodput, and what waits in the "
        "spacer.",
        draw_steps,
    ),
]  # fmt: skip
