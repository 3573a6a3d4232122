"""Explains why no route matches a request, and finds the most similar operations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import chain
from typing import cast

from flask import current_app
from msgspec import Struct
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reseller_sandbox.refusals import MALFORMED_BODY, METHOD_NOT_ALLOWED, UNKNOWN_PATH, Refused
from reseller_sandbox.values.text_checks import cut
from reseller_sandbox.web.application import Application
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.interface import Endpoint, Mount
from reseller_sandbox.worlds import World

_SHOWN = 200
_MOST_WORDS = 3

#: The maximum number of suggestions, and the minimum similarity.
_MOST = 3
_CUTOFF = 0.6
#: From this similarity on, a word is a misspelling of another.
_ALIKE = 0.7
#: The similarity of a word to a longer word that contains it.
_WITHIN = 0.75
#: The maximum number of segments that are compared, and their maximum length.
_SEGMENTS = 6
_LONGEST = 40

#: The costs of an extra segment, of a missing one and of another method.
_TOO_MANY, _MISSING, _METHOD = 0.5, 0.05, 0.1

_VERSION = re.compile(r"v[0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
#: The verbs with which names of operations begin. The object follows the verb.
_VERBS = frozenset(
    ("add", "create", "delete", "edit", "get", "list", "modify", "put", "remove", "set", "update")
)


#: The hint for a call that the contract does not have.
_BEYOND = "; to answer it all the same, add a canned answer (answers.add)"


class Unmatched:
    """Explains why no route of ``mounts`` matches a request."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        self._mounts = mounts

    @cached_property
    def _rows(self) -> dict[str, Rows]:
        """The operations of each interface by its name. The name "" stands for all client interfaces."""
        interfaces = [mount.interface for mount in self._mounts]
        clients = (interface for interface in interfaces if interface.journalled)
        rows = {interface.name: Rows(interface.endpoints) for interface in interfaces}
        return {"": Rows(chain.from_iterable(interface.endpoints for interface in clients)), **rows}

    def refusal(self, error: HTTPException, request: RequestContext, world: World) -> Refused:
        """Return the refusal for ``error``. An unknown path gets the most similar operations."""
        path = cut(request.prefix + request.path, _SHOWN)
        if isinstance(error, MethodNotAllowed):
            allowed = ", ".join(_methods_of(request.path, error))
            request.headers_out["Allow"] = allowed
            return Refused(METHOD_NOT_ALLOWED, method=request.method, path=path, allowed=allowed)
        if error.code == 404:
            return Refused(
                UNKNOWN_PATH, method=request.method, path=path, nearest=self._nearest(request, world)
            )
        return Refused(MALFORMED_BODY, problem=(error.description or str(error)).rstrip("."))

    def _nearest(self, request: RequestContext, world: World) -> str:
        """Return the suggested operations, or the words that the interface does not know."""
        interface = next((mount.interface for mount in self._mounts if mount.owns(request.path)), None)
        if interface is not None and (reason := interface.unmatched(request, world)):
            return reason
        rows, path = self._rows[interface.name if interface is not None else ""], request.path
        nearest = rows.nearest(request.method, path)
        if nearest:
            return f"the nearest {'is' if len(nearest) == 1 else 'are'} {', '.join(nearest)}"
        if interface is None:
            *first, last = (mount.address for mount in self._mounts)
            return f"paths begin with {', '.join(first)} or {last}{_BEYOND}"
        unknown = rows.unknown(path)
        missing = f"no operations on {' '.join(unknown[:_MOST_WORDS])}" if unknown else "nothing like it"
        return f"{interface.owner} has {missing}" + (_BEYOND if interface.journalled else "")


def _methods_of(path: str, error: MethodNotAllowed) -> list[str]:
    """Return the methods of the operations at a path.

    The path ``/worlds/fork`` does not get the methods of ``/worlds/{world}``. HEAD is left out, because
    every GET route accepts it.
    """
    find = cast(Application, current_app).rules.bind("").match
    known = sorted(set(error.valid_methods or ()) - {"HEAD"})
    shapes = {
        method: ["<" in part for part in find(path, method, return_rule=True)[0].rule.split("/")]
        for method in known
    }
    return [method for method in known if shapes[method] == min(shapes.values())]


class _Row(Struct, frozen=True):
    shown: str
    method: str
    literals: tuple[str, ...]
    numbers: int
    texts: int


class Rows:
    """The operations of one or several interfaces, to be searched for similar ones."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._rows = [
            _row(endpoint, path, rule)
            for endpoint in endpoints
            for path, rule in zip(endpoint.paths, endpoint.rules(), strict=True)
        ]
        count = Counter(literal for row in self._rows for literal in set(row.literals))
        #: Rare words weigh more, because they distinguish operations.
        self._weight = {literal: 1 / number for literal, number in count.items()}
        #: Words in all rows. A path with only these words names no resource yet.
        self._common = {literal for literal, number in count.items() if number == len(self._rows)}
        self._beginnings = [
            row.shown for row in self._rows if row.shown.startswith("GET") and "{" not in row.shown
        ]
        self._words = frozenset(
            word for row in self._rows for literal in row.literals for word in _words(literal)
        )

    def nearest(self, method: str, path: str) -> list[str]:
        """Return the operations most similar to a request, best first."""
        segments = _segments(path)
        if segments and self._common.issuperset(segments):
            return self._beginnings[:_MOST]
        if segments and not any(similarity(segments[0], literal) for literal in self._weight):
            segments = segments[1:]  # a misspelt version, or the prefix of a proxy
        similarities = {literal: _most_similar(literal, segments) for literal in self._weight}
        scored = ((self._score(row, method, segments, similarities), row) for row in self._rows)
        good = sorted((-score, row.texts, row.shown) for score, row in scored if score >= _CUTOFF)
        return list(dict.fromkeys(shown for *_, shown in good))[:_MOST]

    def unknown(self, path: str) -> list[str]:
        """Return the words of a path that no operation has, except verbs."""
        names = (segment for segment in _segments(path) if "." not in segment and not segment.isdigit())
        words = list(dict.fromkeys(word for segment in names for word in _words(segment)))[:_SEGMENTS]
        unknown = [word for word in words if not any(similarity(word, known) for known in self._words)]
        return [word for word in unknown if word not in _VERBS]

    def _score(
        self, row: _Row, method: str, segments: Sequence[str], similarities: dict[str, tuple[float, int]]
    ) -> float:
        weight = sum(self._weight[literal] for literal in row.literals)
        like = sum(self._weight[literal] * similarities[literal][0] for literal in row.literals)
        matched = {similarities[literal][1] for literal in row.literals if similarities[literal][0]}
        rest = [segment for at, segment in enumerate(segments) if at not in matched]
        numbers = min(row.numbers, sum(segment.isdigit() for segment in rest))
        fit = numbers + min(row.texts, len(rest) - numbers)
        missing = row.numbers + row.texts - fit
        cost = _TOO_MANY * (len(rest) - fit) + _MISSING * missing + _METHOD * (row.method != method)
        return like / weight - cost if weight else 0.0


def _row(endpoint: Endpoint, path: str, rule: str) -> _Row:
    literals = tuple(segment for segment in _segments(path) if not segment.startswith("{"))
    texts = rule.count("<string:") + rule.count("<rest:")
    return _Row(f"{endpoint.method} {path}", endpoint.method, literals, rule.count("<digits:"), texts)


def _segments(path: str) -> list[str]:
    """Return the segments of a path after its version."""
    segments = [segment[:_LONGEST] for segment in path.split("/") if segment][:_SEGMENTS]
    version = max(
        (at for at, text in enumerate(segments, 1) if text == "{version}" or _VERSION.fullmatch(text)),
        default=0,
    )
    return segments[version:]


def _most_similar(literal: str, segments: Sequence[str]) -> tuple[float, int]:
    """Return the highest similarity of a segment to ``literal``, and its index."""
    return max(((similarity(segment, literal), at) for at, segment in enumerate(segments)), default=(0.0, -1))


@lru_cache(maxsize=4096)
def similarity(word: str, operation_word: str) -> float:
    """Return the similarity of two words: 1 if equal, 0 if different.

    A misspelt word is between. A word that contains the parts of another is similar too: ``lockDomain``
    contains ``lock``.
    """
    lower, expected = word.lower(), operation_word.lower()
    if lower == expected:
        return 1.0
    if _words(operation_word) < _words(word):
        return _WITHIN
    if abs(len(lower) - len(expected)) > 1:  # ``unlock`` is not a misspelling of ``lock``
        return 0.0
    matcher = SequenceMatcher(None, lower, expected)
    like = matcher.ratio() if matcher.quick_ratio() > _ALIKE else 0.0
    return like if like > _ALIKE else 0.0


@lru_cache(maxsize=1024)
def _words(name: str) -> Set[str]:
    return dict.fromkeys(match[0].lower() for match in _WORD.finditer(name)).keys()
