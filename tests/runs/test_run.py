"""A run is a value: its summary, its tables, its picture."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
import tidegate as tg
from support.common import SMALL
from tidegate._run.text import _limits

FLOW_KEYS = {
    "name",
    "cc",
    "goodput_bps",
    "in_order_bps",
    "throughput_bps",
    "segments_sent",
    "segments_delivered",
    "segments_retransmitted",
    "timeouts",
    "fast_retransmits",
    "rtt_mean_ms",
    "rtt_p50_ms",
    "rtt_p99_ms",
    "cwnd_mean_segments",
    "cwnd_max_segments",
    "limited_by",
    "completion_s",
}
GATE_KEYS = {
    "name",
    "utilisation",
    "offered_packets",
    "delivered_packets",
    "dropped_packets",
    "queue_mean_packets",
    "queue_max_packets",
    "queue_delay_mean_ms",
    "queue_delay_p99_ms",
    "rate_mean_bps",
}


@pytest.fixture(scope="module")
def run() -> tg.Run:
    return tg.run(tg.Scenario.from_toml(SMALL), seed=3, record="10 ms")


def test_the_summary_has_the_names_other_programs_read(run: tg.Run) -> None:
    top = ["engine", "scenario", "seed", "duration_s", "measured_from_s", "flows", "gates", "warnings"]
    assert set(top) <= set(run.summary)
    assert set(run.summary["flows"][0]) >= FLOW_KEYS
    assert set(run.summary["gates"][0]) >= GATE_KEYS
    assert json.loads(run.to_json()) == run.summary
    assert (run.summary["engine"], run.seed, run.summary["duration_s"]) == ("sim", 3, 6.0)


def test_flows_is_a_data_frame_with_one_row_per_flow(run: tg.Run) -> None:
    assert len(run.flows) == 1
    assert run.flows["goodput_bps"][0] == run.flows["bulk"]["goodput_bps"]
    assert run.flows.select("name").to_series().to_list() == ["bulk"]
    assert [flow.name for flow in run.flows] == run.flows.names == ["bulk"]
    assert pl.DataFrame(run.flows).height == 1
    assert isinstance(run.gates.frame, pl.DataFrame)


def test_limits_are_shares_of_the_time(run: tg.Run) -> None:
    shares = run.flows["bulk"]["limited_by"]
    assert sum(shares.values()) == pytest.approx(1, abs=1e-6)
    assert {"application", "congestion window", "receiver window"} <= set(shares)
    assert shares["gate.bottleneck"] > 0.3


def test_series(run: tg.Run) -> None:
    queue = run.gates["bottleneck"].series("queue")
    assert queue.columns == ["time_s", "packets", "bytes"]
    assert 0 < queue["packets"].max() <= 20
    cwnd = run.flows["bulk"].series("cwnd")
    assert cwnd.columns == ["time_s", "cwnd_segments", "ssthresh_segments"]
    assert cwnd["ssthresh_segments"].null_count() > 0, "no limit at first"
    assert cwnd["time_s"].is_sorted()
    delivered = run.flows["bulk"].series("delivered")["bytes"]
    assert delivered.is_sorted()
    state = run.flows["bulk"].series("state")
    assert set(state["phase"].unique()) <= {"slow start", "congestion avoidance", "recovery", "loss"}


def test_drops_and_marks_agree_with_the_counters() -> None:
    text = SMALL.replace('warmup = "1 s"\n', "")
    run = tg.run(tg.Scenario.from_toml(text), seed=3, record="10 ms")
    gate, flow = run.gates["bottleneck"], run.flows["bulk"]
    assert gate.drops().height == gate["dropped_packets"]
    kinds = flow.marks()["kind"].to_list()
    assert kinds.count("timeout") == flow["timeouts"]
    assert kinds.count("fast retransmit") == flow["fast_retransmits"]


def test_names_that_are_not_there(run: tg.Run) -> None:
    with pytest.raises(tg.errors.UnknownNameError, match='did you mean "bottleneck"'):
        run.gates["botleneck"]
    with pytest.raises(tg.errors.UnknownNameError, match='did you mean "queue"'):
        run.gates["bottleneck"].series("queu")
    with pytest.raises(tg.errors.UnknownNameError, match="goodput_bps"):
        run.flows["bulk"]["goodput"]
    with pytest.raises(KeyError):
        run.plot(gate="x")


def test_a_summary_alone_says_how_to_get_more() -> None:
    run = tg.run(tg.Scenario.from_toml(SMALL), seed=3, record="summary")
    for ask in (run.plot, lambda: run.drops, lambda: run.gates["bottleneck"].series("queue")):
        with pytest.raises(tg.errors.NotRecordedError, match="10 ms"):
            ask()


def test_a_seed_is_invented_once_printed_and_stored(capsys: pytest.CaptureFixture[str]) -> None:
    run = tg.run(tg.Scenario.from_toml(SMALL), record="summary")
    said = capsys.readouterr().err
    assert f"seed {run.seed} " in said
    again = tg.run(tg.Scenario.from_toml(SMALL), record="summary", seed=run.seed)
    assert again.to_json() == run.to_json()
    assert capsys.readouterr().err == ""
    in_file = tg.run(tg.Scenario.from_toml("seed = 9\n" + SMALL), record="summary")
    assert in_file.seed == 9


def test_scenarios_are_files_dicts_or_loaded(small) -> None:
    import tomllib

    from_file = tg.run(small, seed=5, record="summary")
    from_dict = tg.run(tomllib.loads(SMALL), seed=5, record="summary")
    loaded = tg.run(tg.load(small), seed=5, record="summary")
    assert from_file.summary == from_dict.summary == loaded.summary


def test_changes_are_spelled_once(small) -> None:
    by_list = tg.run(small, seed=5, record="summary", changes=["flow.bulk.tcp.cc=cubic", "duration=3 s"])
    by_dict = tg.run(
        small, seed=5, record="summary", changes={"flow.bulk.tcp.cc": "cubic", "duration": "3 s"}
    )
    assert by_list.summary == by_dict.summary
    assert by_list.flows["bulk"]["cc"] == "cubic"
    typed = tg.load(
        small,
        changes={"flow.bulk.tcp.delayed_ack": {"every": 2, "timeout": "40 ms"}, "gate.bottleneck.loss": 0.1},
    )
    assert "40 ms" in typed.to_toml()
    with pytest.raises(tg.errors.ArgumentError, match="changes: read 'duration=3 s'; takes a dict or a list"):
        tg.load(small, changes="duration=3 s")


def test_wrong_input_is_told(small) -> None:
    with pytest.raises(FileNotFoundError):
        tg.run("nowhere.toml")
    with pytest.raises(tg.errors.ArgumentError, match="from_toml"):
        tg.run(SMALL)
    with pytest.raises(tg.errors.ScenarioError) as caught:
        tg.run(small, changes={"gate.bottleneck.rate": "4 Mbitt/s"})
    error = caught.value
    assert error.key == "gate.bottleneck.rate"
    assert error.read
    assert "Mbit/s" in str(error)
    assert isinstance(error, ValueError)


def test_the_scenario_as_run_runs_again(small) -> None:
    changed = tg.load(small, changes={"gate.bottleneck.queue": "7 packets"})
    again = tg.Scenario.from_toml(changed.to_toml())
    assert (
        tg.run(again, seed=2, record="summary").summary["gates"]
        == tg.run(changed, seed=2, record="summary").summary["gates"]
    )


def test_repr() -> None:
    scenario = tg.Scenario.from_toml(SMALL)
    assert "Small" in repr(tg.run(scenario, seed=1, record="summary"))
    assert repr(scenario)


def test_runs_and_sweeps_are_not_passed_over_in_silence() -> None:
    text = "runs = 20\n" + SMALL + '\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "cubic"]\n'
    run = tg.run(tg.Scenario.from_toml(text), seed=1, record="summary", replication=3)
    assert any("20 runs" in warning and "replication 3" in warning for warning in run.warnings)
    assert any("2 combinations" in warning for warning in run.warnings)
    assert run.summary["replication"] == 3


def test_flows_are_drawn_at_the_gate_they_pass() -> None:
    from tidegate._run.record import flows_through

    two = SMALL + '\n[gate.other]\nrate = "1 Mbit/s"\n[flow.far]\npath = ["other"]\nrtt = "9 ms"\n'
    run = tg.run(tg.Scenario.from_toml(two), seed=1, record="100 ms")
    assert flows_through(run, "other") == ["far"]
    assert flows_through(run, "bottleneck") == ["bulk"]
    assert run.manifest["paths"]["far"] == {"path": ["other"], "back": []}
    run.plot(gate="other")


TRAFFIC_ONLY = """
duration = "2 s"
[gate.link]
rate = "1 Mbit/s"
queue = "5 packets"
[traffic.noise]
path = ["link"]
source.poisson.rate = "2 Mbit/s"
"""
OPEN = 'duration = "2 s"\n[gate.wire]\n[flow.x]\npath = ["wire"]\nrtt = "10 ms"\ntcp.window = "10 segments"\n'
PACKETS = SMALL.replace("4 Mbit/s", "300 packets/s")
SUBSET = SMALL + '\n[record]\nevery = "20 ms"\nbottleneck = ["queue_packets"]\n'


@pytest.mark.parametrize(
    "text", [TRAFFIC_ONLY, OPEN, PACKETS, SUBSET], ids=["traffic only", "open gate", "packets/s", "subset"]
)
@pytest.mark.parametrize("record", [None, "events"])
def test_unusual_shapes_have_tables_and_pictures_too(text: str, record: str | None, tmp_path) -> None:
    from tidegate._run.text import run_report

    run = tg.run(tg.Scenario.from_toml(text), seed=1, record=record)
    assert run_report(run.summary, run.title)
    assert repr(run.flows)
    assert repr(run.gates)
    run.plot(tmp_path / "x.png")
    back = tg.open(run.save(tmp_path / "run"))
    back.plot(tmp_path / "y.png")
    import tomllib

    both = tg.compare(tomllib.loads(text), vary={"duration": ["2 s", "3 s"]}, seed=1)
    assert both.report()
    both.plot(tmp_path / "z.png")


def test_warnings_are_sentences() -> None:
    run = tg.run(tg.Scenario.from_toml(SMALL + "\n[gate.unused]\n"), seed=1, record="summary")
    (warning,) = run.warnings
    assert warning.startswith("gate.unused: ")
    assert "\n" not in warning
    assert run.summary["warnings"] == run.warnings


class Counting(dict[str, float]):
    """Counts how often somebody looks something up or reads it through."""

    looks = 0

    def get(self, *given: Any) -> Any:
        Counting.looks += 1
        return super().get(*given)

    def items(self) -> Any:
        Counting.looks += len(self)
        return super().items()


def test_what_limited_many_flows_is_summed_in_one_pass() -> None:
    """Every flow has a gate of its own: as many parts as flows."""
    looks = []
    for count in (100, 200):
        shares = [Counting({f"gate own/user.{number}": 0.2, "gate link": 0.8}) for number in range(count)]
        Counting.looks = 0
        told = _limits(
            [{"name": f"user.{number}", "limited_by": share} for number, share in enumerate(shares)]
        )
        assert told[0].startswith(f"mean of {count} flows: gate link 80%")
        looks.append(Counting.looks)
    assert looks[1] == 2 * looks[0]
