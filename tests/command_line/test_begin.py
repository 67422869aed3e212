"""Beginning without a clone: templates, examples, traces and links instead of files, standard input."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL, tidegate
from tidegate._ask.begin import examples, template, templates
from tidegate._ask.link import Link
from tidegate._cli.colour import coloured

PACKAGE = Path(tg.__file__).parent


@pytest.mark.parametrize("name", sorted(templates()))
def test_a_template_runs_and_explains_itself(name: str) -> None:
    text = template(name)
    lines = text.splitlines()
    assert lines[0] == "#:schema ./scenario.schema.json"
    assert "tidegate schema > scenario.schema.json" in lines[2]
    # The default, which every entrance has.
    assert all("base" not in flow["tcp"] for flow in tomllib.loads(text)["flow"].values())
    scenario = tg.Scenario.from_toml(text)
    assert scenario.warnings == []
    run = tg.run(scenario)
    assert run.warnings == []
    assert sum(flow["goodput_bps"] for flow in run.flows) > 1e5


def test_the_commands_in_templates_are_right(tmp_path: Path) -> None:
    import shlex

    from tidegate._cli.options import parse_vary
    from tidegate._compare.start import prepare

    seen = 0
    for name in templates():
        text = template(name)
        (tmp_path / f"{name}.toml").write_text(text)
        for line in text.splitlines():
            words = shlex.split(line.removeprefix("#").strip()) if "tidegate compare" in line else []
            if not words:
                continue
            assert words[:3] == ["tidegate", "compare", f"{name}.toml"]
            varied = [words[n + 1] for n, word in enumerate(words) if word == "--vary"]
            assert prepare([tmp_path / words[2]], parse_vary(varied)).variants
            seen += 1
    assert seen >= 5


def test_every_example_is_in_the_package(tmp_path: Path) -> None:
    files = {path.name for suffix in ("toml", "csv") for path in EXAMPLES.glob(f"*.{suffix}")} | {"aimd.py"}
    kept = PACKAGE / "_ask" / "examples"
    assert {path.name for path in kept.iterdir() if path.is_file()} == files
    assert all((kept / name).read_bytes() == (EXAMPLES / name).read_bytes() for name in files)
    place = tmp_path / "mine"
    done = tidegate("init", "--examples", place)
    assert done.returncode == 0
    assert {path.name for path in place.iterdir()} == files
    # The class that this one names is there too.
    short = ("--set", "duration=2 s", "--set", "warmup=0 s")
    own = tidegate("run", place / "own-controller.toml", "--allow-python", *short)
    assert own.returncode == 0, own.stderr
    assert "choose another" in tidegate("init", "--examples", place).stderr
    assert set(examples()) == {path.stem for path in EXAMPLES.glob("*.toml")}


def test_init_prints_what_run_takes(tmp_path: Path) -> None:
    done = tidegate("init", "policer")
    (tmp_path / "x.toml").write_text(done.stdout)
    assert tidegate("check", "x.toml", cwd=tmp_path).returncode == 0
    listed = tidegate("init").stdout
    assert all(name in listed for name in (*templates(), *examples()))
    wrong = tidegate("init", "policr")
    assert wrong.returncode == 2
    assert 'did you mean "policer"' in wrong.stderr


def test_a_trace_is_a_scenario(tmp_path: Path) -> None:
    shutil.copyfile(EXAMPLES / "cellular.csv", tmp_path / "phone.csv")
    done = tidegate("run", "phone.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "is a link trace" in done.stderr
    printed = tidegate("init", "phone.csv", cwd=tmp_path)
    (tmp_path / "phone.toml").write_text(printed.stdout)
    assert tidegate("run", "phone.toml", "--json", cwd=tmp_path).stdout == done.stdout
    other = tidegate("check", "phone.csv", "--rtt", "80ms", "--cc", "reno", "--explain", cwd=tmp_path)
    assert "80 ms" in other.stdout
    assert "reno" in other.stdout
    assert tg.run(tmp_path / "phone.csv").flows["download"]["cc"] == "cubic"


def test_a_trace_under_another_name_is_told_apart(tmp_path: Path) -> None:
    for name, text in (("a.txt", "0 10.5\n0.5 3.2\n"), ("b.log", "1\n2\n2\n")):
        (tmp_path / name).write_text(text)
        done = tidegate("run", name, cwd=tmp_path)
        assert done.returncode == 2
        assert "as in a link trace" in done.stderr
    (tmp_path / "c.toml").write_text("nonsense")
    assert "this is not TOML" in tidegate("run", "c.toml", cwd=tmp_path).stderr


def test_a_link_in_words(tmp_path: Path) -> None:
    done = tidegate(
        "run", "--link", "8Mbit/s", "--rtt", "30ms", "--queue", "20 packets", "--cc", "reno", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert '"cc": "reno"' in done.stdout
    assert tg.Scenario.from_toml(Link(rate="8 Mbit/s").toml()).warnings == []
    text = Link(rate="8Mbit/s", queue="1bdp").toml()
    assert 'rate = "8 Mbit/s"' in text
    assert 'queue = "1 BDP"' in text
    for words in (["run"], ["run", "x.toml", "--link", "1 Mbit/s"], ["run", "x.toml", "--rtt", "1 ms"]):
        assert tidegate(*words, cwd=tmp_path).returncode == 2
    with pytest.raises(tg.errors.ArgumentError):
        Link().toml()


def test_standard_input() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "compare", "-", "--vary", "flow.bulk.tcp.cc=reno,cubic", "--json"],
        input=SMALL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"set"') == 2


def test_a_path_in_set_counts_from_this_folder(tmp_path: Path, small: Path) -> None:
    shutil.copyfile(EXAMPLES / "cellular.csv", tmp_path / "here.csv")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copyfile(small, folder / "s.toml")
    change = "gate.bottleneck.rate={ trace = 'here.csv' }"
    assert tidegate("check", folder / "s.toml", "--set", change, cwd=tmp_path).returncode == 2
    (folder / "t.toml").write_text(SMALL.replace('rate = "4 Mbit/s"', 'rate.trace = "there.csv"'))
    change = "gate.bottleneck.rate.trace=here.csv"
    assert tidegate("check", folder / "t.toml", "--set", change, cwd=tmp_path).returncode == 0


def completions(words: str, folder: Path, shell: str = "bash") -> list[str]:
    parts = words.split(" ")
    done = subprocess.run(
        [sys.executable, "-m", "tidegate"], capture_output=True, text=True, cwd=folder, check=False,
        env={**os.environ, "_TIDEGATE_COMPLETE": f"{shell}_complete", "COMP_WORDS": words,
             "COMP_CWORD": str(len(parts) - 1)},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_completion_keeps_files(tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        done = tidegate("completion", shell)
        assert done.returncode == 0
        assert "tidegate" in done.stdout
    assert completions("tidegate run vz", tmp_path) == ["file,vz"]
    assert completions("tidegate run x.toml --out r", tmp_path) == ["dir,r"]
    assert completions("tidegate compl", tmp_path) == ["plain,completion"]
    assert "plain,live" in completions("tidegate run x.toml --engine l", tmp_path)
    assert "plain,dtm" in completions("tidegate reproduce d", tmp_path)
    assert "plain,policer" in completions("tidegate init pol", tmp_path)


def test_colour_is_for_terminals_only(tmp_path: Path) -> None:
    message = "error: a: wrong\n --> x.toml:1:1\n  |\n1 | a = 1\n  | ^\n  = help: write b"
    shown = coloured(message)
    assert "\x1b[31;1merror:\x1b[0m" in shown
    assert "\x1b[31;1m^\x1b[0m" in shown
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == message
    assert "\x1b" not in tidegate("run", "none.toml", cwd=tmp_path).stderr


def on_a_terminal(folder: Path, *words: str, **environment: str) -> str:
    """Return what a command writes where standard error is a terminal."""
    import pty

    read, write = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate", *words], stderr=write, stdout=subprocess.DEVNULL, cwd=folder,
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **environment},
    )  # fmt: skip
    process.wait()
    os.close(write)
    said = os.read(read, 65536).decode()
    os.close(read)
    return said


def test_a_terminal_has_colour_unless_told_otherwise(tmp_path: Path) -> None:
    assert "\x1b[31;1merror:" in on_a_terminal(tmp_path, "run", "none.toml")
    assert "\x1b" not in on_a_terminal(tmp_path, "run", "none.toml", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(tmp_path, "run", "none.toml", TERM="dumb")


def test_a_comparison_draws_only_when_asked(tmp_path: Path, small: Path) -> None:
    done = tidegate("compare", small, "--vary", "flow.bulk.tcp.cc=reno,cubic", cwd=tmp_path)
    assert done.returncode == 0
    assert list(tmp_path.glob("*.png")) == []


def test_tables_fit_the_terminal(tmp_path: Path) -> None:
    place = tmp_path / "long.toml"
    place.write_text(SMALL.replace("bottleneck", "a_rather_long_name").replace("bulk", "another_long_name"))
    for words in (("run", place), ("compare", place, "--vary", "flow.another_long_name.tcp.cc=reno,cubic")):
        for columns in (60, 80):
            done = tidegate(*words, COLUMNS=str(columns))
            assert max(map(len, done.stdout.splitlines())) <= columns, done.stdout
