"""What tests of studies share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.studies import MARKOV

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def random(tmp_path: Path) -> Path:
    path = tmp_path / "random.toml"
    path.write_text(MARKOV)
    return path
