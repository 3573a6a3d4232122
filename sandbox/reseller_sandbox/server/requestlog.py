"""What the request log says of a request."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field

from reseller_sandbox.core.clock import real_now
from reseller_sandbox.core.signatures import Quiet
from reseller_sandbox.core.texts import printable
from reseller_sandbox.server.delivery import LogWords
from reseller_sandbox.server.secrecy import target_masked

log = logging.getLogger("reseller_sandbox")

_LONGEST = 200  # characters of a target, and of what is said of it, in a line for people
_ENCODED = json.JSONEncoder(ensure_ascii=False).encode
_PLAIN = "".join(map(chr, range(0x20, 0x7F)))


class Words(Struct, frozen=True):
    """What there is to say of a request that the application says nothing of."""

    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_look: bool = False
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

    @property
    def note(self) -> str:
        """The application's own words."""
        return self.said.note


def as_text(line: LoggedRequest) -> str:
    """Return a request as people read it."""
    took = f"{line.duration_seconds * 1000:.1f} ms"
    target, note = _cut(line.target), _cut(printable(line.note))
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
        **(line.said.facts or {"note": line.note}),
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
