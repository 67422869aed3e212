"""Fields of a JSON file that another tool wrote: each is read with its place, and odd ones are refused."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidegate.errors import ArgumentError

#: Bytes of JSON that are read of a file, unpacked: an hour of iperf3, ten intervals a second, has fewer.
MOST_BYTES = 64_000_000
#: gzip's first bytes (RFC 1952 §2.3.1).
_GZIP = b"\x1f\x8b"
#: Bytes that tell JSON from a capture.
_BEGIN = 64


class Field:
    """A value of the file and where it stands, such as ``end.streams[2].sender``."""

    def __init__(self, file: Path, value: Any, place: str = "") -> None:
        self.file, self.value, self._place = file, value, place

    def __contains__(self, key: str) -> bool:
        """Tell whether a table has this key, with a value."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: str) -> Field:
        """Return the value of a key.

        Raises:
            ArgumentError: this is no table, or has no such key.
        """
        if not isinstance(self.value, dict):
            raise self.wrong("a table")
        place = f"{self._place}.{key}".lstrip(".")
        if key not in self.value:
            raise ArgumentError(f"{self.file}: {place} is missing")
        return Field(self.file, self.value[key], place)

    def table(self, key: str) -> Field:
        """Return a table that may be left out: then it is empty.

        Raises:
            ArgumentError: there is something else.
        """
        found = self.get(key) if key in self else Field(self.file, {}, f"{self._place}.{key}".lstrip("."))
        if not isinstance(found.value, dict):
            raise found.wrong("a table")
        return found

    def names(self) -> list[str]:
        """Return the keys of a table.

        Raises:
            ArgumentError: it is none.
        """
        if not isinstance(self.value, dict):
            raise self.wrong("a table")
        return list(self.value)

    def items(self, least: int = 0) -> list[Field]:
        """Return the values of a list.

        Raises:
            ArgumentError: it is none, or too short.
        """
        if not isinstance(self.value, list) or len(self.value) < least:
            raise self.wrong(f"a list of {least} or more" if least else "a list")
        return [
            Field(self.file, each, f"{self._place}[{number}]") for number, each in enumerate(self.value, 1)
        ]

    def text(self) -> str:
        """Return a text.

        Raises:
            ArgumentError: it is none.
        """
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def number(self, least: float, most: float) -> float:
        """Return a number of this range.

        Raises:
            ArgumentError: it is none, not finite, or out of the range.
        """
        value = self.value
        # Whole numbers may be larger than any float.
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.wrong(f"a number from {least:g} to {most:g}")
        return float(value)

    def number_or_none(self, key: str, least: float, most: float) -> float | None:
        """Return a number that may be left out or null."""
        return self.get(key).number(least, most) if key in self else None

    def wrong(self, right: str) -> ArgumentError:
        """Return an error that says what was read here, and what would be right."""
        if isinstance(self.value, dict | list):
            read = "a table" if isinstance(self.value, dict) else f"a list of {len(self.value)}"
        elif isinstance(self.value, int) and not isinstance(self.value, bool) and abs(self.value) > 10**18:
            read = f"a number of {math.floor(math.log10(abs(self.value))) + 1} digits"
        else:
            read = json.dumps(self.value)[:60]
        return ArgumentError(f"{self.file}: {self._place or 'the file'}: read {read}; {right} is right")


def documents(path: Path) -> list[Field] | None:
    """Read JSON, plain or packed by gzip: one document, or several one after another.

    None where it is no JSON, so that it may be a capture.

    Raises:
        ArgumentError: the JSON is not whole, too long, or nested too deeply.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
        file.seek(0)
        text = b""
        with gzip.open(file) if packed else file as plain:
            try:
                text = plain.read(_BEGIN)
                if not re.match(rb"\s*(\{|\[\s*\{)", text):
                    return None
                text += plain.read(MOST_BYTES)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                if not text:
                    return None
                raise ArgumentError(f"{path}: this is not whole JSON ({error})") from None
    if len(text) > MOST_BYTES:
        raise ArgumentError(
            f"{path}: this JSON has more than {MOST_BYTES / 1e6:.0f} MB, the most that is read; measure "
            "with longer intervals, such as iperf3 -i 1"
        )
    try:
        return [Field(path, value) for value in _values(text.decode())]
    except RecursionError:
        raise ArgumentError(f"{path}: this JSON is nested too deeply to be a measurement") from None
    except ValueError as error:
        raise ArgumentError(f"{path}: this is not whole JSON ({error})") from None


def _values(text: str) -> Iterator[Any]:
    """Yield the documents of a text; a list of documents is as many."""
    decoder = json.JSONDecoder()
    at = _next(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield from value if isinstance(value, list) else [value]
        at = _next(text, at)


def _next(text: str, at: int) -> int:
    """Return where the next document begins; a comma may stand before it."""
    found = re.compile(r"[^\s,]").search(text, at)
    return found.start() if found else len(text)
