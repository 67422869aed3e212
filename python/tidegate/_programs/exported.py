"""The commands of another tool for a scenario's link."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from tidegate._base.calls import checked_methods
from tidegate._base.files import write_text
from tidegate.errors import ArgumentError


@checked_methods
@dataclasses.dataclass(frozen=True)
class Export:
    """A scenario's link in the language of another tool.

    Nothing in it runs a command; ``script()`` is for a shell, and ``write()`` keeps it with the files that it
    names.
    """

    #: ``"tc"`` or ``"mahimahi"``.
    to: str
    #: The scenario's file or name.
    scenario: str
    #: The flow whose path, and way back, the commands make.
    flow: str
    #: Shell commands, in order.
    commands: list[str]
    #: What the other tool does in a slightly different way: one sentence each.
    differences: list[str]
    #: What the other tool cannot do: one sentence each. Empty: the commands make the whole link.
    missing: list[str]
    #: Contents of the files that the commands name, by name.
    files: dict[str, str]

    @property
    def complete(self) -> bool:
        """Whether the commands make the whole link; details may differ."""
        return not self.missing

    def script(self) -> str:
        """Return the commands as a shell script, with what differs as comments."""
        about = {
            "tc": "Run this as root on a router between the two hosts, not on a host that sends.",
            "mahimahi": "Run this where the receiver is; the shell that opens is behind the link.",
        }
        lines = ["#!/bin/sh", f"# The link of flow {self.flow} of {self.scenario}.", f"# {about[self.to]}"]
        lines += ["set -e", *self.commands]
        for title, found in (("Differs", self.differences), ("Cannot", self.missing)):
            lines += [f"# {title}: {sentence}" for sentence in found]
        return "\n".join(lines) + "\n"

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``link.sh`` and the files that it names into a folder, which is made where it is missing.

        Raises:
            ArgumentError: a file of that name is there already.
            OSError: the folder cannot be written.
        """
        place = Path(folder)
        contents = {"link.sh": self.script(), **self.files}
        there = [name for name in contents if (place / name).exists()]
        if there:
            raise ArgumentError(f"{place / there[0]}: is there already; give another folder")
        place.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            write_text(place / name, text)
        return place

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate export --json`` prints; of files the names."""
        return {
            "to": self.to,
            "scenario": self.scenario,
            "flow": self.flow,
            "complete": self.complete,
            "commands": self.commands,
            "differences": self.differences,
            "missing": self.missing,
            "files": sorted(self.files),
        }

    def __repr__(self) -> str:
        state = "complete" if self.complete else f"{len(self.missing)} things missing"
        return f"<tidegate.Export to {self.to} of {self.scenario!r}, {state}>"
