"""The text of a result in pieces is the text of the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tidegate as tg
from support.common import SMALL
from tidegate._base.json_text import pieces

VALUES: list[dict[str, Any]] = [
    {},
    {"empty": [], "none": None, "also": {}},
    {"rows": [{"name": "line\nbreak", "inner": {"deep": [1, [2]]}}, {}], "ü": 1e-7},
    {"paths": {"user.1": {"path": ["a"], "back": []}}, "rows": [[], {}, "text"]},
]


@pytest.mark.parametrize("value", VALUES)
def test_pieces_are_the_whole(value: dict[str, Any]) -> None:
    assert "".join(pieces(value)) == json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def test_a_run_gives_a_piece_for_each_row() -> None:
    run = tg.run(tg.Scenario.from_toml(SMALL), seed=1, record="summary")
    told = list(run.json_pieces())
    assert "".join(told) == json.dumps(run.summary, indent=2, ensure_ascii=False, allow_nan=False)
    assert len(told) > len(run.flows) + len(run.gates)
