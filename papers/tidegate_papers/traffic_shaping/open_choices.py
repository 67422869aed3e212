"""Claims judged again under every choice that the paper leaves open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    Finding,
    Judgement,
    Points,
    above,
    below,
    claim,
    count,
    number_of,
    ratio_of_means,
    shown,
    together,
)
from tidegate_papers.traffic_shaping import cases
from tidegate_papers.traffic_shaping.cases import gain, point
from tidegate_papers.traffic_shaping.rules import HIGH, LOCKED_OUT, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate_papers.api import Lab, Study


def whatever(
    lab: Lab, judge: Callable[[Callable[[str], Study]], Judgement], *, high: bool = False
) -> Finding:
    """Judge one statement under every open choice, with 1000 cells; ``high``: at 75 Mbit/s only."""
    found, numbers = [], []
    loads = Points.always(HIGH) if high else cases.SENSITIVE_LOADS
    for (words, changes, sources, beta), load in lab.judged(cases.TRIED.times(loads)):

        def at(
            shaping: str,
            load: float = load,
            changes: dict[str, Any] = changes,
            sources: int = sources,
            beta: float = beta,
        ) -> Study:
            return point(lab, shaping, load, 1000, changes, sources, beta)

        judged = judge(at)
        where = f"{words} at {load:g} Mbit/s"
        found.append(replace(judged, name=where))
        numbers.append(f"{where} {shown(number_of(judged))}")
    return Finding(
        count(found, runs=16),
        "Cases are open choices and loads, 1000 cells. In Mbit/s per connection or in efficiency: "
        f"{'; '.join(numbers)}",
    )


@claim(
    "any-35-better",
    where="beyond the paper",
    says="35 Mbit/s is better than no shaping whatever the open choices.",
    unit="share of cases",
    figures=("choices",),
)
def claim_any_better(lab: Lab) -> Finding:
    """Compare 35 Mbit/s with no shaping under every open choice."""
    return whatever(lab, lambda at: above(gain(at("35"), at("none")), 0))


@claim(
    "any-20-beats",
    where="beyond the paper",
    says="At 75 Mbit/s 20 Mbit/s beats both whatever the open choices.",
    unit="share of cases",
    figures=("choices",),
)
def claim_any_twenty(lab: Lab) -> Finding:
    """Compare 20 Mbit/s with the others at high load under every open choice."""

    def holds(at: Callable[[str], Study]) -> Judgement:
        return together(
            *(above(gain(at("20"), at(other)), 0, f"over {named(other)}") for other in ("35", "none"))
        )

    return whatever(lab, holds, high=True)


@claim(
    "any-burstier",
    where="beyond the paper",
    says="At 75 Mbit/s the burstier has the poorer efficiency whatever the open choices.",
    unit="share of cases",
    figures=("choices",),
)
def claim_any_efficiency(lab: Lab) -> Finding:
    """Compare efficiencies at high load under every open choice."""

    def holds(at: Callable[[str], Study]) -> Judgement:
        pairs = (("35", "20"), ("none", "35"))
        return together(
            *(
                above(gain(at(smooth), at(rough), "efficiency"), 0, f"{smooth} over {named(rough)}")
                for rough, smooth in pairs
            )
        )

    return whatever(lab, holds, high=True)


@claim(
    "any-lock-out",
    where="beyond the paper",
    says="Without shaping some connection gets less than half its share whatever the open choices of TCP.",
    unit="share of cases",
    figures=("shares",),
)
def claim_any_lock_out(lab: Lab) -> Finding:
    """Measure under every open choice of TCP, in runs of both lengths, whether unshaped connections share."""
    found: list[Judgement] = []
    numbers: dict[str, list[str]] = {}
    for longer, (words, changes) in lab.judged(cases.LONGER.times(cases.TCP_TRIED)):
        length = "200 s" if longer else cases.length(lab).get("duration", "25 s")
        plain = point(lab, "none", 0, changes={**changes, **({"duration": length} if longer else {})})
        share = ratio_of_means(plain.values("least"), plain.values("goodput"))
        found.append(below(share, LOCKED_OUT, f"{words}, {length}"))
        numbers.setdefault(length, []).append(
            f"{words} {shown(share)}, from {shown(plain.estimate('least'))} to "
            f"{shown(plain.estimate('most'))}"
        )
    each = ". ".join(f"In runs of {length}: {'; '.join(words)}" for length, words in numbers.items())
    return Finding(
        count(found, runs=16),
        "The least connection's goodput over the mean without background, 1000 cells, and the least and the "
        f"most of a connection, Mbit/s. {each}",
    )
