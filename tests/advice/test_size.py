"""The smallest queue that loses nothing: right to the unit, by theory and by simulation."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import SMALL, tidegate
from tidegate_papers._reproduce import paper as _paper

if TYPE_CHECKING:
    from pathlib import Path

FIG_3 = _paper.FOLDER / "cell_spacing" / "fig-3.toml"
SHARED = _paper.FOLDER / "traffic_shaping" / "shared.toml"

WINDOW = {"flow.bulk.tcp.window": "40 segments", "gate.bottleneck.loss": "0"}


def drops(file: Path, gate: str, queue: str, **changes: str) -> list[int]:
    """Return what a gate drops with a queue, over a whole run, by replication."""
    scenario = tg.load(file, changes={**changes, f"gate.{gate}.queue.limit": queue, "warmup": "0 s"})
    runs = [
        tg.run(scenario, seed=1, replication=n, record="summary").summary["gates"]
        for n in range(scenario.runs)
    ]
    name = "dropped_cells"
    return [sum(row[name] for row in rows if row["name"].split("/")[0] == gate) for rows in runs]


def test_theory_and_simulation_agree() -> None:
    theory = tg.size(FIG_3, "spacer", store=False)
    assert (theory.method, theory.theory) == ("theory", "spacer")
    # 1217.6 of fluid are at most 1219 cells, one of them in service.
    assert (theory.size, theory.unit, theory.lost_with_one_less) == (1218, "cells", 1)
    assert theory.limits == pytest.approx((1182.4, 1217.6), abs=1e-3)
    assert theory.delay_limit_ms == pytest.approx(1217.6 * 0.0125 / 0.45, abs=1e-3)
    simulated = tg.size(FIG_3, "spacer", method="sim", store=False)
    assert (simulated.method, simulated.size) == ("sim", 1218)
    assert simulated.standing == theory.standing
    assert drops(FIG_3, "spacer", "1218 cells") == [0]
    assert drops(FIG_3, "spacer", "1217 cells")[0] > 0


def test_seeds() -> None:
    """Of several replications the largest counts; the file's own limit does not matter."""
    changes = {"duration": "2 s", "warmup": "1 s", "runs": "4", "flow.tcp.tcp.window": "8 segments"}
    found = tg.size(SHARED, "L0", changes=changes, seed=1, store=False)
    assert (found.runs, len(found.each), max(found.each)) == (4, 4, found.size)
    assert found.lost_with_one_less == sum(each == found.size for each in found.each)
    assert not any(drops(SHARED, "L0", f"{found.size} cells", **changes))
    lost = drops(SHARED, "L0", f"{found.size - 1} cells", **changes)
    assert [bool(each) for each in lost] == [each == found.size for each in found.each]
    assert found.delay_ms["p99"].mean is not None
    for number in (found.standing, *found.delay_ms.values()):
        assert number.possible == (0.0, math.inf)
    again = tg.size(SHARED, "L0", changes={**changes, "gate.L0.queue.limit": "7 cells"}, seed=1, store=False)
    assert again.size == found.size


def test_copies_of_a_gate() -> None:
    changes = {"duration": "1 s", "warmup": "0 s", "flow.tcp.tcp.window": "4 segments"}
    found = tg.size(SHARED, "shaper", changes=changes, runs=1, seed=1, store=False)
    assert drops(SHARED, "shaper", f"{found.size} cells", runs="1", **changes) == [0]
    assert drops(SHARED, "shaper", f"{found.size - 1} cells", runs="1", **changes)[0] > 0


def test_packets_and_bytes(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    gate = tg.load(file).gate_names[0]
    packets = tg.size(file, gate, seed=1, store=False, changes=WINDOW)
    assert packets.unit == "packets"
    in_bytes = tg.size(
        file, gate, seed=1, store=False,
        changes={**WINDOW, f"gate.{gate}.queue.limit": "90 kB"},
    )  # fmt: skip
    assert in_bytes.unit == "bytes"
    assert in_bytes.size == pytest.approx(packets.size * 1500, rel=0.1)


def test_endless_windows_are_told(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    gate = tg.load(file).gate_names[0]
    found = tg.size(file, gate, seed=1, store=False, changes={**WINDOW, "flow.bulk.tcp.window": "unlimited"})
    assert any("grows for as long as the run" in note for note in found.notes)


def test_the_command_line() -> None:
    done = tidegate("size", FIG_3, "--gate", "spacer", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["size"], told["unit"], told["method"]) == (1218, "cells", "theory")
    assert told["standing"]["n"] == told["runs"] == 1
    words = tidegate("size", FIG_3, "--gate", "spacer").stdout
    assert words.startswith("gate spacer: a queue of 1218 cells loses nothing\n")
    assert "1182.4 to 1217.6" in words
    for arguments, message in (
        (["--gate", "spacr"], 'did you mean "spacer"?'),
        (["--gate", "host", "--method", "theory"], "it describes another gate than host"),
        (["--gate", "spacer", "--set", "gate.spacer.loss=1%"], "never fills"),
        ([], "give either --gate NAME, or --pool NAME with --goal"),
        (["--gate", "spacer", "--pool", "vp", "--goal", "blocked < 1%"], "give either --gate NAME, or"),
        (["--pool", "vp"], "give either --gate NAME, or --pool NAME with --goal"),
        (["--pool", "vp", "--goal", "blocked < 1%"], "pool"),
    ):
        done = tidegate("size", FIG_3, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert message in done.stderr, (arguments, done.stderr)


#: Bursts of two circuits, which are shaped to half of the path each.
CIRCUITS = {
    "duration": "2 s",
    "gate": {
        "shape": {"per": "flow", "rate": {"token_bucket": {"rate": "2 Mbit/s", "burst": "12 kB"}}},
        "path": {
            "rate": {"token_bucket": {"rate": "4 Mbit/s", "burst": "2 kB"}},
            "scheduler": "spacer",
            "duplex": True,
            "delay": "5 ms",
        },
    },
    "traffic": {
        name: {
            "path": ["shape", "path"],
            "source": {"on_off": {"rate": "8 Mbit/s", "packet": "1 kB", "on": "20 ms", "off": off}},
        }
        for name, off in (("a", "80 ms"), ("b", {"exponential": "60 ms"}))
    },
    "flow": {"back": {"path": ["path/back"], "back": ["path"], "app": {"transfer": "9 kB"}}},
}


def test_the_queue_of_each_circuit_is_sized() -> None:
    """With the scheduler of circuits each has a queue of its own, which needs less than all have together."""
    found = tg.size(CIRCUITS, "path", method="sim", runs=2, seed=5, store=False)
    dropped = {
        size: [
            tg.run(CIRCUITS, changes={"gate.path.queue.limit": f"{size} packets"}, seed=5, replication=n)
            .gates["path"]["dropped_packets"]
            for n in range(2)
        ]
        for size in (found.each[0] - 1, found.each[0], found.each[1] - 1, found.each[1])
    }  # fmt: skip
    assert [dropped[size][run] for run, size in enumerate(found.each)] == [0, 0]
    assert all(dropped[size - 1][run] > 0 for run, size in enumerate(found.each))
    together = tg.run(CIRCUITS, seed=5).gates["path"]["queue_max_packets"]
    assert 1 < found.each[0] < together


def test_circuits_are_told_apart_in_both_directions() -> None:
    """A duplex gate keeps the circuits of each direction: data of one flow, and ACKs of the other's."""
    run = tg.run(CIRCUITS, seed=5)
    names = {
        gate["name"]: [row["name"] for row in gate["classes"]]
        for gate in run.summary["gates"]
        if "classes" in gate
    }
    assert names == {"path": ["back/back", "a", "b"], "path/back": ["back"]}
    assert run.flows["back"]["segments_delivered"] > 5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "gate, pool: read neither; takes one of the two"),
        ({"gate": "a", "pool": "b", "goal": "blocked < 1%"}, "gate, pool: read both"),
        ({"pool": "b"}, "goal: a pool needs one"),
        ({"gate": "a", "key": "queue"}, "key: it belongs to gate with goal"),
        ({"pool": "b", "goal": "blocked < 1%", "key": "queue"}, "key: it belongs to gate with goal"),
        ({"gate": "a", "goal": "loss < 1%", "method": "sim"}, "method: it does not belong to gate with goal"),
    ],
)
def test_arguments_that_make_no_question(given: dict[str, str], said: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=said):
        tg.size(FIG_3, **given, store=False)


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"gate.link.queue.aqm": "codel"}, "queue.aqm (codel)"),
        ({"gate.link.loss": "1%"}, "loss"),
        ({"gate.link.loss": "1%", "gate.link.queue.aqm": "red"}, "loss or queue.aqm (red)"),
    ],
)
def test_only_keys_that_are_set_are_blamed(changes: dict[str, str], because: str) -> None:
    text = """
        duration = "2 s"
        seed = 1
        gate.link = { rate = "10 Mbit/s", queue = "50 packets", delay = "10 ms" }
        flow.a.path = ["link"]
    """
    scenario = tg.Scenario.from_toml(text, changes=changes)
    with pytest.raises(tg.errors.ArgumentError) as told:
        tg.size(scenario, gate="link", store=False)
    assert f"because of {because}. No" in str(told.value)
