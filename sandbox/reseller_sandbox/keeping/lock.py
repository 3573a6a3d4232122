"""A lock on a file itself, so that its other names (links) are locked, too."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    #: Windows keeps everybody from reading a locked byte, so the byte lies beyond the end of any file.
    _BYTE = 0x7FFF0000

    def _lock(file: int) -> None:
        os.lseek(file, _BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
else:

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Locked(Exception):
    """Another process has locked the file."""


class FileLock:
    """Locks the file at ``path``, which is created if there is none, until it is closed or its process ends.

    Raise ``Locked``, and OSError.
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
