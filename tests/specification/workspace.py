"""A copy of the workspace with every edit in it: built once, run once for each edit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import script

from specification import rust
from specification.page import ROOT

COPY = ROOT / "target" / "specification"
SOURCE = COPY / "source"
#: Edits that were found not to compile.
_REFUSED = COPY / "refused.json"
_CRATES = ("core", "scenario", "sim", "result", "py")
_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Test:
    """A test: its name, the command that runs it, the folder in which that runs."""

    name: str
    command: tuple[str, ...]
    folder: Path

    def passes(self, environment: dict[str, str]) -> bool:
        """Return whether it passes; a test that does not end in time does not."""
        python = os.pathsep.join(map(str, (COPY / "python", ROOT / "tests")))
        fixed = {
            "PROPTEST_RNG_SEED": "1996",
            "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
            "PYTHONPATH": python,
        }
        try:
            done = subprocess.run(
                self.command,
                env=os.environ | fixed | environment,
                cwd=self.folder,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


@dataclass
class Workspace:
    """The edits by number, with their files; the programs of tests, with the tests that each has."""

    edits: dict[int, tuple[str, rust.Edit]] = field(default_factory=dict)
    tests: dict[str, list[Test]] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)

    def build(self, files: set[str]) -> None:
        """Copy the workspace, put the edits in, leave out those that do not compile, build the tests."""
        known = set(json.loads(_REFUSED.read_text(encoding="utf-8"))) if _REFUSED.exists() else set()
        number = 0
        for file in sorted(files):
            text = (ROOT / file).read_bytes()
            for edit in rust.edits(text, rust.parsed(text)):
                if _key(file, edit) not in known:
                    self.edits[number] = (file, edit)
                number += 1
        self._crates = {Path(file).parts[1] for file in files}
        self._count = number
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in names - files:
            _replace(SOURCE / name, self._asking(name, (ROOT / name).read_bytes()))
        for path in [
            path
            for path in SOURCE.rglob("*")
            if path.is_file() and path.relative_to(SOURCE).as_posix() not in names
        ]:
            path.unlink()
        while refused := self._refused(files):
            known |= {_key(*self.edits.pop(each)) for each in refused}
            print(f"{len(refused)} edits do not compile and are left out", file=sys.stderr)
        _REFUSED.write_text(json.dumps(sorted(known)), encoding="utf-8")
        self._list()

    def _asking(self, name: str, text: bytes) -> bytes:
        """Return the text of a file; the root of each crate with edits has the function that they ask."""
        parts = Path(name).parts
        if parts[:1] == ("crates",) and parts[2:] == ("src", "lib.rs") and parts[1] in self._crates:
            return text + rust.ASKED.replace("COUNT", str(self._count)).encode()
        return text

    def _write(self, files: set[str]) -> dict[str, dict[int, tuple[int, int]]]:
        where = {}
        for file in files:
            mine = [(number, edit) for number, (name, edit) in self.edits.items() if name == file]
            out, where[file] = rust.instrumented((ROOT / file).read_bytes(), mine)
            _replace(SOURCE / file, self._asking(file, out))
        return where

    def _refused(self, files: set[str]) -> set[int]:
        """Return the edits at which the compiler finds errors."""
        where = self._write(files)
        done = _cargo("check", "--lib", "--message-format=json")
        refused: set[int] = set()
        for span in _errors(done.stdout):
            places = where.get(span["file_name"], {})
            inside = [
                (end - begin, n) for n, (begin, end) in places.items() if begin <= span["byte_start"] < end
            ]
            around = [
                (end - begin, n)
                for n, (begin, end) in places.items()
                if span["byte_start"] <= begin < span["byte_end"]
            ]
            refused |= {min(inside)[1]} if inside else {n for _, n in around}
        if done.returncode != 0 and not refused:
            raise RuntimeError(
                "the copy with edits does not compile:\n" + done.stderr[-4000:] + _rendered(done.stdout)
            )
        return refused

    def _list(self) -> None:
        done = _cargo("build")
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-4000:])
        for path in (ROOT / "python" / "tidegate").rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("_core."):
                _replace(COPY / "python" / path.relative_to(ROOT / "python"), path.read_bytes())
        _replace(
            COPY / "python" / "tidegate" / "_core.abi3.so",
            (COPY / "target" / "debug" / "lib_core.so").read_bytes(),
        )
        for path in sorted((ROOT / "tests").rglob("test_*.py")):
            for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
                self.python[name] = path.relative_to(ROOT).as_posix()
        done = _cargo("test", "--no-run", "--message-format=json")
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-4000:])
        for message in map(json.loads, done.stdout.splitlines()):
            if message.get("profile", {}).get("test") and message.get("executable"):
                program, folder = Path(message["executable"]), Path(message["manifest_path"]).parent
                for line in subprocess.run(
                    [program, "--list"], check=True, capture_output=True, text=True
                ).stdout.splitlines():
                    name, _, kind = line.rpartition(": ")
                    if kind == "test":
                        self.tests.setdefault(name.rsplit("::", 1)[-1], []).append(
                            Test(name, (str(program), "--exact", name, "-q"), folder)
                        )

    def conversation(self, title: str) -> list[Test]:
        """Return the test of a conversation, by what its title begins with."""
        named = [
            talk.name
            for talk in script.conversations()
            if talk.partner != "kernel" and talk.title.lower().startswith(title.lower())
        ]
        return [
            _pytest(
                f"tests/conformance/test_endpoint.py::test_the_endpoint_answers_as_the_conversation_has_it[{name}]"
            )
            for name in named
        ]

    def named(self, pattern: str) -> list[Test]:
        """Return the tests of a name; `…` at its end stands for any end."""
        if pattern in self.python:
            return [_pytest(f"{self.python[pattern]}::{pattern}")]
        if pattern.endswith("…"):
            return [
                test for name, tests in self.tests.items() if name.startswith(pattern[:-1]) for test in tests
            ]
        return self.tests.get(pattern, [])


def _cargo(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    packages = [word for crate in _CRATES for word in ("-p", f"tidegate-{crate}")]
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(COPY / "target"),
        "RUSTFLAGS": "--cap-lints allow -A warnings",
        "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
    }
    words = ["cargo", command, "--locked", "-q", *packages, *arguments]
    return subprocess.run(words, cwd=SOURCE, env=environment, capture_output=True, text=True, check=False)


def _errors(output: str) -> list[dict[str, Any]]:
    found = []
    for message in map(json.loads, output.splitlines()):
        inner = message.get("message") if message.get("reason") == "compiler-message" else None
        if inner and inner["level"] == "error":
            found += [span for span in inner["spans"] if span["is_primary"]]
    return found


def _rendered(output: str) -> str:
    messages = [json.loads(line) for line in output.splitlines()]
    return "".join(m["message"]["rendered"] for m in messages if m.get("reason") == "compiler-message")[:4000]


def _pytest(node: str) -> Test:
    return Test(node, (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", node), ROOT)


def _key(file: str, edit: rust.Edit) -> str:
    return f"{file}: {edit.what}"


def _replace(path: Path, text: bytes) -> None:
    """Write a file where it differs, so that cargo builds only what has changed."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
