"""Where the operations of powers are found over HTTP: method and path follow from what they are called.

``/_sandbox/{power}[/{segment}][/{verb}]``; a verb that any collection has takes the bare path.
"""

from __future__ import annotations

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
    if operation.sort == "act":
        return "POST"
    told = (one for one in operation.parameters if one.place != "segment")
    return "GET" if all(map(_is_word, told)) else "POST"


def status_of(operation: Operation) -> int:
    """Return the status of an answer, which says whether there is something new."""
    return 201 if operation.name in _MAKES else 200


def path_of(operation: Operation) -> str:
    """Return the path, with a placeholder for each segment."""
    segments = [f"{{{name}}}" for name in operation.segments]
    verb = [] if operation.name in _BARE else [operation.name]
    return "/".join([ROOT, operation.power.name, *segments, *verb])


def takes_slashes(operation: Operation) -> bool:
    """Whether a segment may have slashes in it, as no path of the power goes on after one."""
    return all(path_of(one).endswith("}") for one in operation.power.operations() if "{" in path_of(one))


def _is_word(parameter: Parameter) -> bool:
    shape = parameter.kind.shape
    return shape.get("type") in _WORDS or not shape
