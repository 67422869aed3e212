"""What a call gives back: an answer that is told as text and as JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any


class Answer(ABC):
    """An answer that is more than one run: in words for people, as numbers for programs."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""

    @abstractmethod
    def report(self) -> str:
        """Return the answer as text for people."""

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
