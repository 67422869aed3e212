"""What takes one value is given once: of two values, one would be lost without a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import tidegate as tg
from command_line.test_ranges import commands
from support.common import tidegate
from tidegate._cli.command import Command
from tidegate._cli.errors import guarded
from tidegate._cli.main import cli

#: A value that each kind of option takes, as far as its kind says.
NUMBER, WORD = "7", "word"


def single() -> list[tuple[str, str]]:
    """Return every option with one value, of every command."""
    return [
        (words, max(option.opts, key=len))
        for words, command in commands(cli)
        for option in command.params
        if isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
    ]


def test_every_command_refuses_a_second_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(single()) > 100
    for words, command in commands(cli):
        assert isinstance(command, Command), words
    for words, option in single():
        arguments = [*words.split(), option, NUMBER, f"{option}={NUMBER}"]
        assert guarded(lambda given=arguments: cli.main(given, standalone_mode=False)) == 2  # type: ignore[misc]
        assert f"error: {option} is given twice, and takes one value\n" in capsys.readouterr().err


CC = "flow.bulk.tcp.cc"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["run", "--set", f"{CC}=reno", "--set", f"{CC}=cubic"],
            f"{CC}: changed twice, to reno and to cubic",
        ),
        (["check", "--set", f"{CC}=reno", "--set", ' flow."bulk". tcp.cc = cubic'], f"{CC}: changed twice"),
        (["run", "--set", "seed=1", "--seed", "2"], "seed: changed to 1 and given too"),
        (["study", "--set", "runs=3", "--runs", "2"], "runs: changed to 3 and given too"),
        (["compare", "--set", "seed=3", "--seed", "2", "--vary", f"{CC}=reno,cubic"], "seed: changed to 3"),
        (
            ["compare", "--set", f"{CC}=bbr", "--vary", f"{CC}=reno,cubic"],
            f"{CC}: changed to bbr and varied too",
        ),
        (
            ["study", "--set", f"{CC}=bbr", "--vary", f"{CC}=reno,cubic"],
            f"{CC}: changed to bbr and varied too",
        ),
        (
            ["study", "--vary", f"{CC}=reno,cubic", "--baseline", "cc=reno", "--baseline", f"{CC}=cubic"],
            f"{CC} is there twice, as reno and as cubic",
        ),
    ],
)
def test_a_key_has_one_value(words: list[str], said: str, small: Path) -> None:
    done = tidegate(words[0], small, *words[1:])
    assert done.returncode == 2
    assert said in done.stderr
    assert "keep one of the two" in done.stderr
    assert done.stdout == ""


QUEUE = "gate.bottleneck.queue"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--vary", f"{QUEUE}=5 packets,9 packets", "--set", f'{QUEUE}.limit="7 packets"'],
            f"{QUEUE}.limit: changed",
        ),
        (
            ["--vary", f"{QUEUE}.limit=5 packets,9 packets", "--set", f"{QUEUE}=7 packets"],
            f"{QUEUE}: changed",
        ),
        (["--vary", f"{QUEUE}.limit=5 packets", "--vary", f"{QUEUE}=7 packets"], f"{QUEUE}.limit: varied"),
        (["--vary", f"{QUEUE}=5 packets", "--vary", f"{QUEUE}.limit=7 packets"], f"{QUEUE}: varied"),
        (["--vary", 'flow.bulk.tcp={cc="reno"}', "--set", f"{CC}=cubic"], f"{CC}: changed"),
    ],
)
@pytest.mark.parametrize("command", ["study", "compare"])
def test_a_key_is_not_lost_behind_one_that_holds_it(
    command: str, words: list[str], said: str, small: Path
) -> None:
    done = tidegate(command, small, *words)
    assert done.returncode == 2
    assert f"error: {said}" in done.stderr
    assert "keep one of the two" in done.stderr


def test_a_key_of_a_table_that_is_varied_may_be_varied(small: Path) -> None:
    words = ["--vary", 'flow.bulk.tcp={cc="reno"},{cc="cubic"}', "--vary", "flow.bulk.tcp.mss=1000 B,1400 B"]
    assert tidegate("study", small, *words, "--no-store").returncode == 0


def test_the_number_of_runs_is_not_varied(small: Path) -> None:
    done = tidegate("study", small, "--vary", "runs=2,5")
    assert done.returncode == 2
    assert "runs: cannot be varied in a study" in done.stderr


def test_a_key_that_the_file_sweeps_is_not_changed(small: Path) -> None:
    small.write_text(f'{small.read_text()}\n[[sweep]]\n"{CC}" = ["reno", "cubic"]\n')
    done = tidegate("study", small, "--set", f"{CC}=bbr")
    assert done.returncode == 2
    assert f"{CC}: changed to bbr and varied too; keep one of the two" in done.stderr


@pytest.mark.parametrize(
    ("tables", "line", "key", "said"),
    [
        (f'[[sweep]]\n"{CC}" = ["reno", "cubic", "reno"]', 2, CC, 'the value "reno" is there twice'),
        (
            f'[[sweep]]\n"{CC}" = ["reno", "bbr"]\n[[sweep]]\n# two\nflow.bulk.rtt = [\n"90 ms",\n"90 ms"]',
            7,
            "flow.bulk.rtt",
            'the value "90 ms" is there twice',
        ),
        (
            f'[[sweep]]\n"{CC}" = ["bbr", "bbr"]\n"flow.bulk.rtt" = ["90 ms", "90 ms"]',
            2,
            f"{CC}, flow.bulk.rtt",
            'the value "bbr", "90 ms" is there twice',
        ),
        (
            '[[sweep]]\n"gate.bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s",\n"1000 kbit/s"]',
            3,
            "gate.bottleneck.rate",
            'the value "1000 kbit/s" is "1 Mbit/s" again',
        ),
        (
            '[[sweep]]\n"gate.bottleneck.loss" = [0.01, "1%"]\n"flow.bulk.rtt" = ["90 ms", "0.09 s"]',
            2,
            "gate.bottleneck.loss, flow.bulk.rtt",
            'the value "1%", "0.09 s" is 0.01, "90 ms" again',
        ),
        (
            f'[[sweep]]\n"{CC}" = ["reno"]\n\n[[sweep]]\n[sweep.flow.bulk.tcp]\ncc = ["bbr"]',
            6,
            CC,
            "the key is swept twice",
        ),
        (
            f'[[sweep]]\n"{CC}" = ["reno"]\nflow.bulk.tcp.cc = ["bbr"]',
            3,
            CC,
            "the key is swept twice",
        ),
    ],
)
def test_a_sweep_has_each_key_and_value_once(
    tables: str, line: int, key: str, said: str, small: Path
) -> None:
    above = len(small.read_text().splitlines())
    small.write_text(f"{small.read_text()}{tables}\n")
    done = tidegate("study", small, "--json")
    assert done.returncode == 2
    assert f"error: {key}: {said}" in done.stderr
    assert f"{small}:{above + line}:" in done.stderr
    error = json.loads(done.stdout)["error"]
    assert (error["file"], error["line"], error["key"]) == (str(small), above + line, key)
    assert {"message", "read", "help"} <= set(error)
    # Text has lines as well.
    with pytest.raises(tg.errors.ScenarioError, match=f"mine:{above + line}:"):
        tg.study(tg.Scenario.from_toml(small.read_text(), name="mine"))


RATE, RTT = "gate.bottleneck.rate", "flow.bulk.rtt"


@pytest.mark.parametrize(
    ("varied", "said"),
    [
        ([f"{RATE}=1 Mbit/s,2 Mbit/s,1000 kbit/s"], f"{RATE}: the value 1000 kbit/s is 1 Mbit/s again"),
        ([f"{CC}=reno,cubic", f"{RTT}=90 ms,0.09 s"], f"{RTT}: the value 0.09 s is 90 ms again"),
        ([f"{RTT}=90 ms,0.09 s", f"{CC}=reno,cubic"], f"{RTT}: the value 0.09 s is 90 ms again"),
        (["gate.bottleneck.queue=50 kB,50000 B"], "gate.bottleneck.queue: the value 50000 B is 50 kB again"),
    ],
)
@pytest.mark.parametrize("command", ["study", "compare"])
def test_a_value_is_not_varied_under_two_names(
    command: str, varied: list[str], said: str, small: Path
) -> None:
    done = tidegate(command, small, *(word for each in varied for word in ("--vary", each)))
    assert done.returncode == 2
    assert f"error: {said}; each value makes a point of its own: write it once" in done.stderr


def test_what_only_comes_to_the_same_may_be_varied(small: Path) -> None:
    """A product of 4 Mbit/s and 30 ms is 15 kB; at another rate it is more."""
    both = ["--vary", f"{RATE}=4 Mbit/s,8 Mbit/s", "--vary", "gate.bottleneck.queue=1 BDP,15 kB"]
    assert tidegate("study", small, *both, "--no-store").returncode == 0
    small.write_text(f'{small.read_text()}[[sweep]]\n"gate.bottleneck.queue" = ["1 BDP", "15 kB"]\n')
    assert tidegate("study", small, "--no-store").returncode == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda file: tg.run(file, changes=[f"{CC}=reno", f"{CC}=cubic"]),
            "changed twice, to reno and to cubic",
        ),
        (lambda file: tg.run(file, changes={CC: "reno", f"{CC} ": "cubic"}), "changed twice"),
        (lambda file: tg.run(file, changes={"seed": 1}, seed=2), "seed: changed to 1 and given too"),
        (
            lambda file: tg.study(file, changes={CC: "bbr"}, vary={CC: ["reno"]}),
            "changed to bbr and varied too",
        ),
        (
            lambda file: tg.compare(file, changes={CC: "bbr"}, vary={CC: ["reno"]}),
            "changed to bbr and varied too",
        ),
        (
            lambda file: tg.compare(file, changes={"seed": 1}, vary={CC: ["reno"]}, seed=2),
            "seed: changed to 1",
        ),
    ],
)
def test_calls_have_the_same_rule(call: Callable[[Path], Any], said: str, small: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=said):
        call(small)


def test_a_store_is_kept_or_not(small: Path, tmp_path: Path) -> None:
    done = tidegate("study", small, "--store", tmp_path / "store", "--no-store")
    assert done.returncode == 2
    assert "--store DIR and --no-store" in done.stderr


def test_a_point_is_named_by_each_key_once(small: Path) -> None:
    study = tg.study(small, vary={CC: ["reno", "cubic"]}, runs=2, store=False, seed=1)
    with pytest.raises(tg.errors.ArgumentError, match="a varied key is there twice"):
        study.values("goodput_bps", {CC: "reno", "cc": "cubic"})
