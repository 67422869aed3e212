"""Digests of what many runs give: ``python tests/determinism/digests.py FILE`` writes or compares them.

A change of structure must not move a byte. Write the digests before it; after each step run the
same command again: where FILE exists it names the runs that differ, and in which column. Runs are
every example, every scenario of the papers and random scenarios, each recorded and as a summary,
and both again without fast paths (``exact``). The four must agree whatever FILE holds.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.common import EXAMPLES, PAPERS, ROOT, everything, first_difference
from support.random_scenarios import scenario
from tidegate._ask.scenario import Scenario

#: Long enough for every law to act, short enough to run often.
LONGEST = "20 s"


#: The ways of each scenario: what is said after its name, what is recorded, and whether fast paths are off.
WAYS = (
    ("", "37 ms", False),
    (" exact", "37 ms", True),
    (" as a summary", "summary", False),
    (" as a summary, exact", "summary", True),
)


def work(randoms: int) -> list[str]:
    """Return what to run: files, and numbers of random scenarios."""
    examples, papers = sorted(EXAMPLES.glob("*.toml")), sorted(PAPERS.glob("*/*.toml"))
    assert all((examples, papers))
    files = [*examples, *papers]
    return [str(path.relative_to(ROOT)) for path in files] + [str(number) for number in range(randoms)]


def digests(name: str) -> dict[str, dict[str, str]]:
    """Run one scenario in all ways and return the digest of each part of each."""
    if name.isdigit():
        loaded, seed = Scenario.from_toml(scenario(int(name))), int(name)
    else:
        loaded, seed = Scenario.load(ROOT / name), 3
        if loaded.duration_s > 20:
            sets = [f"duration={LONGEST}", *(["warmup=5 s"] if loaded.warmup_s >= 20 else [])]
            loaded = Scenario.load(ROOT / name, changes=sets)
    found = {
        name + said: everything(loaded, seed=seed, record=record, exact=exact) for said, record, exact in WAYS
    }
    # A trace is named by its whole path: without that of the checkout, two checkouts can be compared.
    found[name]["explain"] = loaded.explain().replace(str(ROOT), "")
    return found


def disagreements(found: dict[str, dict[str, str]]) -> list[str]:
    """Name what differs between the ways of one scenario: they are what the first one says."""
    (first, whole), *others = found.items()
    problems = []
    for name, parts in others:
        expected = {part: whole[part] for part in parts if part in whole}
        if "summary" in name.removeprefix(first):
            # What a summary has no rows of is not compared.
            parts = {part: value for part, value in parts.items() if part.startswith("summary.")}
            expected = {part: value for part, value in whole.items() if part.startswith("summary.")}
        if difference := first_difference(expected, parts):
            problems.append(f"{name} differs from {first}; first {difference}")
    return problems


def main() -> int:
    """Write the digests, or compare with those written before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--randoms", type=int, default=500, help="random scenarios (500)")
    arguments = parser.parse_args()
    found: dict[str, dict[str, str]] = {}
    problems: list[str] = []
    with ProcessPoolExecutor() as pool:
        for ways in pool.map(digests, work(arguments.randoms), chunksize=4):
            found |= ways
            problems += disagreements(ways)
    print(*problems, f"{len(found)} runs, {len(problems)} disagree with themselves", sep="\n")
    if not arguments.file.exists():
        arguments.file.write_text(json.dumps(found))
        print(f"written to {arguments.file}")
        return 1 if problems else 0
    before = json.loads(arguments.file.read_text())
    differing = {
        name: ", ".join(sorted(part for part in parts if before[name].get(part) != found[name].get(part)))
        + f"; first {first_difference(before[name], found[name])}"
        for name, parts in found.items()
        if name in before and before[name] != parts
    }
    for name, difference in differing.items():
        print(f"{name}: {difference}")
    missing = len(before.keys() ^ found.keys())
    print(f"{len(found)} runs, {len(differing)} differ, {missing} on one side only")
    return 1 if problems or differing or missing else 0


if __name__ == "__main__":
    sys.exit(main())
