"""Messages quote numbers alone, and nothing of a file that lies outside the scenario's folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate

if TYPE_CHECKING:
    from pathlib import Path

#: What nobody may see: words, and numbers that are no trace.
SECRETS = [
    "marvin:$6$salt$c0ffee:19000:0:99999:7:::\n",
    "-----BEGIN KEY-----\nb3BlbnNz\n",
    "731905\n4482\n",
    "731905,4482\n1,x\n",
]

KEYS = [
    'rate.trace = { file = "FILE", format = "mahimahi" }',
    'rate.trace = { file = "FILE", format = "drp", step = "1 s" }',
    'rate.trace = { file = "FILE", format = "csv" }',
    'rate.trace = "FILE"',
    'rate = "1 Mbit/s"\n[flow.b]\npath = ["g"]\napp.request = { think = "1 s", response.file = "FILE" }',
]


def scenario(folder: Path, key: str, file: object) -> Path:
    """Write a scenario whose trace or sizes are in a file."""
    path = folder / "a.toml"
    path.write_text(f'duration = "1 s"\n[flow.a]\npath = ["g"]\n[gate.g]\n{key.replace("FILE", str(file))}\n')
    return path


def parts(text: str) -> list[str]:
    """Return the pieces of a secret that would give it away."""
    return [piece for line in text.split() for piece in line.replace(",", ":").split(":") if len(piece) > 3]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("linked", [False, True])
def test_nothing_of_a_foreign_file_is_told(key: str, secret: str, linked: bool, tmp_path: Path) -> None:
    folder = tmp_path / "scenario"
    folder.mkdir()
    (tmp_path / "secret").write_text(secret)
    (folder / "link").symlink_to(tmp_path / "secret")
    path = scenario(folder, key, "link" if linked else "../secret")
    try:
        tg.load(path)
    except (tg.errors.ScenarioError, tg.errors.TraceError) as error:
        told = [str(error), str(error.read), str(error.help)]
    else:
        pytest.skip("this is a trace in its own right")
    for piece in parts(secret):
        assert piece not in "".join(told)


def test_numbers_are_quoted_where_they_may_be(tmp_path: Path) -> None:
    folder = tmp_path / "scenario"
    folder.mkdir()
    foreign = tmp_path / "foreign.down"
    foreign.write_text("731905\n4482\n")
    (folder / "own.down").write_text("731905\n4482\n")
    key = 'rate.trace = "FILE"'

    def told(file: object, **options: object) -> str:
        with pytest.raises(tg.errors.ScenarioError) as caught:
            tg.load(scenario(folder, key, file), **options)  # type: ignore[arg-type]
        return str(caught.value)

    assert "read `4482`: this line is earlier than the line before it (731905)" in told("own.down")
    assert "4482" not in told(foreign), (
        "an absolute path in the file is the author's choice, not the reader's"
    )
    assert "4482" in told(foreign, allow_outside=True)
    assert "4482" in told("own.down", changes={"gate.g.rate.trace": str(foreign)})
    assert "4482" not in told("own.down", changes={"gate.g.rate.trace": "../foreign.down"})


def test_the_command_line_has_the_same_rule(tmp_path: Path) -> None:
    folder = tmp_path / "scenario"
    folder.mkdir()
    foreign = tmp_path / "foreign.down"
    foreign.write_text("731905\n4482\n")
    path = scenario(folder, 'rate.trace = "FILE"', "../foreign.down")
    for command in (
        ["check"],
        ["run"],
        ["study", "--runs", "2"],
        ["compare", "--vary", "flow.a.tcp.cc=reno"],
    ):
        shut = tidegate(command[0], path, *command[1:], "--json")
        assert shut.returncode == 2
        assert "4482" not in shut.stdout + shut.stderr
        assert json.loads(shut.stdout)["error"]["key"] == "gate.g.rate.trace"
        open_ = tidegate(command[0], path, *command[1:], "--allow-outside")
        assert open_.returncode == 2
        assert "4482" in open_.stderr
    named = tidegate("check", path, "--set", f"gate.g.rate.trace={foreign}")
    assert "4482" in named.stderr


def test_a_sweep_in_the_file_is_the_authors_choice(tmp_path: Path) -> None:
    folder = tmp_path / "scenario"
    folder.mkdir()
    foreign = tmp_path / "foreign.down"
    foreign.write_text("731905\n4482\n")
    path = scenario(folder, 'rate = "1 Mbit/s"', "")
    with path.open("a") as file:
        file.write(f'[[sweep]]\n"gate.g.rate.trace" = ["{foreign}"]\n')
    done = tidegate("study", path, "--runs", "2")
    assert done.returncode == 2
    assert "4482" not in done.stderr
