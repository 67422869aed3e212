"""Every command, program and scenario in README.md and docs/guide does what the page says."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.common import WAITING

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    """Import a script of the docs folder."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


snippets = load("snippets")
generate = load("generate")
#: Characters that mean something to a shell.
FOR_A_SHELL = re.compile(r"[|&;<>$`*?~{}()\\]")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def run(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line; one that has nothing for a shell to do takes a copy of the Python that waits."""
    words = shlex.split(line, comments=True)
    if FOR_A_SHELL.search(line.partition(" #")[0]) or words[0] != "tidegate":
        return snippets.by_bash(line, folder, environment)
    return WAITING.run(words[1:], cwd=folder, seconds=snippets.LIMIT, environment=environment, together=True)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("page", snippets.pages(), ids=lambda page: page.stem)
def test_page(page: Path, tmp_path: Path) -> None:
    """Its blocks run, and the outputs that it shows are what they print."""
    assert page.read_text(encoding="utf-8") == snippets.refreshed(page, tmp_path / "page", run), (
        "run make docs"
    )


@pytest.mark.parametrize("name", sorted(generate.REFERENCE))
def test_reference(name: str) -> None:
    """The generated pages are those of this version."""
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert committed == generate.REFERENCE[name](), "run make docs"


def test_licences_of_what_is_bundled() -> None:
    """The file that wheels carry has every crate that is linked, with its terms."""
    committed = (ROOT / "LICENSES-BUNDLED.txt").read_text(encoding="utf-8")
    assert committed == load("licences").text(), "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    """A link to a file of the project finds it, and a link to a heading finds that."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, heading = target.partition("#")
        file = page if not place else page.parent / place
        assert file.exists(), target
        if heading:
            anchors = {anchor(line) for line in file.read_text(encoding="utf-8").splitlines()}
            assert heading in anchors, target


def anchor(line: str) -> str:
    """Return the name that a heading gets as a link's target."""
    if not line.startswith("#"):
        return ""
    kept = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
    return kept.replace(" ", "-")


#: What takes its time whatever the machine is, or builds: in the text above a block, how long.
TAKES_LONG = re.compile(r"^tidegate .*--engines? \S*live|^(?:cargo|make) ", re.M)
SAID = re.compile(r"\bminutes?\b|\bseconds\b|\b\d+ s\b")


@pytest.mark.parametrize("page", snippets.pages(), ids=lambda page: page.stem)
def test_a_block_that_takes_long_says_so_before(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    behind = 0
    for block in snippets.blocks(text):
        if block.kind == "bash" and TAKES_LONG.search(block.text):
            assert SAID.search("\n".join(lines[behind : block.line])), f"{page.name}:{block.line}"
        behind = block.span[1]


def test_a_wrong_page_is_found(tmp_path: Path) -> None:
    """The test itself can fail: a wrong command, scenario and program are each noticed."""
    player = snippets.Player(ROOT / "README.md", tmp_path / "page")
    for text in (
        "```bash\ntidegate run examples/nothing.toml\n```\n",
        '```toml\n[gate.link]\nrte = "1 Mbit/s"\n```\n',
        "```python\nassert False\n```\n",
    ):
        (block,) = snippets.blocks(text)
        with pytest.raises(AssertionError):
            player.play(block)


def sources() -> dict[str, str]:
    """Return the text of every Rust and Python file of the project, by path."""
    folders = (("crates", "*.rs"), ("tests", "*.py"), ("python", "*.py"), ("papers", "*.py"))
    files = [file for folder, ending in folders for file in (ROOT / folder).rglob(ending)]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_specification_names_what_is_there() -> None:
    """Files, tests, kernel functions in the table are in the code; each RFC cited there has a row."""
    text = (ROOT / "docs" / "specification.md").read_text(encoding="utf-8")
    code = sources()
    # A live test that runs in both ways has its name in the macro.
    functions = set(re.findall(r"\b(?:(?:fn|def) |both_ways!\()(\w+)", "\n".join(code.values())))
    modules = {Path(path).stem for path in code}
    keys = {"go_back_n", "ssthresh_rounding", "ce_threshold"}
    core = "\n".join(text for path, text in code.items() if path.startswith("crates/tidegate-core"))
    kernel = set(re.findall(r"`(\w+_\w+)`", core))
    for name in re.findall(r"`(\w+_\w+)`", text):
        assert name in functions | modules | keys | kernel, name
    for name in re.findall(r"`([\w/.-]+\.(?:rs|py))`", text):
        assert any(path.endswith(name) for path in code), name
    for number in set(re.findall(r"RFC (\d{4})", core)):
        assert number in text, f"RFC {number}"
