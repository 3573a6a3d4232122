"""Conditions on requests: faults, journal filters, assertions and scheduled actions use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Protocol, TypedDict

from msgspec import Struct

from reseller_sandbox.values.clock import parse_instant, wire
from reseller_sandbox.values.kinds import ANYTHING, SWITCH, TEXT, Kind, listed, table
from reseller_sandbox.values.names import to_unicode, well_formed
from reseller_sandbox.values.parameters import Also, record
from reseller_sandbox.values.patterns import PATH, Glob, Path, any_matches
from reseller_sandbox.values.text_checks import percent_decoded, plain, require_whole_letters, with_leaves

#: The maximum number of headers, query parameters or body values in a condition.
_KEYS = 50

_GLOBS = 100
_LONGEST_WORD = 100

#: The maximum number of digits in the name of a request (``r12`` has two).
_DIGITS = 18


def patterns(says: str, spelt: Callable[[str], str] = str) -> Kind[tuple[Glob, ...]]:
    """Return a kind that accepts one or more globs. ``spelt`` normalises each glob."""

    def read(value: object) -> Glob:
        return Glob(spelt(_read_glob(value).text))

    return listed(Kind({"type": "string"}, read, lambda glob: glob.text, says=says), 1, _GLOBS, alone=True)


def name_spelt(glob: str) -> str:
    """Return a glob for domain names, converted to Unicode and lower case."""
    name = well_formed(glob)
    return glob.lower() if name is None else to_unicode(name)


def _path_spelt(glob: str) -> str:
    """Return a glob for paths. Refuse a glob that no path can match."""
    if not glob.startswith(("/", "*", "?")):
        raise ValueError("must begin with / or *")
    if "=" in glob.partition("?")[2]:
        raise ValueError("must be without a query, for which there is the condition query")
    return glob


def _outcome(value: object) -> str:
    """Read an outcome. ``contract.unknown`` checks later whether the outcome exists."""
    if isinstance(value, str) and 0 < len(value) <= _LONGEST_WORD:
        require_whole_letters(value)
        return value
    raise ValueError(f"must be {_OUTCOMES}")


def _since(value: object) -> datetime | int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**_DIGITS:
        return value
    text = value.isoformat() if isinstance(value, datetime) else value
    digits = text[1:] if isinstance(text, str) and text.startswith("r") else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS:
        return int(digits)
    try:
        return parse_instant(text if isinstance(text, str) else "")
    except ValueError:
        raise ValueError(f"must be {_SINCE}") from None


def _read_glob(value: object) -> Glob:
    if isinstance(value, Glob):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return Glob(plain(value))


def body_as_json(expected: object) -> object:
    """Return an expected body as JSON, with each glob as a string."""
    return with_leaves(expected, lambda leaf: leaf.text if isinstance(leaf, Glob) else leaf)


def _glob_if_any(leaf: object) -> object:
    return Glob(leaf) if isinstance(leaf, str) and {"*", "?"} & set(leaf) else leaf


_SINCE = "an instant, or the name of a request (r12)"

#: The conditions that can be tested only after the response.
ANSWERED = ("outcome", "carried_out", "changed", "fault")

_OUTCOMES = "ok, refused, fault, an error's name, or a status such as 404 or 4xx"

OUTCOME_WORDS = listed(Kind({"type": "string"}, _outcome, says=_OUTCOMES), 1, _GLOBS, alone=True)
SINCE = Kind(
    {"type": "string"},
    _since,
    lambda since: wire(since) if isinstance(since, datetime) else f"r{since}",
    says=f"{_SINCE}, after which the request arrived",
)
GLOBS_BY_NAME = table(
    TEXT,
    Kind(
        {"type": ["string", "null"]},
        lambda value: None if value is None else _read_glob(value),
        lambda glob: None if glob is None else glob.text,
    ),
    1,
    _KEYS,
    says="an object of names, each with a glob for its value, or null if it must be absent",
)
GLOBS_BY_PATH = table(
    PATH,
    Kind({}, lambda value: with_leaves(ANYTHING.read(body_as_json(value)), _glob_if_any), body_as_json),
    1,
    _KEYS,
    says="an object of paths, each with a glob or another JSON value",
)


#: The operation id of a request that calls no operation of the API.
NO_OPERATION = "-"

#: The prefix of the operation id of a request with a canned answer (``canned.NAME``).
CANNED = "canned."

#: The outcomes that are not names of errors: success, any error, and a response that a fault replaced.
OK, REFUSED, FAULT = "ok", "refused", "fault"
OUTCOMES = (OK, REFUSED, FAULT)

_MISSING = object()


class Request(Protocol):
    """The properties of a request and its response that conditions test.

    ``status`` and all later properties are known only after the response.
    """

    @property
    def operation(self) -> str:
        """The id of the operation: ``v3.createDomain``."""

    @property
    def account(self) -> str | None:
        """The name of the account that sends the request, or None."""

    @property
    def domains(self) -> Sequence[str]:
        """The domain names in the request, in ASCII form."""

    @property
    def method(self) -> str:
        """The HTTP method of the request."""

    @property
    def path(self) -> str:
        """The path of the request, without the prefix of a world and without the query."""

    @property
    def headers(self) -> Iterable[tuple[str, str]]:
        """The headers of the request, as pairs of name and value."""

    @property
    def query(self) -> Iterable[tuple[str, str]]:
        """The query parameters of the request, as pairs of name and value."""

    @property
    def json(self) -> object:
        """The JSON body of the request, or None without a body."""

    @property
    def at(self) -> datetime:
        """The time of the world's clock at the request."""

    @property
    def number(self) -> int:
        """The number in the name of the request (12 for ``r12``), or 0 without a name."""

    @property
    def status(self) -> int:
        """The HTTP status of the response, such as 404."""

    @property
    def outcome(self) -> str:
        """The outcome for the client: ``ok``, an error's name, or ``fault``."""

    @property
    def carried_out(self) -> bool:
        """Whether the operation was carried out."""

    @property
    def changed(self) -> bool:
        """Whether the request changed the state of the world."""

    @property
    def fault_names(self) -> Sequence[str]:
        """The names of the faults that were applied to the request."""


class Miss(Struct, frozen=True):
    """A difference between a request and a condition. ``what`` names the part that differs."""

    what: str
    expected: Any
    actual: Any


def _glob(example: str) -> Kind[tuple[Glob, ...]]:
    return patterns(f"a glob such as {example}")


_Globs = str | Sequence[str]


class Matching(TypedDict, total=False):
    """Conditions on a request. A request matches if it satisfies all of them.

    Args:
        operation: The id of the operation, such as v3.createDomain.
        domain: A domain name in the request, in its ASCII or Unicode form.
        account: The name of the account that sends the request.
        method: The HTTP method, such as POST.
        path: The path of the request, without the query.
        headers: Headers of the request, by name.
        query: Query parameters of the request, by name.
        body: Values in the JSON body of the request, by path. The body can have more values.
        outcome: The outcome for the client: ok, refused, fault, the name of an error, or a status. ok means
            that the operation was carried out and answered without an error.
        carried_out: Whether the operation was carried out, even if a fault replaced the response.
        changed: Whether the request changed the state of the world.
        fault: The name of a fault that was applied to the request.
        since: Match only requests at or after an instant, or after a request (r12).
    """

    operation: Annotated[_Globs, _glob("*renew*"), Also("endpoint")]
    domain: Annotated[_Globs, patterns("a glob such as *.com", name_spelt), Also("name")]
    account: Annotated[_Globs, _glob("main")]
    method: Annotated[_Globs, patterns("a method", str.upper)]
    path: Annotated[_Globs, patterns("a glob such as */domains/*", _path_spelt)]
    headers: Annotated[Mapping[str, str | None], GLOBS_BY_NAME]
    query: Annotated[Mapping[str, str | None], GLOBS_BY_NAME]
    body: Annotated[Mapping[str, Any], GLOBS_BY_PATH]
    outcome: Annotated[_Globs, OUTCOME_WORDS]
    carried_out: Annotated[bool, SWITCH]
    changed: Annotated[bool, SWITCH]
    fault: Annotated[_Globs, _glob("lost*")]
    since: Annotated[str | datetime, SINCE]


class Match(dict[str, Any]):
    """Conditions on a request, by name. ``MATCH`` reads and writes them."""

    def __call__(self, request: Request) -> bool:
        """Whether ``request`` satisfies all conditions."""
        # Test the most selective conditions first, because a world can have 1,000 fault rules.
        operation, domain = self.get("operation"), self.get("domain")
        if operation is not None and not any_matches(operation, request.operation):
            return False
        if domain is not None and not _names(domain, request.domains):
            return False
        return next(self.misses(request), None) is None

    def misses(self, request: Request) -> Iterator[Miss]:
        """Yield each difference between ``request`` and the conditions."""
        for name, condition in self.items():
            yield from _MISSES[name](name, condition, request)


#: The kind that reads a JSON object of conditions as a ``Match``, and writes it.
MATCH: Kind[Match] = record(Matching, build=Match)


def is_status(outcome: str) -> bool:
    """Whether ``outcome`` is an HTTP status such as ``404`` or ``4xx``."""
    return len(outcome) == 3 and outcome[0] in "12345" and (outcome[1:] == "xx" or outcome[1:].isdecimal())


def _joined(globs: Iterable[Glob]) -> str:
    return " or ".join(glob.text for glob in globs)


def _names(globs: tuple[Glob, ...], names: Iterable[str]) -> bool:
    for name in names:
        if any_matches(globs, name) or ("xn--" in name and any_matches(globs, to_unicode(name))):
            return True
    return False


def _is(request: Request, outcome: str) -> bool:
    if outcome == REFUSED:
        return request.outcome not in ("", OK, FAULT)
    if is_status(outcome):
        return str(request.status).startswith(outcome.removesuffix("xx"))
    return request.outcome == outcome


def _text_misses(name: str, globs: tuple[Glob, ...], request: Request) -> Iterator[Miss]:
    text = getattr(request, name)
    if text is None or not any_matches(globs, text):
        yield Miss(name, _joined(globs), text)


def _path_misses(name: str, globs: tuple[Glob, ...], request: Request) -> Iterator[Miss]:
    """Yield the difference in the path. A glob can be percent-encoded, as in a URL."""
    decoded = tuple(Glob(percent_decoded(glob.text)) for glob in globs if "%" in glob.text)
    if not any_matches((*globs, *decoded), request.path):
        yield Miss(name, _joined(globs), request.path)


def _domain_misses(name: str, globs: tuple[Glob, ...], request: Request) -> Iterator[Miss]:
    if not _names(globs, request.domains):
        yield Miss(name, _joined(globs), ", ".join(request.domains) or None)


def _outcome_misses(name: str, outcomes: tuple[str, ...], request: Request) -> Iterator[Miss]:
    if not any(_is(request, outcome) for outcome in outcomes):
        yield Miss(name, " or ".join(outcomes), request.outcome)


def _flag_misses(name: str, expected: bool, request: Request) -> Iterator[Miss]:
    if (actual := getattr(request, name)) is not expected:
        yield Miss(name, expected, actual)


def _fault_misses(name: str, globs: tuple[Glob, ...], request: Request) -> Iterator[Miss]:
    if not any(any_matches(globs, fault) for fault in request.fault_names):
        yield Miss(name, _joined(globs), ", ".join(request.fault_names) or None)


def _since_misses(name: str, since: datetime | int, request: Request) -> Iterator[Miss]:
    if isinstance(since, datetime) and request.at < since:
        yield Miss(name, wire(since), wire(request.at))
    if isinstance(since, int) and request.number <= since:
        yield Miss(name, f"r{since}", f"r{request.number}")


def _pair_misses(part: str, globs: Mapping[str, Glob | None], request: Request) -> Iterator[Miss]:
    """Yield the differences in the headers or the query.

    If a name has several values, one matching value is enough.
    """
    for name, glob in globs.items():
        values = [value for key, value in getattr(request, part) if key.lower() == name.lower()]
        if glob is None and values:
            yield Miss(f"{part}.{name}", None, values[0])
        if glob is not None and not any(map(glob.matches, values)):
            yield Miss(f"{part}.{name}", glob.text, values[0] if values else None)


def _body_misses(_: str, body: Mapping[Path, object], request: Request) -> Iterator[Miss]:
    """Yield the differences in the body.

    If a path leads to several values, one matching value is enough.
    """
    for path, expected in body.items():
        place = f"body.{path.text}"
        misses = [list(_differences(place, expected, actual)) for actual in path.find(request.json)]
        if not misses:
            yield Miss(place, body_as_json(expected), None)
        elif all(misses):
            yield from misses[0]


#: Maps the name of each condition to the function that compares a request with the condition.
_MISSES: Mapping[str, Callable[[str, Any, Request], Iterator[Miss]]] = {
    "operation": _text_misses,
    "domain": _domain_misses,
    "account": _text_misses,
    "method": _text_misses,
    "path": _path_misses,
    "headers": _pair_misses,
    "query": _pair_misses,
    "body": _body_misses,
    "outcome": _outcome_misses,
    "carried_out": _flag_misses,
    "changed": _flag_misses,
    "fault": _fault_misses,
    "since": _since_misses,
}


def _differences(path: str, expected: object, actual: object) -> Iterator[Miss]:
    """Yield the differences between two JSON values at ``path``.

    ``actual`` can have more keys than ``expected`` in an object, but not more items in a list.
    """
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in expected:
            present = actual.get(key, _MISSING)
            if present is _MISSING:
                yield Miss(f"{path}.{key}", body_as_json(expected[key]), None)
            else:
                yield from _differences(f"{path}.{key}", expected[key], present)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(f"{path}[{number}]", expected_item, actual_item)
    elif not _same(expected, actual):
        yield Miss(path, body_as_json(expected), actual)


def _same(expected: object, actual: object) -> bool:
    if isinstance(expected, Glob):
        return isinstance(actual, str) and expected.matches(actual)
    same = _number(expected) == _number(actual) and isinstance(expected, bool) is isinstance(actual, bool)
    return bool(same)


def _number(value: object) -> object:
    return Decimal(str(value)) if isinstance(value, float) else value
