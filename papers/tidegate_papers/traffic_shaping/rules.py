"""Bounds and words that the traffic shaping paper's claims share."""

from __future__ import annotations

from typing import Any

from tidegate_papers.traffic_shaping.cases import ROUNDED

#: Both readings of the shaper's interval, in words, with what they change.
READINGS: tuple[tuple[str, dict[str, Any]], ...] = (("T as it is", {}), ("T in whole slots", ROUNDED))
#: A rise of at most this share is "not very significant".
NOT_SIGNIFICANT = 0.25
#: "About equal" is within this share.
EQUAL = 0.15
#: An efficiency of at most this is "very poor".
VERY_POOR = 0.8
#: Flat is within this share.
FLAT = 0.02
#: What limits "mostly" does so for at least this share of the time.
MOSTLY = 0.9
#: A "considerable" jitter is at least this share of the interval between cells.
CONSIDERABLE = 0.1
#: A connection is locked out that has less than this part of its share.
LOCKED_OUT = 0.5
#: "High load", Mbit/s of background.
HIGH = 75


def named(shaping: str) -> str:
    """Return a shaping in words."""
    return "no shaping" if shaping == "none" else f"{shaping} Mbit/s"
