"""Which theory fits a plan: recognised by shape, not by names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate._ask.source import Source
from tidegate.theory import _abr_match, _erlang_match, _loss_match, _spacer_match
from tidegate.theory._match_rules import DoesNotApplyError


@dataclass(frozen=True)
class Fit:
    """A theory that applies: what was found, and what it takes for granted.

    ``parameters`` are its arguments, ``bent`` the assumptions that the scenario does not keep
    to the letter, ``result`` what it gives; ``flows`` and ``gates`` are rows with the engines'
    column names, without those the theory says nothing about; ``pools`` and ``calls`` likewise.
    """

    theory: str
    parameters: Mapping[str, Any]
    bent: tuple[str, ...]
    result: Any
    flows: list[dict[str, Any]] = field(repr=False)
    gates: list[dict[str, Any]] = field(repr=False)
    pools: list[dict[str, Any]] = field(default_factory=list, repr=False)
    calls: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Miss:
    """A theory that does not apply: the first condition that fails, in words."""

    theory: str
    reason: str

    def __bool__(self) -> bool:
        return False


#: Each theory and its way to read a plan; the first that fits is used.
_THEORIES = {"spacer": _spacer_match.read, "abr": _abr_match.read, "erlang": _erlang_match.read}
#: Those that are tried only where there are calls: of other plans they would say what "erlang" says.
_OF_CALLS = {
    "erlang-a": _erlang_match.read_erlang_a,
    "engset": _erlang_match.read_engset,
    "kaufman-roberts": _loss_match.read,
    "product-form": _loss_match.read_product_form,
}


def match(source: Source) -> list[Fit | Miss]:
    """Try each theory on a scenario: a :class:`Fit`, or a :class:`Miss` that says why not.

    Args:
        source: a scenario file, a dict of its keys, or a loaded scenario.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong or cannot be read.
    """
    from tidegate._ask.plan import plan_of
    from tidegate._ask.source import as_scenario

    plan = plan_of(as_scenario(source))
    told: list[Fit | Miss] = []
    for theory, read in (_THEORIES | (_OF_CALLS if plan["calls"] else {})).items():
        try:
            told.append(Fit(theory, **read(plan)))
        except DoesNotApplyError as reason:
            told.append(Miss(theory, str(reason)))
    return told
