"""Every key of a discipline, class, scheduler, marker and media source has one clear error for a bad value.

The keys are those of the schema, so that a new one is here by itself. Bad values follow from what it says
that a key takes; what only the meaning of a key forbids has a row of its own below.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from tidegate._ask.scenario import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str, ...]

PORT = ("gate", "port")
AQM = (*PORT, "queue", "aqm")
ONE = (*PORT, "classes", "one")
MEDIA = ("traffic", "a", "source", "media")

#: Where the keys are, and what must stand beside them.
SECTIONS: dict[Path, dict[str, Any]] = {
    (*AQM, "step"): {},
    (*AQM, "codel"): {},
    (*AQM, "pie"): {},
    (*AQM, "fq_codel"): {},
    (*AQM, "dualpi2"): {},
    (*AQM, "cake"): {},
    (*AQM, "red"): {"adaptive": True},
    (*AQM, "red", "green"): {"min": "2 packets", "max": "5 packets"},
    (*AQM, "red", "yellow"): {"min": "2 packets", "max": "5 packets"},
    (*AQM, "red", "red"): {"min": "2 packets", "max": "5 packets"},
    (*PORT, "police", "srtcm"): {"cir": "1 Mbit/s", "cbs": "9 kB", "ebs": "9 kB"},
    (*PORT, "police", "trtcm"): {"cir": "1 Mbit/s", "cbs": "9 kB", "pir": "2 Mbit/s", "pbs": "9 kB"},
    (*PORT, "police", "srtcm", "dscp"): {"green": "AF11", "yellow": 12},
    (*PORT, "police", "trtcm", "dscp"): {"green": "AF11", "yellow": 12},
    (*PORT, "queue", "colour_limits"): {},
    ONE: {"members": ["a"]},
    (*ONE, "queue"): {},
    (*ONE, "cbs"): {"idle_slope": "1 Mbit/s"},
    (*ONE, "htb"): {"rate": "1 Mbit/s"},
    (*PORT, "tas"): {"states": [["5 ms", ["one"]], ["5 ms", ["rest"]]]},
    MEDIA: {"frame_rate": 25, "frame": "5 kB"},
    (*MEDIA, "key_frames"): {"every": 5, "size": "9 kB"},
    (*MEDIA, "frame", "lognormal"): {"median": "5 kB", "sigma": 1},
    (*MEDIA, "frame", "pareto"): {"min": "5 kB", "shape": 1.5},
}

#: The scheduler that a key of a class is for.
SCHEDULERS = {"quantum": "drr", "weight": "wfq", "htb": "htb"}

#: What only the meaning of a key forbids.
MORE: list[tuple[Path, Any]] = [
    ((*AQM, "pie", "update"), "1 us"),
    ((*AQM, "pie", "alpha"), 1e-7),
    ((*AQM, "pie", "beta"), 2000),
    ((*AQM, "dualpi2", "update"), "1 us"),
    ((*AQM, "dualpi2", "coupling"), 5000),
    ((*AQM, "dualpi2", "alpha"), float("nan")),
    ((*AQM, "red", "max_p"), float("inf")),
    ((*AQM, "fq_codel", "limit"), "5 cells"),
    ((*AQM, "fq_codel", "quantum"), "9 MB"),
    ((*AQM, "cake", "quantum"), "9 MB"),
    ((*AQM, "cake", "mpu"), "300 B"),
    ((*AQM, "cake", "mtu"), "900 kB"),
    ((*AQM, "red", "max"), "0 packets"),
    ((*AQM, "red", "min"), "3 cells"),
    ((*AQM, "red", "wq"), 1e-12),
    ((*AQM, "red", "update"), "1 us"),
    ((*AQM, "red", "target_low"), 0.9),
    ((*AQM, "red", "max_p_least"), 0.9),
    ((*PORT, "police", "trtcm", "pir"), "500 kbit/s"),
    ((*PORT, "police", "srtcm", "dscp", "red"), "AF13"),
    ((*PORT, "police", "srtcm", "dscp", "green"), "AF14"),
    ((*PORT, "police", "trtcm", "dscp", "yellow"), 64),
    ((*PORT, "queue", "colour_limits", "red"), "5 cells"),
    ((*ONE, "members"), []),
    ((*ONE, "members"), ["nobody"]),
    ((*ONE, "dscp"), ["EE"]),
    ((*ONE, "dscp"), [64]),
    ((*ONE, "queue", "limit"), "5 cells"),
    ((*ONE, "quantum"), "9 MB"),
    ((*ONE, "cbs", "idle_slope"), "10 Mbit/s"),
    ((*ONE, "htb", "ceil"), "500 kbit/s"),
    ((*ONE, "htb", "parent"), "nobody"),
    ((*PORT, "scheduler"), "round robin"),
    ((*PORT, "tas", "states"), []),
    ((*PORT, "tas", "states"), [["5 ms", ["one"]]]),
    ((*PORT, "tas", "states"), [["5 ms", ["nobody"]], ["5 ms", ["one", "rest"]]]),
    ((*MEDIA, "frame_rate"), 29.9712),
    ((*MEDIA, "frame"), "17 MB"),
    ((*MEDIA, "packet"), "40 B"),
    ((*MEDIA, "headers"), "1200 B"),
    ((*MEDIA, "spread"), "50 ms"),
    ((*MEDIA, "frame", "lognormal", "sigma"), -1),
]


def find(path: Path) -> dict[str, Any]:
    """Return the entry of a key in the schema."""
    here: dict[str, Any] = schema()
    for name in path:
        options = [here, *here.get("anyOf", [])]
        known = next((o["properties"] for o in options if name in o.get("properties", {})), None)
        here = (
            known[name]
            if known
            else next(o["additionalProperties"] for o in options if o.get("additionalProperties"))
        )
    return here


def spoilt(entry: dict[str, Any]) -> Iterator[Any]:
    """Yield values that the schema says that a key does not take."""
    options = entry.get("anyOf", [entry])
    while any("anyOf" in option for option in options):
        options = [inner for option in options for inner in option.get("anyOf", [option])]
    yield "soon"
    if not any(option.get("type") == "array" for option in options):
        yield [3]
    for option in options:
        if "pattern" in option and "%" not in option["pattern"]:
            yield 7
            yield f"-{option['examples'][0]}"
            yield "5 lightyears"
        if option.get("type") in ("number", "integer"):
            lowest = option.get("minimum", option.get("exclusiveMinimum", 0))
            yield lowest - 1
            if "exclusiveMinimum" in option:
                yield lowest
            if "maximum" in option:
                yield option["maximum"] + 1
        if option.get("type") == "integer":
            yield 1.5
        if option.get("type") == "boolean":
            yield 1


def keys() -> Iterator[tuple[Path, dict[str, Any]]]:
    for section in SECTIONS:
        below = [find(section), *find(section).get("anyOf", [])]
        for name, entry in next(o["properties"] for o in below if "properties" in o).items():
            yield (*section, name), entry


def is_table(entry: dict[str, Any]) -> bool:
    options = entry.get("anyOf", [entry])
    return any("properties" in option or "additionalProperties" in option for option in options)


def of_classes(path: Path) -> dict[str, Any]:
    """Return two classes and the scheduler that the key at `path` is for."""
    scheduler = SCHEDULERS.get(path[4], "strict") if path[:4] == ONE else "strict"
    classes: dict[str, Any] = {"one": {"members": ["a"]}, "rest": {}}
    if scheduler == "htb":
        classes = {name: {**row, "htb": {"rate": "1 Mbit/s"}} for name, row in classes.items()}
    return {"scheduler": scheduler, "classes": classes}


def beside(path: Path, depth: int) -> dict[str, Any]:
    """Return what must stand in the table `depth` names down the path, beside the next of them."""
    usual = copy.deepcopy(SECTIONS.get(path[:depth], {}))
    # Colours have probabilities of their own, and nothing that adapts.
    has_colour = path[:depth] == (*AQM, "red") and path[depth] in ("green", "yellow", "red")
    return {key: value for key, value in usual.items() if key != path[depth] and not has_colour}


def with_value(path: Path, value: Any) -> dict[str, Any]:
    """Return a scenario that is right but for the value of one key."""
    plan: dict[str, Any] = {
        "duration": "1 s",
        "gate": {"port": {"rate": "10 Mbit/s"}},
        "flow": {"b": {"path": ["port"], "rtt": "20 ms"}},
        "traffic": {"a": {"path": ["port"], "source": {"poisson": {"rate": "1 Mbit/s"}}}},
    }
    if path[2] in ("classes", "tas", "scheduler"):
        plan["gate"]["port"] |= of_classes(path)
    if path[:4] == MEDIA:
        plan["traffic"]["a"]["source"] = {}
    here = plan
    for depth, name in enumerate(path[:-1], 1):
        here = here.setdefault(name, {})
        here.update({**beside(path, depth), **here})
    here[path[-1]] = value
    return plan


def cases() -> Iterator[tuple[Path, Any]]:
    for path, entry in keys():
        if not is_table(entry):
            yield from ((path, value) for value in spoilt(entry))
    yield from MORE


@pytest.mark.parametrize("path", list(SECTIONS), ids=".".join)
def test_the_scenarios_are_right_without_the_bad_value(path: Path) -> None:
    """Or the errors below would be about something else."""
    for key, usual in SECTIONS[path].items():
        tg.Scenario.from_dict(with_value((*path, key), usual))


@pytest.mark.parametrize(
    ("path", "value"),
    list(cases()),
    ids=lambda part: ".".join(part[1:]) if isinstance(part, tuple) else repr(part),
)
def test_one_clear_error(path: Path, value: Any) -> None:
    with pytest.raises(tg.errors.ScenarioError) as raised:
        tg.Scenario.from_dict(with_value(path, value))
    text = str(raised.value)
    assert text.count("error: ") == 1, text
    assert text.count("= help: ") == 1, text
    # It names the key, or the list that the value is in.
    named = ".".join(path)
    assert named in text or ".".join(path[:-1]) in text, text


def test_the_keys_are_many() -> None:
    """Every key that has no table of its own is asked about."""
    assert len({path for path, _ in cases()}) > 80
