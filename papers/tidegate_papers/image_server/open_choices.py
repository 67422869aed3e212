"""Whether the paper's statements hold whatever is chosen where the paper leaves a choice open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    Finding,
    Judgement,
    above,
    below,
    claim,
    count,
    number_of,
    shown,
)
from tidegate_papers.image_server import cases
from tidegate_papers.image_server.cases import (
    gain_of_window,
    point,
)
from tidegate_papers.image_server.circuits import rises
from tidegate_papers.image_server.windows import NOT_FASTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate_papers.api import Lab


def whatever(lab: Lab, judge: Callable[[dict[str, Any]], Judgement], what: str) -> Finding:
    """Judge one statement under every open choice."""
    found = [replace(judge(changes), name=words) for words, changes in lab.judged(cases.TRIED)]
    numbers = ", ".join(f"{one.name} {shown(number_of(one))}" for one in found)
    return Finding(count(found, runs=16), f"{what}, by open choice: {numbers}")


@claim(
    "any-rise",
    where="beyond the paper",
    says="80 Mbit/s are slower than 20 whatever the open choices.",
    unit="share of choices",
    figures=("choices",),
)
def claim_any_rise(lab: Lab) -> Finding:
    """Compare 80 with 20 Mbit/s under every open choice."""
    return whatever(
        lab,
        lambda changes: above(rises(point(lab, 80, changes=changes), point(lab, 20, changes=changes)), 0),
        "Seconds by which responses are longer at 80 than at 20 Mbit/s",
    )


@claim(
    "any-faster",
    where="beyond the paper",
    says="Without dips a larger window is faster whatever the open choices.",
    unit="share of choices",
    figures=("choices",),
)
def claim_any_faster(lab: Lab) -> Finding:
    """Compare windows without dips under every open choice."""
    return whatever(
        lab,
        lambda changes: below(gain_of_window(lab, dips=False, changes=changes), 1),
        "Response time with 1 MiB over that with 64 KiB without dips",
    )


@claim(
    "any-not-with-dips",
    where="beyond the paper",
    says="With dips it is not, whatever the open choices.",
    unit="share of choices",
    figures=("choices",),
)
def claim_any_dips(lab: Lab) -> Finding:
    """Compare windows with dips under every open choice."""
    return whatever(
        lab,
        lambda changes: above(gain_of_window(lab, dips=True, changes=changes), 1 - NOT_FASTER),
        f"Response time with 1 MiB over that with 64 KiB with dips; a tenth off, {1 - NOT_FASTER:g}, is "
        "counted as faster",
    )
