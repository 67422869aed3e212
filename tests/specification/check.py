"""For each row of the specification: does a test that the row names fail when the rule's code is edited?

    python -m specification.check [--line N …] [--every]

A row is *confirmed* if in each Rust file that it names an edit makes one of its tests fail.
Edits are tried where the file cites the row's section or function of the kernel: in the statement,
function or type below that comment, then in the function around it. A row may name items beside the
file instead. Where neither tells the place, the whole file is tried, and the row is *in its file*.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from specification import places, rust
from specification.page import ROOT, Row, rows
from specification.workspace import Test, Workspace

Stretches = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Scope:
    """Where in a file a row's rule stands, exactest first: by what that was told, and stretches of bytes."""

    file: str
    levels: tuple[tuple[str, Stretches], ...]


def file_of(row: Row, name: str) -> str | None:
    """Return the path of the Rust file that a row names, as the page's headings shorten it."""
    found = [path.relative_to(ROOT).as_posix() for path in (ROOT / "crates").glob("*/src/**/*.rs")]
    fits = [path for path in found if path == name or path.endswith(f"/{name}")]
    core = [path for path in fits if path == f"crates/tidegate-core/src/{name}"]
    below = [path for path in fits if "/classes/" in path] if row.heading.startswith("Classes") else []
    trace = [path for path in fits if "/trace/" in path] if row.heading.startswith("Link traces") else []
    return next(iter(trace or below or core or fits), None)


def scope(row: Row, file: str, names: tuple[str, ...]) -> Scope:
    """Return where the rule of a row stands in one of its files."""
    source = (ROOT / file).read_bytes()
    root = rust.parsed(source)
    items = places.items(root)
    named = tuple(place for name in names for place in items.get(name, ()))
    whole = ((0, len(source)),)
    if named:
        return Scope(file, (("item", named), ("file", whole)))
    cited = [
        (begin, end)
        for text, begin, end in places.comments(source, root)
        if any(_cites(text, document, section) for document, section in row.cited())
    ]
    narrow = tuple(place for place in cited if place != whole[0])
    around = tuple(places.around(root, begin) for begin, _ in narrow)
    return Scope(file, (("citation", narrow), ("function", around), ("file", whole)))


def _cites(text: str, document: str, section: str) -> bool:
    if not document:
        return section in text
    place = text.find(f"§{section}")
    return (
        place >= 0
        and not text[place + len(section) + 1 : place + len(section) + 3].startswith(tuple("0123456789"))
        and document in text
    )


@dataclass
class Finding:
    """What was found for one row."""

    row: Row
    word: str
    detail: str


def examine(space: Workspace, row: Row, places: list[Scope], every: bool) -> Finding:
    """Try the edits of a row's places with its tests."""
    tests = [test for name in row.tests for test in space.named(name)]
    tests += [test for title in row.conversations for test in space.conversation(title)]
    if not places or not tests:
        return Finding(row, "not by this program", "no Rust file" if not places else "no test found")
    reached = {test: numbers for test in tests if (numbers := _reached(test)) is not None}
    details, words = [], set()
    for place in places:
        name = Path(place.file).name
        for level, stretches in place.levels:
            failed, tried = _try(space, place.file, stretches, reached, every)
            if failed:
                details.append(f"{name} by {level}: {failed} of {tried}")
                words.add("confirmed" if level != "file" else "in its file")
                break
            if tried or level == "file":
                details.append(f"{name} by {level}: 0 of {tried}")
                words.add("not shown")
                if tried:
                    break
    if words == {"confirmed", "in its file"}:
        words.remove("confirmed")
    return Finding(row, words.pop() if len(words) == 1 else "in part", "; ".join(details))


def _try(
    space: Workspace, file: str, stretches: Stretches, reached: dict[Test, set[int]], every: bool
) -> tuple[int, int]:
    """Return how many edits made a test fail, and how many were tried: those that a test reaches."""
    failed = tried = 0
    for number, (name, edit) in space.edits.items():
        if name != file or not any(begin <= edit.start and edit.end <= end for begin, end in stretches):
            continue
        able = [test for test in reached if number in reached[test]]
        tried += bool(able)
        if able and not all(test.passes({"EDIT": str(number)}) for test in able):
            failed += 1
            if not every:
                break
    return failed, tried


def _reached(test: Test) -> set[int] | None:
    """Return the edits that a test reaches; `None`: it does not pass without one (it may take too long)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reached"
        if not test.passes({"EDITS_REACHED": str(path)}):
            print(f"left out, because it does not pass as it is: {test.name}", file=sys.stderr)
            return None
        return set(map(int, path.read_text().split())) if path.exists() else set()


def main() -> int:
    """Examine the rows and print what was found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--line", type=int, action="append", help="only the row on this line of the page")
    options.add_argument(
        "--every", action="store_true", help="try every edit, not only until one makes a test fail"
    )
    chosen = options.parse_args()
    examined = [row for row in rows() if not chosen.line or row.line in chosen.line]
    places = {
        row: [
            scope(row, file, items) for name, items in row.files if (file := file_of(row, name)) is not None
        ]
        for row in examined
    }
    space = Workspace()
    space.build({place.file for each in places.values() for place in each})
    print(f"{len(space.edits)} edits, {len(space.tests)} tests", file=sys.stderr)
    findings = []
    for row in examined:
        findings.append(finding := examine(space, row, places[row], chosen.every))
        print(
            f"{finding.row.line:4} {finding.word:20} {finding.row.rule[:70]:70} {finding.detail}", flush=True
        )
    words = [finding.word for finding in findings]
    print(", ".join(f"{words.count(word)} {word}" for word in sorted(set(words))))
    return 0 if not {"not shown", "in part"} & set(words) else 1


if __name__ == "__main__":
    sys.exit(main())
