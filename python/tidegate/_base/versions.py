"""What made a result: for manifests, which say what another machine needs to make it again."""

from __future__ import annotations

import os
import sys
from typing import Any

from tidegate import _core


def made_with() -> dict[str, Any]:
    """Return versions of the programs and what machine this is.

    ``platform.platform()`` would start a process (``uname -p``) and search Python's own file for a version:
    that takes longer than many a run.
    """
    machine = os.uname()
    library = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else None
    words = [machine.sysname, machine.release, machine.machine]
    return {
        "versions": {"python": sys.version.split()[0], **_core.build_info()},
        "machine": {
            "system": "-".join([*words, *(["with", library.replace(" ", "")] if library else [])]),
            "architecture": machine.machine,
        },
    }
