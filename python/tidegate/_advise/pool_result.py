"""What sizing a pool gives back: capacities side by side, in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate._advise.pool_goal import MET, Goal, wider
from tidegate._base.answer import Answer
from tidegate._base.estimate import Estimate
from tidegate._base.text import number, plain, table, wrapped


@dataclass(frozen=True)
class Trial:
    """One capacity that was tried.

    ``each`` has an estimate for each part of the goal, ``found`` is the first of them. ``verdict`` is
    ``"met"`` (the 99% intervals lie below the bounds), ``"not met"`` (one lies above its bound) or
    ``"undecided"`` (one holds its bound, or was not measured); 99%, because a capacity is looked at up to
    five times.
    ``theory`` has what a theory says of each part, if one applies.
    """

    capacity_bps: int
    each: tuple[Estimate, ...]
    verdict: str
    runs: int
    theory: tuple[float, ...] | None = None

    @property
    def found(self) -> Estimate:
        """The goal's first number."""
        return self.each[0]

    @property
    def measured(self) -> bool:
        """Whether any run has a number for each part of the goal."""
        return all(found.mean is not None for found in self.each)

    @property
    def met(self) -> bool:
        """Whether the goal is surely met."""
        return self.verdict == MET

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "capacity_bps": self.capacity_bps,
            "met": self.met,
            "verdict": self.verdict,
            **self.found.to_dict(),
            "each": [found.to_dict() for found in self.each],
            "runs": self.runs,
            "theory": None if self.theory is None else list(self.theory),
        }


@dataclass(frozen=True)
class PoolSizing(Answer):
    """The smallest capacity of a pool with which a goal is met.

    ``capacity_bps`` is the answer. By ``method`` ``"theory"`` it is exact, for the long run; by ``"sim"``
    it is the least with which the simulations surely meet the goal, and ``undecided`` has the smaller
    ones with which an interval still contains the bound, or nothing was measured, so that one of them may be
    enough. ``theory`` names the theory that applies, ``theory_bps`` is its answer, ``simulated_bps`` that of
    the simulations. ``found`` is the goal's first number with the answer, ``less`` the trial one step below
    (None where no call fits into less, or nothing was simulated). ``tried`` has every capacity that was
    simulated, in order of size, with at least ``runs`` replications of ``seed``.
    """

    pool: str
    goal: str
    capacity_bps: int
    method: str
    found: Estimate | None
    unit: str
    less: Trial | None
    tried: tuple[Trial, ...]
    undecided: tuple[int, ...]
    simulated_bps: int | None
    theory: str | None
    theory_bps: int | None
    seed: int
    runs: int
    parts: Goal
    theory_values: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether the answer is surely the smallest."""
        return self.method == "theory" or not self.undecided

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate size --json`` prints."""
        return {
            "pool": self.pool,
            "goal": self.goal,
            "capacity_bps": self.capacity_bps,
            "method": self.method,
            "decided": self.decided,
            "undecided_bps": list(self.undecided),
            "simulated_bps": self.simulated_bps,
            "theory": self.theory,
            "theory_bps": self.theory_bps,
            "theory_values": None if self.theory_values is None else list(self.theory_values),
            "found": None if self.found is None else self.found.to_dict(),
            "unit": self.unit,
            "tried": [each.to_dict() for each in self.tried],
            "seed": self.seed,
            "runs": self.runs,
            "notes": list(self.notes),
        }

    def report(self) -> str:
        """Return the same for people."""
        lines = [f"pool {self.pool}: {rate(self.capacity_bps)} for {self.goal}", *self._basis()]
        if self.tried:
            lines += ["", self._table()]
            if any(trial.runs > 1 for trial in self.tried):
                lines.append(
                    "±: half of the 99% interval; 99% because a capacity is tested up to five times."
                )
        elif self.theory_values is not None:
            parts = zip(self.parts.parts, self.theory_values, strict=True)
            lines += [f"  {part.text}: {exactly(value, part.unit)}" for part, value in parts]
        lines += [wrapped(note) for note in ("", *self.notes) if note or self.notes]
        return plain("\n".join(lines))

    def _basis(self) -> list[str]:
        lines = []
        if self.method == "theory":
            lines.append(f"  by theory {self.theory}, exact in the long run")
        if self.tried:
            most = max(trial.runs for trial in self.tried)
            runs = "1 replication" if most == 1 else f"{most} replications"
            if most > self.runs:
                runs = f"{self.runs} to {runs}"
            lines.append(f"  by simulation, {runs}, seed {self.seed}")
        if self.undecided:
            least = rate(self.undecided[0])
            open_to = least if len(self.undecided) == 1 else f"{least} to {rate(self.undecided[-1])}"
            why = self._why_open()
            if self.method == "theory":
                lines.append(f"  the simulations do not decide {open_to}: {why}")
            else:
                lines.append(f"  undecided: {open_to} may be enough as well, because {why}")
        return [line for text in lines for line in wrapped(text, "  ").splitlines()]

    def _why_open(self) -> str:
        measured = {trial.measured for trial in self.tried if trial.capacity_bps in self.undecided}
        if measured == {False}:
            return "nothing was measured"
        return "the interval contains the bound" + (", or nothing was measured" if False in measured else "")

    def _table(self) -> str:
        theory = any(trial.theory is not None for trial in self.tried)
        several = len(self.parts.parts) > 1
        names = [part.text for part in self.parts.parts] if several else ["found"]
        head = ["capacity"]
        for name in names:
            head += [name, *(["theory"] if theory else [])]
        rows = []
        for trial in self.tried:
            row = [rate(trial.capacity_bps)]
            for n, part in enumerate(self.parts.parts):
                row.append(estimate_words(trial.each[n], part.unit))
                if theory:
                    row.append("–" if trial.theory is None else exactly(trial.theory[n], part.unit))
            rows.append([*row, str(trial.runs), trial.verdict])
        return table([[*head, "runs", "goal"]], rows)

    def __repr__(self) -> str:
        return f"<tidegate.PoolSizing {self.pool!r}: {rate(self.capacity_bps)} for {self.goal!r}>"


def rate(bps: int) -> str:
    """Return a whole rate, exactly."""
    for size, unit in ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s")):
        if bps >= size:
            return f"{bps / size:.9f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{bps} bit/s"


def estimate_words(found: Estimate, unit: str) -> str:
    """Return a number of the goal with its 99% interval in words; a share as a percentage."""
    from tidegate._study.text import plus_minus

    if found.mean is None:
        return "not measured"
    found = wider(found)
    return f"{plus_minus(found)} {unit}" if unit else f"{plus_minus(found, 0.01)} %"


def exactly(value: float, unit: str) -> str:
    """Return what a theory says in words."""
    return f"{number(value, 4)} {unit}" if unit else f"{number(100 * value, 4)} %"
