"""What a run of a capture's scenario gives, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Predicted:
    """One direction: what was measured, and what a run of the scenario gives.

    Attributes:
        connection: number in the capture.
        goodput_bps: measured, predicted.
        range_bps: least and greatest predicted goodput of runs with small changes that nobody can know.
        lost: share of packets with data that were lost, or sent again in the run; measured, predicted.
        round_trip_s: median; measured, predicted; None where it is not known.
    """

    connection: int
    goodput_bps: tuple[float, float]
    range_bps: tuple[float, float]
    lost: tuple[float | None, float | None]
    round_trip_s: tuple[float | None, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "connection": self.connection,
            "goodput_range_bps": list(self.range_bps),
            **{
                name: dict(zip(("measured", "predicted"), pair, strict=True))
                for name, pair in (
                    ("goodput_bps", self.goodput_bps),
                    ("lost", self.lost),
                    ("round_trip_s", self.round_trip_s),
                )
            },
        }
