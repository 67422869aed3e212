"""The Gymnasium environment: what an agent does, sees, and gets at the end."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from typing import Any

import pytest
import tidegate as tg
from support.common import ROOT

np = pytest.importorskip("numpy")
checker = pytest.importorskip("gymnasium.utils.env_checker")

LINK: dict[str, Any] = {
    "duration": "5 s",
    "seed": 1,
    "gate": {
        "link": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": "50 packets"},
        "back": {"delay": "20 ms"},
    },
    "flow": {"a": {"path": ["link"], "back": ["back"], "tcp": {"base": "rfc"}}},
}
LOSSY = {**LINK, "gate": {**LINK["gate"], "link": {**LINK["gate"]["link"], "loss": "1%"}}}
TWO = {**LOSSY, "flow": {**LINK["flow"], "b": {**LINK["flow"]["a"], "start": "1 s"}}}
ROOMY = {**TWO, "gate": {**LINK["gate"], "link": {"rate": "20 Mbit/s", "queue": "unlimited"}}}


def play(env: tg.gym.Env, actions: Any = None, seed: int | None = None) -> list[Any]:
    """Play an episode, and return all that it says."""
    seen: list[Any] = [env.reset(seed=seed)]
    over = False
    draws = iter(actions) if actions is not None else None
    while not over:
        action = [0.0] * env.action_space.shape[0] if draws is None else next(draws)
        seen.append(env.step(action))
        over = seen[-1][2] or seen[-1][3]
    return seen


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("action", ["window", "pacing", "both"])
@pytest.mark.parametrize("absolute", [False, True])
def test_it_is_an_environment(action: str, absolute: bool) -> None:
    checker.check_env(tg.gym.Env(LINK, interval="50 ms", action=action, absolute=absolute))


@pytest.mark.parametrize("interval", ["7 ms", "50 ms", "1 rtt", "10 s"])
@pytest.mark.parametrize("scenario", [LINK, ROOMY], ids=["one flow", "two flows"])
def test_a_constant_window_is_what_fixed_is(scenario: dict[str, Any], interval: str) -> None:
    env = tg.gym.Env(scenario, flow="a", interval=interval, window=40)
    play(env)
    fixed = tg.run(
        scenario, record="summary", changes={"flow.a.tcp.cc": "fixed", "flow.a.tcp.window": "40 segments"}
    )
    one, other = copy.deepcopy(env.run.summary), copy.deepcopy(fixed.summary)
    assert one["flows"][0].pop("cc") == "steered"
    assert one["flows"][0].pop("tcp") == "steered, rfc"
    assert other["flows"][0].pop("tcp") == "fixed, rfc"
    assert other["flows"][0].pop("cc") == "fixed"
    assert one == other


@pytest.mark.parametrize("scenario", [LINK, LOSSY, TWO], ids=["plain", "loss", "two flows"])
def test_the_length_of_steps_changes_nothing(scenario: dict[str, Any]) -> None:
    runs = []
    for interval in ("7 ms", "333 ms", "10 s"):
        env = tg.gym.Env(scenario, interval=interval, window=60, seed=3)
        play(env)
        runs.append(env.run.summary)
    assert runs[0] == runs[1] == runs[2]


def test_the_same_seed_and_actions_give_the_same_observations() -> None:
    draws = np.random.default_rng(5).uniform(-1, 1, (1000, 2))
    episodes = []
    for _ in range(2):
        env = tg.gym.Env(LOSSY, interval="20 ms", action="both", pacing="5 Mbit/s")
        episodes.append([step[0].tobytes() for step in play(env, draws, seed=11)])
    assert episodes[0] == episodes[1]
    assert [step[0].tobytes() for step in play(env, draws, seed=12)] != episodes[0]
    again = [step[0].tobytes() for step in play(env, draws, seed=11)]
    assert again == episodes[0]


def test_without_a_seed_the_next_replication_follows() -> None:
    env = tg.gym.Env(LOSSY, interval="500 ms", seed=4)
    infos = [play(env)[-1][4] for _ in range(3)]
    assert [(info["seed"], info["replication"]) for info in infos] == [(4, 0), (4, 1), (4, 2)]
    assert len({info["goodput_bps"] for info in infos}) > 1
    assert env.reset(seed=4)[1]["replication"] == 0


def test_observations_are_named_and_add_up() -> None:
    env = tg.gym.Env(LINK, interval="100 ms", window=200)
    steps = play(env)
    names = env.observation_names
    assert names == tuple(tg.gym.OBSERVATIONS)
    assert all(dict(zip(names, step[0], strict=True)).items() <= step[-1].items() for step in steps)
    assert all(env.observation_space.contains(step[0]) for step in steps)
    flow = env.run.flows["a"]
    resent = sum(step[-1]["retransmitted_segments"] for step in steps)
    assert resent == flow["segments_retransmitted"] > 0
    assert sum(step[-1]["timeouts"] for step in steps) == flow["timeouts"]
    mean = sum(step[-1]["goodput_bps"] for step in steps) / (len(steps) - 1)
    assert mean == pytest.approx(flow["goodput_bps"], rel=0.02)
    last = steps[-1][-1]
    assert 40 < last["rtt_least_ms"] <= last["rtt_min_ms"] <= last["rtt_mean_ms"]
    assert last["window_bytes"] == 200 * 1460
    assert last["time_s"] == 5.0


def test_the_last_step_is_as_long_as_the_run_lets_it_be() -> None:
    seen = play(
        tg.gym.Env({**LINK, "duration": "3 s"}, interval="2 s", reward=lambda seen: seen["goodput_bps"])
    )
    infos = [step[-1] for step in seen]
    assert [info["time_s"] for info in infos] == [0.0, 2.0, 3.0]
    assert [info["interval_s"] for info in infos] == [0.0, 2.0, 1.0]
    halves = play(tg.gym.Env({**LINK, "duration": "3 s"}, interval="1 s"))
    assert infos[-1]["goodput_bps"] == halves[-1][-1]["goodput_bps"] > 0
    assert infos[-1]["sent_bps"] == halves[-1][-1]["sent_bps"]
    assert seen[-1][1] == infos[-1]["goodput_bps"]


def test_the_guide_explains_every_observation() -> None:
    page = (ROOT / "docs" / "guide" / "own-controller.md").read_text(encoding="utf-8")
    for name, meaning in tg.gym.OBSERVATIONS.items():
        assert f"| `{name}` | {meaning[0].upper()}{meaning[1:]} |" in page


def test_a_window_is_obeyed_at_once() -> None:
    env = tg.gym.Env(LINK, interval="1 ms", absolute=True)
    env.reset()
    for _ in range(200):
        env.step([10.0])
    assert env.step([60.0])[4]["in_flight_bytes"] == 60 * 1460
    halved = [env.step([30.0])[4]["in_flight_bytes"] for _ in range(80)]
    assert halved[-1] == 30 * 1460


def test_a_pace_is_obeyed() -> None:
    env = tg.gym.Env(LINK, interval="100 ms", action="pacing", absolute=True)
    play(env, ([5e6] for _ in range(1000)))
    assert env.run.flows["a"]["goodput_bps"] == pytest.approx(5e6, rel=0.02)
    assert env.run.flows["a"]["limited_by"]["pacing"] > 0.9


def test_factors_multiply() -> None:
    env = tg.gym.Env(LINK, interval="10 ms", window=10, reach=2)
    env.reset()
    seen = [env.step([action])[4]["window_bytes"] for action in (1, 1, 0, -1, 0.5)]
    assert seen == pytest.approx([20 * 1460, 40 * 1460, 40 * 1460, 20 * 1460, 20 * 2**0.5 * 1460], abs=1)


def test_rewards() -> None:
    idle = {"goodput_bps": 0.0, "rtt_mean_ms": 0.0, "rtt_least_ms": 0.0, "retransmitted_share": 0.0}
    assert tg.gym.log_utility(idle) == 0
    busy = {"goodput_bps": 1e6, "rtt_mean_ms": 60.0, "rtt_least_ms": 40.0, "retransmitted_share": 0.01}
    assert tg.gym.log_utility(busy) == pytest.approx(math.log(2) - 0.5 - 0.1)
    assert tg.gym.aurora(busy) == pytest.approx(10 * 1e6 / 12_000 - 60 - 20)
    env = tg.gym.Env(LINK, reward=lambda seen: seen["in_flight_bytes"])
    env.reset()
    step = env.step([0.0])
    assert step[1] == step[4]["in_flight_bytes"]


def test_a_transfer_that_has_arrived_ends_the_episode() -> None:
    short = {
        **LINK,
        "flow": {"a": {**LINK["flow"]["a"], "app": {"transfer": "200 kB"}, "start": "1 s"}},
    }
    env = tg.gym.Env(short, interval="10 ms")
    assert env.reset()[1]["time_s"] == 1.0
    steps = play(env)
    assert steps[-1][2:4] == (True, False)
    assert env.run.flows["a"]["completion_s"] == pytest.approx(steps[-1][4]["time_s"] - 1, abs=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flow": "b"}, 'flow: there is no flow "b"; one of a'),
        ({"interval": "0 ms"}, "interval"),
        ({"interval": "0 rtt"}, "interval: read '0 rtt'"),
        ({"interval": -1}, "interval: -1 is no time"),
        ({"action": "both ways"}, "action: 'both ways' is not known; one of window, pacing, both"),
        ({"reach": 1}, "reach: 1 is no factor"),
        ({"window": 0}, "window: 0 segments"),
        ({"pacing": "fast", "action": "pacing"}, "pacing"),
        ({"changes": {"flow.a.tcp.sack": False}}, "cannot be steered without SACK"),
    ],
)
def test_what_is_wrong_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.errors.ArgumentError) as raised:
        tg.gym.Env(LINK, **options)
    assert message in str(raised.value)


def test_calls_out_of_order_are_refused() -> None:
    env = tg.gym.Env(LINK, interval="1 s")
    for call in (lambda: env.step([0.0]), lambda: env.run, lambda: env.reset(options={"x": 1})):
        with pytest.raises(tg.errors.ArgumentError):
            call()
    env.reset()
    with pytest.raises(tg.errors.ArgumentError, match="is not in Box"):
        env.step([2.0])
    play(env)
    with pytest.raises(tg.errors.ArgumentError, match="call reset"):
        env.step([0.0])


def test_other_flows_need_a_controller_of_the_simulators() -> None:
    with pytest.raises(tg.errors.EngineError, match="kernel"):
        tg.gym.Env(TWO, flow="a", changes={"flow.b.tcp.cc": "bic"})


def test_without_gymnasium_a_message_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = None\nimport tidegate as tg\nassert tg.gym.log_utility\n"
        "try: tg.gym.Env({})\nexcept ModuleNotFoundError as missing: print(missing)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'tidegate[gym]'" in done.stdout
