"""A scenario agrees with captures of itself, and not with those of another link."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
import tidegate as tg
from support.common import tidegate
from support.made_captures import moved, records
from tidegate._ask.swept import sweep_warnings

CHUNKS = """
title = "Four pieces"
duration = "20 s"
seed = 3
[gate.line]
rate = "8 Mbit/s"
delay = "15 ms"
queue = "60 packets"
[flow.f]
path = ["line"]
rtt = "40 ms"
app.request = { response = "1 MB", think = ["500 ms", "1 s", "2 s"], count = 4 }
tcp.cc = "cubic"
"""
RANDOM = CHUNKS.replace('queue = "60 packets"', 'queue = "60 packets"\nloss = 0.002')


def captured(text: str, folder: Path) -> Path:
    """Run a scenario; return the capture of its senders."""
    tg.run(tg.Scenario.from_toml(text), pcap=folder / "run.pcap")
    return folder / "run.pcap"


def written(text: str, folder: Path) -> Path:
    """Write a scenario."""
    path = folder / "link.toml"
    path.write_text(text)
    return path


def test_a_scenario_agrees_with_its_own_capture(tmp_path: Path) -> None:
    found = tg.regress(written(CHUNKS, tmp_path), captured(CHUNKS, tmp_path))
    assert found.agrees
    assert found.exact
    assert {row.number.name for row in found.rows} == {"goodput", "resent", "RTT mean", "completion"}
    for row in found.rows:
        assert row.verdict == "agree"
        # Sizes, pauses and start are the capture's: next to nothing is left to differ.
        assert abs(row.difference) <= max(0.01 * row.measured, 0.002)


def test_a_sweep_is_left_out_and_said_so(tmp_path: Path) -> None:
    swept = CHUNKS + '[[sweep]]\n"gate.line.rate" = ["8 Mbit/s", "5 Mbit/s"]\n'
    done = tidegate("regress", written(swept, tmp_path), captured(CHUNKS, tmp_path))
    assert done.returncode == 0, done.stdout
    assert done.stderr == f"warning: {sweep_warnings(tg.Scenario.from_toml(swept))[0]}\n"


def test_another_rate_is_told_by_its_numbers(tmp_path: Path) -> None:
    found = tg.regress(
        written(CHUNKS, tmp_path), captured(CHUNKS, tmp_path), changes={"gate.line.rate": "5 Mbit/s"}
    )
    assert not found.agrees
    differ = {row.number.name for row in found.rows if row.verdict == "differ"}
    assert {"goodput", "completion"} <= differ
    assert "They differ in goodput of connection 1" in found.sentences[0]


def test_random_loss_gives_intervals(tmp_path: Path) -> None:
    found = tg.regress(written(RANDOM, tmp_path), captured(RANDOM, tmp_path), within={"goodput": "15%"})
    assert not found.exact
    assert found.runs == 8
    assert all(row.predicted.half_width is not None for row in found.rows)
    assert next(row for row in found.rows if row.number.name == "goodput").verdict != "differ"


STEADY = """
duration = "20 s"
seed = 5
[gate.link]
rate = "8 Mbit/s"
queue = "60 packets"
delay = "20 ms"
[flow.file]
path = ["link"]
rtt = "40 ms"
app.transfer = "3 MB"
"""


@pytest.mark.parametrize(
    ("holding", "slower", "completion", "said"),
    [
        # It takes 3.2 s; a run that is not done was watched for 14.6 s.
        ("4 s", "1 kbit/s", "differ", "scenario 3.19 s in 4 of 8 runs, not done in the others"),
        ("10 ms", "1 kbit/s", "differ", "scenario none in 8 runs"),
        ("30 s", "1 kbit/s", "undecided", "completion of connection 1 (7 of 8 runs)"),
    ],
)
def test_a_run_without_the_number_does_not_agree(
    tmp_path: Path, holding: str, slower: str, completion: str, said: str
) -> None:
    stops = STEADY.replace(
        'rate = "8 Mbit/s"',
        f'rate.markov = {{ rates = ["8 Mbit/s", "{slower}"], mean_holding = ["{holding}", "60 s"], '
        "initial = 0 }",
    )
    link, capture = written(stops, tmp_path), captured(STEADY, tmp_path)
    found = tg.regress(link, capture)
    row = next(row for row in found.rows if row.number.name == "completion")
    assert row.verdict == completion
    assert row.runs == 8
    assert row.predicted.n < 8
    assert said in " ".join(found.report().replace("\n", " ").split())
    assert (row.difference is None) == (row.predicted.n == 0)
    told = next(each for each in found.to_dict()["rows"] if each["number"] == "completion_s")
    assert (told["runs"], told["predicted"]["n"]) == (8, row.predicted.n)
    assert "all 4 numbers" not in found.report()


def test_an_undecided_number_has_its_own_exit_status(tmp_path: Path) -> None:
    link, capture = written(RANDOM, tmp_path), captured(RANDOM, tmp_path)
    # The allowed difference is as small as what the runs differ by among themselves.
    wide = ["--within", "completion=90%", "--within", "rtt=900 ms", "--within", "resent=50 points"]
    said = tidegate("regress", link, capture, "--json", "--runs", "4", "--within", "goodput=6%", *wide)
    answer = json.loads(said.stdout)
    verdicts = {row["number"]: row["verdict"] for row in answer["rows"]}
    assert verdicts.pop("goodput_bps") == "undecided"
    assert set(verdicts.values()) == {"agree"}
    assert answer["undecided"] is True
    assert said.returncode == 3


def test_the_command_has_an_exit_status_for_ci(tmp_path: Path) -> None:
    link, capture = written(CHUNKS, tmp_path), captured(CHUNKS, tmp_path)
    same = tidegate("regress", link, capture)
    assert (same.returncode, same.stderr) == (0, "")
    assert "agree on all 4 numbers" in same.stdout
    other = tidegate("regress", link, capture, "--set", "gate.line.rate=5 Mbit/s", "--json")
    assert other.returncode == 1
    assert json.loads(other.stdout)["agrees"] is False
    wide = tidegate(
        "regress", link, capture, "--set", "gate.line.rate=7.5 Mbit/s", "--within", "goodput=20%",
        "--within", "completion=20%", "--within", "rtt=20 ms",
    )  # fmt: skip
    assert wide.returncode == 0, wide.stdout
    for wrong in (["--within", "speed=5%"], ["--within", "rtt=soon"], ["--connection", "7"]):
        assert tidegate("regress", link, capture, *wrong).returncode == 2


BULK = """
duration = "12 s"
seed = 1
[gate.line]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "60 packets"
[flow.f]
path = ["line"]
rtt = "50 ms"
tcp.cc = "cubic"
"""


def test_iperf3_and_flent_are_measurements(tmp_path: Path) -> None:
    link = written(BULK, tmp_path)
    stream = {
        "sender": {"bytes": 11_800_000, "bits_per_second": 9.44e6, "seconds": 10.0, "retransmits": 60},
        "receiver": {"bytes": 11_700_000, "bits_per_second": 9.36e6, "seconds": 10.0},
    }
    start = {"test_start": {"protocol": "TCP"}, "tcp_mss_default": 1448}
    iperf = tmp_path / "iperf.json"
    iperf.write_text(json.dumps({"start": start, "end": {"streams": [stream]}}))
    found = tg.regress(link, iperf)
    assert {row.number.name for row in found.rows} >= {"goodput", "resent"}
    assert next(row for row in found.rows if row.number.name == "goodput").verdict == "agree"
    assert not tg.regress(link, iperf, changes={"gate.line.rate": "20 Mbit/s"}).agrees
    data = {
        "metadata": {},
        "x_values": [0.2 * step for step in range(50)],
        "results": {"TCP download": [9.4] * 50, "Ping (ms) ICMP": [90.0] * 50},
    }
    flent = tmp_path / "run.flent.gz"
    flent.write_bytes(gzip.compress(json.dumps(data).encode()))
    found = tg.regress(link, flent)
    assert found.rows[0].measured == pytest.approx(9.4e6)
    assert found.rows[0].verdict == "agree"
    iperf.write_text('{"neither": 1}')
    with pytest.raises(tg.errors.ArgumentError, match="neither of iperf3"):
        tg.regress(link, iperf)


def test_what_is_given_twice_is_refused(tmp_path: Path) -> None:
    capture, file = captured(CHUNKS, tmp_path), written(CHUNKS, tmp_path)
    (tmp_path / "link").symlink_to(capture)
    with pytest.raises(tg.errors.ArgumentError, match="connection: read 1 twice"):
        tg.regress(file, capture, connections=[1, 1])
    with pytest.raises(tg.errors.ArgumentError, match="connection: read 1 twice"):
        tg.traces.from_capture(capture, connections=[1, 1])
    for again in (capture, tmp_path / "link"):
        with pytest.raises(tg.errors.ArgumentError, match="given twice"):
            tg.regress(file, [capture, again])
        with pytest.raises(tg.errors.ArgumentError, match="given twice"):
            tg.identify([capture, again])


def test_captures_of_times_far_apart_are_refused(tmp_path: Path) -> None:
    """The clock of one host was never set: neither a run of years nor windows of years are meant."""
    file = written(CHUNKS, tmp_path)
    tg.run(file, pcap=tmp_path / "run.pcap")
    head, packets = records(tmp_path / "run.pcap")
    later = tmp_path / "later.pcap"
    # Other sequence numbers, or it would be the same connection.
    later.write_bytes(head + b"".join(moved(each, 3 * 365 * 86_400 * 10**9, 1 << 31, 0) for each in packets))
    files = [tmp_path / "run.pcap", later]
    told = "connection 2 .* begins 1095 days after connection 1 .*: give captures of one measurement"
    for ask in (lambda: tg.regress(file, files), lambda: tg.traces.from_capture(files, connections=[1, 2])):
        with pytest.raises(tg.errors.CaptureError, match=told):
            ask()
    assert tg.regress(file, files, connections=[1]).agrees


def test_both_ends_of_a_transfer_are_one_transfer(tmp_path: Path) -> None:
    file = written(CHUNKS, tmp_path)
    tg.run(file, pcap=tmp_path / "run.pcap")
    near, far = tmp_path / "run.pcap", tmp_path / "run-receiver.pcap"
    alone = tg.regress(file, near)
    for files in ([near, far], [far, near]):
        found = tg.regress(file, files)
        assert found.agrees
        measured = [row.measured for row in alone.rows]
        assert [row.measured for row in found.rows] == pytest.approx(measured)
        assert any("captured at the other end" in note for note in found.notes)


def test_one_number_is_named_and_not_all_of_them(tmp_path: Path) -> None:
    found = tg.regress(written(CHUNKS, tmp_path), captured(CHUNKS, tmp_path))
    (only,) = replace(found, rows=found.rows[:1]).sentences
    row = found.rows[0]
    assert only == (
        f"Scenario and measurement agree on {row.number.name} of {row.transfer}; "
        "no other number could be compared."
    )
