"""A scenario whose following gate is set this way and that, and what comes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate._ask.plan import plan_of
from tidegate._base.estimate import Estimate, estimate
from tidegate._base.nearest import nearest
from tidegate._run.words import possible
from tidegate.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._advise.bench import Bench
    from tidegate._advise.tune_goal import Goal
    from tidegate._ask.plan_objects import Flow, Plan
    from tidegate._study.value import Study

#: Fewer runs say nothing about a gain; as many are used where the scenario asks for fewer.
LEAST_RUNS = 8
#: Replications in which the search looks at a setting; and how many of the best of each search get all.
_LOOK_RUNS, _FINALISTS = 3, 4
#: How far the search for M and N goes beyond the rule of thumb.
_M_REACH, _N_REACH = 4, 40
#: Each study of the search takes this part of the progress that is left: how many are to come is not known.
_SHARE_OF_REST = 0.08
#: What no number costs.
_WORST = 1e300


@dataclass(frozen=True)
class Knobs:
    """One way to set the gate and the flows through it.

    EFFCAP's ``m`` and ``n``, or a constant ``rate_bps``; ``share`` of the estimate that is taken and
    ``window`` of the flows in segments, None: as the scenario has them.
    """

    m: int | None = None
    n: int | None = None
    rate_bps: int | None = None
    share: float | None = None
    window: int | None = None


class TuneTrials:
    """Runs of one scenario with a following gate under different settings."""

    def __init__(self, bench: Bench, gate: str | None, goal: Goal, runs: int) -> None:
        self.bench, self.goal, self.runs = bench, goal, runs
        scenario = bench.scenario
        plan = plan_of(scenario)
        self.gate = _following(plan, gate, scenario.gate_names)
        copies = [n for n, row in enumerate(plan["gates"]) if row["name"].split("/")[0] == self.gate]
        row = plan["gates"][copies[0]]
        law = row["rate"]
        self.link: str = plan["gates"][law["gate"]]["name"]
        flows = [flow for flow in plan["flows"] if {*copies} & {*flow["path"]}]
        if not flows:
            raise ArgumentError(
                f"gate {self.gate}: no flow sends data through it, so there is nothing to tune"
            )
        for flow in flows:
            if flow["transport"] != "tcp":
                raise ArgumentError(
                    f'flow {flow["name"]}: only windows of TCP are tuned; write transport = "tcp"'
                )
        self.flows = [flow["name"] for flow in flows]
        #: Fixed delay of each flow's way back, ms.
        self.back_ms = {flow["name"]: _back_ps(plan, flow) / 1e9 for flow in flows}
        self.mss: int = flows[0]["tcp"]["mss"]
        windows = [flow["tcp"]["window"] for flow in flows]
        bounded = [window for window in windows if window is not None]
        #: The largest window that the scenario allows, in segments; None: no limit.
        self.window = None if None in windows else max(1, max(bounded) // self.mss)
        self.share = float(law["share"])
        delays = [plan["gates"][n]["delay_ps"] for n in flows[0]["path"]]
        self.every_ps = int(law["every_ps"])
        self.rtt_ps = sum(delays) + _back_ps(plan, flows[0])
        self.rule_m = max(1, -(-self.rtt_ps // self.every_ps))
        self.own = Knobs(m=int(law["m"]), n=int(law["n"]))
        samples = (plan["duration_ps"] - plan["warmup_ps"]) // self.every_ps
        self.most = (
            max(4, min(_M_REACH * self.rule_m, samples // 4)),
            max(8, min(_N_REACH * self.rule_m, samples // 2)),
        )
        #: What a setting costs the search, after a few replications and after all; with a bound each has all.
        self.seen: dict[Knobs, float] = {}
        self._weighed = {} if goal.bound_ms is None else self.seen
        self._done = 0.0
        self._link_bps: float | None = None

    # --- settings as changes --------------------------------------------------------------------

    def changes(self, knobs: Knobs) -> list[str]:
        """Return the changes to the scenario that make a setting."""
        if knobs.rate_bps is not None:
            return [f'gate.{self.gate}.rate="{knobs.rate_bps} bit/s"']
        follow = f"gate.{self.gate}.rate.follow"
        changes = [f"{follow}.effcap={{ m = {knobs.m}, n = {knobs.n} }}"]
        if knobs.share is not None:
            changes.append(f"{follow}.share={knobs.share}")
        if knobs.window is not None:
            names = dict.fromkeys(self._written(name) for name in self.flows)
            changes += [f'flow.{name}.tcp.window="{knobs.window * self.mss} B"' for name in names]
        return changes

    def _written(self, flow: str) -> str:
        """Return a flow's name as the scenario has it: copies are told apart by a number."""
        name, _, number = flow.rpartition(".")
        return name if name and number.isdigit() else flow

    # --- simulation -----------------------------------------------------------------------------

    def study(self, settings: Sequence[Knobs], runs: int, seed: int | None = None) -> Study:
        """Return one study with a point for each setting."""
        changes = [self.changes(knobs) for knobs in settings]
        return self.bench.study(changes, runs, gate=self.link, seed=seed, progress=self._tell)

    def _tell(self, share: float) -> None:
        if self.bench.progress is not None:
            self.bench.progress(self._done + (1 - self._done) * _SHARE_OF_REST * share)

    def delay(self, study: Study, point: int) -> Estimate:
        """Return what the goal bounds."""
        if self.goal.what == "queue delay":
            metric = f"gate.{self.link}.queue_delay_{self.goal.statistic}_ms"
            return estimate(study.values(metric, point), possible(metric))
        return self.worst_rtt(study, point, self.goal.statistic, whole_way=self.goal.what == "rtt")

    def worst_rtt(self, study: Study, point: int, statistic: str, *, whole_way: bool = True) -> Estimate:
        """Return the round trip of the worst flow, or without the fixed delay of the way back."""
        rows = []
        for flow in self.flows:
            less = 0.0 if whole_way else self.back_ms[flow]
            column = study.values(f"flow.{flow}.rtt_{statistic}_ms", point)
            rows.append([None if value is None else value - less for value in column])
        worst = (max((v for v in row if v is not None), default=None) for row in zip(*rows, strict=True))
        return estimate(worst, possible(f".rtt_{statistic}_ms"))

    def link_bps(self, knobs: Knobs) -> float:
        """Return the mean rate of the link that is followed."""
        if self._link_bps is None:
            study = self.study([knobs], 2)
            self._link_bps = estimate(study.values(f"gate.{self.link}.rate_mean_bps")).mean or 0.0
            if self._link_bps <= 0:
                raise ArgumentError(f"gate {self.link}: its mean rate is 0, so there is nothing to follow")
        return self._link_bps

    def look(self, settings: Sequence[Knobs]) -> list[float]:
        """Return what the search minimises for each setting: below 0 where the goal's bound is met.

        The differences between settings are large beside what is random in them, because all meet the same
        networks, so a few replications put them in order. A bound needs the interval of all of them.
        """
        self._simulate(settings, self.seen, _LOOK_RUNS if self.goal.bound_ms is None else self._all)
        return [self.seen[knobs] for knobs in settings]

    def best(self, settings: Sequence[Knobs]) -> Knobs:
        """Return the best of settings that were looked at: the first few of them are simulated in full."""
        few = sorted(dict.fromkeys(settings), key=self.seen.__getitem__)[:_FINALISTS]
        self._simulate(few, self._weighed, self._all)
        return min(few, key=self._weighed.__getitem__)

    @property
    def _all(self) -> int:
        return max(LEAST_RUNS, self.runs // 2)

    def _simulate(self, settings: Sequence[Knobs], costs: dict[Knobs, float], runs: int) -> None:
        """Add what settings cost that are not there yet."""
        fresh = [knobs for knobs in dict.fromkeys(settings) if knobs not in costs]
        if not fresh:
            return
        study = self.study(fresh, runs)
        for point, knobs in enumerate(fresh):
            goodput = estimate(study.values("goodput_bps", point)).mean or 0.0
            costs[knobs] = -goodput
            if self.goal.bound_ms is not None:
                delay = top_of(self.delay(study, point))
                if delay is None or delay > self.goal.bound_ms:
                    costs[knobs] = 1.0 + (_WORST if delay is None else delay / self.goal.bound_ms)
        self._done += (1 - self._done) * _SHARE_OF_REST


def top_of(found: Estimate) -> float | None:
    """Return the upper end of an interval: a bound is met surely when that keeps to it."""
    return found.mean if found.high is None else found.high


def _back_ps(plan: Plan, flow: Flow) -> int:
    gates: list[int] = [plan["gates"][n]["delay_ps"] for n in flow["back"]]
    return sum(gates) + int(flow["back_delay_ps"])


def largest_window(trials: TuneTrials, mean_bps: float) -> int:
    """Return the largest window worth trying, in segments: several times what fits into the delay."""
    span_s = max(trials.rtt_ps / 1e12, (trials.goal.bound_ms or 0.0) / 1e3)
    most: int = max(8, math.ceil(8 * mean_bps * span_s / (8 * trials.mss)))
    return most if trials.window is None else max(2, min(most, trials.window))


def _following(plan: Plan, gate: str | None, known: Sequence[str]) -> str:
    """Return the name of the gate to tune.

    Raises:
        UnknownNameError: there is no gate of that name.
        ArgumentError: it follows nothing, or it is not clear which one is meant.
    """
    following = list(
        dict.fromkeys(row["name"].split("/")[0] for row in plan["gates"] if row["rate"]["kind"] == "follow")
    )
    if gate is not None:
        if gate not in known:
            raise UnknownNameError(nearest("gate", gate, known))
        if gate not in following:
            raise ArgumentError(
                f"gate {gate}: it has no rate.follow that a flow uses, so there is nothing to tune"
                + (f"; {', '.join(following)} has" if following else "")
            )
        return gate
    if len(following) != 1:
        found = f"there are {len(following)}: {', '.join(following)}" if following else "there is none"
        raise ArgumentError(f"gate: name the gate with rate.follow that is to be tuned; {found}")
    return str(following[0])
