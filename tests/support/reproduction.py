"""A quick reproduction of a paper, and what holds of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.common import tidegate
from tidegate_papers._reproduce import paper as _paper

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: A whole paper takes up to a minute of both processors, and several times that on a busy machine.
SECONDS = 400

VERDICTS = {"reproduced", "partly", "not reproduced", "undecided"}


def says_no_more_than_the_full_run(claims: Iterable[dict[str, Any]]) -> None:
    """Check of every claim that the verdicts a quick run leaves contain the full run's, as recorded.

    Where the full run leaves more than one, so does the quick one.
    """
    surer = {}
    for claim in claims:
        full, left = claim["full_run"]["verdict"], claim["possible"]
        assert (claim["verdict"] == "undecided") == (len(left) > 1), claim["id"]
        if (len(left) == 1) if full == "undecided" else full not in left:
            surer[claim["id"]] = f"quick: {' or '.join(left)}, full: {full}"
    assert not surer


def reproduced(paper: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the whole result and the claims by name of a quick reproduction."""
    done = tidegate("reproduce", paper, "--quick", "--json", "--out", folder, seconds=SECONDS)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    claims = {claim["id"]: claim for claim in result["claims"]}
    for claim in claims.values():
        assert claim["verdict"] in VERDICTS
        assert claim["measured"] is not None, claim
        assert claim["rule"]
        assert bool(claim["tcp"]) == bool(claim["commands"]), "what ran names its TCP"
        assert {*_paper.open_paper(paper).claims[0].figures} <= {f["id"] for f in result["figures"]}
    for figure in result["figures"]:
        assert figure["error"] is None
        assert (folder / f"{figure['id']}.svg").stat().st_size > 3000
    says_no_more_than_the_full_run(claims.values())
    assert (folder / "report.html").is_file()
    return result, claims
