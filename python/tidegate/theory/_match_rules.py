"""How a reader of plans says that its theory does not apply."""

from __future__ import annotations


class DoesNotApplyError(Exception):
    """The first condition of a theory that a plan does not meet."""


def need(holds: object, reason: str) -> None:
    """Refuse a plan for a reason."""
    if not holds:
        raise DoesNotApplyError(reason)
