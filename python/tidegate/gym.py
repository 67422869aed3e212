"""Learned congestion control: a Gymnasium environment around one flow of a scenario.

An episode is a run of the scenario. A step sets the window or the pace of one flow, lets an interval
pass, and returns what that flow's sender has observed in it; nothing that a sender could not know. It needs
the package gymnasium (``pip install 'tidegate[gym]'``).

>>> import tidegate as tg
>>> env = tg.gym.Env("examples/lte.toml", flow="bulk", interval="50 ms", seed=7)
>>> observation, info = env.reset()
>>> observation, reward, terminated, truncated, info = env.step([0.5])
>>> info["goodput_bps"], info["rtt_mean_ms"]

The seed of ``reset`` is the run's: the same seed and the same actions give the same observations. Without a
seed the next episode is the next replication of the same seed.

An agent that leaves its window alone gets what ``tcp.cc = "fixed"`` gets, as long as nothing is lost; after
losses the window stays the agent's, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._ask.changes import Sets
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario
from tidegate._base.arguments import PICOS, whole
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate._base.limits import bounds
from tidegate._run.start import assemble
from tidegate._run.value import Run
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    import gymnasium
    import numpy as np
    from gymnasium import Env as _Base

    Observation = np.ndarray[Any, np.dtype[np.float64]]
else:
    gymnasium, np = Lazy("gymnasium"), Lazy("numpy")
    Observation = "np.ndarray"
    try:
        from gymnasium import Env as _Base
    except ModuleNotFoundError:
        _Base = None

__all__ = ["Env", "aurora", "log_utility"]

#: What is observed at the end of each step, by name, with its meaning; in this order.
OBSERVATIONS: dict[str, str] = {
    "interval_s": "how long the step was",
    "goodput_bps": "user bits that ACKs newly reported as arrived, by the length of the step",
    "sent_bps": "user bits sent, retransmissions included, by the length of the step",
    "lost_segments": "segments that ACKs proved lost",
    "retransmitted_segments": "segments sent again",
    "retransmitted_share": "the same as a share of the segments sent, 0 to 1",
    "marked_segments": "segments reported as marked (ECN)",
    "timeouts": "retransmission time-outs",
    "rtt_mean_ms": "mean round trip; without a sample that of the step before; 0 before the first",
    "rtt_min_ms": "shortest round trip; without a sample that of the step before; 0 before the first",
    "rtt_least_ms": "shortest round trip of the episode; 0 before the first",
    "smoothed_rtt_ms": "smoothed round trip (RFC 6298); 0 before the first",
    "in_flight_bytes": "user bytes taken to be in flight at the end of the step",
    "window_bytes": "the window in force",
    "pacing_bps": "the pace in force, user bits per second; 0: none",
}

#: A reward from the named observations of a step.
Reward = Callable[[Mapping[str, float]], float]

_ACTIONS = {"window": ("window",), "pacing": ("pacing",), "both": ("window", "pacing")}
#: No window is larger (RFC 7323 §2.3), and no pace than what counts as 64 bits.
_LARGEST_WINDOW = 2.0**30
_SLOWEST_BPS, _FASTEST_BPS = 1e3, 1e12
#: The steps of ``interval="1 rtt"`` before the first sample, and the shortest.
_FIRST_STEP, _SHORTEST_STEP = PICOS // 10, PICOS // 1000


def log_utility(observed: Mapping[str, float]) -> float:
    """Return ln(1 + goodput in Mbit/s) − queueing delay / least round trip − 10 × share sent again.

    Of the form throughput − delay − loss that rewards of learned congestion control have (Aurora, Jay et al.,
    ICML 2019; Orca, Abbasloo et al., SIGCOMM 2020). The weights are ours.
    """
    least, mean = observed["rtt_least_ms"], observed["rtt_mean_ms"]
    delay = (mean - least) / least if least > 0 else 0.0
    return math.log1p(observed["goodput_bps"] / 1e6) - delay - 10 * observed["retransmitted_share"]


def aurora(observed: Mapping[str, float]) -> float:
    """Return 10 × throughput − 1000 × latency − 2000 × loss, as Aurora has it (Jay et al., ICML 2019).

    Throughput in packets per second (here of 1500 bytes), latency in seconds, loss as a share (here of
    segments sent again).
    """
    packets = observed["goodput_bps"] / 12_000
    return 10 * packets - 1000 * observed["rtt_mean_ms"] / 1e3 - 2000 * observed["retransmitted_share"]


class Env(_Base if _Base is not None else object):  # type: ignore[misc]
    """A scenario as an environment: one flow is steered, step by step; everything else is as it stands there.

    An action is a list of one or two numbers from −1 to 1. The window, or the pace, is multiplied by
    ``reach`` to the power of the action: with the default of 4, −1 is a quarter, 0 leaves it, 1 is four times
    (the range of Orca's agent). With ``absolute=True`` an action is the window in segments, or the pace in
    bit/s. Both hold through losses, time-outs and idle times. They begin with ``window`` and ``pacing``.

    An observation is an array of float64, named by :attr:`observation_names`
    (:data:`tidegate.gym.OBSERVATIONS` explains each); ``info`` has the same by name, and ``time_s``.
    An episode begins when the flow opens its connection. It is *terminated* when a finite transfer has
    arrived, and *truncated* at the scenario's duration; then :attr:`run` is the whole run.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`tidegate.Scenario`.
        flow: the steered flow; left out, the scenario's first. Its ``tcp.cc`` counts no more.
        interval: the length of a step, such as ``"10 ms"``, or in smoothed round trips, ``"1 rtt"``.
        action: ``"window"``, ``"pacing"`` or ``"both"``. With ``"pacing"`` alone there is no window.
        absolute: actions are values, not factors.
        reach: the largest factor, above 1.
        window: segments that may be in flight at first; left out, the initial window.
        pacing: pace at first, such as ``"1 Mbit/s"``; left out, that, or none where it is not an action.
        reward: what a step is worth, from the named observations; left out, :func:`log_utility`.
        seed: the first episode's seed, if ``reset`` names none; left out, the scenario's, or one by chance.
        record: columns of :attr:`run`, as in :func:`tidegate.run`; left out, its summary alone.
        changes: made before the checks.

    Raises:
        ScenarioError, TraceError: the scenario is wrong; the message says where.
        ArgumentError: an argument is wrong: the flow does not exist, the interval is not positive.
        EngineError: another flow has a congestion control of the kernel's.
        ModuleNotFoundError: gymnasium is not installed.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012
    render_mode: str | None = None

    def __init__(
        self,
        source: Source,
        *,
        flow: str | None = None,
        interval: str = "10 ms",
        action: str = "window",
        absolute: bool = False,
        reach: float = 4.0,
        window: float | None = None,
        pacing: str | None = None,
        reward: Reward | None = None,
        seed: int | None = None,
        record: str = "summary",
        changes: Sets = None,
    ) -> None:
        if _Base is None:
            raise ModuleNotFoundError(
                "tidegate.gym needs the package gymnasium: pip install 'tidegate[gym]'", name="gymnasium"
            )
        if action not in _ACTIONS:
            raise ArgumentError(f"action: {shown(action)} is not known; one of {', '.join(_ACTIONS)}")
        if not 1 < reach < math.inf:
            raise ArgumentError(f"reach: {shown(reach)} is no factor; give a number above 1")
        self._scenario = as_scenario(source, changes, seed=seed)
        self._interval, self._rounds = _interval(interval)
        self._parts = _ACTIONS[action]
        self._absolute, self._reach = absolute, float(reach)
        self._reward = log_utility if reward is None else reward
        self._record = record
        self._seed, self._episode = None if seed is None else whole("seed", seed, *bounds("seed")), 0
        chosen = self._scenario.seed or 0
        # The flow's name is checked now, and it says what a segment is.
        self._flow = flow if flow is not None else self._scenario.flow_names[0]
        seen = self._stepper(chosen, 0).look()
        self._mss: int = seen["mss_bytes"]
        self._first_window = float(seen["initial_window_bytes"]) if window is None else window * self._mss
        if not self._first_window > 0:
            raise ArgumentError(f"window: {shown(window)} segments; give a positive number")
        if "pacing" in self._parts:
            pacing = "1 Mbit/s" if pacing is None else pacing
        self._first_pacing = None if pacing is None else float(_core.read_rate("pacing", pacing))
        if "window" not in self._parts and window is None:
            self._first_window = _LARGEST_WINDOW
        self._run: Run | None = None
        self._over = True
        boxes = gymnasium.spaces.Box
        low, high = self._bounds()
        self.action_space = boxes(low, high, dtype=np.float64)
        most = np.full(len(OBSERVATIONS), np.inf)
        self.observation_space = boxes(np.zeros(len(OBSERVATIONS)), most, dtype=np.float64)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What the numbers of an observation are, in order; the unit is the end of the name."""
        return tuple(OBSERVATIONS)

    @property
    def run(self) -> Run:
        """The run of the episode that has ended.

        Raises:
            ArgumentError: none has, or another one goes on.
        """
        if self._run is None:
            raise ArgumentError(
                "no episode has ended; its run is there when a step says truncated or terminated"
            )
        return self._run

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode, and return what is observed when the flow opens its connection.

        Args:
            seed: the run's; left out, the next replication of the seed before.
            options: none are known.

        Raises:
            ArgumentError: there are options, or the seed is no number.
        """
        if options:
            raise ArgumentError(f"options: {', '.join(options)} is not known; there are none")
        if seed is not None:
            self._seed, self._episode = whole("seed", seed, *bounds("seed")), 0
        elif self._seed is None:
            self._seed = choose(None, self._scenario.seed)
        super().reset(seed=seed)
        self._inner = self._stepper(self._seed, self._episode)
        self._replication, self._episode = self._episode, self._episode + 1
        self._until = self._inner.until_ps()
        self._now = min(self._inner.start_ps(), self._until)
        self._inner.advance(self._now)
        self._window, self._pacing = self._first_window, self._first_pacing
        self._steer()
        self._run, self._over = None, False
        self._before: dict[str, Any] = dict.fromkeys(("sent_bytes", "sent_segments", "timeouts"), 0)
        self._before["retransmitted_segments"] = 0
        self._trips = dict.fromkeys(("rtt_mean_ms", "rtt_min_ms", "rtt_least_ms"), 0.0)
        self._srtt = 0
        observed = self._observe(0)[0]
        return _array(observed), self._info(observed)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply an action, let the interval pass, and return what was observed in it.

        Returns:
            Observation, reward, terminated, truncated, info.

        Raises:
            ArgumentError: the episode is over or has not begun, or the action is not in ``action_space``.
            RunError: a limit of the scenario ended the run.
        """
        if self._over:
            raise ArgumentError("step: no episode is under way; call reset")
        self._act(action)
        self._steer()
        began = self._now
        self._now = min(began + self._length(), self._until)
        self._inner.advance(self._now)
        # The run may end within a step.
        observed, completed = self._observe(self._now - began)
        terminated, truncated = completed, self._now >= self._until
        reward = float(self._reward(observed))
        self._over = terminated or truncated
        if self._over:
            self._run = self._finished()
        return _array(observed), reward, terminated, truncated, self._info(observed)

    def close(self) -> None:
        """End the episode."""
        self._over = True

    def _stepper(self, seed: int, replication: int) -> _core.Stepper:
        return _core.Stepper(
            self._scenario._inner, self._flow, seed=seed, replication=replication, record=self._record
        )

    def _bounds(self) -> tuple[Observation, Observation]:
        if not self._absolute:
            return np.full(len(self._parts), -1.0), np.full(len(self._parts), 1.0)
        limits = {"window": (1.0, _LARGEST_WINDOW // self._mss), "pacing": (_SLOWEST_BPS, _FASTEST_BPS)}
        low, high = zip(*(limits[part] for part in self._parts), strict=True)
        return np.array(low), np.array(high)

    def _act(self, action: Any) -> None:
        given = np.asarray(action, dtype=np.float64).reshape(-1)
        inside = len(given) == len(self._parts) and self.action_space.contains(given)
        if not inside:
            raise ArgumentError(f"action: {shown(action)} is not in {self.action_space}")
        for part, number in zip(self._parts, given.tolist(), strict=True):
            if part == "window":
                bytes_ = number * self._mss if self._absolute else self._window * self._reach**number
                self._window = min(max(bytes_, float(self._mss)), _LARGEST_WINDOW)
            else:
                bps = number if self._absolute else (self._pacing or 0) * self._reach**number
                self._pacing = min(max(bps, _SLOWEST_BPS), _FASTEST_BPS)

    def _steer(self) -> None:
        pacing = None if self._pacing is None else round(self._pacing)
        self._inner.steer(round(self._window), pacing)

    def _length(self) -> int:
        if self._rounds is None:
            return self._interval
        return max(round(self._rounds * self._srtt), _SHORTEST_STEP) if self._srtt else _FIRST_STEP

    def _observe(self, length: int) -> tuple[dict[str, float], bool]:
        seen = self._inner.look()
        interval_s = length / PICOS
        new = {name: seen[name] - before for name, before in self._before.items()}
        self._before = {name: seen[name] for name in self._before}
        self._srtt = seen["srtt_ps"] or 0
        trips, count = self._trips, seen["round_trips"]
        if count:
            trips["rtt_mean_ms"] = seen["round_trip_sum_ps"] / count / 1e9
            trips["rtt_min_ms"] = shortest = seen["round_trip_least_ps"] / 1e9
            least = trips["rtt_least_ms"]
            trips["rtt_least_ms"] = min(least, shortest) if least else shortest
        per_second = 8 / interval_s if length else 0.0
        sent = new["sent_segments"]
        observed = {
            "interval_s": interval_s,
            "goodput_bps": seen["delivered_bytes"] * per_second,
            "sent_bps": new["sent_bytes"] * per_second,
            "lost_segments": seen["lost_bytes"] / self._mss,
            "retransmitted_segments": float(new["retransmitted_segments"]),
            "retransmitted_share": new["retransmitted_segments"] / sent if sent else 0.0,
            "marked_segments": float(seen["marked_segments"]),
            "timeouts": float(new["timeouts"]),
            **trips,
            "smoothed_rtt_ms": self._srtt / 1e9,
            "in_flight_bytes": float(seen["in_flight_bytes"]),
            "window_bytes": float(seen["window_bytes"]),
            "pacing_bps": float(seen["pacing_bps"] or 0),
        }
        return observed, seen["completed"]

    def _info(self, observed: dict[str, float]) -> dict[str, Any]:
        return {
            **observed,
            "time_s": self._now / PICOS,
            "seed": self._seed,
            "replication": self._replication,
        }

    def _finished(self) -> Run:
        data = self._inner.finish()
        assert self._seed is not None
        return assemble(self._scenario, data, seed=self._seed, replication=self._replication, quiet=True)

    def __repr__(self) -> str:
        return f"<Env {self._scenario.name!r}, flow {self._flow!r}>"


def _array(observed: dict[str, float]) -> Observation:
    return np.array([observed[name] for name in OBSERVATIONS], dtype=np.float64)


def _interval(text: Any) -> tuple[int, float | None]:
    """Return picoseconds, or a number of smoothed round trips."""
    rounds = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*rtts?\s*", text) if isinstance(text, str) else None
    if rounds:
        if float(rounds[1]) == 0:
            raise ArgumentError(f"interval: read {shown(text)}; a step takes more than no time")
        return 0, float(rounds[1])
    if not isinstance(text, str):
        raise ArgumentError(f'interval: {shown(text)} is no time; give a text such as "10 ms" or "1 rtt"')
    return _core.read_span("interval", text), None
