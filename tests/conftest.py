"""What every test gets: a store of its own for results of studies, never the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test, and processes it starts, an empty store."""
    folder = tmp_path_factory.mktemp("store")
    monkeypatch.setenv("TIDEGATE_STORE", str(folder))
    return folder
