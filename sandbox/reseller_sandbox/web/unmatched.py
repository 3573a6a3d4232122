"""Explanation of requests that match no route, with the most similar operations."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from flask import current_app
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.values.text_checks import close, cut
from reseller_sandbox.web.canned_answers import near_miss
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.interface import Endpoint, Interface, Mount
from reseller_sandbox.worlds import World

_SHOWN = 200
_MOST_WORDS = 3

#: The maximum number of suggestions, and the minimum similarity.
_MOST = 3
_CUTOFF = 0.6
#: The maximum difference in similarity between the best suggestion and another suggestion. A different
#: method lowers the similarity by ``_METHOD``.
_AS_GOOD, _METHOD = 0.02, 0.05
#: If two shapes have no common word, their similarity is lower by this number.
_WORDS = 0.2
#: The maximum number of segments that are compared, and their maximum length.
_SEGMENTS = 6
_LONGEST = 40

_VERSION = re.compile(r"v[0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
#: Matches a path segment that is a placeholder, a name with a dot, a number, or a handle.
_VALUE = re.compile(r"[{.\d]|^[A-Z-]+$")
#: The verbs with which names of operations begin, such as ``create`` in ``createDomain``.
_VERBS = frozenset(
    ("add", "create", "delete", "edit", "get", "list", "modify", "put", "remove", "set", "update")
)


#: The hint for a request that the contract does not describe.
_BEYOND = "; to answer such requests, add a canned answer with answers.add"


class Unmatched:
    """Explains why no route of ``mounts`` matches a request."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        self._mounts = mounts

    @cached_property
    def _indexes(self) -> dict[str, OperationIndex]:
        """The operations of each interface by its name. The name "" stands for all client interfaces."""
        interfaces = [mount.interface for mount in self._mounts]
        clients = (interface for interface in interfaces if interface.journalled)
        all_clients = OperationIndex(chain.from_iterable(interface.endpoints for interface in clients))
        return {
            "": all_clients,
            **{interface.name: OperationIndex(interface.endpoints) for interface in interfaces},
        }

    def refusal(self, error: HTTPException, request: RequestContext, world: World) -> Refused:
        """Return the refusal for a routing error. For an unknown path, suggest similar operations."""
        path = cut(world.secrecy.target_masked(request.prefix + request.path), _SHOWN)
        if isinstance(error, MethodNotAllowed):
            allowed = ", ".join(_methods_of(request.path, error))
            request.headers_out["Allow"] = allowed
            owner = self._owner(request)
            instead = owner.instead(request) if owner is not None else ""
            facts = {"method": request.method, "path": path, "allowed": allowed, "instead": instead}
            return Refused(r.METHOD_NOT_ALLOWED, **facts)
        if error.code == 404:
            return Refused(
                r.UNKNOWN_PATH, method=request.method, path=path, nearest=self._nearest(request, world)
            )
        return Refused(r.MALFORMED_BODY, problem=(error.description or str(error)).rstrip("."))

    def _owner(self, request: RequestContext) -> Interface | None:
        """Return the interface to which the path of a request belongs, or None."""
        return next((mount.interface for mount in self._mounts if mount.owns(request.path)), None)

    def _nearest(self, request: RequestContext, world: World) -> str:
        """Return a hint for an unknown path: a canned answer, similar operations, or unknown words."""
        if reason := near_miss(request, world):
            return reason
        interface = self._owner(request)
        if interface is not None and (reason := interface.unmatched(request, world)):
            return reason
        index, path = self._indexes[interface.name if interface is not None else ""], request.path
        unknown = index.unknown(path) if interface is not None else []
        if interface is not None and unknown:
            missing = f"no operations on {' '.join(unknown[:_MOST_WORDS])}"
            return f"{interface.owner} has {missing}" + (_BEYOND if interface.journalled else "")
        nearest = index.nearest(request.method, path)
        if nearest:
            return f"the nearest {'is' if len(nearest) == 1 else 'are'} {', '.join(nearest)}"
        if interface is None:
            *first, last = (mount.address for mount in self._mounts)
            return f"paths begin with {', '.join(first)} or {last}{_BEYOND}"
        return f"{interface.owner} has nothing like it" + (_BEYOND if interface.journalled else "")


def _methods_of(path: str, error: MethodNotAllowed) -> list[str]:
    """Return the HTTP methods of the operations at a path.

    The path ``/worlds/fork`` does not get the methods of ``/worlds/{world}``: the route with the most fixed
    segments counts. HEAD is left out, because
    every GET route accepts it.
    """
    find = current_app.url_map.bind("").match
    known = sorted(set(error.valid_methods or ()) - {"HEAD"})
    shapes = {
        method: ["<" in part for part in find(path, method, return_rule=True)[0].rule.split("/")]
        for method in known
    }
    nearest = min(shapes.values(), key=lambda shape: (shape.count(True) - len(shape), shape), default=[])
    return [method for method in known if shapes[method] == nearest]


class _KnownOperation(NamedTuple):
    shown: str
    method: str
    shape: str


class OperationIndex:
    """The operations of one or several interfaces, and the search for similar operations."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._operations = [
            _KnownOperation(f"{endpoint.method} {path}", endpoint.method, _shape(path))
            for endpoint in endpoints
            for path in endpoint.paths
        ]
        self._words = {word for known in self._operations for word in _words(known.shape)}

    def nearest(self, method: str, path: str) -> list[str]:
        """Return the operations most similar to a request. The path counts more than the method."""
        shape = _shape(path, self._words)
        scores = {
            known: _likeness(shape, known.shape) - _METHOD * (known.method != method)
            for known in self._operations
        }
        least = max(_CUTOFF, max(scores.values(), default=0.0) - _AS_GOOD)
        best = sorted((-score, known.shown) for known, score in scores.items() if score >= least)
        return list(dict.fromkeys(shown for _, shown in best))[:_MOST]

    def unknown(self, path: str) -> list[str]:
        """Return the words of a path that no operation has, except verbs.

        A word after a variable part, such as the ``www`` of ``modifyRecord/a.com/www``, is a value if no
        operation has a word there. So is a word in the place of a variable part, such as ``popular`` in
        ``zones/popular``.
        """
        shape = _shape(path, self._words)
        known_parts = {known.shape.partition("/{}")[0] for known in self._operations}
        for part in (part for part in known_parts if "/" in part and shape.startswith(f"{part}/")):
            shape = "/".join((part, "{}", *shape[len(part) + 1 :].split("/")[1:]))
        before, _, after = shape.partition("{}")
        unknown = self._unknown(before)
        has_words = any(_words(known.shape.partition("{}")[2]) for known in self._operations)
        return unknown or (self._unknown(after) if has_words else [])

    def _unknown(self, shape: str) -> list[str]:
        words = {*self._words, *_VERBS}
        return [word for word in _words(shape) if word not in words and not close(word, words)]


def _shape(path: str, words: Container[str] = ()) -> str:
    """Return the part of a path after the version, with ``{}`` for a variable part: ``domains/{}``.

    One of ``words`` is no variable part, in any case.
    """
    segments = [segment[:_LONGEST] for segment in path.split("/") if segment][:_SEGMENTS]
    versions = [at for at, text in enumerate(segments, 1) if text == "{version}" or _VERSION.fullmatch(text)]
    after = segments[versions[-1] if versions else 0 :]
    is_word = [segment.lower() in words or not _VALUE.search(segment) for segment in after]
    return "/".join(segment if known else "{}" for segment, known in zip(after, is_word, strict=True))


def _words(shape: str) -> list[str]:
    return list(dict.fromkeys(match[0].lower() for match in _WORD.finditer(shape)))


@lru_cache(maxsize=4096)
def _likeness(shape: str, other: str) -> float:
    """Return the similarity of two shapes. Common words count more than common letters."""
    words, others = set(_words(shape)), set(_words(other))
    common = len(words & others) / max(1, len(words | others))
    return SequenceMatcher(None, shape.lower(), other.lower()).ratio() + _WORDS * (common - 1)
