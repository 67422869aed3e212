"""One scenario and one seed are one result, byte for byte.

In another process, in two threads at once, from the command line and from Python, with
run-ahead and with every departure an event. A difference is named: table and column.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import EXAMPLES, command, everything, first_difference, python
from support.random_scenarios import scenario
from tidegate._ask.compiled import simulate
from tidegate._ask.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

SCENARIOS = sorted(EXAMPLES.glob("*.toml"))
#: Scenarios drawn at random; the number is the seed of the drawing and of the run.
RANDOM = range(60)


def shortened(path: Path) -> Scenario:
    return Scenario.load(path, changes={"duration": "12 s"})


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_command_line_and_python_in_two_processes(path: Path, tmp_path: Path) -> None:
    options = ["--set", "duration=12 s", "--seed", "3", "--pcap", "--allow-python"]
    said = command("run", path, *options, "--out", tmp_path / "a", "--json")
    code = (
        "import sys, tidegate as tg\n"
        "path, out, pcap = sys.argv[1:]\n"
        "run = tg.run(path, seed=3, changes={'duration': '12 s'}, pcap=pcap)\n"
        "run.save(out)\n"
        "print(run.to_json())\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    arguments = [str(script), str(path), str(tmp_path / "b"), str(tmp_path / "b.pcap")]
    called = f"import runpy, sys; sys.argv = {arguments!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
    assert python(called, PYTHONHASHSEED="7") == said
    files = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert files == sorted(file.name for file in (tmp_path / "b").iterdir())
    assert {"summary.json", "flows.parquet", "gates.parquet", "packets.pcap"} <= set(files)
    for name in files:
        if name != "manifest.json":
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_one_and_two_threads(path: Path) -> None:
    loaded = shortened(path)
    alone = everything(loaded, seed=3)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: everything(loaded, seed=3), range(4)):
            assert first_difference(alone, found) == ""


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
@pytest.mark.parametrize("record", [None, "events"])
def test_run_ahead_changes_nothing(path: Path, record: str | None) -> None:
    # Every event of more seconds of cells is above the limit of memory: rows count as what they become.
    times = {"duration": "3 s", "warmup": "0 s"} if record else {"duration": "12 s"}
    loaded = Scenario.load(path, changes=times)
    fast = everything(loaded, seed=3, record=record)
    slow = everything(loaded, seed=3, record=record, exact=True)
    assert first_difference(fast, slow) == ""


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_what_is_recorded_changes_no_summary(path: Path) -> None:
    loaded = shortened(path)
    alone, watched = (everything(loaded, seed=3, record=record) for record in ("summary", "37 ms"))
    kept = {part: value for part, value in watched.items() if part.startswith("summary.")}
    assert first_difference({part: alone[part] for part in kept}, kept) == ""


def test_run_ahead_saves_events() -> None:
    """Or the tests above compare a switch that does nothing."""
    loaded = shortened(EXAMPLES / "asymmetric.toml")
    events = [
        json.loads(simulate(loaded, seed=3, record="summary", exact=exact).summary_json)["events"]
        for exact in (False, True)
    ]
    assert events[0] < events[1]


@pytest.mark.parametrize("number", RANDOM)
def test_random_scenarios(number: int) -> None:
    """Run-ahead, a second run and two threads, over laws and flows of every kind."""
    loaded = Scenario.from_toml(scenario(number))
    fast = everything(loaded, seed=number)
    slow = everything(loaded, seed=number, exact=True)
    assert first_difference(fast, slow) == ""
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: everything(loaded, seed=number), range(2)):
            assert first_difference(fast, found) == ""


def test_random_scenarios_are_worth_something() -> None:
    """They deliver, drop, time out and use every law and control, or they prove little."""
    texts = [scenario(number) for number in RANDOM]
    together = "\n".join(texts)
    for word in ("steps", "token_bucket", "markov", "trace", "follow", "abr", "packets/s", "gilbert_elliott",
                 "duplex", "per =", "host", "framing", "traffic", "back =", "count = 3", "fixed", "tahoe",
                 "cubic", "timestamps", "bsd44", "linux", "start.uniform", "on_off", "transfer",
                 "request", "video.rule", "outstanding", "connection", "pareto", "lognormal", "file =",
                 "aqm.step", "codel",
                 "fq_codel", "dualpi2", "aqm.red",
                 "pacing", "fixed_rate", "classic", "accurate", "rack", "prr", "hystart", "dsack",
                 "undo", "frto", "source.media", "srtcm", "trtcm", "colour_limits", "cbs =",
                 *(f'scheduler = "{name}"' for name in ("strict", "drr", "wfq", "htb"))):  # fmt: skip
        assert word in together, word
    runs = [
        tg.run(Scenario.from_toml(text), seed=number, record="summary").summary
        for number, text in enumerate(texts)
    ]
    flows = [row for summary in runs for row in summary["flows"]]
    classes = [row for summary in runs for gate in summary["gates"] for row in gate.get("classes", [])]
    assert sum(row.get("delivered_packets", 0) > 100 for row in classes) > 10
    asked = [row for summary in runs for row in summary.get("requests", []) if row["name"] != "all"]
    assert sum(row["finished"] for row in asked) > 100
    assert sum(row["unfinished"] for row in asked) > 5
    assert sum(row["client_timeouts"] for row in asked) > 0
    watched = [row for summary in runs for row in summary.get("videos", [])]
    assert sum(row["segments"] for row in watched) > 50
    assert sum(row["stalls"] for row in watched) > 5
    assert sum(row["switches"] for row in watched) > 5
    assert sum(row["segments_delivered"] for row in flows) > 10_000
    assert sum(row["timeouts"] for row in flows) > 50
    assert sum(row["fast_retransmits"] for row in flows) > 50
    assert sum(row.get("marked_segments") or 0 for row in flows) > 50
    assert sum(row.get("ecn_reductions") or 0 for row in flows) > 10
