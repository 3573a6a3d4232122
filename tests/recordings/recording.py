"""The file of a recording, read and changed as its format says: JSON lines in gzip."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from typing import Any


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


def packed(values: Iterable[Any]) -> bytes:
    """Return a file with these lines. Its head names no operating system."""
    made = gzip.compress("".join(json.dumps(value) + "\n" for value in values).encode(), 9, mtime=0)
    return made[:9] + b"\xff" + made[10:]
