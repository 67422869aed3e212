"""The theory engine: a scenario in, the rows a theory gives out, as a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._ask.swept import sweep_warnings
from tidegate.errors import EngineError
from tidegate.theory._match import Fit, match

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario
    from tidegate._run.value import Run


def solve(scenario: Scenario, command: list[str] | None = None) -> Run:
    """Return what the first theory that fits says about a scenario.

    Raises:
        EngineError: none fits; the message says why for each.
    """
    from tidegate._run.manifest import manifest_of
    from tidegate._run.value import Run

    answers = match(scenario)
    fit = next((each for each in answers if isinstance(each, Fit)), None)
    if fit is None:
        reasons = "; ".join(f"{each.theory}: {each.reason}" for each in answers if not isinstance(each, Fit))
        raise EngineError(f'no theory applies ({reasons}); use the engine "sim"')
    warnings = [f"theory {fit.theory}: {assumption}" for assumption in fit.unmet]
    warnings = [*scenario.warnings, *warnings, *sweep_warnings(scenario)]
    summary: dict[str, Any] = {
        "engine": "theory",
        "theory": fit.theory,
        "scenario": scenario.title,
        "duration_s": scenario.duration_s,
        "measured_from_s": scenario.warmup_s,
        "parameters": {name: _plain(value) for name, value in fit.parameters.items()},
        "flows": fit.flows,
        "gates": fit.gates,
        **({"pools": fit.pools, "calls": fit.calls} if fit.pools else {}),
        "warnings": warnings,
    }
    return Run(summary, manifest_of(scenario, None, 0, warnings, command, engine="theory"), lambda _: None)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | str) else float(value)
