"""An index of matches: finds the few of many that a request can fit, without a look at the others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from reseller_sandbox.core.globs import Glob, any_matches
from reseller_sandbox.core.matching import Match, Request
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.paths import Path

#: A part of a request that holds texts: what it is, and which of several such (a header's name, say).
Part = tuple[str, str]

#: A piece that a text has to hold, and where: the whole of it, at its begin, at its end, or anywhere.
Where = Literal["whole", "begin", "end", "within"]
Piece = tuple[Where, str]

#: What a match wants of a part: that a text there has one of these pieces at the least. Each alternative may
#: be recognised by any of its own.
Want = tuple[Part, Sequence[Sequence[Piece]]]

_WILD = re.compile(r"[*?]")

#: For so many triples of operation, method and account it is remembered what may fit them.
_REMEMBERED = 512


class MatchIndex:
    """Finds those of many matches that a request may fit: all that it does fit, and few others.

    What may fit an operation, a method and an account is found out once and remembered: there are few of
    each. Each of these matches is then looked up by one text that it wants the request to hold, the one that
    the fewest others want.
    """

    def __init__(self, matches: Sequence[Match]) -> None:
        self._matches = matches
        wants = [list(_wants(match)) for match in matches]
        shared = Counter(
            (part, piece)
            for some in wants
            for part, alternatives in some
            for one in alternatives
            for piece in one
        )
        self._keys = [_rarest(some, shared) for some in wants]
        self._paths = {path.text: path for match in matches for path, _ in match.body or ()}
        self._by_triple: dict[tuple[str, str, str | None], _Texts] = {}
        self._by_places: dict[tuple[int, ...], _Texts] = {}

    def possible(self, request: Request) -> Sequence[int]:
        """Return the places of those matches, in their order."""
        triple = request.operation, request.method.upper(), request.account
        texts = self._by_triple.get(triple)
        if texts is None:
            texts = self._fitting(*triple)
        return texts.possible(request)

    def _fitting(self, operation: str, method: str, account: str | None) -> _Texts:
        if len(self._by_triple) >= _REMEMBERED:  # whoever asks can make up methods
            self._by_triple.clear()
            self._by_places.clear()
        places = tuple(
            place
            for place, match in enumerate(self._matches)
            if _fits(match.operation, operation)
            and _fits(match.method, method)
            and _fits(match.account, account)
        )
        texts = self._by_places.get(places)
        if texts is None:
            texts = self._by_places[places] = _Texts(places, self._keys, self._paths)
        self._by_triple[operation, method, account] = texts
        return texts


class _Texts:
    """Looks up matches by the pieces of text that they want."""

    def __init__(
        self, places: Iterable[int], keys: Sequence[Sequence[tuple[Part, Piece]]], paths: dict[str, Path]
    ) -> None:
        found: dict[Part, dict[tuple[Where, int], dict[str, list[int]]]] = {}
        for place in places:
            for part, (where, piece) in keys[place]:
                cuts = found.setdefault(part, {})
                size = 0 if where == "whole" else len(piece)
                cuts.setdefault((where, size), defaultdict(list))[piece].append(place)
        self._always = tuple(place for place in places if not keys[place])
        self._cuts = {part: list(cuts.items()) for part, cuts in found.items()}
        self._sorts = {sort for sort, _ in found}
        self._paths = [paths[name] for sort, name in found if sort == "body"]

    def possible(self, request: Request) -> Sequence[int]:
        found = {
            place
            for part, text in self._texts(request)
            for (where, size), held in self._cuts.get(part, ())
            for piece in _pieces(text, where, size)
            for place in held.get(piece, ())
        }
        return sorted(found.union(self._always)) if found else self._always

    def _texts(self, request: Request) -> Iterator[tuple[Part, str]]:
        """Yield the texts of a request in the parts that are asked for, and perhaps others."""
        sorts = self._sorts
        if "domain" in sorts:
            for name in request.domains:
                yield ("domain", ""), name
                if (told := to_unicode(name)) != name:
                    yield ("domain", ""), told
        if "path" in sorts:
            yield ("path", ""), request.path
        if "headers" in sorts:
            for name, value in request.headers:
                yield ("headers", name.lower()), value
        if "query" in sorts:
            for name, value in request.query:
                yield ("query", name.lower()), value
        for path in self._paths:
            for value in path.find(request.json):
                if isinstance(value, str):
                    yield ("body", path.text), value


def _fits(globs: Iterable[Glob] | None, actual: str | None) -> bool:
    return globs is None or (actual is not None and any_matches(globs, actual))


def _wants(match: Match) -> Iterator[Want]:
    """Yield all that a match wants of the texts of a request, in the order in which it is likely to help."""
    if match.domain is not None:
        yield ("domain", ""), [_of_glob(glob) for glob in match.domain]
    for path, wanted in match.body or ():
        if isinstance(wanted, Glob | str):
            yield ("body", path.text), [_of_glob(wanted) if isinstance(wanted, Glob) else [("whole", wanted)]]
    for sort, named in (("query", match.query), ("headers", match.headers)):
        for name, glob in named or ():
            if glob is not None:
                yield (sort, name.lower()), [_of_glob(glob)]
    if match.path is not None:
        yield ("path", ""), [_of_glob(glob) for glob in match.path]


def _of_glob(glob: Glob) -> list[Piece]:
    """Return the pieces that a text like ``glob`` holds, the longest first; each text begins with nothing."""
    first, *others = _WILD.split(glob.text)
    if not others:
        return [("whole", first)]
    *inner, last = others
    pieces: list[Piece] = [("begin", first), ("end", last), *(("within", one) for one in inner)]
    return sorted((one for one in pieces if one[1]), key=lambda one: -len(one[1])) or [("begin", "")]


def _rarest(wants: Iterable[Want], shared: Counter[tuple[Part, Piece]]) -> Sequence[tuple[Part, Piece]]:
    """Return by which pieces to look a match up: those of the part where the fewest share them."""
    choices = [
        [min(((part, piece) for piece in one), key=shared.__getitem__) for one in alternatives]
        for part, alternatives in wants
    ]
    return min(choices, key=lambda keys: sum(map(shared.__getitem__, keys)), default=())


def _pieces(text: str, where: Where, size: int) -> Iterable[str]:
    """Return the pieces of that size that ``text`` has there."""
    if where == "whole":
        return (text,)
    if size > len(text):
        return ()
    if where == "begin":
        return (text[:size],)
    if where == "end":
        return (text[-size:],)
    return (text[at : at + size] for at in range(len(text) - size + 1))
