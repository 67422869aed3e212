"""Bounds of a goal that are joined by "and"; what else joins them is named."""

from __future__ import annotations

import re

from tidegate.errors import ArgumentError

_MISSING = re.compile(r"(?:^|\band )and\b|\band$")
_OTHER = re.compile(r"(?<!\d),|,(?!\d)|;|&+|\|+|\b(?:or|and)\b", re.IGNORECASE)


def bounds_of(text: str, how: str) -> list[str]:
    """Return the bounds of a goal whose words are parted by single spaces; ``how``: how one is written.

    Raises:
        ArgumentError: a bound is missing.
    """
    if found := _MISSING.search(text):
        raise ArgumentError(f'goal: read "{text}"; a bound is missing beside "{found[0]}"; {how}')
    return text.split(" and ")


def check_single(amount: str, text: str, how: str) -> None:
    """Refuse what is more than the amount of one bound.

    Raises:
        ArgumentError: something but "and" joins two of them, or nothing does.
    """
    if other := _OTHER.search(amount):
        raise ArgumentError(f'goal: read "{text}"; bounds are joined by "and", not by "{other[0]}"; {how}')
    if re.search("[<>≤≥]", amount):
        raise ArgumentError(f'goal: read "{text}"; these are two bounds: join them by "and"; {how}')
