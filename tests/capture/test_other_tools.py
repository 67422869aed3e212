"""Files of iperf3 and flent: each field that can be wrong is one sentence, or an answer that is right."""

from __future__ import annotations

import copy
import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import tidegate
from support.measurements import FLENT, IPERF, NDT
from tidegate._check.fields import MOST_BYTES
from tidegate._check.others import other

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
#: What stands in place of a field, or takes its place; MISSING: it is left out.
MISSING = object()
SPOILED: list[Any] = [MISSING, None, "x", "", True, [], {}, [None], math.inf, -math.inf, math.nan]
SPOILED += [-1, -1e300, 1e300, 10**400, -(10**400), 0, 0.5]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield from places(below, (*at, key))


def spoiled(whole: Any) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    for at in places(whole):
        for wrong in SPOILED:
            made = copy.deepcopy(whole)
            below = made
            for key in at[:-1]:
                below = below[key]
            if wrong is MISSING:
                del below[at[-1]]
            else:
                below[at[-1]] = wrong
            yield at, wrong, made


def read(file: Path) -> tuple[Any, str | None]:
    try:
        return other(file), None
    except tg.errors.ArgumentError as error:
        return None, str(error)


@pytest.mark.parametrize("whole", [IPERF, FLENT, NDT], ids=["iperf3", "flent", "ndt7"])
def test_a_spoiled_field_is_one_sentence_or_a_right_answer(whole: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    refused = 0
    for at, wrong, made in spoiled(whole):
        file.write_text(json.dumps(made))
        found, told = read(file)
        if told is not None:
            refused += 1
            assert told.startswith(f"{file}: "), (at, wrong)
            assert len(told) < 300, (at, wrong)
            continue
        assert found is not None, (at, wrong)
        for each in found.transfers:
            assert min(each.sizes) >= 1, (at, wrong)
            numbers = (each.start_s, each.goodput_bps, each.resent, each.rtt_mean_ms, each.completion_s)
            assert all(0 <= value < 1e16 for value in numbers if value is not None), (at, wrong)
    assert refused > 50


NESTED = '{"a":' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps({"start": {}, "end": {"streams": [{"sender": {"bytes": -5}}]}}), "sender.bytes: read -5"),
        ('{"x_values":[0,1],"results":{"TCP download":[null,1e400]}}', "read Infinity"),
        ('{"x_values":[0,1],"results":{"TCP download":[1,2,3]}}', "read a list of 3; a list of 2"),
        (NESTED, "nested too deeply"),
        ('{"a": 1', "not whole JSON"),
        ('{"error": "no route\\u001b[2J"}', r"iperf3 failed: no route\u001b[2J"),
    ],
    ids=["key", "infinity", "lengths", "deep", "cut", "failed"],
)
def test_the_command_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    link = tmp_path / "x.toml"
    link.write_text('duration = "1 s"\nseed = 1\ngate.g.rate = "10 Mbit/s"\nflow.a.path = ["g"]\n')
    done = tidegate("regress", link, file)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "bug" not in done.stderr


def test_packed_json_is_read_up_to_a_bound(tmp_path: Path) -> None:
    file = tmp_path / "bomb.gz"
    with gzip.open(file, "wb", compresslevel=1) as out:
        out.write(b"{")
        for _ in range(MOST_BYTES // 1_000_000 + 3):
            out.write(b" " * 1_000_000)
    with pytest.raises(tg.errors.ArgumentError, match="more than 64 MB"):
        other(file)
    # A packed file that breaks off.
    file.write_bytes(gzip.compress(json.dumps(FLENT).encode())[:-9])
    with pytest.raises(tg.errors.ArgumentError, match="not whole JSON"):
        other(file)


OMITTED = """
duration = "13 s"
seed = 1
[gate.link]
rate = "100 Mbit/s"
queue = "1 BDP"
delay = "100 ms"
[flow.f]
path = ["link"]
app = "bulk"
tcp = { base = "linux", cc = "cubic" }
"""


def test_seconds_that_iperf_left_out_are_left_out_of_the_scenario_too(tmp_path: Path) -> None:
    """A run's own numbers behind a warm-up, written as iperf3 -O 3 does, agree with the scenario."""
    run = tg.run(tg.Scenario.from_toml('warmup = "3 s"\n' + OMITTED), record="summary")
    flow = run.flows["f"]
    measured = copy.deepcopy(IPERF)
    measured["start"]["test_start"]["omit"] = 3
    size = int(flow["goodput_bps"] * 10 / 8)
    stream = measured["end"]["streams"][0]
    stream["sender"] |= {"bytes": size, "bits_per_second": flow["goodput_bps"], "seconds": 10.0}
    # The end's mean counts the omitted seconds as well, in which the queue was empty: intervals are right.
    stream["sender"] |= {"retransmits": 0, "mean_rtt": 1}
    stream["receiver"] |= {"bytes": size, "bits_per_second": flow["goodput_bps"], "seconds": 10.0}
    measured["intervals"] = [
        {"streams": [{"omitted": number < 3, "rtt": 1 if number < 3 else 1e3 * flow["rtt_mean_ms"]}]}
        for number in range(13)
    ]
    file = tmp_path / "omit.json"
    file.write_text(json.dumps(measured))
    found = tg.regress(tg.Scenario.from_toml(OMITTED), file)
    assert found.agrees, found.report()
    assert {row.number.field for row in found.rows} == {"goodput_bps", "resent", "rtt_mean_ms"}
    goodput = next(row for row in found.rows if row.number.field == "goodput_bps")
    # The part begins with the first data, a round trip behind the flow's start: it ends in a repair.
    assert goodput.predicted.mean == pytest.approx(flow["goodput_bps"], rel=0.04)
    assert any("left out the first 3 s (omit)" in note for note in found.notes)
    # Without omit the slow start counts, and they differ.
    del measured["start"]["test_start"]["omit"]
    file.write_text(json.dumps(measured))
    assert not tg.regress(tg.Scenario.from_toml(OMITTED), file).agrees


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("iperf 3.10.1\nLinux host 5.4\n", "text output of iperf3; measure with iperf3 --json"),
        ("Connecting to host 10.0.0.1, port 5201\n", "text output of iperf3; measure with iperf3 --json"),
        ("-" * 59 + "\nServer listening on 5201\n", "text output of iperf3; measure with iperf3 --json"),
        ("-" * 60 + "\nClient connecting to 10.0.0.1, TCP port 5001\n", "text output of iperf (iperf2)"),
        ("[  5] local 10.0.0.1 port 4 connected to 10.0.0.2 port 5201\n", "measure with iperf3 --json"),
        ("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n", "text output of ping"),
        ("[1639584311.123456] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=3 ms\n", "output of ping"),
        ("20211013090652,10.0.0.1,5001,10.0.0.2,5001,3,0.0-10.0,1,2\n", "text output of iperf (iperf2)"),
    ],
)
def test_text_of_iperf_is_told_how_to_be_measured(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "log.txt"
    file.write_text(text)
    link = tmp_path / "x.toml"
    link.write_text('duration = "1 s"\nseed = 1\ngate.g.rate = "10 Mbit/s"\nflow.a.path = ["g"]\n')
    done = tidegate("regress", link, file)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
