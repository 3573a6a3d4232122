"""The state file of a server: when worlds are saved and how they are loaded."""

from __future__ import annotations

import errno
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from reseller_sandbox.persistence.file import BadFile, FileLock, Locked, require_replaceable
from reseller_sandbox.persistence.worlds import opened, save
from reseller_sandbox.registry.stepwise import Interrupted, interruptible
from reseller_sandbox.server.server import SecondSignal
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.world_dump import EngineDump, WorldDump

#: A save begins after ``QUIET`` seconds without a change. It ends at most ``LATEST`` seconds after a change,
#: or after the time of two saves if that is longer.
QUIET, LATEST = 1.0, 10.0

#: The name of the thread that saves.
SAVER = "sandbox:state file"

#: Poll interval for changes in seconds.
LOOK = 0.1

log = logging.getLogger("reseller_sandbox")


class StateFile:
    """The state file of a server, locked for this server.

    Raise ``BadSetting`` if the file cannot be written and replaced, or if another server has locked it.
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
        try:
            require_replaceable(self.path)
        except OSError as problem:
            self._lock.close()
            if problem.errno == errno.EBUSY:
                reason = "is mounted as a single file, so a save cannot replace it. Mount its folder instead"
                raise BadSetting(f"--state-file {self.path} {reason}") from None
            raise BadSetting(
                f"--state-file {self.path}: a save cannot create a file in its folder: {problem.strerror}"
            ) from None

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

    It writes immutable values, so requests do not wait for it, and it does not wait for long work in a
    world. ``put_in_place`` moves a complete file to the path. After the block, ``is_saved`` is whether the
    file holds the latest changes.
    """

    def __init__(
        self, worlds: Engine, path: Path, put_in_place: Callable[[Path, Path], object], *, is_saved: bool
    ) -> None:
        self._put_in_place = put_in_place
        self._worlds = worlds
        self._path = path
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=SAVER, daemon=True)
        self._saved = _fingerprint(worlds) if is_saved else []
        self._seen: list[object] = []
        self._changed = self._unsaved = stopwatch()
        self._earliest = self._changed
        #: Seconds that the latest save took.
        self._takes = 0.0
        self.is_saved = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._ending.set()
        try:
            if error is not SecondSignal:
                self._thread.join()
                self.is_saved = self._save_if_due(ending=True)
            else:
                self.is_saved = _same(_fingerprint(self._worlds), self._saved)
        finally:
            if not self.is_saved:
                log.error("the latest changes are not saved in %s", self._path)

    def _run(self) -> None:
        # The last save follows at once, so a save that the end of the block finds unfinished is dropped.
        with suppress(Interrupted), interruptible(self._ending):
            while not self._ending.wait(LOOK):
                self._save_if_due()

    def _save_if_due(self, *, ending: bool = False) -> bool:
        """Save the worlds if a save is due. With ``ending``, save every change.

        Return whether the file now has all changes.
        """
        now, fingerprint = stopwatch(), _fingerprint(self._worlds)
        if _same(fingerprint, self._saved):
            self._seen = fingerprint
            self._unsaved = now
            return True
        if not _same(fingerprint, self._seen):
            self._seen, self._changed = fingerprint, now
        is_time = now - self._changed >= QUIET or now - self._unsaved >= LATEST - self._takes
        if ending or (is_time and now >= self._earliest):
            return self._save()
        return False

    def _save(self) -> bool:
        """Save the worlds. Return whether the save succeeded.

        After an error, retry after ``LATEST`` seconds, and when the server stops.
        """
        begin = stopwatch()
        try:
            dump = self._worlds.dump()
            save(self._path, dump, self._put_in_place)
        except OSError as problem:
            log.error("the worlds could not be saved in %s: %s", self._path, problem.strerror)
        except Exception as problem:
            log.error("the worlds could not be saved in %s: %r", self._path, problem)
        else:
            # A change during the save may be missing in the file, so the interval counts from its beginning.
            self._saved, self._unsaved = _fingerprint(dump.worlds), begin
            self._takes = stopwatch() - begin
            return True
        self._earliest = stopwatch() + LATEST
        return False


def _fingerprint(worlds: Iterable[World | WorldDump]) -> list[object]:
    """Return a list of objects. Every committed change that must be saved replaces at least one of them."""
    fingerprint: list[object] = []
    for world in worlds:
        content = (world.lock.before or world) if isinstance(world, World) else world
        if isinstance(content, World):
            requests = len(content.journal), content.journal.dropped
        else:
            requests = len(content.requests.entries), content.requests.dropped
        fingerprint += (content.snapshot, content.history, *requests)
    return fingerprint


def _same(fingerprint: list[object], others: list[object]) -> bool:
    return len(fingerprint) == len(others) and all(
        mark is other or (type(mark) is int and mark == other)
        for mark, other in zip(fingerprint, others, strict=True)
    )
