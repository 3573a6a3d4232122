"""The state file of a server: when worlds are saved and how they are loaded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from reseller_sandbox.persistence.file import BadFile, FileLock, Locked
from reseller_sandbox.persistence.worlds import opened, save
from reseller_sandbox.server.collector import without_collections
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.worlds import Engine
from reseller_sandbox.worlds.world_dump import EngineDump

#: A save happens after ``QUIET`` seconds without a change, and at most ``LATEST`` seconds after a change.
QUIET, LATEST = 1.0, 10.0

#: Poll interval for changes in seconds.
LOOK = 0.1

log = logging.getLogger("reseller_sandbox")


class StateFile:
    """The state file of a server, locked for this server.

    Raise ``BadSetting`` if the file cannot be written, or if another server has locked it.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path).resolve()  # Resolve links, so that a file has only one lock.
        if self.path.exists() and not self.path.is_file():
            raise BadSetting(f"--state-file {self.path} is not a regular file. Name another file")
        try:
            self._lock = FileLock(self.path)
        except OSError as problem:
            raise BadSetting(f"--state-file {self.path} cannot be written: {problem.strerror}") from None
        except Locked:
            raise BadSetting(f"--state-file: another server keeps its worlds in {self.path}") from None

    def found(self) -> EngineDump | None:
        """Return the worlds in the file, or None if the file is empty.

        Raise ``BadSetting`` if the file cannot be read.
        """
        try:
            if self.path.stat().st_size == 0:
                return None
            return opened(self.path)
        except BadFile as problem:
            raise BadSetting(
                f"{problem}. The file is not changed. To start with new worlds, move the file away"
            ) from None
        except OSError as problem:
            raise BadSetting(f"--state-file {self.path} cannot be read: {problem.strerror}") from None

    def keeping(self, worlds: Engine, *, is_saved: bool) -> StateFileWriter:
        """Return a context manager that saves ``worlds`` in this file.

        ``is_saved`` is whether the file already holds these worlds.
        """
        return StateFileWriter(worlds, self.path, self._lock.replace, is_saved=is_saved)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock on the file."""
        self._lock.close()


class StateFileWriter:
    """Context manager that saves worlds: on a separate thread in the block, and again when the block ends.

    It writes immutable values, so requests do not wait for it. ``put_in_place`` moves a complete file to the
    path.
    """

    def __init__(
        self, worlds: Engine, path: Path, put_in_place: Callable[[Path, Path], object], *, is_saved: bool
    ) -> None:
        self._put_in_place = put_in_place
        self._worlds = worlds
        self._path = path
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._saved = _fingerprint(worlds) if is_saved else []
        self._seen: list[Any] = []
        self._changed = self._unsaved = stopwatch()
        self._earliest = self._changed

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._save_if_due(ending=True)

    def _run(self) -> None:
        while not self._ending.wait(LOOK):
            self._save_if_due()

    def _save_if_due(self, *, ending: bool = False) -> None:
        """Save the worlds if a save is due. With ``ending``, save every change."""
        now, fingerprint = stopwatch(), _fingerprint(self._worlds)
        if _same(fingerprint, self._saved):
            self._seen = fingerprint
            self._unsaved = now
            return
        if not _same(fingerprint, self._seen):
            self._seen, self._changed = fingerprint, now
        is_time = now - self._changed >= QUIET or now - self._unsaved >= LATEST
        if ending or (is_time and now >= self._earliest):
            self._save(fingerprint)

    def _save(self, fingerprint: list[Any]) -> None:
        """Save the worlds. After an error, retry after ``LATEST`` seconds, and when the server stops."""
        try:
            with without_collections():
                save(self._path, self._worlds.dump(), self._put_in_place)
        except OSError as problem:
            log.error("the worlds could not be saved in %s: %s", self._path, problem.strerror)
        except Exception as problem:
            log.error("the worlds could not be saved in %s: %r", self._path, problem)
        else:
            self._saved, self._unsaved = fingerprint, stopwatch()
            return
        self._earliest = stopwatch() + LATEST


def _fingerprint(worlds: Engine) -> list[Any]:
    """Return a list of objects. Every change that must be saved replaces at least one of them."""
    fingerprint: list[Any] = []
    for world in worlds:
        fingerprint += (world, world.snapshot, world.history, len(world.journal), world.journal.dropped)
    return fingerprint


def _same(fingerprint: list[Any], others: list[Any]) -> bool:
    return len(fingerprint) == len(others) and all(
        mark is other or (type(mark) is int and mark == other)
        for mark, other in zip(fingerprint, others, strict=True)
    )
