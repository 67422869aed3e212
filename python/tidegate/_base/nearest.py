"""What may have been meant by a name that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(what: str, name: object, known: Iterable[str]) -> str:
    """Return a sentence that says ``name`` is not known and what may have been meant."""
    import difflib

    names = list(known)
    if not isinstance(name, str):
        return f"a {what} is named by a text, not by {type(name).__name__}; known: {', '.join(names[:8])}"
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f'no {what} is called "{name}"; did you mean "{close[0]}"?'
    if not names:
        return f'no {what} is called "{name}"; there are none'
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f'no {what} is called "{name}"; known: {shown}'
