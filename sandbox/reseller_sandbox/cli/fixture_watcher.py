"""Option ``serve --watch``: loads the fixture again when one of its files is edited."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from reseller_sandbox import fixture
from reseller_sandbox.app_factory import initial_snapshot
from reseller_sandbox.refusals import Refused
from reseller_sandbox.settings import BadSetting, ServerSettings
from reseller_sandbox.worlds import Engine, Snapshot

log = logging.getLogger("reseller_sandbox")

#: Interval in seconds at which the files are checked for edits.
PAUSE = 1.0


@contextmanager
def watching(watch: Watch, worlds: Engine) -> Iterator[None]:
    """Watch the files of the fixture while the context lasts."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(PAUSE):
            watch.look(worlds)

    thread = threading.Thread(target=look, name="sandbox:watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Watch:
    """Loads the fixture of ``settings`` into the default world again after each edit.

    Create it before the worlds read the fixture, because it detects only later edits.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._files: set[Path] = {fixture.find(str(settings.fixture))}
        try:
            self._initial_snapshot()
        except BadSetting:  # The server's start or the first ``look`` reports the mistake.
            self._seen: Mapping[Path, tuple[int, ...]] = {}
        else:
            self._seen = self._versions()

    def look(self, worlds: Engine) -> None:
        """Load the fixture if one of its files has changed. Log the mistakes of an invalid fixture."""
        versions = self._versions()
        if versions == self._seen:
            return
        try:
            snapshot = self._initial_snapshot()
            with worlds.default.acting("history.load"):
                worlds.restart(worlds.default, snapshot)
        except (BadSetting, Refused) as problem:
            mistakes = "; ".join(str(problem).splitlines())
            log.error("The edited fixture is invalid. The world is unchanged: %s", mistakes)
        else:
            log.warning("The fixture was edited. The world restarts from the new version.")
        self._seen = {**self._versions(), **versions}

    def _initial_snapshot(self) -> Snapshot:
        read: set[Path] = set()
        try:
            return initial_snapshot(self._settings, frozen=False, reads=read.add)
        finally:
            self._files |= read

    def _versions(self) -> dict[Path, tuple[int, ...]]:
        return {file: _version(file) for file in sorted(self._files)}


def _version(file: Path) -> tuple[int, ...]:
    """Return values that change with every write of a file, or () while the file is missing."""
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
