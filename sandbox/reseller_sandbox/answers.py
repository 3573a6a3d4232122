"""Canned answers: responses that you declare for requests beyond the contract.

An answer declares the requests that it matches, and its responses. Texts in a response can have placeholders
such as ``{zone}``, ``{body.type}`` and ``{domain.expires}``. An answer can also save a value under an
address, its *entry*. Other answers of the world can then return or delete this value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.faults.kinds.answers import HEADERS, MEDIA_TYPE
from reseller_sandbox.registry.contract import JsonPlaces, Vocabulary
from reseller_sandbox.registry.model import Order
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import (
    ANYTHING,
    LINE,
    Kind,
    Mistake,
    Switch,
    Within,
    choice,
    listed,
    table,
    whole,
)
from reseller_sandbox.values.matching import GLOBS_BY_PATH, Match, Request
from reseller_sandbox.values.names import suffixes, to_unicode
from reseller_sandbox.values.parameters import record
from reseller_sandbox.values.patterns import REST, places
from reseller_sandbox.values.text_checks import (
    is_printable,
    nearest,
    percent_decoded,
    plain,
    unused,
    with_leaves,
)

#: A placeholder, such as ``{zone}``, or an escape: ``{{zone}}`` stands for the literal text ``{zone}``.
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][\w.-]*)\}\}|\{([A-Za-z_][\w.-]*)\}", re.ASCII)
_LITERAL = re.compile(r"\{([A-Za-z_][\w.-]*)\}", re.ASCII)

#: Placeholders that every answer can use. Some take a path, such as ``{body.type}``. Each placeholder in an
#: answer's path, such as ``{zone}``, is also available.
ROOTS = ("account", "body", "count", "entries", "entry", "now", "query", "request")

#: The placeholders that take any path into their value.
_OPEN = ("body", "entries", "entry", "query")

#: The fields of ``{account}``.
ACCOUNT_FIELDS = ("name", "client_id", "balance", "currency")

#: If a placeholder in the path is a domain name, it has these fields (``{zone.ascii}``), even if nobody holds
#: the name.
NAME_FIELDS: Mapping[str, Callable[[State, str], object]] = {
    "ascii": lambda _, name: name,
    "name": lambda _, name: to_unicode(name),
    "zone": lambda state, name: next(
        (to_unicode(zone) for zone in suffixes(name) if zone in state.zones), None
    ),
}

#: The fields whose values come from the order that holds the name (``{zone.expires}``).
ORDER_FIELDS: Mapping[str, Callable[[State, Order], object]] = {
    "account": lambda state, order: state.accounts[order.account].name,
    "auth_code": lambda _, order: order.auth_code,
    "autorenew": lambda _, order: order.autorenew,
    "created": lambda _, order: wire(order.created),
    "customer": lambda _, order: order.customer_id,
    "expires": lambda _, order: wire(order.expires),
    "flags": lambda _, order: sorted(flag.value for flag in order.flags),
    "nameservers": lambda _, order: [to_unicode(host) for host in order.nameservers],
    "order": lambda _, order: order.id,
    "privacy": lambda _, order: order.privacy,
    "stage": lambda _, order: order.stage.value,
}


def filled(value: object, resolve: Callable[[str], object]) -> object:
    """Replace the placeholders, such as ``{zone}``, in all strings of a JSON value.

    ``resolve`` returns the value of a placeholder. If a string is only a placeholder, the value replaces the
    whole string and keeps its type.
    """

    def fill(text: str) -> object:
        if is_placeholder(text):
            return resolve(text[1:-1])
        return _PLACEHOLDER.sub(lambda part: _text(resolve(part[2])) if part[2] else f"{{{part[1]}}}", text)

    return _with_texts(value, fill)


def literal(value: object) -> object:
    """Escape a JSON value (``{a}`` becomes ``{{a}}``), so that ``filled`` returns the original."""
    return _with_texts(value, lambda text: _LITERAL.sub(r"{{\1}}", text))


def _with_texts(value: object, change: Callable[[str], object]) -> object:
    """Apply ``change`` to each string in a JSON value, and return the new value."""
    return with_leaves(value, lambda leaf: change(leaf) if isinstance(leaf, str) else leaf)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def is_placeholder(text: str) -> bool:
    """Whether a text is exactly one placeholder, such as ``{zone}``."""
    match = _PLACEHOLDER.fullmatch(text)
    return match is not None and bool(match[2])


def _mistakes_in(
    value: object, path: tuple[object, ...], problem_of: Callable[[str], str]
) -> Iterator[Mistake]:
    """Yield a mistake for each placeholder in ``value`` for which ``problem_of`` returns a message.

    ``path`` is the position of ``value`` in the answer.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _mistakes_in(inner, (*path, key), problem_of)
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _mistakes_in(item, (*path, at), problem_of)
    elif isinstance(value, str):
        for match in _PLACEHOLDER.finditer(value):
            if match[2] and (problem := problem_of(match[2])):
                yield Mistake(path, problem)


def _problem(of_path: Collection[str], has_entry: bool, placeholder: str) -> str:
    """Return the error message for an invalid placeholder, or an empty text for a valid one.

    ``of_path`` are the placeholders in the path of the answer.
    """
    root, _, rest = placeholder.partition(".")
    fields: Collection[str] | None
    if root in of_path:
        fields = (*NAME_FIELDS, *ORDER_FIELDS)
    elif root in ROOTS:
        fields = {"account": ACCOUNT_FIELDS, **dict.fromkeys(_OPEN)}.get(root, ())
    else:
        hint = nearest(root, [*of_path, *ROOTS])
        return f"has the unknown placeholder {{{placeholder}}}{hint}; {{{{{placeholder}}}}} is the plain text"
    if root in ("entries", "entry") and not has_entry:
        return f"has the placeholder {{{placeholder}}}, but the answer has no entry"
    if root == "query" and not rest:
        return "has the placeholder {query} without the name of a parameter, such as {query.page}"
    if rest and fields is not None and rest not in fields:
        return f"has the placeholder {{{placeholder}}} with an unknown field{nearest(rest, fields)}"
    return ""


_SEGMENT = re.compile(r"\{([A-Za-z_]\w*)\}|[^{}/?#]*", re.ASCII)
_LONGEST_PATH = 1000
_MOST_RESPONSES = 100

#: First path segments that the sandbox itself uses.
_RESERVED = ("_sandbox", "_worlds")


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/") or not is_printable(value):
        raise ValueError("must be a path that begins with a slash, such as /dns/zones/{zone}")
    if len(value) > _LONGEST_PATH:
        raise ValueError(f"must have at most {_LONGEST_PATH} characters")
    segments = value.split("/")[1:]
    if segments[0] in _RESERVED:
        raise ValueError(f"cannot begin with /{segments[0]}, which the sandbox itself uses")
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            raise ValueError(
                f"has the invalid segment {segment[:40]!r}; a segment is plain text or one {{placeholder}}, "
                "and a path has no query"
            )
    names = _placeholders(value)
    for name in names:
        if name in ROOTS or names.count(name) > 1:
            reason = ", which every answer has already" if name in ROOTS else " twice"
            raise ValueError(f"cannot have the placeholder {{{name}}}{reason}")
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

#: The limits of the values that one answer saves.
MOST_SAVED, LONGEST_SAVED = 1000, 65_536
_LONGEST_ENTRY = 300


def _entry(value: object) -> str:
    text = LINE.read(value)
    if not text or len(text) > _LONGEST_ENTRY:
        raise ValueError(
            f"must be an address such as dns/{{zone.ascii}}/{{count}}, of 1 to {_LONGEST_ENTRY} characters"
        )
    return text


_ENTRY = Kind({"type": "string"}, _entry, says="an address with {placeholders}")
Entry = Annotated[
    str | None,
    _ENTRY,
    "The address of a saved value, such as dns/{zone.ascii}/{count}. Slashes separate levels.",
]
Exists = (
    Annotated[
        Switch,
        "Answer only while a value is saved at the entry or below it (true), or only while none is (false).",
    ]
    | None
)
Save = Annotated[
    Any, ANYTHING, "The JSON value to save, with placeholders. It replaces the values at the entry and below."
]
Delete = Annotated[Switch, "Whether to delete the value at the entry, and those below it."]
Saved = (
    Annotated[
        Mapping[str, Any],
        table(LINE, ANYTHING, most=MOST_SAVED),
        "The values that the answer has saved, by address.",
    ]
    | None
)


class CannedAnswer(CannedResponse, frozen=True, kw_only=True):
    """Answer to all requests that have one method and one path outside the contract.

    Texts in headers and bodies can have placeholders. ``matched`` is the number of requests answered so far.
    """

    path: Path
    method: Method = "GET"
    request_body: RequestBody = None
    sequence: Responses = ()
    entry: Entry = None
    exists: Exists = None
    save: Save = None
    delete: Delete = False
    saved: Saved = None
    matched: Annotated[int, whole(0, 10**11), "The number of requests answered so far."] = 0

    def mistakes(self) -> Iterator[Mistake]:
        """Yield a mistake for each unknown placeholder, and for parts that exclude or need one another."""
        problem_of = partial(_problem, _placeholders(self.path), self.entry is not None)
        for part in ("headers", "body", "entry", "save"):
            yield from _mistakes_in(getattr(self, part), (part,), problem_of)
        needs_entry = {"exists": None, "save": None, "delete": False}
        for part in [part for part, default in needs_entry.items() if getattr(self, part) != default]:
            if self.entry is None:
                yield Mistake((part,), "needs an entry, such as entry: dns/{zone.ascii}")
        if self.save is not None and self.delete:
            yield Mistake(("delete",), "cannot be combined with save")
        for at, response in enumerate(self.sequence):
            for part in ("headers", "body"):
                yield from _mistakes_in(getattr(response, part), ("sequence", at, part), problem_of)
        if self.sequence and self._single != _ALONE:
            yield Mistake(("sequence",), "cannot be combined with status, headers, body or content_type")

    @property
    def store(self) -> Mapping[str, object]:
        """The values that the answer has saved, by address."""
        return self.saved or {}

    @property
    def response(self) -> CannedResponse:
        """Response to the next request that this answer matches."""
        if self.sequence:
            return cast(CannedResponse, self.sequence[min(self.matched, len(self.sequence) - 1)])
        return self._single

    @property
    def _single(self) -> CannedResponse:
        return CannedResponse(
            status=self.status, headers=self.headers, body=self.body, content_type=self.content_type
        )

    def match(self, request: Request) -> Mapping[str, str] | None:
        """Return the values of the path's placeholders, or None if the request does not match.

        An answer to GET is also the answer to HEAD.
        """
        values = self.values_in(request.path)
        if self.method != ("GET" if request.method == "HEAD" else request.method) or values is None:
            return None
        body = cast("tuple[Any, ...] | None", self.request_body)
        return values if body is None or Match(body=body)(request) else None

    def values_in(self, path: str) -> Mapping[str, str] | None:
        """Return the values of the placeholders in ``path``, or None if it is not the path of this answer.

        The path of an answer can be percent-encoded, as in a URL.
        """
        expected, actual = self.path.split("/"), path.split("/")
        if len(expected) != len(actual):
            return None
        values = {}
        for segment, text in zip(expected, actual, strict=True):
            if segment.startswith("{") and text:
                values[segment[1:-1]] = text
            elif text not in (segment, percent_decoded(segment)):
                return None
        return values


def places_of(answer: CannedAnswer) -> JsonPlaces:
    """Return the places in calls of a canned answer. A request, and a placeholder, can be any JSON value."""
    responses = cast(Sequence[CannedResponse], answer.sequence) or (answer._single,)
    bodies = [response.body for response in responses]

    def is_open(leaf: object) -> bool:
        return isinstance(leaf, str) and is_placeholder(leaf)

    return JsonPlaces(
        frozenset({(), (REST,)}), frozenset(place for body in bodies for place in places(body, is_open))
    )


def saved_at(answers: Mapping[str, CannedAnswer], address: str) -> object:
    """Return the value that any of ``answers`` has saved at ``address``, or None."""
    return next((answer.store[address] for answer in answers.values() if address in answer.store), None)


def saved_below(answers: Mapping[str, CannedAnswer], address: str) -> list[object]:
    """Return the values that ``answers`` have saved below ``address``, oldest first in each answer."""
    values = (entry for answer in answers.values() for entry in answer.store.items())
    return [value for at, value in values if at.startswith(f"{address}/")]


def with_saved(
    answers: Mapping[str, CannedAnswer], name: str, address: str, value: object
) -> Mapping[str, CannedAnswer]:
    """Return ``answers`` in which ``value`` replaces the values at ``address`` and below it.

    An earlier value at this address keeps its position. Otherwise the answer ``name`` holds the new value.
    """
    holder = next((other for other, answer in answers.items() if address in answer.store), name)
    answers = without_saved(answers, address, below=True)
    answer = answers[holder]
    return {**answers, holder: replace(answer, saved={**answer.store, address: value})}


def without_saved(
    answers: Mapping[str, CannedAnswer], address: str, *, below: bool = False
) -> Mapping[str, CannedAnswer]:
    """Return ``answers`` without the values saved below ``address``, and without ``below`` also at it."""

    def is_left(at: str) -> bool:
        return not at.startswith(f"{address}/") and (below or at != address)

    return {
        name: replace(answer, saved={at: value for at, value in answer.store.items() if is_left(at)} or None)
        for name, answer in answers.items()
    }


def free_name(method: str, path: str, taken: Container[str]) -> str:
    """Return an unused name for an answer: ``get-dns-zones``, or ``get-dns-zones-2`` if that is taken."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{method.lower()}{path}").strip("-")[:70]
    return unused(name, taken)


#: Kind that reads an answer without a name. In a fixture, the name is the key of the entry.
ANSWER: Kind[CannedAnswer] = record(CannedAnswer)


def read_answer(value: object, words: Vocabulary | None) -> CannedAnswer:
    """Read a canned answer. Raise ``Within`` if the answer is invalid or has the path of an operation."""
    answer = ANSWER.read(value)
    sample = re.sub(r"\{\w+\}", "x", answer.path)
    operation = words.operation_at(answer.method, sample) if words is not None else None
    if operation is not None:
        problem = f"belongs to the operation {operation}; use a fault to change its answer"
        raise Within([Mistake(("path",), problem)])
    return answer
