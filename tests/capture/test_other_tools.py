"""Files of iperf3 and flent: each field that can be wrong is one sentence, or an answer that is right."""

from __future__ import annotations

import copy
import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from common import tidegate
from tidegate._regress.fields import MOST_BYTES
from tidegate._regress.others import other

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IPERF = {
    "start": {"test_start": {"protocol": "TCP"}, "tcp_mss_default": 1448},
    "end": {
        "streams": [
            {
                "sender": {
                    "start": 0,
                    "bytes": 1_180_000,
                    "bits_per_second": 9.44e6,
                    "seconds": 1.0,
                    "retransmits": 6,
                    "mean_rtt": 40_000,
                },
                "receiver": {"bytes": 1_170_000, "bits_per_second": 9.36e6, "seconds": 1.0},
            }
        ]
    },
}
FLENT = {
    "metadata": {},
    "x_values": [0.2, 0.4, 0.6],
    "results": {"TCP download": [9.4, None, 9.4], "Ping (ms) ICMP": [90.0, None, 91.0]},
}
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
    except tg.ArgumentError as error:
        return None, str(error)


@pytest.mark.parametrize("whole", [IPERF, FLENT], ids=["iperf3", "flent"])
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
    with pytest.raises(tg.ArgumentError, match="more than 64 MB"):
        other(file)
    # A packed file that breaks off.
    file.write_bytes(gzip.compress(json.dumps(FLENT).encode())[:-9])
    with pytest.raises(tg.ArgumentError, match="not whole JSON"):
        other(file)
