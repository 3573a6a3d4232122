"""Formats of transcripts: HAR, cassettes of VCR, collections of Postman, mappings of WireMock, logs of curl.

Each class declares only the keys that are read. ``exchanges`` returns the exchanges of a file in any of these
formats, and in those of the sandbox: its journal as JSON, and recordings.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import yaml
from msgspec import Struct, ValidationError, convert, field

from reseller_sandbox.recording.document import BadRecording, from_bytes
from reseller_sandbox.recording.steps import RequestStep, WaitingStep

#: The first bytes of compressed content.
_GZIP = b"\x1f\x8b"

_NO_REQUEST_BODY = "does not have the body of its request"


class UnusableTranscript(ValueError):
    """A file is not a usable transcript. The message has the place and the reason."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A request and its answer, as a file contains them. ``at`` is a date in any format."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    status: int
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    at: datetime | str | None = None


#: An exchange, or the reason why an entry of a file is skipped.
Entry = Exchange | str


def exchanges(content: bytes, name: str) -> tuple[str, Iterable[Entry]]:
    """Return the word for an entry of a file, and its entries.

    Raise ``UnusableTranscript``.
    """
    if content.startswith(_GZIP):
        try:
            return "request", _of_recording(content)
        except BadRecording:
            content = _unpacked(content, name)
    text = content.decode("utf-8-sig", "replace")
    if _CURL.search(text):
        return "request", _of_curl(text)
    if _YAML.match(text):
        try:
            read = yaml.safe_load(text)
        except yaml.YAMLError as problem:
            raise UnusableTranscript(f"{name}: is not YAML: {problem}") from None
    else:
        read = _json(text, name)
    if isinstance(read, dict) and "request" in read and "response" in read:
        read = {"mappings": [read]}
    try:
        document = convert(read, _Document)
    except ValidationError as problem:
        raise UnusableTranscript(f"{name}: {problem}") from None
    for word, entries in document.entries():
        return word, _read(f"{name}: {word}", entries)
    raise UnusableTranscript(
        f"{name}: must be a HAR file (an object with log.entries), the output of journal find --json (an "
        "object with requests), a recording, a cassette of VCR, a collection of Postman, a mapping of "
        "WireMock, or the output of curl -v"
    )


def _read(place: str, entries: Iterable[Any]) -> Iterator[Entry]:
    for number, entry in enumerate(entries, 1):
        try:
            yield entry.exchange()
        except ValueError as problem:
            raise UnusableTranscript(f"{place} {number}: {problem}") from None


_YAML = re.compile(r"(?:---\s*|#.*\n|\s*\n)*(?:http_)?interactions:")


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        place, reason = f"{name}:{problem.lineno}:{problem.colno}", f"is not JSON: {problem.msg}"
    except RecursionError:
        place, reason = name, "is nested too deeply"
    raise UnusableTranscript(f"{place}: {reason}")


def _unpacked(content: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError) as problem:
        raise UnusableTranscript(f"{name}: cannot be unpacked: {problem}") from None


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

    def exchange(self) -> Entry:
        """Return the exchange, or the reason why the entry is skipped."""
        request, answer = self.request, self.answer
        if request.cut is not None or answer.cut is not None:
            return "was too long for the journal"
        if answer.lost or self.fault:
            return "had a fault applied"
        return Exchange(
            method=request.method,
            url=request.target,
            headers=request.headers,
            body=_as_bytes(request.body),
            at=self.at,
            status=answer.status,
            content=json.dumps(answer.body).encode(),
        )


def _as_bytes(body: Any) -> bytes:
    """Return a body that is bytes, a string, a JSON value, or None."""
    if isinstance(body, bytes):
        return gzip.decompress(body) if body.startswith(_GZIP) else body
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    return text.encode("utf-8", "replace")


class _Pair(Struct):
    """A header or a form field: HAR calls its key ``name``, Postman ``key``."""

    name: str = ""
    key: str = ""
    value: str | None = None


def _named(pairs: Iterable[_Pair] | None) -> dict[str, str]:
    """Return headers or fields by name, without the pseudo headers of HTTP/2."""
    named = ((pair.name or pair.key, pair.value or "") for pair in pairs or ())
    return {name: value for name, value in named if name and not name.startswith(":")}


class _HarBody(Struct, rename="camel"):
    mime_type: str | None = None
    text: str | None = None
    encoding: str | None = None
    params: list[_Pair] | None = None

    def content(self) -> bytes:
        """Return the body. Raise ValueError for invalid base64."""
        text = self.text or ""
        try:
            is_encoded = self.encoding == "base64"
            return b64decode(text, validate=True) if is_encoded else text.encode("utf-8", "replace")
        except ValueError:
            raise ValueError("response.content.text is not base64") from None


class _HarRequest(Struct, rename="camel"):
    method: str
    url: str
    headers: list[_Pair] | None = None
    post_data: _HarBody | None = None
    body_size: float | None = None


class _HarResponse(Struct):
    status: float | None = None
    headers: list[_Pair] | None = None
    content: _HarBody = field(default_factory=_HarBody)


class _HarEntry(Struct, rename="camel"):
    request: _HarRequest
    response: _HarResponse
    started_date_time: str | None = None

    def exchange(self) -> Entry:
        """Return the exchange, or the reason why the entry is skipped."""
        request, response, data = self.request, self.response, self.request.post_data
        if data is None and (request.body_size or 0) > 0:
            return _NO_REQUEST_BODY
        headers = _named(request.headers)
        body = b""
        if data is not None:
            body = data.content() if data.text else urlencode(_named(data.params)).encode()
            if data.mime_type and not any(name.lower() == "content-type" for name in headers):
                headers["content-type"] = data.mime_type
        return Exchange(
            method=request.method,
            url=request.url,
            headers=headers,
            body=body,
            status=int(response.status or 0),
            answer_headers=_named(response.headers),
            content=response.content.content(),
            at=self.started_date_time,
        )


class _Vcr(Struct):
    """An interaction of a cassette, as vcrpy and the VCR of Ruby write it."""

    request: Mapping[str, Any]
    response: Mapping[str, Any]
    recorded_at: Any = None

    def exchange(self) -> Entry:
        """Return the exchange."""
        status = self.response.get("status", self.response.get("status_code"))
        return Exchange(
            method=str(self.request.get("method", "GET")),
            url=str(self.request.get("uri", "")),
            headers=_joined(self.request.get("headers")),
            body=_vcr_body(self.request.get("body")),
            status=int(status.get("code", 0) if isinstance(status, Mapping) else status or 0),
            answer_headers=_joined(self.response.get("headers")),
            content=_vcr_body(self.response.get("body", self.response.get("content"))),
            at=self.recorded_at,
        )


def _vcr_body(body: Any) -> bytes:
    if isinstance(body, Mapping):
        encoded = body.get("base64_string")
        return b64decode(encoded) if isinstance(encoded, str) else _as_bytes(body.get("string"))
    return _as_bytes(body)


def _joined(headers: Any) -> dict[str, str]:
    """Return headers whose values are strings or lists of strings."""
    pairs = headers.items() if isinstance(headers, Mapping) else ()
    return {
        str(name): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in pairs
    }


class _PostmanBody(Struct):
    raw: str | None = None
    urlencoded: list[_Pair] | None = None


class _PostmanRequest(Struct):
    method: str = "GET"
    url: str | dict[str, Any] = ""
    header: list[_Pair] | None = None
    body: _PostmanBody | None = None


class _PostmanResponse(Struct):
    original_request: _PostmanRequest | None = field(name="originalRequest", default=None)
    code: int = 0
    header: list[_Pair] | None = None
    body: str | None = None

    def exchange(self) -> Entry:
        """Return the exchange, or the reason why the entry is skipped."""
        request = self.original_request
        if request is None:
            return _NO_REQUEST_BODY
        body = request.body or _PostmanBody()
        return Exchange(
            method=request.method,
            url=request.url if isinstance(request.url, str) else str(request.url.get("raw", "")),
            headers=_named(request.header),
            body=(body.raw or urlencode(_named(body.urlencoded))).encode(),
            status=self.code,
            answer_headers=_named(self.header),
            content=_as_bytes(self.body),
        )


class _PostmanItem(Struct):
    item: list[_PostmanItem] = []
    response: list[_PostmanResponse] = []

    def responses(self) -> Iterator[_PostmanResponse]:
        """Yield the saved responses of a request, or of a folder of requests."""
        yield from self.response
        for item in self.item:
            yield from item.responses()


class _WireMockRequest(Struct, rename="camel"):
    method: str
    url: str | None = None
    url_path: str | None = None
    query_parameters: Mapping[str, Mapping[str, Any]] = {}
    headers: Mapping[str, Mapping[str, Any]] = {}
    body_patterns: list[Mapping[str, Any]] = []


class _WireMockResponse(Struct, rename="camel"):
    status: int
    headers: Mapping[str, Any] = {}
    body: str | None = None
    json_body: Any = None
    base64_body: str | None = None
    body_file_name: str | None = None


class _WireMock(Struct):
    """A mapping that WireMock has recorded."""

    request: _WireMockRequest
    response: _WireMockResponse

    def exchange(self) -> Entry:
        """Return the exchange, or the reason why the entry is skipped."""
        request, response = self.request, self.response
        if response.body_file_name is not None:
            return "has the body of its answer in another file"
        query = urlencode({name: _equal(value) for name, value in request.query_parameters.items()})
        bodies = (_equal(pattern) for pattern in request.body_patterns)
        content = b64decode(response.base64_body) if response.base64_body else _as_bytes(response.body)
        return Exchange(
            method=request.method,
            url=request.url or f"{request.url_path or ''}?{query}",
            headers={name: _equal(value) for name, value in request.headers.items()},
            body=next(filter(None, bodies), "").encode(),
            status=response.status,
            answer_headers=_joined(response.headers),
            content=content or _as_bytes(response.json_body),
        )


def _equal(pattern: Mapping[str, Any]) -> str:
    value = pattern.get("equalToJson", pattern.get("equalTo", ""))
    return value if isinstance(value, str) else json.dumps(value)


class _HarLog(Struct):
    entries: list[_HarEntry]


class _Document(Struct):
    """A file in JSON or YAML. Exactly one key is there."""

    log: _HarLog | None = None
    requests: list[_JournalEntry] | None = None
    interactions: list[_Vcr] | None = None
    http_interactions: list[_Vcr] | None = None
    item: list[_PostmanItem] | None = None
    mappings: list[_WireMock] | None = None

    def entries(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield the word for an entry, and the entries, of the key that is there."""
        if self.log is not None:
            yield "entry", self.log.entries
        if self.requests is not None:
            yield "request", self.requests
        for interactions in (self.interactions, self.http_interactions):
            if interactions is not None:
                yield "interaction", interactions
        if self.item is not None:
            yield "response", [response for item in self.item for response in item.responses()]
        if self.mappings is not None:
            yield "mapping", self.mappings


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
        if sent is None or step.result.faults:
            entries.append("had a fault applied")
        elif step.result.size is not None:
            entries.append("has an answer that is too long for the recording")
        else:
            entries.append(
                Exchange(
                    method=sent.method,
                    url=sent.target,
                    headers=dict(sent.headers),
                    body=sent.body,
                    status=step.result.status,
                    content=step.result.body,
                    at=step.at,
                )
            )
    return entries


#: The first line of a request in the output of ``curl -v``.
_CURL = re.compile(r"^> ([A-Z]+) (\S+) HTTP/[0-9.]+\r?$", re.MULTILINE)
_STATUS = re.compile(r"< HTTP/[0-9.]+ ([0-9]{3})")
_COMMENT = re.compile(r"[*{}] ")


def _of_curl(text: str) -> Iterator[Entry]:
    """Yield the exchanges in the output of ``curl -v``, which does not contain the body of a request."""
    for match, end in _requests_in(text):
        sent: dict[str, str] = {}
        answered: dict[str, str] = {}
        status, body = 0, list[str]()
        for line in text[match.end() : end].splitlines():
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
        if sent.get("content-length", "0") != "0":
            yield _NO_REQUEST_BODY
        else:
            yield Exchange(
                method=match[1],
                url=f"//{sent.get('host', '')}{match[2]}",
                headers=sent,
                status=status,
                answer_headers=answered,
                content=_first_value("\n".join(body).strip()).encode(),
            )


def _first_value(text: str) -> str:
    """Return the JSON at the beginning of a text. A log goes on after it without a new line."""
    try:
        return text[: json.JSONDecoder().raw_decode(text)[1]]
    except (ValueError, RecursionError):
        return text


def _requests_in(text: str) -> Iterator[tuple[re.Match[str], int]]:
    matches = list(_CURL.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return zip(matches, ends, strict=True)
