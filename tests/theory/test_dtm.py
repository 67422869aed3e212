"""The DTM estimator by itself: exact vectors, properties, wrong arguments."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tidegate as tg
from tidegate._run import text as _run_text

VECTORS = json.loads(
    (Path(__file__).parents[1] / "vectors" / "dtm_estimator.json").read_text(encoding="utf-8")
)
CASES = [(case, rounding) for case in VECTORS["cases"] for rounding in ("exact", "up")]


@pytest.mark.parametrize(
    ("case", "rounding"), CASES, ids=[f"{case['id']}-{rounding}" for case, rounding in CASES]
)
def test_vectors(case: dict[str, Any], rounding: str) -> None:
    params = case["params"]
    told = tg.dtm.allocate(
        case["rates_bps"],
        slot_bps=params["slot_bps"],
        shift_inc=params["shift_inc"],
        shift_dec=params["shift_dec"],
        margin_slots=params["margin_slots"],
        corridor_slots=params["corridor_slots"],
        rounding=rounding,
        initial_current=params["initial_current"],
        initial_bps=params["initial_link_bps"],
    )
    expected = case["expected"][rounding]
    assert told["current"][9::10].tolist() == case["current_each_second"]
    floor = (told["current"] // params["slot_bps"])[9::10]
    assert floor.tolist() == case["curr_slot_floor_each_second"]
    assert told["allocation_bps"][9::10].tolist() == expected["alloc_bps_each_second"]
    assert told["change_ticks"].tolist() == expected["change_ticks"]
    if rounding == "up":
        slots = told["allocation_bps"][9::10] // params["slot_bps"]
        assert slots.tolist() == expected["alloc_slots_each_second"]


def fig1(rates: list[int], *, shift_dec: int, slot: int, up: bool) -> tuple[list[Any], ...]:
    """Fig. 1 again, word for word, with fractions instead of whole numbers."""
    margin, corridor = Fraction(3, 4), Fraction(2)
    current, link, bounds = 0, Fraction(10_000_000), None
    told: tuple[list[Any], ...] = ([], [], [])
    for tick, new in enumerate(rates, 1):
        diff = new - current
        current += diff >> 3 if diff >= 0 else -((-diff) >> shift_dec)
        curr_slot = Fraction(current, slot)
        if tick % 10 == 0 and (bounds is None or curr_slot > bounds[1] or curr_slot < bounds[0]):
            wanted = curr_slot + margin + corridor / 2
            if up:
                wanted = Fraction(-(-wanted.numerator // wanted.denominator))
            wanted = max(wanted, Fraction(1))
            bounds = (wanted - margin - corridor, wanted - margin)
            link = wanted * slot
            told[2].append(tick)
        told[0].append(current)
        told[1].append(int(link))
    return told


@pytest.mark.parametrize("seed", range(20))
def test_fig1_written_anew(seed: int) -> None:
    draw = random.Random(seed)
    level = draw.choice([40_000, 700_000, 30_000_000])
    rates = [draw.randrange(level) if draw.random() < 0.9 else 0 for _ in range(400)]
    slot, shift_dec = draw.choice([64_000, 512_000, 777_777]), draw.choice([2, 3, 5])
    told = tg.dtm.allocate(rates, slot_bps=slot, shift_dec=shift_dec, rounding="up" if seed % 2 else "exact")
    expected = fig1(rates, shift_dec=shift_dec, slot=slot, up=bool(seed % 2))
    assert (told["current"].tolist(), told["allocation_bps"].tolist(), told["change_ticks"].tolist()) == (
        expected
    )


def test_whatever_holds_numbers_is_taken() -> None:
    rates = [5_000_000, 4_000_000] * 20
    first = tg.dtm.allocate(rates)
    for other in (tuple(rates), iter(rates), np.array(rates), np.array(rates, dtype=float), map(int, rates)):
        assert all((first[key] == value).all() for key, value in tg.dtm.allocate(other).items())
    assert {key: value.dtype for key, value in first.items()} == dict.fromkeys(first, np.dtype(np.int64))
    assert all(len(value) == 0 for value in tg.dtm.allocate([]).values())


def test_drops_hold_what_they_should() -> None:
    rates = [8_000_000] * 30 + [2_000_000] * 10
    losses = [0] * 30 + [1] + [0] * 9
    last = {
        on_loss: tg.dtm.allocate(rates, losses=losses, on_loss=on_loss)
        for on_loss in ("nothing", "hold tick", "hold second", "hold link")
    }
    current = {name: int(told["current"][-1]) for name, told in last.items()}
    rate = {name: int(told["allocation_bps"][-1]) for name, told in last.items()}
    assert current["nothing"] == current["hold link"] < current["hold tick"] < current["hold second"]
    assert current["hold second"] == last["nothing"]["current"][29]
    assert rate["nothing"] < rate["hold tick"] < rate["hold second"] == rate["hold link"]
    # A decision that leaves the value is a decision.
    assert last["hold link"]["change_ticks"].tolist() == last["nothing"]["change_ticks"].tolist()
    same = tg.dtm.allocate(rates, losses=np.array(losses) > 0, on_loss="hold tick")
    assert same["current"].tolist() == last["hold tick"]["current"].tolist()


def test_limits() -> None:
    told = tg.dtm.allocate([20_000_000] * 30, max_slots=8)
    assert told["allocation_bps"].max() == 10_000_000
    assert set(told["allocation_bps"][9:].tolist()) == {8 * 512_000}
    assert told["change_ticks"].tolist() == [10, 20, 30]
    assert tg.dtm.allocate([0] * 10, min_slots=5)["allocation_bps"][-1] == 5 * 512_000


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"shift_inc": 64}, "shift_inc: 64 is out of range; from 0 to 63"),
    ({"shift_dec": -1}, "shift_dec: -1 is out of range; from 0 to 63"),
    ({"corridor_slots": -1}, "corridor_slots: -1 is out of range; from 0 to 1000000000 slots"),
    ({"margin_slots": "much"}, "margin_slots: 'much' is not a number of slots"),
    ({"margin_slots": 1 / 3}, "margin_slots: 0.3333333333333333 has more than nine decimals; round it"),
    ({"margin_slots": float("nan")}, "margin_slots: nan is not a number of slots"),
    ({"slot_bps": 0}, "slot_bps: 0 is out of range; from 1 to 1000000000000000"),
    ({"slot_bps": 10**15, "margin_slots": 2}, "margin: more than 1000000 Gbit/s in all"),
    ({"min_slots": 3, "max_slots": 2}, "min_slots: 3 is more than max_slots, 2"),
    ({"min_slots": 0}, "min_slots: 0 is out of range; from 1"),
    ({"rounding": "down"}, 'rounding: "down" is not known; one of "exact", "up"'),
    ({"on_loss": "hold"}, 'on_loss: "hold" is not known; one of "nothing", "hold tick"'),
    ({"initial_bps": 0}, "initial_bps: 0 is out of range"),
    ({"initial_current": 0.5}, "initial_current: 0.5 is not a whole number"),
    ({"update_every": 0}, "update_every: 0 is out of range"),
    ({"losses": [1, 2]}, "losses: 2 values for 1 rates; give one for each"),
    ({"rates_bps": [1, 1.5]}, "rates_bps[1]: 1.5 is not a whole number"),
    ({"rates_bps": [-1]}, "rates_bps[0]: -1 is out of range"),
    ({"rates_bps": "5 Mbit/s"}, "rates_bps: '5 Mbit/s' is text, not a sequence of numbers"),
    ({"rates_bps": 5}, "rates_bps: 5 is not a sequence of numbers"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[message.split(":")[0] for _, message in WRONG])
def test_wrong_arguments(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.errors.ArgumentError) as error:
        tg.dtm.allocate(**{"rates_bps": [5_000_000], **wrong})
    assert str(error.value).startswith(message)


def test_it_is_there_after_the_import_and_loaded_when_named() -> None:
    code = (
        "import sys, tidegate as tg\n"
        "assert 'tidegate.dtm' not in sys.modules and 'dtm' in dir(tg)\n"
        "tg.dtm.allocate([5_000_000] * 10)\n"
        "assert 'tidegate.dtm' in sys.modules\n"
        "print([m for m in ('polars', 'matplotlib') if m in sys.modules])\n"
        "try: tg.dmt\n"
        "except AttributeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "module 'tidegate' has no attribute 'dmt'"]


SCENARIO = """
duration = "10 s"

[pool.ring]
capacity = "{capacity}"

[gate.own]
per = "flow"
rate = "5 Mbit/s"
queue = "20 packets"
delay = "5 ms"

[gate.channel]
{per}
queue = "20 packets"
delay = "10 ms"
rate.dtm.initial = "2 Mbit/s"
rate.dtm.pool = "ring"
{more}

[flow.bulk]
count = 3
path = ["own", "channel"]
start.uniform = ["0 s", "1 s"]

[record]
channel = ["rate_bps", "slots"]
every = "events"
"""


def test_a_channel_has_whole_slots_and_changes_at_whole_seconds() -> None:
    text = SCENARIO.format(capacity="100 Mbit/s", per="", more='rate.dtm.rounding = "up"')
    run = tg.run(tg.Scenario.from_toml(text), seed=3, record="events")
    gate = run.gates["channel"]
    history = gate.columns()
    series = gate.series("rate")
    seconds = np.arange(1, 10) - 1e-9
    at = np.searchsorted(series["time_s"].to_numpy(), seconds, side="right") - 1
    rates = series["rate_bps"].to_numpy()[at]
    assert (rates[1:] % 512_000 == 0).all()
    changes = series.filter(series["rate_bps"] != series["rate_bps"].shift(1))["time_s"].to_numpy()
    assert np.allclose(changes, np.round(changes))
    assert len(changes) == gate["allocation_changes"]
    assert (history["slots"] * 512_000 - history["rate_bps"]).abs().max() < 1e-6


def test_the_summary_of_a_channel_and_of_no_channel() -> None:
    text = SCENARIO.format(capacity="100 Mbit/s", per="", more="")
    run = tg.run(tg.Scenario.from_toml(text), seed=3, record="events")
    names = {
        "slots_mean",
        "slots_min",
        "slots_max",
        "allocation_changes",
        "allocated_bps_mean",
        "overallocation_bps_mean",
    }
    for gate in run.gates:
        assert (names & set(gate.summary)) == (names if gate.name == "channel" else set()), gate.name
    channel = run.gates["channel"].summary
    # From the history: the rate holds from each row to the next.
    series = run.gates["channel"].series("rate")
    time = np.append(series["time_s"].to_numpy(), 10.0)
    rate = series["rate_bps"].to_numpy()
    first = 2_000_000.0
    mean = (first * time[0] + (rate * np.diff(time)).sum()) / 10
    assert channel["allocated_bps_mean"] == pytest.approx(mean, rel=1e-9)
    assert channel["slots_mean"] == pytest.approx(mean / 512_000, rel=1e-9)
    assert channel["slots_min"] == pytest.approx(min(first, rate.min()) / 512_000)
    assert channel["slots_max"] == pytest.approx(max(first, rate.max()) / 512_000)
    # All packets but the first of each flow are of one size.
    size = 8 * channel["delivered_bytes"] / channel["delivered_packets"]
    came = channel["offered_packets"] + channel["waiting_packets"]
    offered = size * came / 10
    assert channel["overallocation_bps_mean"] == pytest.approx(mean - offered, rel=0.02, abs=20_000)
    report = _run_text.run_report(run.summary, run.title)
    assert f"Slots of gate channel: {channel['slots_mean']:.3g} on average" in report
    assert f"{channel['allocation_changes']} changes" in report
    # Other gates' rows have nothing there, not 0.
    frame = run.gates.frame.select("name", "slots_mean")
    assert frame["slots_mean"].null_count() == len(frame) - 1


def test_a_pool_is_never_over_committed() -> None:
    text = SCENARIO.format(capacity="20 slots", per='per = "flow"', more="")
    run = tg.run(tg.Scenario.from_toml(text), seed=3, record="events")
    channels = [gate for gate in run.gates if gate.name.startswith("channel/")]
    assert len(channels) == 3
    instants = sorted(set(itertools.chain(*(gate.columns()["time_s"].to_list() for gate in channels))))
    total = np.zeros(len(instants))
    for gate in channels:
        series = gate.series("rate")
        at = np.searchsorted(series["time_s"].to_numpy(), instants, side="right") - 1
        rates = np.append(series["rate_bps"].to_numpy(), 2_000_000.0)
        total += rates[at]
    assert total.max() <= 20 * 512_000
    # Three flows of up to 5 Mbit/s want more than there is: nearly all of it is given.
    assert total.max() > 20 * 512_000 - 3
