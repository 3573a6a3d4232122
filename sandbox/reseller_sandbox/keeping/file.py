"""A file of checked blocks, written whole or not at all, read strictly, and locked for one process.

After its first line come blocks: the length and the CRC-32 of the content as 32-bit numbers (little-endian),
and the content. The last block is empty, and nothing follows it.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    #: Windows lets nobody read a locked byte, so the byte lies beyond the end of any file.
    _BYTE = 0x7FFF0000

    def _lock(file: int) -> None:
        os.lseek(file, _BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
else:

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


#: The first line of every version's files, without the version.
MAGIC = b"reseller-sandbox worlds, version "

_HEAD = struct.Struct("<II")

#: Adds a block with this content to a file.
Put = Callable[[bytes], None]


class BadFile(ValueError):
    """A file cannot be read; the message says which, where in it, and why."""


class Locked(Exception):
    """Another process has locked the file."""


class FileLock:
    """Lock the file at ``path`` until ``close``, or until the process ends. Create the file if necessary.

    The lock is on the file itself, so its other names (links) are locked too. Raise ``Locked``, and OSError.
    """

    def __init__(self, path: Path) -> None:
        self._held = _locked(path)

    def replace(self, new: Path, path: Path) -> None:
        """Put the file ``new`` in the place of the locked one at ``path``, and lock it instead."""
        if os.name == "nt":  # where an open file cannot be replaced
            self.close()
            new.replace(path)
            self._held = _locked(path)
            return
        before, self._held = self._held, _locked(new)
        new.replace(path)
        os.close(before)

    def close(self) -> None:
        """Unlock the file."""
        os.close(self._held)


def _locked(path: Path) -> int:
    """Return a descriptor of the file that holds the lock."""
    while True:
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(held)
        except OSError:
            os.close(held)
            raise Locked from None
        if os.path.samestat(os.fstat(held), path.stat()):
            return held
        os.close(held)  # its holder has replaced the file meanwhile


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
            fill(lambda content: _put(file, content))
            _put(file, b"")
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


def _put(file: BinaryIO, content: bytes) -> None:
    size = len(content).to_bytes(4, "little")
    file.write(_HEAD.pack(len(content), zlib.crc32(content, zlib.crc32(size))))
    file.write(content)


def read(path: Path, version: int) -> Iterator[tuple[int, bytes]]:
    """Yield the content of each block up to the end, and where the block begins.

    Raise ``BadFile``, and OSError.
    """
    content = memoryview(path.read_bytes())
    at = _begin(path, bytes(content[: len(MAGIC) + 12]), version)
    while block := _block(path, content, at):
        yield at, block
        at += _HEAD.size + len(block)
    end = at + _HEAD.size
    if end != len(content):
        raise BadFile(f"{path}: byte {end}: something follows the end")


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


def _block(path: Path, content: memoryview, at: int) -> bytes:
    """Return the content of the block at ``at``; the last block has none."""
    if at + _HEAD.size > len(content):
        raise BadFile(f"{path}: byte {at}: the file ends before its last block")
    size, check = _HEAD.unpack_from(content, at)
    begin = at + _HEAD.size
    if begin + size > len(content):
        raise BadFile(f"{path}: byte {at}: the file ends within a block")
    block = bytes(content[begin : begin + size])
    if zlib.crc32(block, zlib.crc32(content[at : at + 4])) != check:
        raise BadFile(f"{path}: byte {at}: the block's checksum is wrong: the file is damaged")
    return block
