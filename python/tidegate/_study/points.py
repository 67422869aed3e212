"""Points of a study: what each is, and what is checked of them before the first run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidegate._ask import compiled
from tidegate._ask.axes import axes_of, check_distinct, combinations, label
from tidegate._ask.changes import Sets
from tidegate._ask.scenario import Scenario
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario
from tidegate._base.nearest import nearest
from tidegate._run.chance import nothing_random, places
from tidegate._run.metric import KINDS, split
from tidegate._run.perturbed import check_perturb
from tidegate._run.summary import FIGURES
from tidegate._study.until import Until
from tidegate.errors import ArgumentError, UnknownNameError


@dataclass(frozen=True)
class Point:
    """One combination of the axes: its number, its values, and the scenario as run.

    ``varies``: whether its runs can differ. They cannot where nothing is drawn from the seed, and did
    not where all came out the same; then they are one run, and there is no interval.
    """

    number: int
    values: dict[str, str]
    scenario: str
    varies: bool = True

    def label(self) -> str:
        """Return the values in the order of the axes."""
        return " · ".join(self.values.values()) or "as written"


@dataclass(frozen=True)
class Described:
    """What is said of a study, beside its results.

    ``points``: of each, its values by varied key, the scenario as run, and what its runs draw from the seed.
    """

    title: str
    file: str
    seed: int
    axes: list[str]
    points: list[tuple[dict[str, str], str, list[str]]]
    warnings: list[str] = field(default_factory=list)
    engine: str = "sim"


#: Plans that stay in memory once their points are checked: so many flows and gates of all points together.
ROOM = 100_000
#: What a plan takes beside its flows and gates, in flows.
_EACH = 40
#: What the results of a study are kept under has this level of recording, unless something is measured.
_LEVEL = "summary"
#: The change of a scenario that gives replication i small change i.
PERTURBED = "perturb=true"


@dataclass(frozen=True)
class ReadyPoint:
    """A point that has passed the checks: what is said of it, and how its scenario is made again.

    The plan of a scenario is large where it has many flows, and a study may have very many points.
    """

    values: dict[str, str]
    toml: str
    draws: list[str]
    warnings: list[str]
    flow_names: list[str]
    #: Of a gate for each flow its copies.
    gate_names: list[str]
    _digest: str
    _base: Scenario
    _sets: list[str]
    _kept: Scenario | None

    def scenario(self) -> Scenario:
        """Return its scenario."""
        return self._base.point(self._sets) if self._kept is None else self._kept

    def has_gate(self, gate: str) -> bool:
        """Tell whether it has a gate, or one that is told by flow or by copy."""
        return any(gate == name or gate.startswith((f"{name}/", f"{name}.")) for name in self.gate_names)

    def digest(self, record: str | None) -> str:
        """Return what its runs depend on, beside build, seed and replication."""
        return self._digest if record == _LEVEL else compiled.digest(self.scenario(), record)


class Readier:
    """Checks points of one scenario."""

    def __init__(self, base: Scenario) -> None:
        self._base = base
        self._room = ROOM
        #: Points draw the same and have the same gates, as a rule.
        self._alike: dict[tuple[str, ...], list[str]] = {}

    def point(self, values: dict[str, str], sets: Iterable[str]) -> ReadyPoint:
        """Check the point that some changes make.

        Raises:
            ScenarioError, TraceError, OSError: it is wrong.
        """
        sets = list(sets)
        point = self._base.point(sets)
        draws, gates = (
            self._alike.setdefault(tuple(names), names) for names in (point.draws, point._inner.run_gates)
        )
        return ReadyPoint(
            values, point.to_toml(), draws, point.warnings, point.flow_names, gates,
            compiled.digest(point, _LEVEL), self._base, sets, point if self._keeps(point) else None,
        )  # fmt: skip

    def _keeps(self, point: Scenario) -> bool:
        # A file that it was made of may be another one when it is made again.
        if point.inputs:
            return True
        if self._room > 0:
            self._room -= _EACH + sum(point.counts)
        return self._room > 0


@dataclass(frozen=True)
class Prepared:
    """A study whose every point has passed the checks."""

    title: str
    file: str
    seed: int
    runs: int
    axes: list[str]
    points: list[ReadyPoint]
    until: Until | None
    warnings: list[str] = field(default_factory=list)
    engine: str = "sim"
    #: Points at which nothing is random run once: their runs would be one run.
    once: bool = False
    #: The command that asks for it.
    asked_by: str = "study"

    def runs_of(self, point: int) -> int:
        """Return how many runs a point has, with ``until`` how many at first."""
        if self.is_fixed(point):
            return 1
        return self.until.at_least if self.until else self.runs

    def is_fixed(self, point: int) -> bool:
        """Tell whether a point runs once, because nothing is random there."""
        return self.once and not self.points[point].draws

    def goes_on(self) -> str:
        """Say of runs that are done, and kept, how what asked for them goes on."""
        if self.engine != "live":
            return f"are kept: the same {self.asked_by} continues from there"
        if self.asked_by == "study":
            return "are kept: the same study with --resume (resume=True) continues from there"
        return f"are done: another {self.asked_by} measures them anew"

    def described(self) -> Described:
        """Return what is said of it."""
        points = [(dict(point.values), point.toml, point.draws) for point in self.points]
        return Described(self.title, self.file, self.seed, self.axes, points, self.warnings, self.engine)

    def check_names(self, metrics: Iterable[str], *, measured: bool = False) -> None:
        """Refuse numbers that no run can have, as far as that is known before the runs.

        ``measured``: runs may have numbers of the user's own, whose names are not known yet.

        Raises:
            UnknownNameError: there is no such number, flow or gate.
        """
        known = {
            "flow": list(dict.fromkeys(name for point in self.points for name in point.flow_names)),
            "gate": list(dict.fromkeys(name for point in self.points for name in point.gate_names)),
        }
        for metric in metrics:
            kind, _, rest = metric.partition(".")
            if rest and kind in known:
                # A gate of each flow is called GATE/FLOW.
                if not any(rest.startswith(f"{name}/") for name in known[kind]):
                    split(kind, rest, known[kind])
            elif metric not in FIGURES and not (rest and kind in KINDS) and not measured:
                raise UnknownNameError(nearest("metric", metric, FIGURES))

    def check_gate(self, gate: str | None) -> None:
        """Refuse to report a gate that a point does not have.

        Raises:
            UnknownNameError: there is no such gate.
        """
        lacks = [] if gate is None else [point for point in self.points if not point.has_gate(gate)]
        if lacks:
            raise UnknownNameError(nearest("gate", gate, lacks[0].gate_names))


def prepare(
    source: Source,
    vary: Mapping[str, Sequence[Any]],
    changes: Sets = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    until: Until | str | None = None,
    engine: str = "sim",
    perturb: int | None = None,
    equal_runs: bool = False,
) -> Prepared:
    """Check every point.

    ``perturb``: each point runs as written, and so often with small changes. ``equal_runs``: points run as
    often as is asked even where nothing is random at any of them.

    Raises:
        ScenarioError, TraceError, OSError: a point is wrong.
        ArgumentError: an argument has a value that it cannot have.
    """
    scenario = as_scenario(source, changes, seed=seed, runs=runs)
    axes = axes_of(scenario, vary)
    if "seed" in vary:
        raise ArgumentError(
            "the seed cannot be varied in a study: its replications already have different random numbers"
        )
    if "runs" in vary:
        raise ArgumentError(
            "runs: cannot be varied in a study: each point has as many; give them with --runs (runs=)"
        )
    changed = runs_beside(runs, perturb, engine)
    if changed:
        runs = changed + 1
    count = scenario.runs if runs is None else runs
    if isinstance(until, str):
        until = Until.parse(until, at_least=None if runs is None else max(runs, 2))
    ready = Readier(scenario)
    points = []
    for chosen in combinations(axes):
        values = {key: label(value) for key, value in chosen.items()}
        sets = [f"{key}={value}" for key, value in chosen.items()]
        points.append(ready.point(values, [*sets, *([PERTURBED] if changed else [])]))
    check_distinct(axes, vary, lambda number: points[number].scenario())
    warnings = list(dict.fromkeys(warning for point in points for warning in point.warnings))
    warnings += _without_chance(points, engine)
    once = engine != "live" and not equal_runs
    if once and not any(point.draws for point in points):
        count, until = 1, None
    if count == 1 and until is None and (engine == "live" or any(point.draws for point in points)):
        warnings.append("one run per point gives no interval: use --runs 8 (runs=8) or more")
    return Prepared(
        title=scenario.title or scenario.name,
        file=scenario.name,
        seed=choose(seed, scenario.seed),
        runs=count,
        axes=[key for axis in axes for key in axis.keys],
        points=points,
        until=until,
        warnings=warnings,
        engine=engine,
        once=once,
    )


def runs_beside(runs: int | None, perturb: int | None, engine: str = "sim") -> int:
    """Return how many runs with small changes each point has, beside the one as written; 0: none.

    Raises:
        ArgumentError: it is no number of runs, or ``runs`` is given too.
    """
    changed = check_perturb(perturb, engine)
    if changed and runs is not None:
        raise ArgumentError(
            f"runs: read {runs} beside perturb {changed}, which makes a run as written and {changed} with "
            "small changes; give one of the two"
        )
    return changed


def _without_chance(points: Sequence[ReadyPoint], engine: str) -> list[str]:
    """Warn where nothing is drawn from the seed; the kernel's TCP is never the same twice."""
    fixed = [] if engine == "live" else [point for point in points if not point.draws]
    if not fixed:
        return []
    flow = next(iter(fixed[0].flow_names), None)
    labels = [", ".join(f"{key}={value}" for key, value in point.values.items()) for point in fixed]
    return [nothing_random(flow, places(labels, len(points)))]
