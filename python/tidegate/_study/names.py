"""Names of numbers, flows and gates that no run can have, refused before any run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.nearest import nearest
from tidegate._run.metric import KINDS, split
from tidegate._run.summary import FIGURES
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidegate._study.points import Prepared


def check_names(prepared: Prepared, metrics: Iterable[str], *, measured: bool = False) -> None:
    """Refuse numbers that no run can have, as far as that is known before the runs.

    ``measured``: runs may have numbers of the user's own, whose names are not known yet.

    Raises:
        UnknownNameError: there is no such number, flow or gate.
    """
    points = prepared.points
    known = {
        "flow": list(dict.fromkeys(name for point in points for name in point.flow_names)),
        "gate": list(dict.fromkeys(name for point in points for name in point.gate_names)),
    }
    for metric in metrics:
        kind, _, rest = metric.partition(".")
        if rest and kind in known:
            # A gate of each flow is called GATE/FLOW.
            if not any(rest.startswith(f"{name}/") for name in known[kind]):
                split(kind, rest, known[kind])
        elif metric not in FIGURES and not (rest and kind in KINDS) and not measured:
            raise UnknownNameError(nearest("metric", metric, FIGURES))


def has_gate(prepared: Prepared, point: int, gate: str) -> bool:
    """Tell whether a point has a gate, or one that is told by flow or by copy."""
    return any(
        gate == name or gate.startswith((f"{name}/", f"{name}."))
        for name in prepared.points[point].gate_names
    )


def check_gate(prepared: Prepared, gate: str | None) -> None:
    """Refuse to report a gate that a point does not have.

    Raises:
        UnknownNameError: there is no such gate.
    """
    if gate is None:
        return
    for number, point in enumerate(prepared.points):
        if not has_gate(prepared, number, gate):
            raise UnknownNameError(nearest("gate", gate, point.gate_names))
