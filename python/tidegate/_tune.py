"""Advice on a gate that follows a rate: M and N of EFFCAP, or a constant rate.

Every setting is simulated on the same networks (common random numbers), so the objective is a
function without noise of its own, piecewise constant and with local optima: differential evolution
(scipy) searches it without derivatives, a whole generation in one study. The best of many noisy
numbers is too good: what is told of a setting is simulated again on networks that the search has not
seen.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from tidegate import _jobs
from tidegate._errors import ArgumentError, UnknownNameError, nearest
from tidegate._estimate import estimate, paired
from tidegate._seed import choose
from tidegate._source import as_scenario
from tidegate._store import opened
from tidegate._study import Prepared, execute_study
from tidegate._tune_goal import Goal
from tidegate._tune_result import Setting, Tuning

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tidegate._scenario import Scenario, Sets
    from tidegate._source import Source
    from tidegate._store import Store
    from tidegate._study_value import Study

#: Round trips of memory of the rule of thumb, N: kΔ; the middle one is what gains are against.
RULE = (8, 10, 12)
#: Fewer runs say nothing about a gain; as many are used where the scenario asks for fewer.
LEAST_RUNS = 8
#: How far the search for M and N goes beyond the rule of thumb.
_M_REACH, _N_REACH = 4, 40
#: Members of a generation and number of generations: (M, N) and a rate.
_PAIR_SEARCH, _RATE_SEARCH = (12, 7), (8, 5)
_SEED_SPACE = 2**64


def tune(
    source: Source,
    gate: str | None = None,
    *,
    goal: str = "throughput",
    set: Sets = None,  # noqa: A002
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
) -> Tuning:
    """Find M and N of EFFCAP, or the constant rate, that serve a gate with ``rate.follow`` best.

    Beside the best found stand INSTCAP, the scenario as it is, and the rule of thumb (M: Δ and
    N: 8Δ to 12Δ), each with its gain over the rule's N: 10Δ and the interval of that.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`, with a gate
            that has ``rate.follow``.
        gate: which one; may be left out where there is one.
        goal: ``"throughput"``: the goodput of all flows together; or with a bound on a delay:
            ``"throughput with p99 delay < 200 ms"`` (``mean``, ``p50`` or ``p99``; ``delay``, the
            wait at the gate that is followed, or ``rtt``, of the flows through the gate, the worst).
        set: changes to the scenario.
        runs: replications of each setting told; left out, the scenario's ``runs``, at least 8.
        seed: as :func:`tidegate.run`, of the search; what is told is simulated with the next one.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong.
        UnknownNameError: it has no such gate.
        ArgumentError: the gate follows nothing, or an argument cannot be.
    """
    scenario = as_scenario(source, set)
    with opened(store) as kept:
        return find(scenario, gate, goal=goal, runs=runs, seed=seed, workers=workers, store=kept)


def find(
    scenario: Scenario,
    gate: str | None = None,
    *,
    goal: str = "throughput",
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: Store | None = None,
    progress: Callable[[float], None] | None = None,
) -> Tuning:
    """Find it; see :func:`tune`."""
    wanted = Goal.parse(goal)
    if runs is not None and runs < 2:
        raise ArgumentError(f"runs: read {runs}; an interval needs 2 or more")
    bench = _Bench(scenario, gate, wanted, choose(seed, scenario.seed), workers, store, progress)
    bench.runs = max(LEAST_RUNS, scenario.runs) if runs is None else runs
    pair = bench.best_pair()
    rate = bench.best_rate(pair)
    return bench.told(pair, rate)


class _Bench:
    """A scenario whose following gate is set this way and that."""

    def __init__(
        self,
        scenario: Scenario,
        gate: str | None,
        goal: Goal,
        seed: int,
        workers: int | None,
        store: Store | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.scenario, self.goal, self.seed = scenario, goal, seed
        self.workers, self.store, self.progress = workers, store, progress
        self.runs = LEAST_RUNS
        plan = json.loads(scenario._inner.plan_json())
        self.gate = _following(plan, gate, scenario.gate_names)
        copies = [n for n, row in enumerate(plan["gates"]) if row["name"].split("/")[0] == self.gate]
        row = plan["gates"][copies[0]]
        law = row["rate"]
        self.link: str = plan["gates"][law["gate"]]["name"]
        self.flows = [flow["name"] for flow in plan["flows"] if {*copies} & {*flow["path"]}]
        if not self.flows:
            raise ArgumentError(f"gate {self.gate}: no flow sends through it, so there is nothing to tune")
        first = next(flow for flow in plan["flows"] if flow["name"] == self.flows[0])
        delays = [plan["gates"][n]["delay_ps"] for n in (*first["path"], *first["back"])]
        self.every_ps = int(law["every_ps"])
        self.rtt_ps = sum(delays) + int(first["back_delay_ps"])
        self.rule_m = max(1, -(-self.rtt_ps // self.every_ps))
        self.own = (int(law["m"]), int(law["n"]))
        samples = (plan["duration_ps"] - plan["warmup_ps"]) // self.every_ps
        self.most = (
            max(4, min(_M_REACH * self.rule_m, samples // 4)),
            max(8, min(_N_REACH * self.rule_m, samples // 2)),
        )
        self.seen: dict[str, tuple[float, float | None]] = {}
        self._share = 0.0

    # --- settings as changes --------------------------------------------------------------------

    def pair(self, m: int, n: int) -> str:
        """Return the change that sets EFFCAP."""
        return f"gate.{self.gate}.rate.follow.effcap={{ m = {m}, n = {n} }}"

    def constant(self, bps: int) -> str:
        """Return the change that sets a constant rate instead."""
        return f'gate.{self.gate}.rate="{bps} bit/s"'

    # --- simulation -----------------------------------------------------------------------------

    def study(self, changes: Sequence[str], seed: int, runs: int) -> Study:
        """Return one study with a point for each change."""
        prepared = Prepared(
            title=self.scenario.title or self.scenario.name,
            file=self.scenario.name,
            seed=seed,
            runs=runs,
            axes=["setting"],
            points=[({"setting": change}, self.scenario.point([change])) for change in changes],
            until=None,
        )
        return execute_study(
            prepared, workers=_jobs.Local(self.workers), store=self.store, gate=self.link, progress=self._tell
        )

    def _tell(self, share: float) -> None:
        if self.progress is not None:
            # Generations yet to come are not known; each takes half of what is left.
            self.progress(self._share + (1 - self._share) * 0.15 * share)

    def delays(self, study: Study, point: int) -> list[float | None]:
        """Return what the goal bounds, by replication."""
        key = "mean" if self.goal.statistic == "mean" else self.goal.statistic
        if self.goal.what == "delay":
            return study.values(f"gate.{self.link}.queue_delay_{key}_ms", point)
        columns = [study.values(f"flow.{flow}.rtt_{key}_ms", point) for flow in self.flows]
        return [max((v for v in row if v is not None), default=None) for row in zip(*columns, strict=True)]

    def look(self, changes: Sequence[str]) -> list[float]:
        """Return what the search minimises for each change: below 0 where the goal's bound is met."""
        fresh = [change for change in dict.fromkeys(changes) if change not in self.seen]
        if fresh:
            study = self.study(fresh, self.seed, max(LEAST_RUNS, self.runs // 2))
            for point, change in enumerate(fresh):
                goodput = estimate(study.values("goodput_bps", point)).mean or 0.0
                delay = estimate(self.delays(study, point)).mean if self.goal.bound_ms is not None else None
                self.seen[change] = goodput, delay
            self._share += (1 - self._share) * 0.15
        return [self.cost(change) for change in changes]

    def cost(self, change: str) -> float:
        """Return minus the goodput, or by how much the bound is missed."""
        goodput, delay = self.seen[change]
        if self.goal.bound_ms is not None and (delay is None or delay > self.goal.bound_ms):
            return 1.0 + ((delay or math.inf) / self.goal.bound_ms)
        return -goodput

    # --- search ---------------------------------------------------------------------------------

    def evolve(
        self,
        bounds: list[tuple[float, float]],
        start: list[float],
        size: tuple[int, int],
        change: Callable[[NDArray[np.float64]], str],
    ) -> str:
        """Return the best change that differential evolution meets."""
        import numpy as np
        from scipy.optimize import Bounds, differential_evolution

        met: list[str] = []

        def costs(columns: NDArray[np.float64], /) -> Any:
            changes = [change(column) for column in np.atleast_2d(columns.T)]
            met.extend(changes)
            return np.array([min(cost, 1e300) for cost in self.look(changes)])

        members, generations = size
        differential_evolution(
            costs,
            Bounds([low for low, _ in bounds], [high for _, high in bounds]),
            x0=start,
            popsize=max(1, members // len(bounds)),
            maxiter=generations,
            init="sobol",
            polish=False,
            updating="deferred",
            vectorized=True,
            rng=np.random.default_rng(self.seed),
        )
        return min(dict.fromkeys(met), key=self.cost)

    def best_pair(self) -> tuple[int, int]:
        """Return M and N."""
        top_m, top_n = self.most
        start = [math.log2(self.rule_m), math.log2(self.rule_m * (RULE[1] - 1))]
        bounds = [(0.0, math.log2(top_m)), (0.0, math.log2(top_n))]
        known: dict[str, tuple[int, int]] = {}

        def change(place: NDArray[np.float64]) -> str:
            m, n = (max(1, round(2.0 ** float(x))) for x in place)
            text = self.pair(m, n)
            known[text] = m, n
            return text

        # The two that everybody knows are met whatever the search does.
        rules = [(1, 1), *((self.rule_m, self.rule_m * (k - 1)) for k in RULE)]
        known |= {self.pair(m, n): (m, n) for m, n in rules}
        self.look([self.pair(m, n) for m, n in rules])
        best = self.evolve(
            bounds, [min(x, high) for x, (_, high) in zip(start, bounds, strict=True)], _PAIR_SEARCH, change
        )
        return known[min([best, *(self.pair(m, n) for m, n in rules)], key=self.cost)]

    def best_rate(self, pair: tuple[int, int]) -> int:
        """Return a constant rate, bit/s."""
        study = self.study([self.pair(*pair)], self.seed, 2)
        mean = estimate(study.values(f"gate.{self.link}.rate_mean_bps")).mean or 0.0
        if mean <= 0:
            raise ArgumentError(f"gate {self.link}: its mean rate is 0, so there is nothing to follow")
        known: dict[str, int] = {}

        def change(place: NDArray[np.float64]) -> str:
            # Three digits: finer rates cannot be told apart.
            bps = round(float(f"{mean * float(place[0]):.3g}"))
            text = self.constant(bps)
            known[text] = bps
            return text

        return known[self.evolve([(0.1, 1.25)], [0.7], _RATE_SEARCH, change)]

    # --- what is told ---------------------------------------------------------------------------

    def told(self, pair: tuple[int, int], rate: int) -> Tuning:
        """Simulate the settings worth telling on fresh networks, and compare them."""
        rule = {k: (self.rule_m, max(1, self.rule_m * (k - 1))) for k in RULE}
        settings: list[tuple[str, tuple[int, int] | None, int | None]] = [
            ("as it is", self.own, None),
            ("INSTCAP", (1, 1), None),
            *((f"rule, N: {k}Δ", mn, None) for k, mn in rule.items()),
            ("best M and N", pair, None),
            ("best constant", None, rate),
        ]
        changes = [self.pair(*mn) if mn is not None else self.constant(bps or 0) for _, mn, bps in settings]
        check_seed = (self.seed + 1) % _SEED_SPACE
        study = self.study(changes, check_seed, self.runs)
        goodputs = [study.values("goodput_bps", n) for n in range(len(changes))]
        reference = goodputs[2 + RULE.index(10)]
        rows = []
        for n, (name, mn, bps) in enumerate(settings):
            delay = estimate(self.delays(study, n)) if self.goal.bound_ms is not None else None
            rows.append(
                Setting(
                    name=name,
                    m=None if mn is None else mn[0],
                    n=None if mn is None else mn[1],
                    rate_bps=bps,
                    goodput_bps=estimate(goodputs[n]),
                    delay_ms=delay,
                    meets=delay is None
                    or (delay.mean is not None and delay.mean <= (self.goal.bound_ms or 0.0)),
                    gain_bps=paired(goodputs[n], reference),
                )
            )
        # Chosen by what the search saw, not by what is told: else the best would be too good again.
        best = rows[5] if self.cost(changes[5]) <= self.cost(changes[6]) else rows[6]
        notes = []
        if all(_same(each) for each in goodputs):
            notes.append(
                "all replications are the same: nothing in the scenario is random, and an interval says "
                "nothing. A random start (flow.NAME.start.uniform) tells more"
            )
        if len(self.flows) > 1:
            notes.append(
                f"goodput is that of all flows together; through the gate go {', '.join(self.flows)}"
            )
        return Tuning(
            gate=self.gate,
            followed=self.link,
            goal=self.goal.text,
            seed=self.seed,
            check_seed=check_seed,
            runs=self.runs,
            tried=len(self.seen),
            rows=tuple(rows),
            best=best,
            rule=rows[2 + RULE.index(10)],
            notes=tuple(notes),
        )


def _same(values: Sequence[float | None]) -> bool:
    return len({*values}) == 1


def _following(plan: dict[str, Any], gate: str | None, known: Sequence[str]) -> str:
    """Return the name of the gate to tune.

    Raises:
        UnknownNameError: there is no gate of that name.
        ArgumentError: it follows nothing, or it is not clear which one is meant.
    """
    following = list(
        dict.fromkeys(row["name"].split("/")[0] for row in plan["gates"] if row["rate"]["kind"] == "fed back")
    )
    if gate is not None:
        if gate not in known:
            raise UnknownNameError(nearest("gate", gate, known))
        if gate not in following:
            raise ArgumentError(
                f"gate {gate}: it has no rate.follow that a flow uses, so there are no M and N to find"
                + (f"; {', '.join(following)} has" if following else "")
            )
        return gate
    if len(following) != 1:
        told = f"there are {len(following)}: {', '.join(following)}" if following else "there is none"
        raise ArgumentError(f"gate: name the gate with rate.follow that is to be tuned; {told}")
    return str(following[0])
