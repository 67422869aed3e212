"""Executes the notebook in this folder and keeps its outputs: ``python examples/notebook.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "first-steps.ipynb"


def executed(path: Path = NOTEBOOK) -> Any:
    """Return the notebook with the outputs of this version.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=120, kernel_name="python3", record_timing=False).execute()
    # The language's version is the machine's.
    book.metadata["language_info"] = {"name": "python"}
    return book


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
