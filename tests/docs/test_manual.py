"""Manual pages are those of this version, roff understands them, and the wheel takes them along."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tomllib

import pytest
import tidegate as tg
from support.common import ROOT

_spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
assert _spec is not None
assert _spec.loader is not None
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)
PAGES: dict[str, str] = generate.manual.pages(tg.__version__)


def test_committed_pages_are_current() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in generate.MANUAL.iterdir()}
    assert committed == PAGES, "run make docs"


def test_the_guide_lists_the_same_statuses() -> None:
    guide = (ROOT / "docs" / "guide" / "errors.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", guide, flags=re.M) == [status for status, _ in generate.manual.STATUS]
    assert all(
        f"| {status} | {meaning} |" in generate.cli_reference() for status, meaning in generate.manual.STATUS
    )


def test_every_command_has_a_page_with_its_options_and_examples() -> None:
    assert {"tidegate.1", "tidegate-run.1", "tidegate-study-plan.1", "tidegate-live-shell.1"} <= PAGES.keys()
    run = PAGES["tidegate-run.1"]
    assert "tidegate\\-run \\- run a scenario and report the results\n" in run
    assert "\\fB\\-\\-plot FILE\\fR" in run
    assert "\ntidegate run scenario.toml \\-\\-engine live \\-\\-out results\n" in run
    for name, text in PAGES.items():
        sections = [line for line in text.splitlines() if line.startswith(".SH ")]
        assert sections[:3] == [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"], name
        group = ".SH COMMANDS" in sections
        assert group or text.partition(".SH EXAMPLES\n")[2].startswith(".nf\ntidegate "), name
        assert "docs/guide/" in text.partition(".SH SEE ALSO")[2], name


def test_the_reference_has_the_same_options_in_two_columns() -> None:
    """A cell that holds ``lines|map`` as it is would be two."""
    page = generate.cli_reference()
    assert "| `--engine [sim\\|live]` |" in page
    for row in [line for line in page.splitlines() if line.startswith("| `")]:
        assert len(re.findall(r"(?<!\\)\|", row)) == 3, row


def test_the_wheel_takes_them_along() -> None:
    """Maturin puts ``data`` of this folder where man looks: share/man/man1 below the environment."""
    made = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    assert generate.MANUAL.relative_to(ROOT / made["data"]).as_posix() == "data/share/man/man1"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_roff_has_no_complaint(name: str) -> None:
    if shutil.which("groff") is None:
        pytest.skip("no groff here")
    asked = ["groff", "-man", "-Tutf8", "-ww", str(generate.MANUAL / name)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("TIDEGATE")
