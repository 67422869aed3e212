"""Digests of what many runs give: ``python tests/determinism/digests.py FILE`` writes or compares them.

A change of structure must not move a byte. Write the digests before it; after each step run the
same command again: where FILE exists it names the runs that differ, and in which column. Runs are
every example, every scenario of the papers and random scenarios, each with and without
``exact``.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from common import EXAMPLES, ROOT, everything, first_difference
from random_scenarios import scenario
from tidegate._ask.scenario import Scenario

PAPERS = ROOT / "python" / "tidegate" / "papers"
#: Long enough for every law to act, short enough to run often.
LONGEST = "20 s"


def work(randoms: int) -> list[tuple[str, bool]]:
    """Return what to run: a file or the number of a random scenario, and whether every event is one."""
    files = [*sorted(EXAMPLES.glob("*.toml")), *sorted(PAPERS.glob("*/*.toml"))]
    names = [str(path.relative_to(ROOT)) for path in files] + [str(number) for number in range(randoms)]
    return [(name, exact) for name in names for exact in (False, True)]


def digest(job: tuple[str, bool]) -> tuple[str, dict[str, str]]:
    """Run one scenario and return its name and the digest of each of its parts."""
    name, exact = job
    if name.isdigit():
        loaded, seed = Scenario.from_toml(scenario(int(name))), int(name)
    else:
        loaded, seed = Scenario.load(ROOT / name), 3
        if loaded.duration_s > 20:
            sets = [f"duration={LONGEST}", *(["warmup=5 s"] if loaded.warmup_s >= 20 else [])]
            loaded = Scenario.load(ROOT / name, set=sets)
    found = everything(loaded, seed=seed, record="37 ms", exact=exact)
    # A trace is named by its whole path: without that of the checkout, two checkouts can be compared.
    found["explain"] = loaded.explain().replace(str(ROOT), "")
    return f"{name}{' exact' if exact else ''}", found


def main() -> int:
    """Write the digests, or compare with those written before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--randoms", type=int, default=500, help="random scenarios (500)")
    arguments = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        found = dict(pool.map(digest, work(arguments.randoms), chunksize=4))
    if not arguments.file.exists():
        arguments.file.write_text(json.dumps(found))
        print(f"{len(found)} runs written to {arguments.file}")
        return 0
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
    return 1 if differing or missing else 0


if __name__ == "__main__":
    sys.exit(main())
