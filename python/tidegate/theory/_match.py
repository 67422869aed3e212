"""Which theory fits a plan: recognised by shape, not by names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate._ask.source import Source
from tidegate.theory import (
    _abr_match,
    _erlang_match,
    _loss_match,
    _policer_match,
    _random_loss_match,
    _rfc6349_match,
    _spacer_match,
)
from tidegate.theory._match_rules import DoesNotApplyError

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Plan


@dataclass(frozen=True)
class Fit:
    """A theory that applies: what was found, and what it takes for granted.

    ``parameters`` are its arguments, ``unmet`` the assumptions that the scenario does not keep
    to the letter, ``result`` what it gives; ``flows`` and ``gates`` are rows with the engines'
    column names, without those the theory says nothing about; ``pools`` and ``calls`` likewise.
    """

    theory: str
    parameters: Mapping[str, Any]
    unmet: tuple[str, ...]
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
#: Those that are tried only where a gate polices.
_OF_POLICERS = {"policer": _policer_match.read}
#: Those that are tried only where a gate loses packets at random.
_OF_LOSS = {
    "mathis": _random_loss_match.read_mathis,
    "pftk": _random_loss_match.read_pftk,
    "rfc-9438": _random_loss_match.read_cubic,
}
#: That of one gate with a constant rate, tried where nothing polices and nothing is lost at random.
_OF_A_RATE = {"rfc-6349": _rfc6349_match.read}


def _tried(plan: Plan) -> dict[str, Callable[[Plan], dict[str, Any]]]:
    """Return the theories that a plan is held against: of the others it is plain that they do not apply."""
    found: dict[str, Callable[[Plan], dict[str, Any]]] = dict(_THEORIES)
    if plan["calls"]:
        found |= _OF_CALLS
    polices = any(gate["polices"] for gate in plan["gates"])
    loses = any(gate["loses"] for gate in plan["gates"])
    if polices:
        found |= _OF_POLICERS
    if loses:
        found |= _OF_LOSS
    rated = [gate for gate in plan["gates"] if gate["rate"]["kind"] != "unlimited"]
    alone = len(plan["flows"]) == 1 and len(rated) == 1 and rated[0]["rate"]["kind"] == "constant"
    if alone and not polices and not loses:
        found |= _OF_A_RATE
    return found


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
    answers: list[Fit | Miss] = []
    for theory, read in _tried(plan).items():
        try:
            answers.append(Fit(theory, **read(plan)))
        except DoesNotApplyError as reason:
            answers.append(Miss(theory, str(reason)))
    return answers
