"""Checks every point of a study before the first one is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidegate._ask.axes import axes_of, combinations, label
from tidegate._ask.scenario import Scenario, Sets
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario
from tidegate._base.errors import ArgumentError
from tidegate._run.chance import nothing_random, places
from tidegate._study.point import Described
from tidegate._study.until import Until


@dataclass(frozen=True)
class Prepared:
    """A study whose every point has passed the checks."""

    title: str
    file: str
    seed: int
    runs: int
    axes: list[str]
    points: list[tuple[dict[str, str], Scenario]]
    until: Until | None
    warnings: list[str] = field(default_factory=list)
    engine: str = "sim"

    def described(self) -> Described:
        """Return what is said of it."""
        points = [
            (dict(chosen), scenario.to_toml(), list(scenario.draws)) for chosen, scenario in self.points
        ]
        return Described(self.title, self.file, self.seed, self.axes, points, self.warnings, self.engine)


def prepare(
    source: Source,
    vary: Mapping[str, Sequence[Any]],
    changes: Sets = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    until: Until | str | None = None,
    engine: str = "sim",
) -> Prepared:
    """Check every point.

    Raises:
        ScenarioError, TraceError, OSError: a point is wrong.
        ArgumentError: an argument has a value that it cannot have.
    """
    scenario = as_scenario(source, changes)
    axes = axes_of(scenario, vary)
    if "seed" in vary:
        raise ArgumentError(
            "the seed cannot be varied in a study: its replications already have different random numbers"
        )
    count = scenario.runs if runs is None else runs
    if count < 1:
        raise ArgumentError(f"runs: read {count}; a point needs 1 run at least")
    if isinstance(until, str):
        until = Until.parse(until, at_least=None if runs is None else max(runs, 2))
    points = []
    for chosen in combinations(axes):
        point = scenario.point(f"{key}={value}" for key, value in chosen.items())
        points.append(({key: label(value) for key, value in chosen.items()}, point))
    warnings = list(dict.fromkeys(w for _, point in points for w in point.warnings))
    warnings += _without_chance(points, until.at_least if until else count, engine)
    if count == 1 and until is None and (engine == "live" or any(point.draws for _, point in points)):
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
    )


def _without_chance(points: Sequence[tuple[dict[str, str], Scenario]], runs: int, engine: str) -> list[str]:
    """Warn where nothing is drawn from the seed; the kernel's TCP is never the same twice."""
    fixed = [] if engine == "live" else [(chosen, point) for chosen, point in points if not point.draws]
    if not fixed:
        return []
    flow = next(iter(fixed[0][1].flow_names), None)
    labels = [", ".join(f"{key}={value}" for key, value in chosen.items()) for chosen, _ in fixed]
    return [nothing_random(runs, flow, places(labels, len(points)))]
