"""What messages say: of what the user wrote, in words that a network engineer knows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tidegate as tg
from support.common import tidegate


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["run", "--link", "0 bit/s"],
            "error: --link: the rate is always 0: no packet would ever pass; ",
        ),
        (["run", "--link", "5 mb"], 'error: --link: the unit of "5 mb" is not known; write "5 Mbit/s"'),
        (["init", "--link", "5 mb"], 'error: --link: the unit of "5 mb" is not known; write "5 Mbit/s"'),
        (["run", "--link", "5 Mbit/s", "--rtt", "5 m"], 'error: --rtt: "5 m": a bare "m" could be'),
        (["run", "--link", "5 Mbit/s", "--rtt", ""], "error: --rtt: "),
        (["run", "--link", "5 Mbit/s", "--queue", "1 xx"], "error: --queue: "),
        (["check", "--link", "5 Mbit/s", "--cc", "no no"], "error: --cc: "),
    ],
)
def test_options_of_a_link_are_named_and_no_place_in_a_file(words: list[str], said: str) -> None:
    done = tidegate(*words)
    assert done.returncode == 2
    assert done.stderr.startswith(said)
    assert "-->" not in done.stderr
    assert "scenario:" not in done.stderr


def test_a_wrong_option_of_the_shell_is_no_file() -> None:
    done = tidegate("live", "shell", "--nope")
    assert done.returncode == 2
    assert "No such option" in done.stderr
    assert "--nope" in done.stderr


def test_json_is_all_there_is(small: Path) -> None:
    done = tidegate("run", small, "--seed", "x", "--json")
    message = json.loads(done.stdout)["error"]["message"]
    assert "\n" not in message
    assert done.stderr == f"error: {message}\n"
    assert "Usage:" in tidegate("run", small, "--seed", "x").stderr


def test_a_flow_that_starts_where_the_run_ends(small: Path) -> None:
    at = tidegate("check", small, "--set", "flow.bulk.start=6 s").stderr
    assert "this starts at 6 s, where the run ends; choose an earlier start" in at
    later = tidegate("check", small, "--set", "flow.bulk.start=7 s").stderr
    assert "this starts at 7 s, after the end of the run at 6 s" in later


def test_damaged_zstd_is_said_without_the_library(tmp_path: Path) -> None:
    (tmp_path / "x.pcap.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(range(50)))
    done = tidegate("identify", tmp_path / "x.pcap.zst")
    assert done.returncode == 2
    assert done.stderr.endswith("its zstd data end early or are damaged\n")


@pytest.mark.parametrize("text", ["1 ms", "1\tms", " 1ms ", "\t1 \t ms\n", "1e1 ms"])
def test_the_schema_takes_the_spaces_that_the_reader_takes(text: str) -> None:
    gate, flow = {"g": {"rate": "1 Mbit/s"}}, {"a": {"path": ["g"], "rtt": "1 ms"}}
    tg.Scenario.from_dict({"duration": text, "gate": gate, "flow": flow})
    pattern = tg.schema()["properties"]["duration"]["anyOf"][0]["pattern"]
    assert re.search(pattern, text)
