"""A single run of a study: what it is, what comes back, and the key that it is kept under."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate import _core
from tidegate._ask import compiled
from tidegate._ask.scenario import Scenario
from tidegate._base.calls import shown
from tidegate._jobs.store import pack
from tidegate._run.metric import is_taken
from tidegate._run.start import assemble
from tidegate._run.value import Run
from tidegate.errors import ArgumentError

#: Takes a run, and returns numbers by name that the summary does not have.
Measure = Callable[[Run], Mapping[str, float | int | None]]


@dataclass(frozen=True)
class Job:
    """One run; ``number`` is its place in the study."""

    number: int
    scenario: Scenario
    seed: int
    replication: int
    record: str | None
    measure: Measure | None

    def do(self) -> Outcome:
        """Run it here and now."""
        return self.outcome(
            compiled.simulate(
                self.scenario,
                seed=self.seed,
                replication=self.replication,
                record=self.record,
                threads=1,
            )
        )

    def outcome(self, data: _core.RunData) -> Outcome:
        """Return what is kept of what the simulator gave."""
        if self.measure is None:
            return Outcome(self.number, data.packed)
        run = assemble(self.scenario, data, seed=self.seed, replication=self.replication, quiet=True)
        return Outcome(self.number, pack(run.summary, self.measured(run)))

    def measured(self, run: Run) -> dict[str, float | None]:
        """Return what is measured of a run.

        Raises:
            ArgumentError: it is no numbers by name.
        """
        if self.measure is None:
            return {}
        found = self.measure(run)
        if not callable(getattr(found, "items", None)):
            raise ArgumentError(
                f"measure: {name_of(self.measure)} returned {shown(found)}; give numbers by name, "
                'such as {"late": 3}'
            )
        return {_own_name(name): _plain(name, value) for name, value in found.items()}


@dataclass(frozen=True)
class Outcome:
    """What is kept of a run: its summary, and what was measured on its columns, as a store has them."""

    number: int
    packed: bytes


def _own_name(name: Any) -> str:
    """Return the name of a measured number, which is not one that every run has."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"measure: read {name!r} as a name; a name is a text, such as late")
    if is_taken(name):
        raise ArgumentError(f"measure: every run has {name}; choose another name")
    return name


def _plain(name: str, value: Any) -> float | None:
    """Return a measured number as it is kept; "not a number" is no value."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"measure: {name} is {shown(value)}; give a number, or None where there is none"
        ) from None
    if math.isinf(number):
        raise ArgumentError(f"measure: {name} is {number}; give a finite number, or None where there is none")
    return None if math.isnan(number) else number


# --- keys -------------------------------------------------------------------------------------


@functools.cache
def engine_identity() -> str:
    """Return the identity of the code that makes a summary: version and compiled part."""
    compiled = Path(str(_core.__file__)).read_bytes()
    return f"{_core.build_info()['tidegate']} {hashlib.sha256(compiled).hexdigest()}"


@functools.cache
def package_identity() -> str:
    """Return a digest of the Python modules that make columns out of a run."""
    hash_ = hashlib.sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        hash_.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return hash_.hexdigest()


def measure_identity(measure: Measure | None, version: str | None) -> str:
    """Return what a measurement's results depend on, beside the run.

    The function, with the values of what it uses and the source of the module that it stands in; or the
    version that the caller gives.

    Raises:
        ArgumentError: neither tells all, and no version is given.
    """
    if measure is None:
        return ""
    name = f"{getattr(measure, '__module__', '')}.{name_of(measure)}"
    if version is not None:
        return f"{name} version {version} {package_identity()}"
    from tidegate._jobs.function import identity

    return f"{name} {identity(measure, name_of(measure))} {package_identity()}"


def name_of(measure: Measure) -> str:
    """Return what a function is called where it is defined."""
    return str(getattr(measure, "__qualname__", type(measure).__qualname__))


class Keys:
    """The names that the results of a point are kept under."""

    __slots__ = ("_begin", "_end")

    def __init__(self, engine: str, digest: str, seed: int, measure: str) -> None:
        # SHA-256 of the list [engine, digest, seed, replication, measure] as JSON.
        self._begin = hashlib.sha256(f"{json.dumps([engine, digest, seed])[:-1]}, ".encode())
        self._end = f", {json.dumps(measure)}]".encode()

    def key(self, replication: int) -> str:
        """Return the name of one result."""
        whole = self._begin.copy()
        whole.update(b"%d" % replication + self._end)
        return whole.hexdigest()
