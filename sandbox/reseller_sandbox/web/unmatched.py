"""Why no row takes a request: a path that is none, another method, a body too large, HTTP that is none."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from reseller_sandbox.core.refusals import (
    BODY_TOO_LARGE,
    MALFORMED_BODY,
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    Refused,
)
from reseller_sandbox.web.generation import Generation, Incoming

_NEAREST = 3
_COMPARED = 200


def why(
    error: HTTPException, incoming: Incoming, generations: Iterable[Generation], max_body: int
) -> Refused:
    """The refusal that ``error`` stands for; an unknown path is told the rows it comes nearest to."""
    path = incoming.prefix + incoming.path
    path = path if len(path) <= _COMPARED else f"{path[: _COMPARED - 1]}…"
    if isinstance(error, RequestEntityTooLarge):
        return Refused(BODY_TOO_LARGE, limit=max_body, setting="--max-body")
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"}))
        incoming.headers_out["Allow"] = allowed
        return Refused(METHOD_NOT_ALLOWED, method=incoming.method, path=path, allowed=allowed)
    if error.code == 404:
        nearest = ", ".join(_nearest(incoming, generations))
        return Refused(UNKNOWN_PATH, method=incoming.method, path=path, nearest=nearest)
    return Refused(MALFORMED_BODY, problem=(error.description or str(error)).rstrip("."))


def _nearest(incoming: Incoming, generations: Iterable[Generation]) -> list[str]:
    rows = [
        f"{endpoint.method} {path}"
        for generation in generations
        for endpoint in generation.endpoints
        for path in endpoint.paths
    ]
    return get_close_matches(f"{incoming.method} {incoming.path[:_COMPARED]}", rows, _NEAREST, 0.0)
