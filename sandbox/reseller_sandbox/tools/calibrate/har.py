"""HAR files, as browsers and proxies write them: what is missing in one is taken as unknown."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from reseller_sandbox.tools.calibrate.exchanges import (
    ObservedExchange,
    Transcript,
    UnusableTranscript,
    instant,
    own_target,
)

#: When an exchange was whose file does not say.
_UNDATED = datetime(2026, 1, 15, 12, tzinfo=UTC)


def read_har(log: Any, file: str) -> Transcript:
    """Return what the object under ``log`` of a HAR file tells. Raise ``UnusableTranscript``."""
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise UnusableTranscript(f"{file}: log.entries must be an array of exchanges")
    return Transcript.of(entries, f"{file}: entry", _read)


def _read(entry: Any, place: str) -> ObservedExchange | str:
    """Return the exchange of an entry, or why it says nothing."""
    request, response = (_part(entry, key, place) for key in ("request", "response"))
    method, url = (request.get(key) for key in ("method", "url"))
    if not isinstance(method, str) or not isinstance(url, str):
        raise UnusableTranscript(f"{place}: request.method and request.url must be texts")
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
    """Yield the names and values of a list of headers or parameters, as far as it has them."""
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            value = one.get("value")
            yield one["name"], value if isinstance(value, str) else ""


def _headers(listed: Any) -> dict[str, str]:
    """Return headers by lower-case names, without the pseudo headers of HTTP/2."""
    return {name.lower(): value for name, value in _pairs(listed) if name and not name.startswith(":")}


def _posted(request: Mapping[str, Any], headers: dict[str, str]) -> bytes | None:
    """Return the body of a request, None where it is not there; its content type is added to ``headers``."""
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
