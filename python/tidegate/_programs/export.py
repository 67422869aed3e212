"""``tidegate.export``."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from tidegate._ask.changes import Sets, as_sets
from tidegate._ask.plan import plan_of
from tidegate._ask.scenario import Scenario
from tidegate._programs import mahimahi, tc
from tidegate._programs.exported import Export
from tidegate._programs.way import ways
from tidegate.errors import ArgumentError

#: Tools whose commands there are.
TARGETS = ("tc", "mahimahi")
_DEVICE = re.compile(r"[A-Za-z0-9_.:@-]{1,15}")


def export(
    scenario: Scenario | str | os.PathLike[str],
    to: Literal["tc", "mahimahi"] = "tc",
    *,
    flow: str | None = None,
    device: str = "eth0",
    back_device: str = "eth1",
    changes: Sets = None,
) -> Export:
    """Return the commands that make a scenario's link with another tool.

    One flow's way there and back is exported: rates, queues, policers, delays and losses of its gates.
    What the other tool does otherwise is in ``differences``, what it cannot do in ``missing``.

    Args:
        scenario: a scenario, or the path of one.
        to: ``"tc"`` (Linux, on a router between the hosts) or ``"mahimahi"`` (a shell behind the link).
        flow: the flow, by its name in the file; left out, the first.
        device: tc: the router's device towards the receiver.
        back_device: tc: the router's device towards the sender.
        changes: to the scenario before.

    Raises:
        ScenarioError: the scenario is wrong.
        ArgumentError: there is no such tool, flow, or device name.
    """
    if to not in TARGETS:
        raise ArgumentError(f'there is no export to "{to}"; there is {" and ".join(TARGETS)}')
    if isinstance(scenario, Scenario):
        loaded = scenario.point(as_sets(changes))
    else:
        loaded = Scenario.load(scenario, changes=changes)
    plan = plan_of(loaded)
    names = [each["name"] for each in plan["flows"]]
    if not names:
        raise ArgumentError(f"{loaded.name}: has no flow, and so no way to export")
    found = [each for each in plan["flows"] if flow is None or flow in _names(each["name"])]
    if not found:
        raise ArgumentError(f'{loaded.name}: there is no flow "{flow}"; there is {", ".join(names[:8])}')
    chosen = found[0]
    down, up = ways(plan, chosen)
    document = tomllib.loads(loaded.to_toml())
    files: dict[str, str] = {}
    if to == "tc":
        for each in (device, back_device):
            if not _DEVICE.fullmatch(each):
                raise ArgumentError(
                    f'"{each}" is no name of a network device; it has up to 15 letters, such as eth0'
                )
        if device == back_device:
            raise ArgumentError(f"the two directions need two devices, and both are {device}")
        gates = _gates(document)
        commands, differences, missing = tc.commands(down, device, gates)
        if up.limiting() or up.delay_ps or any(gate["loses"] for gate in up.gates):
            back = tc.commands(up, back_device, gates)
            commands, differences, missing = commands + back[0], differences + back[1], missing + back[2]
    else:
        base = Path(loaded._inner.base_dir or ".")
        commands, files, differences, missing = mahimahi.commands(
            down, up, _traces(document, base), _gates(document)
        )
    if any("/" in gate["name"] for gate in (*down.gates, *up.gates)):
        differences.append("of gates with a copy for each flow, this is the copy of one flow")
    if len(names) > 1:
        differences.append(
            f"only the way of flow {chosen['name']}, one of {len(names)}, is here, and all packets pass it"
        )
    if plan["traffic"]:
        differences.append("background traffic is no part of a link and is not here")
    return Export(
        to=to,
        scenario=loaded.name,
        flow=chosen["name"],
        commands=commands,
        # Both directions may say the same of a gate that both pass.
        differences=list(dict.fromkeys(differences)),
        missing=list(dict.fromkeys(missing)),
        files=files,
    )


def _names(name: str) -> tuple[str, str]:
    """Return the names of a flow: its own, and the one in the file, without the number of its copy."""
    return name, name.rpartition(".")[0]


def _gates(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = document.get("gate", {})
    return found


def _traces(document: dict[str, Any], base: Path) -> dict[str, dict[str, Any]]:
    """Return by gate how its trace is read."""
    found = {}
    for name, gate in _gates(document).items():
        rate = gate.get("rate")
        trace = rate.get("trace") if isinstance(rate, dict) else None
        if trace is None:
            continue
        keys = {"file": trace} if isinstance(trace, str) else trace
        arguments: dict[str, Any] = {"source": base / keys["file"]}
        names = ("format", "time_column", "rate_column", "time_unit", "rate_unit", "where", "step")
        arguments |= {key: keys[key] for key in names if key in keys}
        found[name] = arguments
    return found
