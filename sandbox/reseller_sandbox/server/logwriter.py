"""A log that holds nobody up: what cannot be written is dropped, and counted."""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

#: How many lines wait to be written, at most.
MOST_LINES = 1000

#: For how many seconds lines are gathered after some were written. A server that is busy wakes the thread
#: twenty times a second then, however many requests it answers.
PAUSE = 0.05


class Raw(Protocol):
    """A file without a buffer of its own: no lock of it can be held when the interpreter ends."""

    def write(self, data: bytes, /) -> int | None:
        """Write the beginning of ``data``; return how many bytes that was."""


class LogWriter(logging.Handler):
    """Writes lines to ``file`` on a thread of its own, so that a reader who is slow or gone holds up nothing.

    At most ``most`` lines wait. Others, and those that ``file`` does not take, are lost; how many were is
    written as soon as writing works again. ``form`` is how what loggers say is written.
    """

    def __init__(
        self,
        file: Raw,
        encoding: str = "utf-8",
        most: int = MOST_LINES,
        form: logging.Formatter | None = None,
    ) -> None:
        super().__init__()
        self.setFormatter(form or logging.Formatter("%(levelname)s %(message)s"))
        self._file = file
        self._encoding = encoding
        self._most = most
        # Whoever holds it may be interrupted by something that is logged, and so take it once more.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._waiting: list[str] = []
        self._lost = 0
        self._ended = threading.Event()
        # A daemon: one that is held up in the middle of a line does not keep the process from ending.
        self._thread = threading.Thread(target=self._write_all, name="sandbox:log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Write what a logger has to say."""
        self.write(self.format(record))

    def write(self, line: str) -> None:
        """Write a line soon, or count it among those that are lost; it never waits."""
        with self._lock:
            if not self._waiting:  # only the first of them calls the thread
                self._changed.notify()
            if len(self._waiting) < self._most:
                self._waiting.append(line)
            else:
                self._lost += 1

    def end(self, within: float) -> None:
        """Write what waits and end; return when that is done, or after ``within`` seconds."""
        with self._changed:
            self._ended.set()
            self._changed.notify()
        self._thread.join(within)

    def _write_all(self) -> None:
        lost, ended = 0, False
        while not ended:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended.is_set())
                lines, self._waiting = self._waiting, []
                later, self._lost = self._lost, 0  # lost for want of room, so they came after the others
                ended = self._ended.is_set()
            lost = self._put(lost, lines)
            lost = self._put(lost + later, [])
            self._ended.wait(PAUSE)

    def _losses(self, lost: int) -> str:
        said = f"{lost} lines of this log could not be written."
        return self.format(logging.makeLogRecord({"levelname": "WARNING", "msg": said}))

    def _put(self, lost: int, lines: list[str]) -> int:
        """Write that so many lines were lost, and lines; return how many are lost and not told of then."""
        told = [self._losses(lost), *lines] if lost else lines
        data = "\n".join([*told, ""]).encode(self._encoding, "backslashreplace")
        try:
            while data:
                written = self._file.write(data)
                if written is None:  # Whoever shares the file has made it one that does not wait.
                    time.sleep(0.05)
                data = data[written or 0 :]
        except (OSError, ValueError):
            return lost + len(lines)
        return 0
