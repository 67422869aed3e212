"""The WebAssembly module in Node: its answers are those of the native program, to the byte."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tidegate import _core

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
#: Congestion control in Python is not to be had in a page.
SCENARIOS = sorted(
    path
    for path in EXAMPLES.glob("*.toml")
    if not any(own in path.read_text() for own in ("python:", 'transport = "quic"'))
)
#: What scenarios may name.
FILES = {
    path.name: str(path) for path in EXAMPLES.iterdir() if path.suffix in {".csv", ".down", ".drp", ".txt"}
}

pytestmark = pytest.mark.timeout(900)


def ask(module: Path, folder: Path, questions: list[dict[str, Any]]) -> None:
    """Write the module's answers into ``folder``."""
    command = ["node", Path(__file__).with_name("ask.mjs"), module.with_name("tidegate.mjs"), module, folder]
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def answer(module: Path, folder: Path, question: dict[str, Any], **scenario: Any) -> dict[str, Any]:
    """Return the JSON of one answer."""
    asked = {"name": "one", "question": question, "scenario": scenario or None, "files": FILES}
    ask(module, folder, [asked])
    found: dict[str, Any] = json.loads((folder / "one.json").read_text())
    return found


def test_every_example_gives_the_native_bytes(module: Path, tmp_path: Path) -> None:
    assert len(SCENARIOS) > 15
    question = {"ask": "run", "seed": 7, "record": "100 ms"}
    ask(
        module,
        tmp_path,
        [
            {"name": path.stem, "question": question, "scenario": {"text": path.read_text()}, "files": FILES}
            for path in SCENARIOS
        ],
    )
    for path in SCENARIOS:
        native = _core.Scenario.load(path, [], False).run(seed=7, record="100 ms")
        text = (tmp_path / f"{path.stem}.json").read_text()
        assert text.startswith('{"summary":' + native.summary_json + ',"warnings":'), path.name
        bytes_behind = (tmp_path / f"{path.stem}.bin").read_bytes()
        tables = json.loads(text)["tables"]
        assert set(tables) == set(native.tables), path.name
        for table, columns in native.tables.items():
            assert set(tables[table]) == set(columns)
            for name, (kind, column) in columns.items():
                place = tables[table][name]
                assert place["kind"] == kind
                there = bytes_behind[place["at"] : place["at"] + len(column)]
                assert there == column, f"{path.name}: {table}.{name}"


def test_a_wrong_scenario_has_the_native_message(module: Path, tmp_path: Path) -> None:
    text = '[gate.a]\nrate = "5 Mbit"\nqueu = 3\n[flow.f]\npath = ["a"]\n'
    told = answer(module, tmp_path, {"ask": "check"}, text=text, name="mine.toml")["error"]
    with pytest.raises(_core.ScenarioError) as native:
        _core.Scenario.from_toml(text, "mine.toml", None, [], False)
    assert told["kind"] == "scenario"
    assert told["message"] == str(native.value)
    first, *others = told["problems"]
    assert (first["line"], first["key"]) == (native.value.line, native.value.key)
    assert len(others) == len(native.value.others)


def test_a_file_that_was_not_given_is_named(module: Path, tmp_path: Path) -> None:
    text = 'duration = "1 s"\n[gate.a]\nrate.trace = "none.csv"\n[flow.f]\npath = ["a"]\n'
    told = answer(module, tmp_path, {"ask": "run"}, text=text)["error"]
    assert "none.csv: there is no such file here" in told["message"]
    assert "cellular.csv" in told["message"]  # one of those that were given


def test_edits_count_before_the_text(module: Path, tmp_path: Path) -> None:
    told = answer(
        module, tmp_path, {"ask": "check"}, text=SCENARIOS[0].read_text(), sets=["title='another'", "seed=5"]
    )
    assert (told["title"], told["seed"]) == ("another", 5)


def test_a_controller_in_python_is_refused_in_words(module: Path, tmp_path: Path) -> None:
    text = (EXAMPLES / "own-controller.toml").read_text()
    code = {path.name: str(path) for path in EXAMPLES.glob("*.py")}
    asked = {"name": "one", "question": {"ask": "run"}, "scenario": {"text": text}, "files": code}
    ask(module, tmp_path, [asked])
    told = json.loads((tmp_path / "one.json").read_text())["error"]
    assert told["kind"] == "run"
    assert "has no Python" in told["message"]


@pytest.mark.parametrize("question", [{"ask": "fly"}, {"ask": "run", "sed": 1}, {}])
def test_a_question_that_is_none_is_answered_in_words(
    module: Path, tmp_path: Path, question: dict[str, Any]
) -> None:
    told = answer(module, tmp_path, question, text="")["error"]
    assert told["kind"] == "question"
    assert told["message"].startswith("the question: ")


def test_the_schema_is_the_native_one(module: Path, tmp_path: Path) -> None:
    ask(module, tmp_path, [{"name": "schema", "question": {"ask": "schema"}}])
    assert json.loads((tmp_path / "schema.json").read_text()) == json.loads(_core.schema())
