"""The rate of a link is found again in a capture of a transfer that saturated it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import tidegate as tg
from support.common import ROOT, tidegate

TRACES = Path(os.environ.get("TIDEGATE_TRACES", ROOT.parent / "shared" / "traces"))
#: Of the flow in examples/lte.toml: an ACK comes back this long after its packet left the gate.
BACK_S = 0.05


def volume(trace: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return times and bits that a trace in CSV has carried until then."""
    lines = [line.strip().split(",") for line in trace.read_text().splitlines()[1:]]
    times = np.array([float(line[0]) for line in lines])
    rates = np.array([float(line[1] or 0) for line in lines])
    return times, np.concatenate([[0], np.cumsum(rates[:-1] * np.diff(times))])


def errors(found: tg.traces.CapturedTrace, trace: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative error of each saturated window, and its true bits."""
    times, bits = volume(trace)
    begin = np.arange(len(found.rates_bps)) * found.window_s - BACK_S
    truth = np.interp(begin + found.window_s, times, bits) - np.interp(np.maximum(begin, 0), times, bits)
    full = np.array(found.saturated) & (truth > 0)
    seen = np.array(found.rates_bps) * found.window_s
    return seen[full] / truth[full] - 1, truth[full]


def test_a_cellular_link_is_found_again_within_5_percent(tmp_path: Path) -> None:
    tg.run(ROOT / "examples/lte.toml", seed=7, pcap=tmp_path / "lte.pcap")
    found = tg.traces.from_capture(tmp_path / "lte.pcap", window="1 s")
    assert found.at == "sender"
    assert found.saturated_share > 0.9
    off, _ = errors(found, ROOT / "examples/cellular.csv")
    assert len(off) > 50
    assert np.abs(off).max() < 0.05
    # Slow start saturates nothing yet.
    assert not found.saturated[0]


def test_a_connection_that_was_captured_at_both_ends_is_added_once(tmp_path: Path) -> None:
    text = """duration = "5 s"
seed = 1
gate.line = { rate = "10 Mbit/s", queue = "50 packets", delay = "1 ms" }
flow.a = { path = ["line"], rtt = "40 ms", app.transfer = "2 MB" }
"""
    file = tmp_path / "s.toml"
    file.write_text(text)
    tg.run(file, pcap=tmp_path / "run.pcap")
    files = [tmp_path / "run.pcap", tmp_path / "run-receiver.pcap"]
    for end, number in ((None, "1"), ("sender", "1"), ("receiver", "2")):
        found = tg.traces.from_capture(files, connections=[1, 2], at=end)
        assert [each.split()[0] for each in found.connections] == [number]
        assert found.mean_bps == pytest.approx(10e6, rel=0.02)
        assert any("captured at the other end" in note for note in found.notes)


@pytest.mark.parametrize("name", ["ATT-LTE-driving-2016.down", "Verizon-LTE-short.up"])
def test_recorded_links_too(name: str, tmp_path: Path) -> None:
    if not (TRACES / name).is_file():
        pytest.skip(f"no recording {name} in {TRACES} (TIDEGATE_TRACES names the folder)")
    changes = {"gate.bottleneck.rate.trace": str(TRACES / name), "gate.bottleneck.queue": "600 packets"}
    scenario = tg.load(ROOT / "examples/lte.toml", changes=changes, allow_outside=True)
    tg.run(scenario, seed=1, pcap=tmp_path / "link.pcap")
    found = tg.traces.from_capture(tmp_path / "link.pcap", window="1 s")
    truth = tg.traces.convert(TRACES / name, tmp_path / "link.csv", window="10 ms")
    off, bits = errors(found, truth)
    # One packet is 5% of 20: seconds with fewer than 40 are too coarse to compare.
    clear = bits > 40 * 12_000
    assert clear.sum() > 40
    assert (np.abs(off[clear]) < 0.05).all()


def test_the_trace_found_is_a_link_again(tmp_path: Path) -> None:
    tg.run(ROOT / "examples/lte.toml", seed=7, pcap=tmp_path / "lte.pcap")
    found = tg.traces.from_capture(tmp_path / "lte.pcap")
    for name in ("link.csv", "link.down", "link.drp"):
        path = found.write(tmp_path / name)
        info = tg.traces.info(path)
        assert info["mean_bps"] == pytest.approx(found.mean_bps, rel=0.03)
    cut = found.csv("cut").count("\n")
    assert cut == 2 + sum(found.saturated)


def test_what_was_not_saturated_says_why(tmp_path: Path) -> None:
    limits = {
        "tcp.window": ('"20 kB"', "the receive window was full"),
        "app.constant": ('{ rate = "500 kbit/s" }', "nothing waited: the congestion window, the pace or the"),
    }
    for key, (value, why) in limits.items():
        text = (
            'duration = "4 s"\nseed = 1\n'
            '[gate.a]\nrate = "20 Mbit/s"\ndelay = "20 ms"\nqueue = "100 packets"\n'
            f'[flow.f]\npath = ["a"]\n{key} = {value}\n'
        )
        tg.run(tg.Scenario.from_toml(text), pcap=tmp_path / "one.pcap")
        found = tg.traces.from_capture(tmp_path / "one.pcap", window="500 ms")
        assert found.saturated_share < 0.2
        longest = max(found.stretches, key=lambda each: each.end_s - each.begin_s)
        assert longest.why.startswith(why)
        if not any(found.saturated):
            with pytest.raises(tg.errors.CaptureError, match="never saturated"):
                found.csv()


def test_the_command(tmp_path: Path) -> None:
    tg.run(ROOT / "examples/lte.toml", seed=7, pcap=tmp_path / "lte.pcap")
    done = tidegate("traces", "from", tmp_path / "lte.pcap", "-o", tmp_path / "link.csv")
    assert done.returncode == 0, done.stderr
    assert "captured at" in done.stdout
    told = json.loads(tidegate("traces", "from", tmp_path / "lte.pcap", "--json").stdout)
    assert told["saturated_share"] > 0.9
    wrong = tidegate("traces", "from", tmp_path / "lte.pcap", "--connection", "9")
    assert wrong.returncode == 2
    assert "has connections 1 to 1" in wrong.stderr
    (tmp_path / "no.pcap").write_text("nothing")
    assert tidegate("traces", "from", tmp_path / "no.pcap").returncode == 2


def test_what_is_made_of_a_trace_does_not_take_its_place(tmp_path: Path) -> None:
    trace = tmp_path / "link.down"
    trace.write_text("0\n5\n9\n")
    for make in (
        lambda: tg.traces.convert(trace, trace, to="csv"),
        lambda: tg.traces.convert(trace, tmp_path / "." / "link.down"),
    ):
        with pytest.raises(tg.errors.ArgumentError, match="is the input"):
            make()
    assert trace.read_text() == "0\n5\n9\n"
