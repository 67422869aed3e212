"""A sender that nobody answers gives up, and the summary says so."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg


@pytest.mark.parametrize(("base", "ends"), [("linux", True), ("rfc", True), ("bsd44", False)])
def test_a_dead_link_ends_the_connection(base: str, ends: bool) -> None:
    link = {"rate": {"steps": [["0 s", "10 Mbit/s"], ["1 s", "0 bit/s"]]}, "queue": "50 packets"}
    scenario: dict[str, Any] = {
        "duration": "1200 s",
        "seed": 1,
        "gate": {"link": link},
        "flow": {"a": {"path": ["link"], "rtt": "20 ms", "tcp": {"base": base}}},
    }
    warnings = [text for text in tg.run(scenario).warnings if "ended before the run did" in text]
    assert len(warnings) == ends
    assert all(text.startswith("flow.a: ") for text in warnings)
