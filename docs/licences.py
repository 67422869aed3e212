"""The licences of what the compiled module has of others: ``LICENSES-BUNDLED.txt``, which goes into wheels.

The crates are those that the module or the laboratory's WebAssembly is linked with, as Cargo resolves them.
Of a crate with a choice of licences the text of MIT is taken. A text that several crates have stands once.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: What is linked, and for which machine.
LINKED = (("tidegate-py", "x86_64-unknown-linux-gnu"), ("tidegate-wasm", "wasm32-unknown-unknown"))
#: Files with the terms, best first: of a choice one is enough.
FILES = ("LICENSE-MIT*", "LICENCE-MIT*", "license-mit*", "LICENSE*", "LICENCE*", "license*", "COPYING*")


def text() -> str:
    """Return the file."""
    crates: dict[tuple[str, str], tuple[str, str]] = {}
    for package, target in LINKED:
        crates |= _linked(package, target)
    shared: dict[str, list[str]] = defaultdict(list)
    for (name, version), (_, terms) in sorted(crates.items()):
        shared[terms].append(f"{name} {version}")
    rows = [f"{name} {version}: {terms[0]}" for (name, version), terms in sorted(crates.items())]
    parts = [
        "The module of Tidegate contains Rust's standard library (MIT OR Apache-2.0) and these crates:\n",
        *rows,
    ]
    for terms, names in sorted(shared.items(), key=lambda each: each[1]):
        parts.append(f"\n{'-' * 100}\n{', '.join(names)}\n\n{terms}")
    return "\n".join(parts) + "\n"


def _linked(package: str, target: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Return licence and text of each crate of others that a package is linked with, by name and version."""
    command = [
        "cargo",
        "metadata",
        "--format-version=1",
        "--locked",
        "--offline",
        f"--filter-platform={target}",
    ]
    told = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    packages = {each["id"]: each for each in told["packages"]}
    # What runs in the compiler is not in the module.
    macros = {name for name, each in packages.items() if "proc-macro" in each["targets"][0]["kind"]}
    needs = {
        node["id"]: [
            dep["pkg"]
            for dep in node["deps"]
            if dep["pkg"] not in macros and any(kind["kind"] is None for kind in dep["dep_kinds"])
        ]
        for node in told["resolve"]["nodes"]
    }
    left = [each["id"] for each in told["packages"] if each["name"] == package]
    seen: set[str] = set()
    while left:
        seen.add(left[-1])
        left += [each for each in needs[left.pop()] if each not in seen]
    found = (packages[each] for each in seen)
    return {
        (each["name"], each["version"]): (each["license"], _terms(each)) for each in found if each["source"]
    }


def _terms(package: dict[str, Any]) -> str:
    folder = Path(package["manifest_path"]).parent
    for pattern in FILES:
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                lines = path.read_text(encoding="utf-8").strip().splitlines()
                return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines))
    top = re.match(r"(?://.*\n)*", (folder / "src" / "lib.rs").read_text(encoding="utf-8"))
    if top and "Redistribution" in top[0]:
        return re.sub(r"(?m)^// ?", "", top[0]).strip()
    by = f", by {', '.join(package['authors'])}" if package["authors"] else ""
    return f"There is no file of the licence in this package. It says: {package['license']}{by}."


if __name__ == "__main__":
    (ROOT / "LICENSES-BUNDLED.txt").write_text(text(), encoding="utf-8")
