"""The notebook in examples runs without errors, and shows what this version shows."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from support.common import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

spec = importlib.util.spec_from_file_location("notebook_example", EXAMPLES / "notebook.py")
assert spec is not None
assert spec.loader is not None
notebook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebook)


def texts(book: Any) -> Iterator[tuple[int, str]]:
    """Yield what the cells say; pictures may differ from one version of matplotlib to another."""
    for number, cell in enumerate(book.cells):
        for output in cell.get("outputs", []):
            said = output.get("text") or output.get("data", {}).get("text/plain", "")
            yield number, said


@pytest.mark.filterwarnings("default")
def test_the_notebook_runs_and_its_outputs_are_kept() -> None:
    kept = nbformat.read(notebook.NOTEBOOK, as_version=4)
    found = notebook.executed()
    assert list(texts(found)) == list(texts(kept)), "python examples/notebook.py"
    outputs = [output for cell in found.cells for output in cell.get("outputs", [])]
    shown = [{*output.get("data", {})} for output in outputs]
    assert any("image/png" in kinds for kinds in shown), "a figure is a picture"
    assert sum("text/html" in kinds for kinds in shown) >= 3
    assert not any(
        output.output_type == "error" for cell in found.cells for output in cell.get("outputs", [])
    )
