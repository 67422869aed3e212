"""What `make adding` does is still possible, and it would notice a list that leaves a file out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from structure import adding
from support.common import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("toy", adding.TOYS, ids=lambda toy: toy.type)
def test_a_toy_has_its_place(toy: adding.Toy) -> None:
    for file, behind, _ in toy.edits:
        assert (ROOT / file).read_text(encoding="utf-8").count(behind) == 1, file
        assert adding.named(file, toy.what)


def test_a_file_that_is_left_out_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explained = "crates/tidegate-scenario/src/explain/queues.rs"
    assert adding.named(explained, "a queue discipline")
    shorter = tmp_path / "adding.md"
    shorter.write_text(adding.LISTS.read_text(encoding="utf-8").replace(explained, "crates/elsewhere.rs"))
    monkeypatch.setattr(adding, "LISTS", shorter)
    assert not adding.named(explained, "a queue discipline")
