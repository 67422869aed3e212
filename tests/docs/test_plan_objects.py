"""The types of a plan's objects are those of the code that writes them, and every plan has what they say."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest
import tidegate as tg
from support.common import EXAMPLES, ROOT
from tidegate._ask import plan_objects
from tidegate._ask.plan import plan_of
from tidegate._core import plan_objects as made


def test_the_module_is_made_of_the_compiled_part() -> None:
    there = ROOT / "python" / "tidegate" / "_ask" / "plan_objects.py"
    assert there.read_text(encoding="utf-8") == made(), "make docs writes it anew"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_plans_of_examples_have_what_the_types_say(path: Any) -> None:
    plan = plan_of(tg.Scenario.load(path))
    assert set(plan) == set(get_type_hints(plan_objects.Plan))
    for key, kind in (
        ("gates", plan_objects.Gate),
        ("flows", plan_objects.Flow),
        ("calls", plan_objects.Calls),
    ):
        for row in plan[key]:  # type: ignore[literal-required]
            assert set(row) == set(get_type_hints(kind)), key
    for gate in plan["gates"]:
        assert set(gate["rate"]) <= set(get_type_hints(plan_objects.Rate))
        assert gate["rate"]["kind"] in get_args(plan_objects.RateKind)
