"""The log of a server: one line for each request, and a writer that never makes a request wait."""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any, Protocol
from urllib.parse import quote

from msgspec import Struct, field

from reseller_sandbox.registry.clock import real_now
from reseller_sandbox.registry.parameters import Quiet
from reseller_sandbox.registry.text_checks import printable
from reseller_sandbox.server.delivery import LogWords
from reseller_sandbox.server.secrecy import target_masked

log = logging.getLogger("reseller_sandbox")

_LONGEST = 200  # characters of a target, and of what is said of it, in a line for people
_ENCODED = json.JSONEncoder(ensure_ascii=False).encode
_PLAIN = "".join(map(chr, range(0x20, 0x7F)))

#: How many lines wait to be written, at most.
MOST_LINES = 1000

#: For how many seconds lines are gathered after some were written. A server that is busy wakes the thread
#: twenty times a second then, however many requests it answers.
PAUSE = 0.05


class Words(Struct, frozen=True):
    """What there is to say of a request that the application says nothing of."""

    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_read_only: bool = False
    is_unanswered: bool = False


class LoggedRequest(Quiet, frozen=True):
    """One request and its answer. ``target`` is as it was sent, with its secrets masked.

    ``status`` is what the application answered, whatever became of that on its way, 0 where there was no
    answer; ``size`` its body's length in bytes; ``said`` what the application says of it.
    """

    method: str
    target: str
    status: int
    duration_seconds: float
    size: int
    said: LogWords


def as_text(line: LoggedRequest) -> str:
    """Return a request as people read it."""
    took = f"{line.duration_seconds * 1000:.1f} ms"
    target, note = _cut(line.target), _cut(printable(line.said.note))
    when = real_now().time().isoformat("seconds")
    return f"{when}  {line.status or '---'}  {line.method} {target}  {note}  {took}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def as_json(line: LoggedRequest) -> str:
    """Return a request as a JSON object on one line."""
    told = {
        "method": line.method,
        "target": line.target,
        "status": line.status,
        "duration_ms": round(line.duration_seconds * 1000, 3),
        "size": line.size,
        **(line.said.facts or {"note": line.said.note}),
    }
    return _dumped("info", told)


class AsJson(logging.Formatter):
    """Writes what else there is to log as JSON, too."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a JSON object on one line."""
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        return _dumped(record.levelname.lower(), {"message": record.getMessage(), **trace})


def _dumped(level: str, told: Mapping[str, Any]) -> str:
    at = real_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _ENCODED({"at": at, "level": level, **told})


def log_failure(what: str, error: BaseException) -> None:
    """Say in the log, on one line, what failed, how and where; on level DEBUG with the whole traceback."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename}, line {frame.lineno}"
    trace = error if log.isEnabledFor(logging.DEBUG) else None
    log.error("%s failed: %s: %r (%s)", what, type(error).__name__, str(error), where, exc_info=trace)


def masked(target: str) -> str:
    """Return a request target without its secrets.

    Bytes that were sent as they are, which Latin-1 letters stand for in it, are percent-encoded, and so is
    what cannot be printed.
    """
    if not (target.isascii() and target.isprintable()):
        target = quote(target, _PLAIN, "latin-1", "replace")
    return target_masked(target)


class Raw(Protocol):
    """A file without a buffer of its own: no lock of it can be held when the interpreter ends."""

    def write(self, data: bytes, /) -> int | None:
        """Write the beginning of ``data``; return how many bytes that was."""


class LogWriter(logging.Handler):
    """Writes lines to ``file`` on a thread of its own, so that a reader who is slow or gone holds up nothing.

    At most ``MOST_LINES`` lines wait. Others, and those that ``file`` does not take, are lost; how many were
    is written as soon as writing works again. ``form`` is how what loggers say is written.
    """

    def __init__(self, file: Raw, encoding: str = "utf-8", form: logging.Formatter | None = None) -> None:
        super().__init__()
        self.setFormatter(form or logging.Formatter("%(levelname)s %(message)s"))
        self._file = file
        self._encoding = encoding
        # None ends the thread. Whoever puts a line may be interrupted by something that is logged.
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._counting = threading.RLock()
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
        if self._waiting.qsize() < MOST_LINES:
            self._waiting.put(line)
        else:
            with self._counting:
                self._lost += 1

    def end(self, within: float) -> None:
        """Write what waits and end; return when that is done, or after ``within`` seconds."""
        self._ended.set()
        self._waiting.put(None)
        self._thread.join(within)

    def _write_all(self) -> None:
        lost, lines = 0, list[str | None]()
        while None not in lines:
            lines = [self._waiting.get(), *(self._waiting.get() for _ in range(self._waiting.qsize()))]
            with self._counting:
                later, self._lost = self._lost, 0  # lost for want of room, so they came after the others
            lost = self._put(lost, [line for line in lines if line is not None])
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
