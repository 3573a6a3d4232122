"""Transcripts of a service, read from files: HAR, or the journal as JSON.

Browsers and proxies write HAR. ``reseller-sandbox journal find --json`` prints the journal. Missing values
count as unknown.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct, field

from reseller_sandbox.values.clock import parse_instant
from reseller_sandbox.values.parameters import Quiet

#: The largest file that is read, in bytes, and the most exchanges in a file.
LARGEST, MOST = 128 << 20, 20_000

#: The instant of an exchange without a date.
_UNDATED = datetime(2026, 1, 15, 12, tzinfo=UTC)

#: The beginning of the reseller API in a path. The part before it differs between services.
_OWN = re.compile(r"/(?:v3/(?:domains|balance|setContacts)|[Vv][0-9]+\.[0-9]+/(?:domain|contact|customer))\b")
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
            found = json.loads(self.body) if self.body else {}
        except (ValueError, RecursionError):
            found = dict(parse_qsl(self.body.decode("utf-8", "replace")))
        return found if isinstance(found, dict) else {}

    @property
    def refusal(self) -> Any:
        """The error or the message in the answer, None without either."""
        return (
            (self.answer.get("error") or self.answer.get("msg")) if isinstance(self.answer, Mapping) else None
        )

    @property
    def credentials(self) -> list[str]:
        """The credentials in the headers: the key, or the token."""
        return [value for name, value in self.headers.items() if name.endswith(("apikey", "token"))]


class Transcript(Struct, frozen=True):
    """The exchanges of a file, and the skipped entries with the reason for each."""

    exchanges: Sequence[ObservedExchange]
    passed_over: Sequence[tuple[str, str]] = ()


def own_target(target: str) -> str | None:
    """Return the part of a request target from the beginning of the API.

    Return None if the target is not in the API. Credentials in the query are left out.
    """
    path, _, query = target.encode("utf-8", "replace").decode().partition("?")
    found = _OWN.search(path)
    if found is None:
        return None
    kept = "&".join(one for one in query.split("&") if one and not _CREDENTIAL.match(one))
    return path[found.start() :] + (f"?{kept}" if kept else "")


def instant(value: object) -> datetime | None:
    """Return the instant of a string, in whole seconds, None for any other value."""
    if not isinstance(value, str):
        return None
    try:
        return parse_instant(value).replace(microsecond=0)
    except ValueError:
        return None


def read_transcript(path: Path) -> Transcript:
    """Return the transcript in a file.

    Raise ``UnusableTranscript`` with the place and the reason.
    """
    content = _json(path)
    har = content.get("log") if isinstance(content, dict) else None
    read: Callable[[Any, str], ObservedExchange | str]
    if har is not None:
        kind, entries, read = "entry", har.get("entries") if isinstance(har, dict) else None, _read
        if not isinstance(entries, list):
            raise UnusableTranscript(f"{path}: log.entries must be an array of exchanges")
    elif isinstance(content, dict) and isinstance(content.get("requests"), list):
        kind, entries, read = "request", content["requests"], _journalled
    else:
        raise UnusableTranscript(
            f"{path}: is neither a HAR file (an object with log.entries) nor what journal find --json prints "
            "(an object with requests)"
        )
    places = {f"{path}: {kind} {number}": entry for number, entry in enumerate(entries, 1)}
    results = {place: read(entry, place) for place, entry in places.items()}
    exchanges = [result for result in results.values() if not isinstance(result, str)]
    if len(exchanges) > MOST:
        raise UnusableTranscript(f"{path}: tells of more than {MOST} exchanges; split it")
    return Transcript(
        exchanges, [(place, reason) for place, reason in results.items() if isinstance(reason, str)]
    )


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise UnusableTranscript(f"{path}: is larger than {LARGEST >> 20} MiB; split it")
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as problem:
        raise UnusableTranscript(f"{path}: {problem.strerror}") from None
    except json.JSONDecodeError as problem:
        place = f"{path}:{problem.lineno}:{problem.colno}"
        raise UnusableTranscript(f"{place}: is no JSON: {problem.msg}") from None
    except RecursionError:
        raise UnusableTranscript(f"{path}: is nested too deeply") from None
    except UnusableTranscript:
        raise
    except ValueError as problem:
        raise UnusableTranscript(f"{path}: is no JSON: {problem}") from None


def _journalled(told: Any, place: str) -> ObservedExchange | str:
    """Return the exchange of a journal entry, or the reason why it is skipped."""
    request, answer = (told.get(key) if isinstance(told, dict) else None for key in ("request", "answer"))
    at = instant(told.get("at")) if isinstance(told, dict) else None
    if not isinstance(request, Mapping) or not isinstance(answer, Mapping) or at is None:
        raise UnusableTranscript(f"{place}: must have at, request and answer, as the journal writes them")
    method, target, status = request.get("method"), request.get("target"), answer.get("status")
    if not isinstance(method, str) or not isinstance(target, str) or not isinstance(status, int):
        raise UnusableTranscript(f"{place}: must have request.method, request.target and answer.status")
    own = own_target(target)
    if own is None:
        return "is no request of the reseller API"
    if request.get("cut") is not None or answer.get("cut") is not None:
        return "was too long to be kept whole"
    if answer.get("lost") or told.get("fault"):
        return "had a fault applied to it"
    headers = request.get("headers")
    body = request.get("body")
    return ObservedExchange(
        place=place,
        method=method,
        target=own,
        headers={str(name).lower(): str(value) for name, value in headers.items()}
        if isinstance(headers, Mapping)
        else {},
        body=b"" if body is None else _bytes(body),
        at=at,
        status=status,
        answer=answer.get("body"),
    )


def _bytes(body: Any) -> bytes:
    """Return the bytes of a request body.

    A string is encoded without surrogates, any other value as JSON.
    """
    return body.encode("utf-8", "replace") if isinstance(body, str) else json.dumps(body).encode()


def _read(entry: Any, place: str) -> ObservedExchange | str:
    """Return the exchange of a HAR entry, or the reason why it is skipped."""
    request, response = (_part(entry, key, place) for key in ("request", "response"))
    method, url = (request.get(key) for key in ("method", "url"))
    if not isinstance(method, str) or not isinstance(url, str):
        raise UnusableTranscript(f"{place}: request.method and request.url must be a strings")
    target = _target(url, place)
    if target is None:
        return "is no request of the reseller API"
    status = response.get("status")
    if not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 599:
        return "has no answer"
    headers, answered = _headers(request.get("headers")), _headers(response.get("headers"))
    body = _posted(request, headers)
    if body is None:
        return "does not have the body of the request as it was sent"
    content = _content(response.get("content"), f"{place}: response.content")
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return "does not have a JSON body in its answer"
    at = _date(answered.get("date")) or instant(entry.get("startedDateTime")) or _UNDATED
    return ObservedExchange(
        place=place,
        method=method.upper(),
        target=target,
        headers=headers,
        body=body,
        at=at,
        status=status,
        answer=answer,
    )


def _part(entry: Any, key: str, place: str) -> Mapping[str, Any]:
    part = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(part, dict):
        raise UnusableTranscript(f"{place}: {key} must be an object")
    return part


def _target(url: str, place: str) -> str | None:
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise UnusableTranscript(f"{place}: request.url is no URL: {problem}") from None
    return own_target(f"{parts.path}?{parts.query}" if parts.query else parts.path)


def _pairs(listed: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a list of headers or parameters."""
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            value = one.get("value")
            yield one["name"], value if isinstance(value, str) else ""


def _headers(listed: Any) -> dict[str, str]:
    """Return headers by lower-case names, without the pseudo headers of HTTP/2."""
    return {name.lower(): value for name, value in _pairs(listed) if name and not name.startswith(":")}


def _posted(request: Mapping[str, Any], headers: dict[str, str]) -> bytes | None:
    """Return the body of a request, None if the file does not have it.

    Its content type is added to ``headers``.
    """
    posted = request.get("postData")
    if not isinstance(posted, dict):
        size = request.get("bodySize")
        return None if isinstance(size, int) and size > 0 else b""
    if isinstance(kind := posted.get("mimeType"), str) and kind:
        headers.setdefault("content-type", kind)
    text = posted.get("text")
    if isinstance(text, str) and text:
        return _decoded(text, posted.get("encoding"))
    fields = list(_pairs(posted.get("params")))
    return urlencode(fields).encode() if fields else b""


def _content(content: Any, place: str) -> bytes:
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        return b""
    found = _decoded(content["text"], content.get("encoding"))
    if found is None:
        raise UnusableTranscript(f"{place}.text is no base64")
    return found


def _decoded(text: str, encoding: object) -> bytes | None:
    if encoding != "base64":
        return text.encode("utf-8", "replace")
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


def _date(header: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(header or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
