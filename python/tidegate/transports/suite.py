"""The links of the suite, and what is asked of a transport on each: ``links.toml`` states both."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The scenarios of the links.
SCENARIOS = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Link:
    """A scenario of this suite, with what is changed in it.

    The settings of the transport belong to the flows of ``ours``.
    """

    name: str
    #: Why people try it.
    purpose: str
    #: The picture that shows it.
    figure: str
    file: str = "link"
    changes: dict[str, Any] = field(default_factory=dict, hash=False)
    ours: tuple[str, ...] = ("one",)

    @property
    def scenario(self) -> Path:
        """The file of its scenario."""
        return SCENARIOS / f"{self.file}.toml"

    @property
    def has_application(self) -> bool:
        """Whether the application of its flow does not always have data."""
        return "flow.one.app" in self.changes


@dataclass(frozen=True)
class Rule:
    """What is asked of a transport on a link: each of ``expect`` with what it is about, in words."""

    id: str
    link: Link
    says: str
    expect: tuple[tuple[str, str], ...]
    #: What a reader of its numbers should know.
    note: str = ""


def _read() -> tuple[Rule, ...]:
    text = (Path(__file__).parent / "links.toml").read_text(encoding="utf-8")
    rules = []
    for row in tomllib.loads(text)["link"]:
        link = Link(
            row["name"],
            row["purpose"],
            row["figure"],
            row.get("file", "link"),
            row.get("set", {}),
            tuple(row.get("ours", ("one",))),
        )
        expect = tuple((bound, of) for bound, of in row["expect"])
        rules.append(Rule(row["rule"], link, row["says"], expect, row.get("note", "")))
    return tuple(rules)


RULES = _read()
LINKS = {rule.link.name: rule.link for rule in RULES}


def settings(link: Link, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes of a link for a transport; ``changes`` are keys of a flow, such as ``transport``."""
    ours = {f"flow.{flow}.{key}": value for flow in link.ours for key, value in changes.items()}
    return {**link.changes, **ours}
