"""The one path that every request takes, whichever generation it belongs to."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast
from wsgiref.handlers import format_date_time

from flask import Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from sandbox.core.assumptions import named
from sandbox.core.refusals import (
    BODY_TOO_LARGE,
    INTERNAL_ERROR,
    MALFORMED_BODY,
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    UNKNOWN_WORLD,
    Refused,
)
from sandbox.web.generation import Answer, Endpoint, Generation, Incoming
from sandbox.web.strict_json import write
from sandbox.web.transport import ENV_NOTE, ENV_TOO_LARGE
from sandbox.worlds import World, Worlds

#: Keys of the WSGI environment under which the path prefix of a world is handed on.
ENV_WORLD = "sandbox.world"
ENV_PREFIX = "sandbox.prefix"

log = logging.getLogger("sandbox")


class Pipeline:
    """Takes a request to its endpoint and brings the answer back, with what is to be said about it."""

    def __init__(self, worlds: Worlds, generations: Sequence[Generation], max_body: int) -> None:
        self.worlds = worlds
        self.generations = generations
        self.max_body = max_body

    def run(self, generation: Generation, endpoint: Endpoint, arguments: dict[str, Any]) -> Response:
        """Answer a request that has matched ``endpoint``."""
        incoming = self._incoming(arguments)
        world: World | None = None
        cause = ""
        try:
            self._read(incoming)
            world, account = generation.authenticate(incoming)
            cause = world.next_request()
            asked = generation.arguments(endpoint, incoming, world)
            outcome = generation.carry_out(endpoint, world, account, asked, incoming, cause)
            if outcome.refused is not None:
                raise outcome.refused
            answer = generation.accept(endpoint, outcome.result, incoming, world)
        except Refused as refused:
            answer = generation.refuse(refused, incoming, world, endpoint)
            return self._response(answer, incoming, world, cause, endpoint.id, refused)
        except Exception as error:
            answer = self._failed(error, generation, incoming, world, endpoint)
            return self._response(answer, incoming, world, cause, endpoint.id, None)
        return self._response(answer, incoming, world, cause, endpoint.id, None)

    def stray(self, error: HTTPException) -> Response:
        """Answer a request that no endpoint takes, in the shape of the generation it looks like."""
        incoming = self._incoming({})
        generation = self._owner(incoming.path)
        if isinstance(error, RequestEntityTooLarge):
            refused = Refused(BODY_TOO_LARGE, limit=self.max_body)
        elif isinstance(error, MethodNotAllowed):
            allowed = ", ".join(sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"}))
            incoming.headers_out["Allow"] = allowed
            refused = Refused(
                METHOD_NOT_ALLOWED, method=incoming.method, path=_short(incoming.path), allowed=allowed
            )
        elif error.code == 404:
            nearest = ", ".join(self._nearest(incoming))
            refused = Refused(
                UNKNOWN_PATH, method=incoming.method, path=_short(incoming.path), nearest=nearest
            )
        else:
            refused = Refused(MALFORMED_BODY, problem=(error.description or str(error)).rstrip("."))
        answer = generation.refuse(refused, incoming, None, None)
        return self._response(answer, incoming, None, "", "-", refused)

    def crashed(self, error: Exception) -> Response:
        """Answer for a failure outside any endpoint."""
        incoming = Incoming(request.method, "", request.path, "http", {}, (), b"")
        generation = self._owner(request.path)
        return self._response(
            self._failed(error, generation, incoming, None, None), incoming, None, "", "-", None
        )

    def _incoming(self, arguments: dict[str, Any]) -> Incoming:
        environ = request.environ
        return Incoming(
            method=request.method,
            target=environ.get("REQUEST_URI") or environ.get("RAW_URI") or request.full_path.rstrip("?"),
            path=request.path,
            scheme=request.scheme,
            headers=cast(Mapping[str, str], request.headers),
            query=[(key, value) for key, values in request.args.lists() for value in values],
            body=b"",
            arguments={name: str(value) for name, value in arguments.items()},
            prefix=environ.get(ENV_PREFIX, ""),
        )

    def _read(self, incoming: Incoming) -> None:
        environ = request.environ
        if environ.get(ENV_TOO_LARGE) or (request.content_length or 0) > self.max_body:
            raise Refused(BODY_TOO_LARGE, limit=self.max_body)
        name = environ.get(ENV_WORLD)
        if name is not None:
            incoming.world = self.worlds.get(name)
            if incoming.world is None:
                raise Refused(UNKNOWN_WORLD, world=_short(name))
        incoming.body = request.get_data(cache=False)

    def _owner(self, path: str) -> Generation:
        return next((one for one in self.generations if one.owns(path)), self.generations[0])

    def _nearest(self, incoming: Incoming) -> list[str]:
        rows = {
            f"{endpoint.method} {path}": path
            for generation in self.generations
            for endpoint in generation.endpoints
            for path in endpoint.paths
        }
        asked = f"{incoming.method} {incoming.path[:200]}"
        return get_close_matches(asked, rows, 3, 0.0)

    def _failed(
        self,
        error: Exception,
        generation: Generation,
        incoming: Incoming,
        world: World | None,
        endpoint: Endpoint | None,
    ) -> Answer:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        log.error("%s: %s (%s, line %s)", type(error).__name__, error, frame.filename, frame.lineno)
        return generation.refuse(Refused(INTERNAL_ERROR), incoming, world, endpoint)

    def _response(
        self,
        answer: Answer,
        incoming: Incoming,
        world: World | None,
        cause: str,
        operation: str,
        refused: Refused | None,
    ) -> Response:
        shown = world or incoming.world or self.worlds.default
        response = Response(write(answer.body), answer.status, content_type="application/json")
        response.headers["Date"] = format_date_time(shown.now().timestamp())
        if world is not None:
            response.headers["X-Sandbox-World"] = world.name
            response.headers["X-Sandbox-Request"] = cause
            if incoming.assumed:
                response.headers["X-Sandbox-Assumptions"] = _listed(world, incoming.assumed)
        response.headers.update(incoming.headers_out)
        if refused is not None and refused.rule is BODY_TOO_LARGE:
            response.headers["Connection"] = "close"
        request.environ[ENV_NOTE] = f"{operation} {refused.rule.name if refused else 'ok'}"
        return response


def _listed(world: World, assumed: set[str]) -> str:
    pairs = named(world.assumptions, assumed)
    return ", ".join(f"{name}={_word(value)}" for name, value in pairs)


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "…"
