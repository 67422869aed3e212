"""What a theory says, for people."""

from __future__ import annotations

from typing import Any

from tidegate._base.text import wrapped


def theory_line(judged: dict[str, Any]) -> str:
    """Return what ``tidegate check --explain`` says of one theory."""
    if not judged["applies"]:
        return wrapped(f"  {judged['theory']}  does not apply: {judged['because']}", "    ")
    unmet = "; ".join(judged["unmet"])
    return wrapped(
        f"  {judged['theory']}  applies" + (f", with reservations: {unmet}" if unmet else ""), "    "
    )
