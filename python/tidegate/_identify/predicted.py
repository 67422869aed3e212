"""What the scenario of a capture predicts, beside what the capture measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tidegate._base.text import number, percent, table
from tidegate._run.start import run

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._identify.value import Identification


def beside(found: Identification, scenario: Path) -> str:
    """Run a scenario that was written from a capture, and return its prediction beside the measurement."""
    result = run(scenario, record="summary")
    flows = {row["name"]: row for row in json.loads(result.to_json())["flows"]}
    rows = []
    for each in found.directions:
        for name in (
            f"connection{each.connection}",
            f"connection{each.connection}{'up' if each.from_client else 'down'}",
        ):
            if name not in flows:
                continue
            row = flows[name]
            lost = each.lost / each.data_packets if each.data_packets else None
            sent = row["segments_sent"]
            again = row["segments_retransmitted"] / sent if sent else None
            # A transfer's goodput is that of the time it took, as the capture's is.
            took = row["completion_s"]
            said = 8 * each.data_bytes / took if took else row["goodput_bps"]
            trip = None if each.base_round_trip_s is None else 1e3 * each.base_round_trip_s.value
            rows += [
                [
                    str(each.connection),
                    "goodput, Mbit/s",
                    number(each.goodput_bps / 1e6),
                    number(said / 1e6),
                ],
                ["", "lost, resent, %", percent(lost), percent(again)],
                ["", "round trip, base and median, ms", number(trip), number(row["rtt_p50_ms"])],
            ]
    lines = [f"Scenario: {scenario}; its prediction beside the capture", ""]
    return "\n".join([*lines, table([["no", "", "capture", "predicted"]], rows, left=2)])
