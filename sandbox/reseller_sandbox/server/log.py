"""The log of a server: one line for each request, and a writer that never makes a request wait."""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections.abc import Mapping
from io import RawIOBase
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field

from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values.clock import real_now
from reseller_sandbox.values.parameters import Quiet
from reseller_sandbox.values.text_checks import cut, printable

log = logging.getLogger("reseller_sandbox")

_LONGEST = 200  # Maximum characters of a target, and of a note, in a line of plain text.
_ENCODED = json.JSONEncoder(ensure_ascii=False).encode
_PLAIN = "".join(map(chr, range(0x20, 0x7F)))

#: Maximum number of lines that wait to be written.
MOST_LINES = 1000

#: Seconds that the thread sleeps after a write. Under load, it then writes only twenty times a second.
PAUSE = 0.05


class Words(Struct, frozen=True):
    """Description of a request for the log.

    ``note`` is a short text for people, and ``facts`` are the same facts for programs. ``is_read_only`` marks
    a read request of the page, which the log for people omits. ``is_unanswered`` marks a request without a
    response, whose status is not logged.
    """

    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_read_only: bool = False
    is_unanswered: bool = False


class LoggedRequest(Quiet, frozen=True):
    """One request and its response, with the secrets in ``target`` masked.

    ``status`` is the status from the application, even if a fault changed the delivery. It is 0 if there was
    no response. ``size`` is the length of the body in bytes. ``words`` describes the request.
    """

    method: str
    target: str
    status: int
    duration_seconds: float
    size: int
    words: Words


def as_text(line: LoggedRequest) -> str:
    """Return the log line of a request as plain text, for people."""
    took = f"{line.duration_seconds * 1000:.1f} ms"
    target, note = cut(line.target, _LONGEST), cut(printable(line.words.note), _LONGEST)
    when = real_now().time().isoformat("seconds")
    return f"{when}  {line.status or '---'}  {line.method} {target}  {note}  {took}"


def as_json(line: LoggedRequest) -> str:
    """Return the log line of a request as a JSON object."""
    fields = {
        "method": line.method,
        "target": line.target,
        "status": line.status,
        "duration_ms": round(line.duration_seconds * 1000, 3),
        "size": line.size,
        **(line.words.facts or {"note": line.words.note}),
    }
    return _dumped("info", fields)


def event_as_json(event: str, facts: Mapping[str, object]) -> str:
    """Return the log line of a server event, such as ``started``, as a JSON object."""
    return _dumped("info", {"event": event, **facts})


class AsJson(logging.Formatter):
    """Formatter that writes log records as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a JSON object on one line."""
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        return _dumped(record.levelname.lower(), {"message": record.getMessage(), **trace})


def _dumped(level: str, fields: Mapping[str, object]) -> str:
    at = real_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _ENCODED({"at": at, "level": level, **fields})


def log_failure(action: str, error: BaseException) -> None:
    """Log a failed action on one line, with the error and its source line. DEBUG adds the traceback."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename}, line {frame.lineno}"
    trace = error if log.isEnabledFor(logging.DEBUG) else None
    log.error("%s failed: %s: %r (%s)", action, type(error).__name__, str(error), where, exc_info=trace)


def masked(target: str, secrecy: Secrecy) -> str:
    """Return a request target with its secrets masked.

    Raw bytes, which Latin-1 letters represent in ``target``, are percent-encoded, and so are characters that
    cannot be printed.
    """
    if not (target.isascii() and target.isprintable()):
        target = quote(target, _PLAIN, "latin-1", "replace")
    return secrecy.target_masked(target)


class LogWriter(logging.Handler):
    """Log handler that writes to ``file`` on a separate thread, so that a slow ``file`` blocks no request.

    ``file`` has no buffer, so that no thread can hold its lock when the interpreter ends.

    At most ``MOST_LINES`` lines wait. Further lines, and lines that ``file`` rejects, are lost. The number of
    lost lines is written as soon as writing works again. ``form`` formats log records.
    """

    def __init__(self, file: RawIOBase, encoding: str, form: logging.Formatter | None = None) -> None:
        super().__init__()
        self.setFormatter(form or logging.Formatter("%(levelname)s %(message)s"))
        self._file = file
        self._encoding = encoding
        # None ends the thread. A SimpleQueue is reentrant: a signal handler may log during ``put``.
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._counting = threading.RLock()
        self._lost = 0
        self._ended = threading.Event()
        # A daemon thread, because the process must be able to end while a write blocks.
        self._thread = threading.Thread(target=self._write_all, name="sandbox:log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Format and write a log record."""
        self.write(self.format(record))

    def write(self, line: str) -> None:
        """Queue a line without waiting. If the queue is full, count the line as lost."""
        if self._waiting.qsize() < MOST_LINES:
            self._waiting.put(line)
        else:
            with self._counting:
                self._lost += 1

    def end(self, within: float) -> None:
        """Write the queued lines and end the thread. Wait at most ``within`` seconds for the end."""
        self._ended.set()
        self._waiting.put(None)
        self._thread.join(within)

    def _write_all(self) -> None:
        lines = list[str | None]()
        while None not in lines:
            lines = [self._waiting.get(), *(self._waiting.get() for _ in range(self._waiting.qsize()))]
            with self._counting:
                lost, self._lost = self._lost, 0  # The lost lines came after the queued lines.
            written = [line for line in lines if line is not None]
            if not self._is_written([*written, *([self._losses(lost)] if lost else [])]):
                with self._counting:
                    self._lost += lost + len(written)
            self._ended.wait(PAUSE)

    def _losses(self, lost: int) -> str:
        message = f"{lost} lines of this log were lost, because they could not be written."
        return self.format(logging.makeLogRecord({"levelname": "WARNING", "msg": message}))

    def _is_written(self, lines: list[str]) -> bool:
        """Write ``lines``. Return False if the file rejects them."""
        data = "\n".join([*lines, ""]).encode(self._encoding, "backslashreplace")
        try:
            while data:
                written = self._file.write(data)
                if written is None:  # Another program has made the shared file non-blocking.
                    time.sleep(0.05)
                data = data[written or 0 :]
        except (OSError, ValueError):
            return False
        return True
