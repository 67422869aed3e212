"""What ``size`` gives back for a queue: the size, what waits in it, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate._base.answer import Answer
from tidegate._base.estimate import Estimate
from tidegate._base.lazy import Lazy
from tidegate._base.text import number, plain, wrapped

if TYPE_CHECKING:
    from tidegate import theory
else:
    theory = Lazy("tidegate.theory")


@dataclass(frozen=True)
class Sizing(Answer):
    """The smallest queue of a gate that loses nothing, and what stands in it.

    ``size`` is in ``unit`` (``"packets"``, ``"bytes"`` or ``"cells"``), counted as the gate counts:
    what waits, or with the unit in service. ``method`` is ``"theory"`` or ``"sim"``. From
    simulations it holds for ``seed`` and ``runs`` replications, of which ``each`` has the own
    smallest size. ``lost_with_one_less`` says how many replications lose something with one unit
    less. ``standing`` (mean, in ``standing_unit``) and the waits in ``delay_ms`` are those that come with the
    size, counted from the scenario's warmup; ``limits`` are the theory's least and largest content in
    the end, in its own units.
    """

    gate: str
    size: int
    unit: str
    method: str
    standing: Estimate
    delay_ms: dict[str, Estimate]
    seed: int
    runs: int
    each: tuple[int, ...]
    lost_with_one_less: int
    theory: str | None = None
    limits: tuple[float, float] | None = None
    delay_limit_ms: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def standing_unit(self) -> str:
        """The unit of ``standing``: no run has the mean of a queue in bytes."""
        return "packets" if self.unit == "bytes" else self.unit

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate size --json`` prints."""
        return {
            "gate": self.gate,
            "size": self.size,
            "unit": self.unit,
            "method": self.method,
            "theory": self.theory,
            "seed": self.seed,
            "runs": self.runs,
            "each": list(self.each),
            "lost_with_one_less": self.lost_with_one_less,
            "standing": self.standing.to_dict(),
            "standing_unit": self.standing_unit,
            "standing_limits": None if self.limits is None else list(self.limits),
            "delay_ms": {name: found.to_dict() for name, found in self.delay_ms.items()},
            "delay_limit_ms": self.delay_limit_ms,
            "notes": self.notes,
        }

    def report(self) -> str:
        """Return the same for people."""
        from tidegate._study.text import plus_minus

        runs = "1 replication" if self.runs == 1 else f"{self.runs} replications"
        if self.method == "theory":
            basis = f"theory {self.theory}, confirmed by simulation ({runs}, seed {self.seed})"
        else:
            basis = f"simulation, {runs}, seed {self.seed}"
        loses = (
            "packets are lost"
            if self.runs == 1
            else f"packets are lost in {self.lost_with_one_less} of {self.runs} replications"
        )
        one = self.unit.removesuffix("s")
        unit = one if self.size == 1 else self.unit
        lines = [
            f"gate {self.gate}: a queue of {self.size} {unit} loses nothing",
            f"  by {basis}",
            f"  with one {one} less, {loses}"
            if self.lost_with_one_less
            else f"  one {one} less is also enough in these runs",
        ]
        if len({*self.each}) > 1:
            lines.append(f"  single replications need {min(self.each)} to {max(self.each)} {self.unit}")
        lines.append(f"  standing queue  {plus_minus(self.standing)} {self.standing_unit}, mean")
        if self.limits is not None:
            low, high = (number(value, 5) for value in self.limits)
            lines.append(f"                  {low} to {high} in the long run, by the theory")
        waits = ", ".join(f"{name} {plus_minus(found)}" for name, found in self.delay_ms.items())
        lines.append(f"  queueing delay  {waits} ms")
        if self.delay_limit_ms is not None:
            most = number(self.delay_limit_ms, 4)
            lines.append(f"                  at most {most} ms in the long run, by the theory")
        lines += [wrapped(f"  {note}") for note in self.notes]
        return plain("\n".join(lines))

    def __repr__(self) -> str:
        return f"<tidegate.Sizing {self.gate!r}: {self.size} {self.unit}, {self.method}>"
