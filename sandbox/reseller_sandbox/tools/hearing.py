"""What a pytest that a tool runs says to it: the plugin writes lines to a file, and the tool reads them.

Tests that ask for the plugin's fixture have worlds of their own, which no address leads to. So the tool has
the plugin do the same with each of these tests, in the process that they run in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: The file that is written to, if a tool listens.
TOLD = "RESELLER_SANDBOX_TOLD"


def say_to_tool(**words: Any) -> None:
    """Tell the tool that has this process run, if there is one; lines of several processes stay whole."""
    if not (name := os.environ.get(TOLD)):
        return
    file = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, json.dumps(words).encode() + b"\n")
    finally:
        os.close(file)


def is_heard() -> bool:
    """Whether a tool has this process run."""
    return TOLD in os.environ


def with_near_files(said: Mapping[str, Any], folder: Path) -> Any:
    """Return what was said with the files in ``folder`` called as that is called here."""
    far, near = (json.dumps(str(one))[1:-1] for one in (folder.absolute(), folder))
    return json.loads(json.dumps(said).replace(far, near))


class Hearing:
    """Reads what is said, as it comes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0

    def news(self) -> Iterator[dict[str, Any]]:
        """Yield what has been said since the last time."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._read)
                whole, end, _ = file.read().rpartition(b"\n")
        except FileNotFoundError:
            return
        self._read += len(whole + end)
        yield from map(json.loads, whole.splitlines())
