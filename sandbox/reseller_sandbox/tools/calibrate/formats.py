"""Formats of transcripts: HAR, VCR cassettes, Postman collections, WireMock mappings, and curl logs.

A ``Format`` names the places of the parts of an exchange in an entry of a file. ``exchanges`` returns the
exchanges of a file in any of these formats, and in those of the sandbox: its journal as JSON, and recordings.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.recording.document import BadRecording, RequestStep, WaitingStep, from_bytes
from reseller_sandbox.values.packing import GZIP, BadPacking, count_values, unpacked

#: Maximum size of a file and of its bodies in bytes, also after they are unpacked.
LARGEST = 128 << 20

#: Maximum number of values in a file. A value of YAML needs about ten times the memory of one of JSON.
MOST_VALUES, MOST_YAML_VALUES = 5_000_000, 1_000_000

_NO_REQUEST_BODY = "does not have the body of its request"
_FAULT, _TOO_LONG = "had a fault applied", "was too long for the journal"
_LONG_ANSWER = "has an answer that is too long for the recording"


class UnusableTranscript(ValueError):
    """A file is not a usable transcript. The message contains the place in the file and the reason."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A request and its answer, as a file contains them. ``at`` is a date in any format.

    ``lost`` is the reason why the answer is not known, or empty. ``is_whole`` is whether the file has the
    complete request.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    status: int
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    at: datetime | str | None = None
    lost: str = ""
    is_whole: bool = True


#: An exchange, or the reason why an entry of a file is skipped.
Entry = Exchange | str


class Format(Struct, frozen=True, kw_only=True):
    """A JSON or YAML format: the places in a file that contain the parts of an exchange.

    A place is a path of keys, such as ``request.url``. Of several places with ``|`` between them, the first
    with a value counts. ``entries`` is the place of the list of entries in the file, and ``word`` is the word
    for an entry.

    ``query`` is the place of the query if the URL does not contain it. ``media_type`` and
    ``answer_media_type`` are the places of the content types if the headers do not contain them. ``size`` is
    the place of the size of the request's body, which a file can lack. ``is_wrapped`` is whether a body is an
    object with its text, and not the text or the JSON value itself.

    ``skipped`` maps places to the reason why an entry with such a place is skipped. ``partial`` is the reason
    why an entry without a URL is skipped. If it is empty, the file is unusable.
    """

    word: str
    entries: str
    method: str = "request.method"
    url: str = "request.url"
    query: str = ""
    headers: str = "request.headers"
    body: str = "request.body"
    media_type: str = ""
    size: str = ""
    status: str = "response.status"
    answer_headers: str = "response.headers"
    answer_media_type: str = ""
    content: str = "response.body"
    at: str = ""
    is_wrapped: bool = True
    skipped: Mapping[str, str] = field(default_factory=dict)
    partial: str = ""

    def exchange(self, entry: object) -> Entry:
        """Return the exchange in ``entry``, or the reason why the entry is skipped. Raise ValueError."""
        lost = next((reason for place, reason in self.skipped.items() if _at(entry, place)), "")
        method, url, body = (_at(entry, place) for place in (self.method, self.url, self.body))
        if self.partial and not url:
            return self.partial
        for place, value in ((self.method, method), (self.url, url)):
            if not value:
                raise ValueError(f"has no {place}")
        if body is None and int(_at(entry, self.size) or 0) > 0:
            lost = _NO_REQUEST_BODY
        content = None if lost else _at(entry, self.content)
        return Exchange(
            method=str(method),
            url=_url(url, _at(entry, self.query)),
            headers=_headers(entry, self.headers, self.media_type),
            body=_unwrapped(body) if self.is_wrapped else _as_bytes(body),
            status=int(_at(entry, self.status) or 0),
            answer_headers=_headers(entry, self.answer_headers, self.answer_media_type),
            content=_unwrapped(content) if self.is_wrapped else _as_bytes(content),
            at=_at(entry, self.at),
            lost=lost,
            is_whole=lost not in (_NO_REQUEST_BODY, _TOO_LONG),
        )


#: A cassette of vcrpy. Other programs write this format with other names for some keys.
_VCR = Format(
    word="interaction",
    entries="interactions",
    url="request.uri|request.url",
    status="response.status.code|response.status_code|response.code|response.status",
    content="response.body|response.content",
    at="recorded_at",
)

_FORMATS = (
    Format(
        word="entry",
        entries="log.entries",
        body="request.postData",
        media_type="request.postData.mimeType",
        size="request.bodySize",
        answer_media_type="response.content.mimeType",
        content="response.content",
        at="startedDateTime",
    ),
    Format(  # the journal of a sandbox
        word="request",
        entries="requests",
        url="request.target",
        status="answer.status",
        answer_headers="",
        content="answer.body",
        at="at",
        is_wrapped=False,
        skipped={"request.cut|answer.cut": _TOO_LONG, "answer.lost|fault": _FAULT},
    ),
    _VCR,
    replace(_VCR, entries="http_interactions"),  # cassettes of VCR for Ruby and for R
    Format(  # a collection of Postman
        word="response",
        entries="item",
        method="originalRequest.method",
        url="originalRequest.url.raw|originalRequest.url",
        headers="originalRequest.header",
        body="originalRequest.body",
        status="code",
        answer_headers="header",
        content="body",
        skipped={"originalRequest.body.file|originalRequest.body.formdata": _NO_REQUEST_BODY},
        partial=_NO_REQUEST_BODY,
    ),
    Format(  # mappings of WireMock
        word="mapping",
        entries="mappings",
        url="request.url|request.urlPath",
        query="request.queryParameters",
        body="request.bodyPatterns.0.equalToJson|request.bodyPatterns.0.equalTo",
        content="response.body|response.jsonBody",
        is_wrapped=False,
        skipped={
            "response.bodyFileName|response.base64Body": "does not have the text of its answer",
            "response.proxyBaseUrl": "has no answer",
        },
        partial="does not have the URL of one request",
    ),
)


def _at(entry: object, places: str) -> Any:
    """Return the first value at one of ``places``, such as ``request.uri|request.url``, or None."""
    for place in places.split("|"):
        value = entry
        for key in place.split("."):
            if isinstance(value, Mapping):
                value = value.get(key)
            else:
                value = value[int(key)] if isinstance(value, list) and value and key.isdecimal() else None
        if value is not None:
            return value
    return None


def url_parts(exchange: Exchange, place: str) -> SplitResult:
    """Return the parts of the request's URL. Raise ``UnusableTranscript`` with the place of the exchange."""
    try:
        return urlsplit(exchange.url)
    except ValueError as problem:
        raise UnusableTranscript(f"{place}: request.url is not a URL: {problem}") from None


def _headers(entry: object, place: str, media_type_place: str) -> dict[str, str]:
    """Return the headers at a place. If they have no content type, add the one at ``media_type_place``."""
    headers, media_type = _named(_at(entry, place)), _at(entry, media_type_place)
    if media_type and not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = str(media_type)
    return headers


def _url(url: Any, query: object) -> str:
    """Return a URL as a string. Postman writes it as a string, or as an object with the parts of the URL."""
    if isinstance(url, Mapping):
        host, path = (
            mark.join(map(str, part)) if isinstance(part, list) else str(part or "")
            for mark, part in ((".", url.get("host")), ("/", url.get("path")))
        )
        url, query = f"//{host}/{path.removeprefix('/')}", url.get("query")
    written = urlencode(_named(query))
    return f"{url}?{written}" if written else str(url)


def _named(pairs: object) -> dict[str, str]:
    """Return headers or form fields by name, without the pseudo headers of HTTP/2.

    ``pairs`` is an object, or a list of objects with the keys ``value`` and ``name`` or ``key``.
    """
    if isinstance(pairs, list):
        objects = (pair for pair in pairs if isinstance(pair, Mapping) and not pair.get("disabled"))
        pairs = {pair.get("name") or pair.get("key"): pair.get("value") for pair in objects}
    named = pairs.items() if isinstance(pairs, Mapping) else ()
    return {str(name): _text(value) for name, value in named if name and not str(name).startswith(":")}


def _text(value: object) -> str:
    """Return a header or field value as text. In WireMock, the value can be a condition (``equalTo``)."""
    match value:
        case None:
            return ""
        case list():
            return ", ".join(map(_text, value))
        case {"equalTo": inner} | {"hasExactly": inner}:
            return _text(inner)
    return str(value)


def _unwrapped(body: object) -> bytes:
    """Return the bytes of a body, which can be an object with a text. Raise ValueError for bad base64."""
    match body:
        case {"encoding": "base64", "text": str(text)} | {"base64_string": str(text)}:
            try:
                return _as_bytes(b64decode(text, validate=True))
            except (ValueError, EOFError, OSError, zlib.error):
                raise ValueError("has a body that is not valid base64, or not valid gzip in it") from None
        case {"string": text} | {"raw": text}:
            return _as_bytes(text)
        case {"text": str(text)} if text:
            return _as_bytes(text)
        case {"params": pairs} | {"urlencoded": pairs}:
            return urlencode(_named(pairs)).encode()
        case Mapping():
            return b""
    return _as_bytes(body)


def _as_bytes(body: object) -> bytes:
    """Return the bytes of a body. The body can be bytes, a string, a JSON value, or None."""
    if isinstance(body, bytes):
        return b"".join(unpacked(body, LARGEST, "body")) if body.startswith(GZIP) else body
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    return text.encode("utf-8", "replace")


def exchanges(content: bytes, name: str) -> tuple[str, Iterable[Entry]]:
    """Read a file. Return its format's word for an entry (such as ``interaction``), and all entries.

    Raise ``UnusableTranscript``.
    """
    if content.startswith(GZIP):
        try:
            return "request", _of_recording(content)
        except BadRecording:
            content = _unpacked(content, name)
    text = content.decode(json.detect_encoding(content), "replace")
    if _CURL.search(text):
        return "request", _of_curl(text)
    document = _document(text, name)
    if _at(document, "request") and _at(document, "response"):
        document = {"mappings": [document]}
    for format_ in _FORMATS:
        entries = _at(document, format_.entries)
        if isinstance(entries, list):
            return format_.word, _read(f"{name}: {format_.word}", format_, _in_order(entries, document))
    raise UnusableTranscript(
        f"{name}: must be a HAR file (an object with log.entries), the output of journal list --json (an "
        "object with requests), a recording, a cassette of VCR, a collection of Postman, a mapping of "
        "WireMock, or the output of curl -v"
    )


def _in_order(entries: list[object], document: Any) -> Iterator[object]:
    """Yield the entries in the order of the requests.

    WireMock lists the newest mapping of a recording first. Postman's items contain saved responses.
    """
    is_recorded = "mappings" in document and "meta" not in document
    for entry in reversed(entries) if is_recorded else entries:
        if "item" in document:
            yield from _responses(entry)
        else:
            yield entry


def _responses(item: object) -> Iterator[object]:
    """Yield the saved responses of a Postman request, or of a folder of requests."""
    yield from _at(item, "response") or ()
    for inner in _at(item, "item") or ():
        yield from _responses(inner)


def _read(place: str, format_: Format, entries: Iterable[object]) -> Iterator[Entry]:
    for number, entry in enumerate(entries, 1):
        try:
            yield format_.exchange(entry)
        except (ValueError, TypeError) as problem:
            raise UnusableTranscript(f"{place} {number}: {problem}") from None


_YAML = re.compile(r"^(?:http_)?interactions:", re.MULTILINE)


def _document(text: str, name: str) -> object:
    """Parse a file of JSON or YAML."""
    is_yaml = _YAML.search(text) is not None
    most = MOST_YAML_VALUES if is_yaml else MOST_VALUES
    if count_values(text.encode("utf-8", "replace")) > most:
        raise UnusableTranscript(f"{name}: must not have more than {most} values; split the file")
    try:
        return yaml.safe_load(text) if is_yaml else json.loads(text)
    except yaml.YAMLError as problem:
        place, reason = name, f"is not YAML: {problem}"
    except json.JSONDecodeError as problem:
        place, reason = f"{name}:{problem.lineno}:{problem.colno}", f"is not JSON: {problem.msg}"
    except RecursionError:
        place, reason = name, "is nested too deeply"
    raise UnusableTranscript(f"{place}: {reason}")


def _unpacked(content: bytes, name: str) -> bytes:
    try:
        return b"".join(unpacked(content, LARGEST, "file"))
    except BadPacking as problem:
        raise UnusableTranscript(f"{name}: {problem}") from None


def _of_recording(content: bytes) -> list[Entry]:
    """Return the exchanges of a recording. Raise ``BadRecording``."""
    waiting = {}
    entries: list[Entry] = []
    for step in from_bytes(content).steps:
        if isinstance(step, WaitingStep):
            waiting[step.waits] = step.sent
        if not isinstance(step, RequestStep):
            continue
        sent = step.sent or waiting.get(step.waits or "")
        if sent is None:
            entries.append(_FAULT)
            continue
        is_long = step.result.size is not None
        entries.append(
            Exchange(
                method=sent.method,
                url=sent.target,
                headers=dict(sent.headers),
                body=sent.body,
                status=step.result.status,
                content=step.result.body,
                at=step.at,
                lost=_FAULT if step.result.faults else _LONG_ANSWER if is_long else "",
            )
        )
    return entries


#: The first line of a request in the output of ``curl -v``.
_CURL = re.compile(r"^> ([A-Z]+) (\S+) HTTP/[0-9.]+\r?$", re.MULTILINE)
_STATUS = re.compile(r"< HTTP/[0-9.]+ ([0-9]{3})")
_COMMENT = re.compile(r"[*{}] ")


def _of_curl(text: str) -> Iterator[Entry]:
    """Yield the exchanges in the output of ``curl -v``, which does not contain the body of a request."""
    parts = _CURL.split(text)[1:]
    for method, target, log in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        sent: dict[str, str] = {}
        answered: dict[str, str] = {}
        status, body = 0, list[str]()
        for line in log.splitlines():
            begin = _STATUS.match(line)
            name, _, value = line[2:].partition(": ")
            if begin is not None:
                status, answered, body = int(begin[1]), {}, list[str]()
            elif line.startswith("> ") and name:
                sent[name.lower()] = value
            elif line.startswith("< ") and name:
                answered[name.lower()] = value
            elif status and not _COMMENT.match(line) and line not in (">", "<", "> ", "< "):
                body.append(line)
        is_whole = sent.get("content-length", "0") == "0"
        yield Exchange(
            method=method,
            url=f"//{sent.get('host', '')}{target}",
            headers=sent,
            status=status,
            answer_headers=answered,
            content=_first_value("\n".join(body).strip()).encode(),
            lost="" if is_whole else _NO_REQUEST_BODY,
            is_whole=is_whole,
        )


def _first_value(text: str) -> str:
    """Return the JSON value at the beginning of a text. The log of curl can continue on the same line."""
    try:
        return text[: json.JSONDecoder().raw_decode(text)[1]]
    except (ValueError, RecursionError):
        return text
