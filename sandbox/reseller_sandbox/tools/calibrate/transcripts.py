"""Read transcripts: the exchanges with the reseller API in files of recorded HTTP traffic."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct, field

from reseller_sandbox.tools.calibrate.formats import Exchange, UnusableTranscript, exchanges, url_parts
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.values.clock import parse_instant
from reseller_sandbox.values.parameters import Quiet

#: Maximum size of a file in bytes, and maximum number of exchanges in a file.
LARGEST, MOST = 128 << 20, 20_000

#: The time that an exchange without a date gets.
_UNDATED = datetime(2026, 1, 15, 12, tzinfo=UTC)

_CREDENTIAL = re.compile(r"[^=]*(?:API-?_?KEY|SIGNATURE|TOKEN)(?:=|$)", re.IGNORECASE)


class ObservedExchange(Quiet, frozen=True, kw_only=True):
    """A request to the reseller API, and its answer.

    ``place`` is the file with the position in the file. The names of headers are in lower case.
    """

    place: str
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    at: datetime
    status: int
    answer: Any

    @property
    def path(self) -> str:
        """The path of the request, without the query."""
        return self.target.partition("?")[0]

    @property
    def asked(self) -> Mapping[str, Any]:
        """The JSON object or the form fields in the body, empty for other bodies."""
        try:
            fields = json.loads(self.body) if self.body else {}
        except (ValueError, RecursionError):
            fields = dict(parse_qsl(self.body.decode("utf-8", "replace")))
        return fields if isinstance(fields, dict) else {}

    @property
    def answered(self) -> Mapping[str, Any]:
        """The JSON object in the answer, empty for other answers."""
        return self.answer if isinstance(self.answer, Mapping) else {}

    @property
    def refusal(self) -> Any:
        """The error or the message of a refusal, None if the answer is not a refusal."""
        values = (self.answered.get(key) for key in hints().refusal)
        return next((value for value in values if isinstance(value, str)), None)

    @property
    def credentials(self) -> list[str]:
        """The credentials in the headers: the key, or the token."""
        return [value for name, value in self.headers.items() if name.endswith(("apikey", "token"))]


class Transcript(Struct, frozen=True):
    """The exchanges of a file, and its skipped entries: the place of each entry, and the reason."""

    exchanges: Sequence[ObservedExchange]
    skipped: Sequence[tuple[str, str]] = ()


def _api_target(target: str) -> str | None:
    """Return the end of a URL that belongs to the API: its path, and its query without credentials.

    Return None if the URL is not one of the API.
    """
    path, _, query = target.encode("utf-8", "replace").decode().partition("?")
    match = re.search(rf"/(?:{'|'.join(hints().paths)})\b", path)
    if match is None:
        return None
    public = "&".join(pair for pair in query.split("&") if pair and not _CREDENTIAL.match(pair))
    return path[match.start() :] + (f"?{public}" if public else "")


def instant(value: object) -> datetime | None:
    """Parse an instant, in whole seconds. Return None if a value is not an instant."""
    if not isinstance(value, str):
        return None
    try:
        return parse_instant(value).replace(microsecond=0)
    except ValueError:
        return None


#: Statuses that a proxy or a rate limit in front of a service sends. They do not depend on assumptions.
_NOT_FROM_SERVICE = frozenset({429, 502, 503, 504})


def read_transcript(path: Path, host: str = "") -> Transcript:
    """Read a file, or standard input if ``path`` is ``-``.

    With ``host``, skip the requests to other hosts. Raise ``UnusableTranscript`` with the place and the
    reason.
    """
    name = "standard input" if str(path) == "-" else str(path)
    word, entries = exchanges(_content(path, name), name)
    observed, skipped = list[ObservedExchange](), list[tuple[str, str]]()
    for number, entry in enumerate(entries, 1):
        place = f"{name}: {word} {number}"
        if number > MOST:
            reason = f"a file must not have more than {MOST} exchanges; split the file"
            raise UnusableTranscript(f"{place}: {reason}")
        result = entry if isinstance(entry, str) else _observed(entry, place, host)
        if isinstance(result, str):
            skipped.append((place, result))
        else:
            observed.append(result)
    return Transcript(observed, skipped)


def _content(path: Path, name: str) -> bytes:
    try:
        with sys.stdin.buffer if str(path) == "-" else path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as problem:
        raise UnusableTranscript(f"{name}: {problem.strerror}") from None
    if len(content) > LARGEST:
        reason = f"must not be larger than {LARGEST >> 20} MiB; split the file"
        raise UnusableTranscript(f"{name}: {reason}")
    return content


def _observed(exchange: Exchange, place: str, host: str) -> ObservedExchange | str:
    """Return an exchange with the reseller API, or the reason why it is skipped."""
    url = url_parts(exchange, place)
    server = url.hostname or ""
    target = _api_target(f"{url.path}?{url.query}")
    if target is None:
        return "is not a request of the reseller API"
    if host and server and server != host.lower():
        return f"is a request to another host, {server}"
    if not 100 <= exchange.status <= 599:
        return "has no answer"
    if exchange.status in _NOT_FROM_SERVICE:
        return f"has the status {exchange.status}, which says nothing about the service"
    try:
        answer = json.loads(exchange.content)
    except (ValueError, RecursionError):
        return "does not have a JSON body in its answer"
    answered = {name.lower(): value for name, value in exchange.answer_headers.items()}
    at = exchange.at.replace(microsecond=0) if isinstance(exchange.at, datetime) else instant(exchange.at)
    return ObservedExchange(
        place=place,
        method=exchange.method.upper(),
        target=target,
        headers={name.lower(): value for name, value in exchange.headers.items()},
        body=exchange.body,
        at=_date(answered.get("date")) or at or _UNDATED,
        status=exchange.status,
        answer=answer,
    )


def _date(header: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(header or "")
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
