"""A file of checked blocks, written whole or not at all, and read strictly.

After its first line come blocks: the length and the CRC-32 of what follows as 32-bit numbers (little-endian),
a head (its length, then JSON) and a body. The last one says ``end``, and nothing follows it.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

#: The first line of every version's files, without the version.
MAGIC = b"reseller-sandbox worlds, version "

_SIZES = struct.Struct("<III")
END = "end"


class BadFile(ValueError):
    """A file cannot be read; the message says which, where in it, and why."""


class Block(NamedTuple):
    """One block: what its head says, its body, and at which bytes it begins and ends."""

    head: Sequence[Any]
    body: memoryview
    at: int
    end: int


Put = Callable[[Sequence[Any], bytes], None]


def write(
    path: Path, version: int, fill: Callable[[Put], object], put_in_place: Callable[[Path, Path], object]
) -> None:
    """Write a file that ``fill`` puts blocks into; until it is complete, ``path`` stays as it is.

    ``put_in_place`` moves the complete file to ``path``. Raise OSError, and what ``fill`` raises. Only its
    owner can read the file: it holds secrets.
    """
    aside = path.with_name(f"{path.name}.new")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb", 1 << 20) as file:
            file.write(MAGIC + b"%d\n" % version)
            fill(lambda head, body: _put(file, head, body))
            _put(file, [END], b"")
            file.flush()
            os.fsync(file.fileno())
        put_in_place(aside, path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Have the folder's new entry on the disk too, where the system can do that."""
    with suppress(OSError):
        held = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)


def _put(file: BinaryIO, head: Sequence[Any], body: bytes) -> None:
    told = json.dumps(head, separators=(",", ":")).encode()
    size = len(told).to_bytes(4, "little")
    check = zlib.crc32(body, zlib.crc32(told, zlib.crc32(size)))
    file.write(_SIZES.pack(len(told) + len(body), check, len(told)))
    file.write(told)
    file.write(body)


def read(path: Path, version: int) -> Iterator[Block]:
    """Yield the blocks of a file up to its end; raise ``BadFile``, and OSError."""
    content = memoryview(path.read_bytes())
    at = _begin(path, bytes(content[: len(MAGIC) + 12]), version)
    while True:
        block = _block(path, content, at)
        if block.head == [END]:
            if block.end != len(content):
                raise BadFile(f"{path}: byte {block.end}: something follows the end")
            return
        yield block
        at = block.end


def _begin(path: Path, start: bytes, version: int) -> int:
    """Return where the first block begins."""
    line, mark, _ = start.partition(b"\n")
    number = line.removeprefix(MAGIC)
    if not start.startswith(MAGIC) or not mark or not number.isdigit():
        raise BadFile(f"{path}: byte 0: this is no file that worlds are kept in")
    if int(number) != version:
        raise BadFile(
            f"{path}: byte 0: it is of version {int(number)} of the format; this program reads {version}"
        )
    return len(line) + 1


def _block(path: Path, content: memoryview, at: int) -> Block:
    if at + _SIZES.size > len(content):
        raise BadFile(f"{path}: byte {at}: the file ends before its end block")
    size, check, told = _SIZES.unpack_from(content, at)
    begin = at + _SIZES.size
    if begin + size > len(content) or told > size:
        raise BadFile(f"{path}: byte {at}: the file ends within a block")
    if zlib.crc32(content[begin - 4 : begin + size]) != check:
        raise BadFile(f"{path}: byte {at}: the block's checksum is wrong: the file is damaged")
    try:
        head = json.loads(bytes(content[begin : begin + told]))
    except ValueError:
        raise BadFile(f"{path}: byte {begin}: the head of the block is not JSON") from None
    if not isinstance(head, list) or not head:
        raise BadFile(f"{path}: byte {begin}: the head of the block is no list")
    return Block(head, content[begin + told : begin + size], at, begin + size)
