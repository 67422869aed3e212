"""A quick reproduction of a paper, and what holds of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from common import tidegate
from tidegate._reproduce import paper as _paper

if TYPE_CHECKING:
    from pathlib import Path

VERDICTS = {"reproduced", "partly", "not reproduced", "undecided"}


def reproduced(paper: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the whole result and the claims by name of a quick reproduction."""
    done = tidegate("reproduce", paper, "--quick", "--json", "--out", folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    claims = {claim["id"]: claim for claim in result["claims"]}
    for claim in claims.values():
        assert claim["verdict"] in VERDICTS
        assert claim["measured"] is not None, claim
        assert claim["rule"]
        assert {*_paper.open_paper(paper).claims[0].figures} <= {f["id"] for f in result["figures"]}
    for figure in result["figures"]:
        assert figure["error"] is None
        assert (folder / f"{figure['id']}.svg").stat().st_size > 3000
    assert (folder / "report.html").is_file()
    return result, claims
