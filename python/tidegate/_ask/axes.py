"""What is varied: keys with their values, and every combination of them."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._ask.changes import as_sets, check_once, lost, spelled_key
from tidegate._ask.scenario import Scenario
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Axis:
    """Keys that move together, and for each step a value of each, as ``--set`` takes it."""

    keys: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]


def spelled(vary: Mapping[str, Sequence[Any]]) -> list[Axis]:
    """Return one axis per key, its values as ``--set`` takes them.

    Raises:
        ArgumentError: a key has no values, or one value where a list belongs, or it is lost behind another.
    """
    axes: list[Axis] = []
    for key, values in vary.items():
        if isinstance(values, str):
            raise ArgumentError(f'{key}: give a list of values, such as ["{values}"]')
        texts = [as_sets({key: value})[0].split("=", 1)[1] for value in values]
        if not texts:
            raise ArgumentError(f"{key}: no values to vary over")
        if twice := next((text for text, times in Counter(texts).items() if times > 1), None):
            raise ArgumentError(
                f"{key}: the value {twice} is there twice; each value makes a point of its own: write it once"
            )
        axes.append(Axis((key,), tuple((text,) for text in texts)))
    return _apart(axes)


def _apart(axes: list[Axis]) -> list[Axis]:
    """Return the axes.

    Raises:
        ArgumentError: the values of a key would be lost, because another one takes its place.
    """
    keys = [
        (spelled_key(key), values)
        for axis in axes
        for key, values in zip(axis.keys, zip(*axis.steps, strict=True), strict=True)
    ]
    for (key, values), (later, _) in itertools.combinations(keys, 2):
        if lost(key, values, later):
            raise ArgumentError(f"{key}: varied, and {later} too, which takes its place; keep one of the two")
    return axes


def axes_of(scenario: Scenario, vary: Mapping[str, Sequence[Any]]) -> list[Axis]:
    """Return the axes of a study: the file's ``[[sweep]]`` tables, then what is varied.

    A varied key takes the place of the file's axis of that key.

    Raises:
        ArgumentError: the file's axis moves that key together with others, or a key would be lost behind
            another that is varied or changed.
    """
    asked = {axis.keys[0]: axis for axis in spelled(vary)}
    axes = []
    for keys, steps in scenario._inner.sweeps:
        taken = [key for key in keys if key in asked]
        if taken and len(keys) > 1:
            raise ArgumentError(
                f"{taken[0]}: the scenario sweeps it together with "
                f"{', '.join(key for key in keys if key != taken[0])}; vary another key, or change the file"
            )
        if taken:
            axes.append(asked.pop(taken[0]))
        else:
            axes.append(Axis(tuple(keys), tuple(tuple(step) for step in steps)))
    found = _apart([*axes, *asked.values()])
    check_once(scenario._sets, {key: axis for axis in found for key in axis.keys}, "varied")
    return found


def check_distinct(
    axes: Sequence[Axis], vary: Mapping[str, Sequence[Any]], scenario_of: Callable[[int], Scenario]
) -> None:
    """Refuse values of a varied key that are written differently and are the same: one point would be two.

    ``scenario_of`` gives the scenario of a combination by its number in :func:`combinations`.

    Raises:
        ArgumentError: a value is another one again.
    """
    apart = math.prod(len(axis.steps) for axis in axes)
    for axis in axes:
        apart //= len(axis.steps)
        (key, *others) = axis.keys
        # Those of the file are told apart where it is read.
        if others or key not in vary:
            continue
        seen: dict[str, str] = {}
        for number, (value,) in enumerate(axis.steps):
            reading = scenario_of(apart * number)._inner.reading(key)
            before = seen.setdefault(value if reading is None else reading, value)
            if before != value:
                raise ArgumentError(
                    f"{key}: the value {value} is {before} again; each value makes a point of its own: write "
                    "it once"
                )


def combinations(axes: Sequence[Axis]) -> list[dict[str, str]]:
    """Return every combination, the last axis moving fastest; one, empty, without axes."""
    chosen = itertools.product(*(axis.steps for axis in axes))
    keys = [axis.keys for axis in axes]
    return [
        {
            key: value
            for names, step in zip(keys, steps, strict=True)
            for key, value in zip(names, step, strict=True)
        }
        for steps in chosen
    ]


def label(text: str) -> str:
    """Return a value as people read it: text without its quotes."""
    if text.startswith('"'):
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            return text
        if isinstance(value, str):
            return value
    return text
