"""The page knows where each value of a scenario stands: it agrees with a TOML reader, on every example."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from support.common import EXAMPLES, ROOT, TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WEB = ROOT / "web"
FILES = [*sorted(EXAMPLES.glob("*.toml")), *sorted(TEMPLATES.glob("*.toml"))]
#: Reads a list of texts and prints, for each, its entries, the texts with each value changed to 7, and with
#: a key added to each table.
SCRIPT = """
import { entries, changed, added } from "./src/lab/toml";
import { readFileSync } from "node:fs";
const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => {
  const found = entries(text);
  const names = new Set(found.map((each) => JSON.stringify(each.path.slice(0, -1))));
  const tables = [...names].map((each) => JSON.parse(each));
  return {
    entries: found,
    changed: found.map((each) => changed(text, each, "7")),
    added: tables.map((table) => [table, added(text, [...table, "zz"], "7")]),
  };
})));
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if shutil.which("node") is None or not (WEB / "node_modules" / "esbuild").is_dir():
        pytest.skip("no Node here, or the packages of web/ are not installed (npm ci --prefix web)")
    script = tmp_path_factory.mktemp("toml") / "script.mjs"
    bundle = ["--bundle", "--platform=node", "--format=esm", "--loader=ts", f"--outfile={script}"]
    esbuild = WEB / "node_modules" / ".bin" / "esbuild"
    quiet = {"text": True, "check": True, "capture_output": True}
    subprocess.run([str(esbuild), *bundle], input=SCRIPT, cwd=WEB, **quiet)
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    done = subprocess.run(
        ["node", str(script)], input=json.dumps(texts), text=True, check=True, capture_output=True
    )
    return dict(zip((path.name + path.parent.name for path in FILES), json.loads(done.stdout), strict=True))


def flat(document: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value outside arrays of tables, with its key."""
    for key, value in document.items():
        if isinstance(value, dict):
            yield from flat(value, (*path, key))
        elif not (isinstance(value, list) and value and isinstance(value[0], dict)):
            yield (*path, key), value


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_values_and_places(page: dict[str, Any], path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    told = page[path.name + path.parent.name]
    document = tomllib.loads(text)
    known = dict(flat(document))
    found = {tuple(each["path"]): each for each in told["entries"]}
    for key, each in found.items():
        assert tomllib.loads(f"x = {each['raw']}")["x"] == known[key], key
        assert text[each["begin"] : each["end"]] == each["raw"]
        assert text[: each["begin"]].count("\n") + 1 == each["line"]
    missing = {key for key, value in known.items() if key not in found and not isinstance(value, list)}
    assert missing == set(), "only lists over several lines are left to the text"
    for each, changed in zip(told["entries"], told["changed"], strict=True):
        assert dict(flat(tomllib.loads(changed))) == {**known, tuple(each["path"]): 7}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_key_more(page: dict[str, Any], path: Path) -> None:
    known = dict(flat(tomllib.loads(path.read_text(encoding="utf-8"))))
    for table, text in page[path.name + path.parent.name]["added"]:
        if len(table) in (0, 2):
            assert dict(flat(tomllib.loads(text))) == {**known, (*table, "zz"): 7}, (table, text)
