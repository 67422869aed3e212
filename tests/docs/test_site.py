"""The documentation site builds from the pages without a warning, and every link in it leads somewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import narrow, opened, unreachable

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
MISSING = [name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None]

needs_sphinx = pytest.mark.skipif(
    bool(MISSING), reason=f"the site is not built: {', '.join(MISSING)} not installed (make setup)"
)


def load(name: str) -> ModuleType:
    """Import a script of the site."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


pages = load("pages")
gallery = load("gallery")
links = load("links")


@needs_sphinx
@pytest.mark.timeout(400)
def test_site(tmp_path: Path) -> None:
    """All of it is built, without the gallery's pictures and the Rust reference, which take longer."""
    command = [sys.executable, SITE / "build.py", "--no-pictures", "--out", tmp_path / "site"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    (start,) = (tmp_path / "site").glob("*/README.html")
    for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.toml")]:
        place = Path("gallery") / page.name if page.suffix == ".toml" else page.relative_to(ROOT)
        assert (start.parent / place.with_suffix(".html")).is_file(), page
    # Notes for the tests, which pages have as comments, are not text.
    assert "&lt;!--" not in start.read_text(encoding="utf-8")


@needs_sphinx
def test_what_scrolls_is_reached_by_keyboard(tmp_path: Path) -> None:
    """The Tab key reaches code and tables that a phone shows in part, and does not stop at what fits."""
    words = " | ".join(f"`column_number_{number}`" for number in range(12))
    table = f"| {words} |\n|{'---|' * 12}\n| {words} |\n"
    code = f"```text\n{'wide ' * 40}\n```\n\n```text\nshort\n```\n"
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "README.md").write_text(f"# A page\n\n{code}\n{table}", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-c", SITE, tmp_path / "pages", tmp_path / "built"]
    subprocess.run(command, check=True)
    reached = "return [...document.querySelectorAll('article [tabindex]')].map((each) => each.ariaLabel)"
    with opened(tmp_path / "chrome") as browser, narrow(browser):
        browser.get((tmp_path / "built" / "README.html").as_uri())
        assert unreachable(browser) == []
        assert browser.execute_script(reached) == ["Code", "Table"]


def test_the_picture_of_each_example_is_that_of_its_first_command() -> None:
    """Commands with other options than --plot and --gate would draw another picture than the gallery."""
    for example in gallery.examples(ROOT / "examples"):
        first = next(line for line in "\n".join(example.comment).splitlines() if "--plot" in line)
        name = example.file.name
        assert re.fullmatch(
            rf"\s+tidegate run examples/{name}( --allow-python)? --plot [\w-]+\.png( --gate \w+)?", first
        ), first


def test_wrong_links_are_found(tmp_path: Path) -> None:
    """The check itself can fail: a file and a heading that are not there are each noticed."""
    text = (
        '<h1 id="here">A</h1><a href="#here">fine</a><a href="b.html">none</a><a href="a.html#there">none</a>'
    )
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert links.problems(tmp_path) == [
        "a.html: b.html: there is no such file",
        "a.html: a.html#there: there is no such heading",
    ]


def test_links_of_pages_are_mended(tmp_path: Path) -> None:
    """Scenarios lead to the gallery and folders to their README; code stays, new pages are found."""
    root = tmp_path.resolve() / "project"
    for name, text in {
        "README.md": "[a](examples/a.toml) [b](crates) [c](docs/guide)\n```text\n[a](examples/a.toml)\n```",
        "docs/README.md": "[guide](guide/README.md)\n",
        "docs/guide/README.md": "[second](b.md)\n",
        "docs/guide/a.md": "# A\n",
        "docs/guide/b.md": "# B\n",
        "examples/a.toml": "",
        "crates/lib.rs": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    source = tmp_path.resolve() / "source"
    pages.copy(root, source)
    pages.add_contents(source)
    start = (source / "README.md").read_text(encoding="utf-8")
    assert start.startswith("[a](gallery/a.md) b [c](docs/guide/README.md)\n```text\n[a](examples/a.toml)\n")
    assert start.endswith("```{toctree}\n:hidden:\n\ndocs/guide/README.md\n```\n")
    guide = (source / "docs" / "guide" / "README.md").read_text(encoding="utf-8")
    assert guide.endswith(":hidden:\n\nb.md\na.md\n```\n")


def test_a_picture_shows_the_gate_that_the_command_names() -> None:
    """Where the first command names none, Tidegate chooses."""
    chosen = {example.file.stem: example.gate() for example in gallery.examples(ROOT / "examples")}
    assert chosen["abr"] == "switch"
    assert chosen["lte"] is None
