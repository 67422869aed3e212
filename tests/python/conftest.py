"""Fixtures, and the way to ``support`` for the tests beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support import SMALL


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The file of a scenario that takes a moment."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
