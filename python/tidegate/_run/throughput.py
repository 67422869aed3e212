"""Throughput over capacity, and the one place where cell headers become a factor."""

from __future__ import annotations

#: Bytes of a cell that carry the packet, and all of them.
_CELL_PAYLOAD, _CELL = 48, 53


def normalised_throughput(throughput_bps: float, capacity_bps: float, *, under_abr: bool = False) -> float:
    """Return what reached the receiver over what the link could have carried.

    Args:
        throughput_bps: bits of IP packets that reached receivers, per second.
        capacity_bps: mean capacity of the link, bit/s.
        under_abr: the packets would have gone in cells, and the scenario counts none of
            their headers: 48/53 of it is left (Shakkottai, Kumar, Karnik and Anvekar, Section
            III: there called efficiency). A scenario whose gates have ``framing = "aal5"``
            counts them itself.
    """
    ratio = throughput_bps / capacity_bps
    return ratio * _CELL_PAYLOAD / _CELL if under_abr else ratio
