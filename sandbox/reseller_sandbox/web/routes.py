"""Where the operations of powers are found over HTTP: method and path follow from what they are called.

``/_sandbox/{power}[/{segment}][/{verb}]``; a verb that any collection has takes the bare path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.powers.power import Operation

ROOT = "/_sandbox"

_BARE = {
    "show": "GET",
    "list": "GET",
    "find": "GET",
    "get": "GET",
    "add": "POST",
    "replace": "PUT",
    "change": "PATCH",
    "clear": "DELETE",
    "remove": "DELETE",
}

#: What leads to something that can be found under a path of its own.
_MAKES = ("add", "fork")

#: Schemas of values that fit into a query string as they are.
_WORDS = ("string", "integer", "boolean", "number")


def method_of(operation: Operation) -> str:
    """Return the HTTP method: a look is a GET unless it is told objects or lists."""
    if operation.sort == "stream":  # a browser's EventSource sends nothing else
        return "GET"
    bare = _BARE.get(operation.name)
    if bare is not None:
        return bare
    told = (one for one in operation.parameters if one.place != "segment")
    return "POST" if operation.sort == "act" or not all(map(_is_word, told)) else "GET"


def status_of(operation: Operation) -> int:
    """Return the status of an answer, which says whether there is something new."""
    return 201 if operation.name in _MAKES else 200


def path_of(operation: Operation) -> str:
    """Return the path, with a placeholder for each segment."""
    segments = [f"{{{one.name}}}" for one in operation.parameters if one.place == "segment"]
    verb = [] if operation.name in _BARE else [operation.name]
    return "/".join([ROOT, operation.power.name, *segments, *verb])


def takes_slashes(operation: Operation) -> bool:
    """Whether a segment may have slashes in it, as no path of the power goes on after one."""
    return all(path_of(one).endswith("}") for one in operation.power.operations() if "{" in path_of(one))


def spoken(parameter: Parameter, word: str) -> Any:
    """Return what ``word``, of a path, a query string or a command line, would be in JSON."""
    own = parameter.kind.spoken
    return said(parameter.kind.shape, word) if own is None else own(word)


def said(shape: Mapping[str, Any], word: str) -> Any:
    """Return the JSON that ``word`` is, or the word where ``shape`` takes texts and nothing of that type."""
    sorts = {sort for one in alternatives(shape) for sort in _listed(one.get("type"))}
    if sorts == {"string"}:
        return word
    try:
        found = json.loads(word)
    except ValueError:
        return word
    return word if "string" in sorts and not _SORTS[type(found)] & sorts else found


def alternatives(shape: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that a value may fit, one of them being enough."""
    for one in shape.get("oneOf", ()):
        yield from alternatives(one)
    if "oneOf" not in shape:
        yield shape


def _listed(sort: Any) -> list[Any]:
    return sort if isinstance(sort, list) else [sort]


_SORTS: Mapping[type, set[str]] = {
    str: {"string"},
    int: {"integer", "number"},
    float: {"number"},
    bool: {"boolean"},
    list: {"array"},
    dict: {"object"},
    type(None): {"null"},
}


def _is_word(parameter: Parameter) -> bool:
    shape = parameter.kind.shape
    return shape.get("type") in _WORDS or not shape
