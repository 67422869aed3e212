"""Adds a toy law, controller, discipline and column to a scratch copy, and compares the files with the lists.

``python tests/structure/adding.py`` (``make adding``). The copy gets a new variant or field, and then an arm
or a value wherever the compiler asks for one, until it compiles. Every file that was touched has to be named
in its list of docs/design/adding.md: who follows the list then meets no error that it does not tell of. What
the compiler does not ask for (keys, examples, tests) is not seen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "docs" / "design" / "adding.md"
CRATES = ("core", "result", "scenario", "sim", "live", "py", "wasm")
#: Rounds of the compiler, at most: a crate that compiles lets those that use it be looked at.
ROUNDS = 30


@dataclass(frozen=True)
class Toy:
    """What is added first: a line behind another one, in a file that the list names."""

    what: str
    #: The type that grows, as the compiler names it.
    type: str
    #: File below the repository, the line that is there, and what is put behind it.
    edits: tuple[tuple[str, str, str], ...]


def variant(what: str, kind: str, file: str) -> Toy:
    """Return a toy that is a variant of an enum."""
    return Toy(what, kind, ((file, f"pub enum {kind} {{\n", "    /// A toy.\n    Toy,\n"),))


TOYS = (
    variant("a rate law", "RatePlan", "crates/tidegate-core/src/plan/rate.rs"),
    variant("a congestion controller", "CongestionPlan", "crates/tidegate-core/src/plan/congestion.rs"),
    variant("a queue discipline", "Discipline", "crates/tidegate-core/src/plan/discipline.rs"),
    Toy(
        "a column",
        "FlowRow",
        (
            (
                "crates/tidegate-result/src/rows.rs",
                "pub struct FlowRow {\n",
                "    /// A toy.\n    pub toy: f64,\n",
            ),
            (
                "crates/tidegate-result/src/columns/entries.rs",
                "pub static FLOWS: &[Entry<FlowRow>] = &[\n",
                '    all("toy", "a toy", Value::F64(|of| of.row.toy)),\n',
            ),
        ),
    ),
)


def main() -> int:
    """Do it; return 1 if a list leaves a file out."""
    touched: dict[str, set[str]] = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copied(copy)
        for toy in TOYS:
            for file, behind, text in toy.edits:
                place = copy / file
                before = place.read_text(encoding="utf-8")
                assert before.count(behind) == 1, f"{file}: {behind!r} is there {before.count(behind)} times"
                place.write_text(before.replace(behind, behind + text), encoding="utf-8")
                touched[toy.what].add(file)
        complete(copy, touched)
    left_out = 0
    for toy in TOYS:
        missing = {file for file in touched[toy.what] if not named(file, toy.what)}
        left_out += len(missing)
        print(f"{toy.what}: {len(touched[toy.what])} files that do not compile without it")
        for file in sorted(touched[toy.what]):
            print(f"  {'NOT IN THE LIST' if file in missing else 'listed':15} {file}")
    return int(left_out > 0)


def copied(folder: Path) -> None:
    """Copy what is tracked, as it is now, and build beside the usual builds."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "Cargo.toml", "Cargo.lock", "README.md", "crates", "fuzz", "python", "web"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


def complete(folder: Path, touched: dict[str, set[str]]) -> None:
    """Give the compiler what it asks for, until it asks for nothing."""
    for _ in range(ROUNDS):
        errors = check(folder)
        if not errors:
            return
        # From the end of each file to its beginning, so that places stay where they are.
        fixes = sorted({fix(error) for error in errors}, key=lambda each: (each[1], each[2]), reverse=True)
        for what, file, at, text in fixes:
            place = folder / file
            content = place.read_bytes()
            place.write_bytes(content[:at] + text.encode() + content[at:])
            touched[what].add(file)
    raise SystemExit(f"the copy does not compile after {ROUNDS} rounds")


def check(folder: Path) -> list[dict[str, Any]]:
    """Return the errors of the compiler."""
    packages = [word for name in CRATES for word in ("--package", f"tidegate-{name}")]
    target = os.environ.get("ADDING_TARGET", str(ROOT / "target" / "adding"))
    done = subprocess.run(
        ["cargo", "check", "--locked", "--quiet", "--message-format", "json", *packages],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "CARGO_TARGET_DIR": target},
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [each["message"] for each in told if each.get("reason") == "compiler-message"]
    errors = [each for each in found if each["level"] == "error" and each["spans"]]
    if done.returncode and not errors:
        raise SystemExit(done.stderr)
    return errors


def fix(error: dict[str, Any]) -> tuple[str, str, int, str]:
    """Return what an error is about, and the file, the byte and the text that end it."""
    code = (error["code"] or {}).get("code")
    toy = next((each for each in TOYS if re.search(rf"\b{each.type}\b", error["message"])), None)
    if toy is not None and code == "E0004":
        for child in error["children"]:
            for span in child["spans"]:
                if "Toy" in (span["suggested_replacement"] or ""):
                    return toy.what, span["file_name"], span["byte_start"], span["suggested_replacement"]
    if toy is not None and code == "E0063":
        # The span is the type's name; its fields begin behind it.
        span = error["spans"][0]
        return toy.what, span["file_name"], span["byte_end"] + len(" {"), " toy: 0.0,"
    raise SystemExit(f"no way is known to mend this:\n{error['rendered']}")


def named(file: str, what: str) -> bool:
    """Tell whether a list names a file, or the folder that it is in."""
    section = LISTS.read_text(encoding="utf-8").partition(f"## How to add {what}\n")[2].partition("\n## ")[0]
    places = re.findall(r"`((?:crates|docs)/[\w./-]+)`", section)
    return any(file == place or (place.endswith("/") and file.startswith(place)) for place in places)


if __name__ == "__main__":
    sys.exit(main())
