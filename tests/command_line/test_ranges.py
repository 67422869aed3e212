"""Whole numbers have one range, from whichever entrance they come: the command line, a call or a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._base.limits import bounds
from tidegate._cli.main import cli
from tidegate._cli.names import Whole


def commands(group: click.Group, words: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its words."""
    for name in group.commands:
        command = group.commands[name]
        if isinstance(command, click.Group):
            yield from commands(command, f"{words} {name}".strip())
        else:
            yield f"{words} {name}".strip(), command


def test_no_option_has_a_range_of_its_own() -> None:
    found = 0
    for words, command in commands(cli):
        for option in command.params:
            if isinstance(option.type, click.types.IntParamType) and not getattr(option, "count", False):
                assert isinstance(option.type, Whole), f"{words} {option.opts}"
                found += 1
    assert found > 15


@pytest.mark.parametrize("wrong", [-1, 2**63, 2**64, "x", "1.5"])
def test_a_seed_is_refused_alike_everywhere(wrong: int | str, small: Path) -> None:
    takes = "takes a whole number from 0 to 9223372036854775807"
    for words in (["run", small], ["study", small], ["compare", small, "--vary", "flow.bulk.tcp.cc=reno"]):
        done = tidegate(*words, "--seed", wrong)
        assert done.returncode == 2
        assert f"read {wrong}; {takes}" in done.stderr
    for words in (["run", small, "--set", f"seed={wrong}"], ["compare", small, "--vary", f"seed={wrong}"]):
        done = tidegate(*words)
        assert done.returncode == 2
        assert re.match(rf"error: seed: .*{wrong}.*", done.stderr)
        assert "2^63" not in done.stderr
    if isinstance(wrong, int):
        with pytest.raises(tg.errors.ArgumentError, match=f"seed: read {wrong}; {takes}"):
            tg.run(small, seed=wrong)
        with pytest.raises(tg.errors.ScenarioError, match=f"seed: {wrong} is") as refused:
            tg.run(small, changes={"seed": wrong})
        assert refused.value.key == "seed"
        small.write_text(f"seed = {wrong}\n{small.read_text()}")
        done = tidegate("check", small)
        assert done.returncode == 2
        assert f"error: seed: {wrong} is" in done.stderr


def test_the_largest_seed_is_taken_everywhere(small: Path) -> None:
    largest = bounds("seed")[1]
    assert largest == 2**63 - 1
    assert f"seed {largest}" in tidegate("run", small, "--seed", largest).stdout
    assert f"seed {largest}" in tidegate("run", small, "--set", f"seed={largest}").stdout
    assert tg.run(small, changes={"seed": largest}, record="summary").summary["seed"] == largest


@pytest.mark.parametrize(
    ("call", "name", "wrong"),
    [
        (lambda source: tg.run(source, threads=0), "threads", 0),
        (lambda source: tg.run(source, threads=1025), "threads", 1025),
        (lambda source: tg.run(source, perturb=0), "perturb", 0),
        (lambda source: tg.study(source, runs=0), "runs", 0),
        (lambda source: tg.study(source, workers=0), "workers", 0),
        (lambda source: tg.compare(source, vary={"flow.bulk.tcp.cc": ["reno"]}, workers=0), "workers", 0),
        (lambda source: tg.compare_engines(source, engines=["sim", "theory"], runs=0), "runs", 0),
        (lambda source: tg.identify(source, most_packets=0), "most_packets", 0),
    ],
)
def test_calls_have_the_ranges_of_options(call: object, name: str, wrong: int, small: Path) -> None:
    least, most = bounds(name)
    words = f"{name}: read {wrong}; takes a whole number from {least} to {most}"
    with pytest.raises(tg.errors.ArgumentError, match=words):
        call(small)  # type: ignore[operator]
