"""docs/reference/results.md has every name that a summary can have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = set(re.findall(r"`([\w ]+)`", (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")))
#: Objects whose keys are names of the scenario, or reasons that the guide lists.
BY_NAME = {"limited_by": r"gate\..*|policer of .*", "drops": ".*", "back_drops": ".*"}


def names(told: Any, within: str = "") -> Iterator[str]:
    """Every name in a summary."""
    if isinstance(told, list):
        for each in told:
            yield from names(each, within)
    elif isinstance(told, dict):
        for name, value in told.items():
            if not re.fullmatch(BY_NAME.get(within, "-"), name):
                yield name
            yield from names(value, name)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_every_name_of_an_example(file: str) -> None:
    try:
        told = tg.run(file, changes={"limits.events": 100_000}, record="summary").summary
    except (ValueError, RuntimeError) as refused:
        pytest.skip(str(refused))
    assert set(names(told)) - NAMES == set()
