"""Limits for files that expand: packed content, and JSON with many small values."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

#: The first bytes of content that gzip has packed.
GZIP = b"\x1f\x8b"

#: Maximum number of bytes that are unpacked at once.
_PIECE = 1 << 18

#: Each of these bytes outside of strings begins a value. Fewer values than ``_FEW`` are not counted exactly.
_MARKS, _FEW = (b",", b"[", b"{", b"\n"), 10_000
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class BadPacking(ValueError):
    """Packed content is damaged or too long. The message begins with the subject."""


def unpacked(content: bytes, most: int, subject: str) -> Iterator[bytes]:
    """Yield content that gzip has packed, in pieces. Raise ``BadPacking`` beyond ``most`` bytes.

    ``subject`` names the content in messages.
    """
    unpacking, rest, size = zlib.decompressobj(zlib.MAX_WBITS | 16), content, 0
    while not unpacking.eof:
        try:
            piece = unpacking.decompress(rest, _PIECE)
        except zlib.error as problem:
            raise BadPacking(f"the {subject} is damaged and cannot be unpacked ({problem})") from None
        rest, size = unpacking.unconsumed_tail, size + len(piece)
        if size > most:
            raise BadPacking(f"the unpacked {subject} is longer than {most} bytes")
        if not piece and not rest and not unpacking.eof:
            raise BadPacking(f"byte {len(content)}: the {subject} ends too early")
        yield piece
    if unpacking.unused_data:
        at = len(content) - len(unpacking.unused_data)
        raise BadPacking(f"byte {at}: data follows the end of the {subject}")


def count_values(text: bytes) -> int:
    """Return an upper bound of the number of values in a text of JSON or block YAML."""
    count = sum(map(text.count, _MARKS))
    if count > _FEW:
        count = sum(map(_STRING.sub(b"", text).count, _MARKS))
    return count
