"""Transcripts of a service, read from files: HAR, or the journal as JSON.

Browsers and proxies write HAR. ``reseller-sandbox journal find --json`` prints the journal. The structs
declare only the keys that this package reads.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct, ValidationError, convert, field

from reseller_sandbox.values.clock import parse_instant
from reseller_sandbox.values.parameters import Quiet

#: The largest file that is read, in bytes, and the most exchanges in a file.
LARGEST, MOST = 128 << 20, 20_000

#: The instant of an exchange without a date.
_UNDATED = datetime(2026, 1, 15, 12, tzinfo=UTC)

#: The beginning of the reseller API in a path. The part before that beginning differs between services.
_API = re.compile(r"/(?:v3/(?:domains|balance|setContacts)|[Vv][0-9]+\.[0-9]+/(?:domain|contact|customer))\b")
_CREDENTIAL = re.compile(r"[^=]*(?:API-?_?KEY|SIGNATURE|TOKEN)(?:=|$)", re.IGNORECASE)


class UnusableTranscript(ValueError):
    """A file is not a usable transcript. The message has the place and the reason."""


class ObservedExchange(Quiet, frozen=True, kw_only=True):
    """A request and its answer.

    ``place`` is the file and the position in the file. Headers have lower-case names.
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
        """The path without the query."""
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
        """The error or the message in the answer, None without either."""
        return self.answered.get("error") or self.answered.get("msg")

    @property
    def credentials(self) -> list[str]:
        """The credentials in the headers: the key, or the token."""
        return [value for name, value in self.headers.items() if name.endswith(("apikey", "token"))]


class Transcript(Struct, frozen=True):
    """The exchanges of a file, and the skipped entries with the reason for each."""

    exchanges: Sequence[ObservedExchange]
    skipped: Sequence[tuple[str, str]] = ()


def _api_target(target: str) -> str | None:
    """Return the part of a request target from the beginning of the API.

    Return None if the target is not in the API. Credentials in the query are left out.
    """
    path, _, query = target.encode("utf-8", "replace").decode().partition("?")
    match = _API.search(path)
    if match is None:
        return None
    public = "&".join(pair for pair in query.split("&") if pair and not _CREDENTIAL.match(pair))
    return path[match.start() :] + (f"?{public}" if public else "")


def instant(value: object) -> datetime | None:
    """Return the instant of a string, in whole seconds, None for any other value."""
    if not isinstance(value, str):
        return None
    try:
        return parse_instant(value).replace(microsecond=0)
    except ValueError:
        return None


_NOT_API = "is not a request of the reseller API"


class _JournalRequest(Struct):
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    cut: Any = None


class _JournalAnswer(Struct):
    status: int
    body: Any = None
    cut: Any = None
    lost: bool = False


class _JournalEntry(Struct):
    at: datetime
    request: _JournalRequest
    answer: _JournalAnswer
    fault: str | None = None

    def observed(self, place: str) -> ObservedExchange | str:
        """Return the exchange, or the reason why the entry is skipped."""
        request, answer = self.request, self.answer
        target = _api_target(request.target)
        if target is None:
            return _NOT_API
        if request.cut is not None or answer.cut is not None:
            return "was too long for the journal"
        if answer.lost or self.fault:
            return "had a fault applied"
        body = request.body
        text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        return ObservedExchange(
            place=place,
            method=request.method,
            target=target,
            headers={name.lower(): value for name, value in request.headers.items()},
            body=text.encode("utf-8", "replace"),
            at=self.at.replace(microsecond=0),
            status=answer.status,
            answer=answer.body,
        )


class _HarPair(Struct):
    name: str
    value: str | None = None


class _HarBody(Struct, rename="camel"):
    mime_type: str | None = None
    text: str | None = None
    encoding: str | None = None
    params: list[_HarPair] | None = None

    def content(self) -> bytes | None:
        """Return the body, None for invalid base64."""
        text = self.text or ""
        try:
            is_encoded = self.encoding == "base64"
            return b64decode(text, validate=True) if is_encoded else text.encode("utf-8", "replace")
        except ValueError:
            return None


class _HarRequest(Struct, rename="camel"):
    method: str
    url: str
    headers: list[_HarPair] | None = None
    post_data: _HarBody | None = None
    body_size: float | None = None

    def body(self) -> bytes | None:
        """Return the body, None if the file does not have the body."""
        if self.post_data is None:
            return None if (self.body_size or 0) > 0 else b""
        if self.post_data.text:
            return self.post_data.content()
        return urlencode([(pair.name, pair.value or "") for pair in self.post_data.params or ()]).encode()


class _HarResponse(Struct):
    status: float | None = None
    headers: list[_HarPair] | None = None
    content: _HarBody = field(default_factory=_HarBody)


class _HarEntry(Struct, rename="camel"):
    request: _HarRequest
    response: _HarResponse
    started_date_time: str | None = None

    def observed(self, place: str) -> ObservedExchange | str:
        """Return the exchange, or the reason why the entry is skipped."""
        request, response = self.request, self.response
        try:
            url = urlsplit(request.url)
        except ValueError as problem:
            raise UnusableTranscript(f"{place}: request.url is not a URL: {problem}") from None
        target = _api_target(f"{url.path}?{url.query}")
        if target is None:
            return _NOT_API
        if not 100 <= (response.status or 0) <= 599:
            return "has no answer"
        body, content = request.body(), response.content.content()
        if body is None:
            return "does not have the body of its request"
        if content is None:
            raise UnusableTranscript(f"{place}: response.content.text is not base64")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            return "does not have a JSON body in its answer"
        headers = _headers(request.headers)
        if request.post_data is not None and request.post_data.mime_type:
            headers.setdefault("content-type", request.post_data.mime_type)
        date = _date(_headers(response.headers).get("date"))
        return ObservedExchange(
            place=place,
            method=request.method.upper(),
            target=target,
            headers=headers,
            body=body,
            at=date or instant(self.started_date_time) or _UNDATED,
            status=int(response.status or 0),
            answer=answer,
        )


class _HarLog(Struct):
    entries: list[_HarEntry]


class _Document(Struct):
    """A HAR file, or the output of ``journal find --json``."""

    log: _HarLog | None = None
    requests: list[_JournalEntry] | None = None


def read_transcript(path: Path) -> Transcript:
    """Return the transcript in a file.

    Raise ``UnusableTranscript`` with the place and the reason.
    """
    try:
        document = convert(_json(path), _Document)
    except ValidationError as problem:
        raise UnusableTranscript(f"{path}: {problem}") from None
    if document.log is not None:
        return _transcript(f"{path}: entry", document.log.entries)
    if document.requests is not None:
        return _transcript(f"{path}: request", document.requests)
    raise UnusableTranscript(
        f"{path}: must be a HAR file (an object with log.entries) or the output of journal find --json (an "
        "object with requests)"
    )


def _transcript(place: str, entries: Sequence[_HarEntry | _JournalEntry]) -> Transcript:
    if len(entries) > MOST:
        raise UnusableTranscript(
            f"{place} {MOST + 1}: a file must not have more than {MOST} exchanges; split the file"
        )
    places = (f"{place} {number}" for number in range(1, len(entries) + 1))
    results = {place: entry.observed(place) for place, entry in zip(places, entries, strict=True)}
    return Transcript(
        [result for result in results.values() if not isinstance(result, str)],
        [(place, reason) for place, reason in results.items() if isinstance(reason, str)],
    )


def _json(path: Path) -> Any:
    place, reason = str(path), f"must not be larger than {LARGEST >> 20} MiB; split the file"
    try:
        if path.stat().st_size <= LARGEST:
            return json.loads(path.read_text("utf-8-sig"))
    except OSError as problem:
        reason = str(problem.strerror)
    except json.JSONDecodeError as problem:
        place, reason = f"{path}:{problem.lineno}:{problem.colno}", f"is not JSON: {problem.msg}"
    except RecursionError:
        reason = "is nested too deeply"
    except ValueError as problem:
        reason = f"is not JSON: {problem}"
    raise UnusableTranscript(f"{place}: {reason}")


def _headers(pairs: Iterable[_HarPair] | None) -> dict[str, str]:
    """Return headers by lower-case names, without the pseudo headers of HTTP/2."""
    named = [pair for pair in pairs or () if pair.name and not pair.name.startswith(":")]
    return {pair.name.lower(): pair.value or "" for pair in named}


def _date(header: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(header or "")
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
