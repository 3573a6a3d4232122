"""A file with a checksum: written atomically, read strictly, and locked.

The first line names the version of the format. The last four bytes are the CRC-32 of everything before them
(little-endian).
"""

from __future__ import annotations

import errno
import os
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from reseller_sandbox.registry.stepwise import begin_step

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    #: The position of the locked byte, beyond the end of any file: Windows cannot read a locked byte.
    _BYTE = 0x7FFF0000

    def _lock(file: int) -> None:
        os.lseek(file, _BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
else:

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


#: The first line of a state file, up to the version number.
MAGIC = b"reseller-sandbox worlds, version "

#: The size of the checksum at the end of a file, in bytes.
_SIZE = 4


class BadFile(ValueError):
    """A file cannot be read. The message gives the file and the reason."""


class Locked(Exception):
    """Another process has locked the file."""


class FileLock:
    """A lock on the file at ``path`` until ``close`` or the end of the process.

    A missing file is created. The lock is on the file itself, so its other names (links) are locked too.
    Raise ``Locked`` and OSError.
    """

    def __init__(self, path: Path) -> None:
        self._held = _locked(path)

    def replace(self, new: Path, path: Path) -> None:
        """Move the file ``new`` to ``path``, and lock it in place of the file that was locked before."""
        if os.name == "nt":  # Windows cannot replace an open file.
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
    """Open and lock the file at ``path``. Return its descriptor, which holds the lock."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            raise Locked from None
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
        os.close(descriptor)  # Another process has replaced the file. Lock the new one.


class Checked:
    """Writes to ``file``, and computes the checksum of all data that it writes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.checksum = 0

    def write(self, data: bytes, /) -> int:
        begin_step()
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def write(
    path: Path, version: int, fill: Callable[[Checked], object], put_in_place: Callable[[Path, Path], object]
) -> None:
    """Write a file atomically. ``fill`` writes its content.

    ``path`` stays unchanged until the new file is complete. ``put_in_place`` moves the complete file to
    ``path``. Only the owner can read the file, because it holds secrets. Raise OSError and the errors of
    ``fill``.
    """
    descriptor, aside = _new_file(path)
    try:
        with os.fdopen(descriptor, "wb", 1 << 20) as file:
            checked = Checked(file)
            checked.write(MAGIC + b"%d\n" % version)
            fill(checked)
            file.write(checked.checksum.to_bytes(_SIZE, "little"))
            file.flush()
            os.fsync(file.fileno())
        put_in_place(aside, path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    _flush_folder(path.parent)


def _new_file(path: Path) -> tuple[int, Path]:
    """Create an empty file beside ``path``, which only its owner can read. Return its descriptor and path.

    The name is new, so that nothing that has this name already is opened: no link, no FIFO and no file of
    another server.
    """
    descriptor, name = mkstemp(".new", f".{path.name}.", path.parent)
    return descriptor, Path(name)


def require_replaceable(path: Path) -> None:
    """Raise OSError if ``write`` cannot replace the file at ``path``. Remove the files of unfinished writes.

    The error number is EBUSY if the file is mounted by itself. Call it while the file is locked.
    """
    unfinished = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.new")
    for file in path.parent.iterdir():
        if unfinished.fullmatch(file.name):
            file.unlink()
    descriptor, probe = _new_file(path)
    os.close(descriptor)
    probe.unlink()
    try:
        os.link(path, probe)
    except OSError as problem:
        if problem.errno == errno.EXDEV:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY)) from None
        return  # The file system has no hard links.
    probe.unlink()


def _flush_folder(folder: Path) -> None:
    """Flush the folder to the disk, so that a new file name survives a loss of power."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read(path: Path, version: int) -> BytesIO:
    """Check the first line and the checksum of a file. Return its content from the second line on.

    Raise ``BadFile`` and OSError.
    """
    source = BytesIO(path.read_bytes())
    line = source.readline(len(MAGIC) + 12)
    number = line.removeprefix(MAGIC).strip()
    if not line.startswith(MAGIC) or not line.endswith(b"\n") or not number.isdigit():
        raise BadFile(f"{path} is not a state file")
    if int(number) != version:
        raise BadFile(f"{path} has format version {int(number)}; this program reads version {version}")
    content = source.getbuffer()
    if zlib.crc32(content[:-_SIZE]).to_bytes(_SIZE, "little") != content[-_SIZE:]:
        raise BadFile(f"{path}: the file is damaged: its checksum is wrong")
    return source
