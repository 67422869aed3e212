"""Takes the Rust reference along: what ``cargo doc`` wrote, and a page that leads to each crate."""

from __future__ import annotations

import shutil
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write(crates: Path, made: Path, source: Path, extra: Path) -> None:
    """Copy the reference in ``made`` into ``extra``; write the page into ``source``."""
    rows = []
    for manifest in sorted(crates.glob("*/Cargo.toml")):
        package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
        folder = package["name"].replace("-", "_")
        if (made / folder / "index.html").is_file():
            # The reference is made beside the pages, so that only HTML can name it.
            link = f'<a href="rust/{folder}/index.html"><code>{package["name"]}</code></a>'
            rows.append(f"| {link} | {package['description']} |")
    shutil.copytree(made, extra / "rust", ignore=shutil.ignore_patterns(".*"))
    page = ["# Rust reference\n", "Made by `cargo doc`.\n", "| crate | does |", "|---|---|", *rows, ""]
    (source / "rust.md").write_text("\n".join(page), encoding="utf-8")
