"""A canned answer: the requests that it matches, and its responses."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Annotated, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.answers.placeholders import ROOTS, mistakes_in
from reseller_sandbox.faults.kinds.answers import HEADERS, MEDIA_TYPE
from reseller_sandbox.registry.contract import Vocabulary
from reseller_sandbox.values.kinds import ANYTHING, Kind, Mistake, Within, choice, listed, whole
from reseller_sandbox.values.matching import GLOBS_BY_PATH, Match, Request
from reseller_sandbox.values.parameters import record
from reseller_sandbox.values.text_checks import plain

_SEGMENT = re.compile(r"\{([A-Za-z_]\w*)\}|[^{}/?#]*", re.ASCII)
_LONGEST_PATH = 1000
_MOST_RESPONSES = 100

#: Paths that the sandbox itself uses.
_RESERVED = ("_sandbox", "_worlds")


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value.startswith("/") or not value.isprintable():
        raise ValueError("must be a path that begins with a slash, such as /dns/zones/{zone}")
    if len(value) > _LONGEST_PATH:
        raise ValueError(f"must have at most {_LONGEST_PATH} characters")
    segments = value.split("/")[1:]
    if segments[0] in _RESERVED:
        raise ValueError(f"cannot begin with /{segments[0]}, which the sandbox itself uses")
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            raise ValueError(
                f"has the invalid segment {segment[:40]!r}; a segment is a text or a {{placeholder}}, "
                "without a query"
            )
    names = _placeholders(value)
    for name in names:
        if name in ROOTS or names.count(name) > 1:
            raise ValueError(f"cannot have the placeholder {{{name}}}{'' if name in ROOTS else ' twice'}")
    return plain(value)


def _placeholders(path: str) -> list[str]:
    return [segment[1:-1] for segment in path.split("/") if segment.startswith("{")]


_PATH = Kind({"type": "string", "pattern": "^/.*$"}, _path, says="a path with {placeholders}")

Path = Annotated[str, _PATH, "The path. A {placeholder} matches one segment."]
Method = Annotated[str, choice("DELETE", "GET", "PATCH", "POST", "PUT"), "The HTTP method."]
RequestBody = Annotated[
    Mapping[str, Any] | tuple[tuple[Any, Any], ...] | None,
    GLOBS_BY_PATH,
    "Values in the JSON body of the request, by path. The body may have more values.",
]
Status = Annotated[int, whole(200, 599), "The HTTP status."]
Headers = Annotated[Mapping[str, str] | None, HEADERS, "Headers of the response."]
Body = Annotated[Any, ANYTHING, "The body: text without conversion, any other value as JSON."]
MediaType = Annotated[
    str | None, MEDIA_TYPE, "The body's media type. Default: text/plain or application/json."
]


class CannedResponse(Struct, frozen=True, kw_only=True):
    """One response of a canned answer."""

    status: Status = 200
    headers: Headers = None
    body: Body = None
    content_type: MediaType = None


RESPONSE: Kind[CannedResponse] = record(CannedResponse)
Responses = Annotated[
    Sequence[CannedResponse | Mapping[str, Any]],
    replace(listed(RESPONSE, 1, _MOST_RESPONSES), says="a list of responses"),
    "Responses in turn, each with status, headers, body and content_type. The last one repeats.",
]
_ALONE = CannedResponse()


class CannedAnswer(CannedResponse, frozen=True, kw_only=True):
    """The answer to requests that no operation of the contract takes.

    Texts in headers and bodies can have placeholders. ``matched`` is the number of requests answered so far.
    """

    path: Path
    method: Method = "GET"
    request_body: RequestBody = None
    sequence: Responses = ()
    matched: Annotated[int, whole(0, 10**11), "The number of requests answered so far."] = 0

    def mistakes(self) -> Iterator[Mistake]:
        """Yield unknown placeholders, and a single response beside a sequence."""
        names = _placeholders(self.path)
        for part in ("headers", "body"):
            yield from mistakes_in(getattr(self, part), names, (part,))
        for at, response in enumerate(self.sequence):
            for part in ("headers", "body"):
                yield from mistakes_in(getattr(response, part), names, ("sequence", at, part))
        if self.sequence and self._single != _ALONE:
            yield Mistake(("sequence",), "cannot be combined with status, headers, body or content_type")

    @property
    def response(self) -> CannedResponse:
        """The response to the next request."""
        if self.sequence:
            return cast(CannedResponse, self.sequence[min(self.matched, len(self.sequence) - 1)])
        return self._single

    @property
    def _single(self) -> CannedResponse:
        return CannedResponse(
            status=self.status, headers=self.headers, body=self.body, content_type=self.content_type
        )

    def match(self, request: Request) -> Mapping[str, str] | None:
        """Return the values of the path's placeholders, or None if the request does not match."""
        expected, actual = self.path.split("/"), request.path.split("/")
        if request.method != self.method or len(expected) != len(actual):
            return None
        values = {}
        for segment, text in zip(expected, actual, strict=True):
            if segment.startswith("{") and text:
                values[segment[1:-1]] = text
            elif segment != text:
                return None
        body = cast("tuple[Any, ...] | None", self.request_body)
        return values if body is None or Match(body=body)(request) else None


def free_name(method: str, path: str, taken: Container[str]) -> str:
    """Return a name for an answer from its method and path, with a number if it is taken."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{method.lower()}{path}").strip("-")[:70]
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


#: Reads and writes an answer without its name. In a fixture, the name is the key of the entry.
ANSWER: Kind[CannedAnswer] = record(CannedAnswer)


def read_answer(value: Any, words: Vocabulary | None) -> CannedAnswer:
    """Return an answer. Raise ``Within``, also if an operation of the contract takes its requests."""
    answer = ANSWER.read(value)
    if wrong := list(answer.mistakes()):
        raise Within(wrong)
    sample = re.sub(r"\{\w+\}", "x", answer.path)
    operation = words.operation_at(answer.method, sample) if words is not None else None
    if operation is not None:
        problem = f"belongs to the operation {operation}; use a fault to change its answer"
        raise Within([Mistake(("path",), problem)])
    return answer
