"""The one path that every request takes, whichever generation it belongs to."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast
from wsgiref.handlers import format_date_time

from flask import Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from sandbox.core.assumptions import named
from sandbox.core.clock import stopwatch
from sandbox.core.model import Account
from sandbox.core.refusals import (
    BODY_TOO_LARGE,
    INTERNAL_ERROR,
    MALFORMED_BODY,
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    UNKNOWN_WORLD,
    Refused,
)
from sandbox.core.state import Change
from sandbox.faults import FaultRule
from sandbox.web import strikes
from sandbox.web.generation import Answer, Endpoint, Generation, Incoming, content
from sandbox.web.requestlog import masked
from sandbox.web.strikes import Postponed
from sandbox.web.struck import Struck
from sandbox.web.subjects import subjects
from sandbox.web.transport import ENV_AGAIN, ENV_NOTE, ENV_SERVED, ENV_TOO_LARGE, Again
from sandbox.worlds import Entry, Moment, World, Worlds
from sandbox.worlds.moment import after_request

#: Keys of the WSGI environment under which the path prefix of a world is handed on.
ENV_WORLD = "sandbox.world"
ENV_PREFIX = "sandbox.prefix"

#: The status that stands for none, where WSGI wants one and the connection will not carry it.
UNANSWERED = 503

log = logging.getLogger("sandbox")


@dataclass(slots=True)
class Exchange:
    """A request on its way through, and what has come of it so far."""

    generation: Generation
    endpoint: Endpoint | None
    incoming: Incoming
    began: float
    world: World | None = None
    cause: str = ""
    before: Moment | None = None
    after: Moment | None = None
    changes: Sequence[Change] = ()
    refused: Refused | None = None
    faults: list[FaultRule] = field(default_factory=list)
    lost: bool = False
    held: Struck | None = None

    @property
    def operation(self) -> str:
        """The operation's id, or a dash where no row has taken the request."""
        return self.endpoint.id if self.endpoint is not None else "-"


class Pipeline:
    """Takes a request to its endpoint and brings the answer back, with what is to be said about it."""

    def __init__(self, worlds: Worlds, generations: Sequence[Generation], max_body: int) -> None:
        self.worlds = worlds
        self.generations = generations
        self.max_body = max_body

    def run(self, generation: Generation, endpoint: Endpoint, arguments: dict[str, Any]) -> Response:
        """Answer a request that has matched ``endpoint``."""
        exchange = Exchange(generation, endpoint, _incoming(arguments), stopwatch())
        again: Again | None = request.environ.pop(ENV_AGAIN, None)
        exchange.held = again.held if again is not None else None
        try:
            self._read(exchange.incoming)
            try:
                answer = self._perform(exchange, endpoint)
            except Postponed as postponed:
                if request.environ.get(ENV_SERVED):
                    request.environ[ENV_AGAIN] = postponed.again
                    return Response(status=204)
                time.sleep(postponed.again.after)
                exchange.held = postponed.again.held
                answer = self._perform(exchange, endpoint)
        except Refused as refused:
            answer = self.refuse(exchange, refused)
        except Exception as error:
            answer = self._fail(exchange, error)
        return self._finish(exchange, answer)

    def stray(self, error: HTTPException) -> Response:
        """Answer a request that no endpoint takes, in the shape of the generation it looks like."""
        exchange = Exchange(self._owner(request.path), None, _incoming({}), stopwatch())
        try:
            self._read(exchange.incoming)
            with suppress(Refused):  # only to know whose it is
                exchange.generation.authenticate(exchange.incoming)
            refused = self._why_stray(exchange.incoming, error)
        except Refused as earlier:
            refused = earlier
        return self._finish(exchange, self.refuse(exchange, refused))

    def crashed(self, error: Exception) -> Response:
        """Answer for a failure outside any endpoint."""
        exchange = Exchange(self._owner(request.path), None, _incoming({}), stopwatch())
        return self._finish(exchange, self._fail(exchange, error))

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

    def _perform(self, exchange: Exchange, endpoint: Endpoint) -> Answer:
        incoming, generation = exchange.incoming, exchange.generation
        world, account = generation.authenticate(incoming)
        with world.lock:
            if generation.journalled and (world.moment.faults.rules or exchange.held is not None):
                return strikes.perform(self, exchange, endpoint, world, account)
            self.begin(exchange, world)
            return self.act(exchange, endpoint, world, account, exchange.cause)

    def act(
        self, exchange: Exchange, endpoint: Endpoint, world: World, account: Account | None, cause: str
    ) -> Answer:
        """Carry out the operation in ``world``; raises :class:`~sandbox.core.refusals.Refused`."""
        incoming, generation = exchange.incoming, exchange.generation
        try:
            asked = generation.arguments(endpoint, incoming, world)
            outcome = generation.carry_out(endpoint, world, account, asked, incoming, cause)
            if cause and world.state.waiting:  # plans of the rest of the world
                accepted = outcome.refused is None
                world.travel(after_request(endpoint.id, subjects(incoming), accepted=accepted))
        finally:
            exchange.after = world.moment
        if outcome.refused is not None:
            raise outcome.refused
        exchange.changes = outcome.changes
        return generation.accept(endpoint, outcome.result, incoming, world)

    def begin(self, exchange: Exchange, world: World) -> None:
        """Give the request its name in its world, and remember the moment it came at."""
        exchange.world = world
        if exchange.generation.journalled:
            world.settle()
            exchange.before = world.moment
            exchange.cause = world.next_request()
            exchange.after = world.moment

    def refuse(self, exchange: Exchange, refused: Refused) -> Answer:
        """The answer to a request that was refused."""
        exchange.refused = refused
        incoming = exchange.incoming
        if exchange.world is None and incoming.world is not None:
            self.begin(exchange, incoming.world)
        return exchange.generation.refuse(refused, incoming, incoming.world, exchange.endpoint)

    def _fail(self, exchange: Exchange, error: Exception) -> Answer:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename}, line {frame.lineno}"
        log.error("%s failed: %s: %r (%s)", exchange.operation, type(error).__name__, str(error), where)
        return self.refuse(exchange, Refused(INTERNAL_ERROR))

    def _finish(self, exchange: Exchange, answer: Answer) -> Response:
        """The answer as HTTP, once it stands in the journal."""
        body = content(answer)
        world, incoming = exchange.world, exchange.incoming
        headers = {"Date": format_date_time((world or self.worlds.default).now().timestamp())}
        if world is not None:
            headers["X-Sandbox-World"] = world.name
            assumed = named(world.assumptions, incoming.assumed)
            if exchange.cause:
                headers["X-Sandbox-Request"] = exchange.cause
                _record(exchange, world, answer.status, body, assumed)
            if assumed:
                headers["X-Sandbox-Assumptions"] = ", ".join(
                    f"{name}={_word(value)}" for name, value in assumed
                )
        headers |= incoming.headers_out
        refused = exchange.refused
        if refused is not None and refused.rule is BODY_TOO_LARGE:
            headers["Connection"] = "close"
        note = f"{exchange.operation} {refused.rule.name if refused else 'ok'}"
        if exchange.faults:
            struck = ", ".join(rule.name for rule in exchange.faults)
            headers["X-Sandbox-Fault"] = struck
            note += f" (fault {struck})"
        request.environ[ENV_NOTE] = note
        return Response(body, answer.status or UNANSWERED, headers, content_type=answer.content_type)

    def _why_stray(self, incoming: Incoming, error: HTTPException) -> Refused:
        path = _short(incoming.path)
        if isinstance(error, RequestEntityTooLarge):
            return Refused(BODY_TOO_LARGE, limit=self.max_body)
        if isinstance(error, MethodNotAllowed):
            allowed = ", ".join(sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"}))
            incoming.headers_out["Allow"] = allowed
            return Refused(METHOD_NOT_ALLOWED, method=incoming.method, path=path, allowed=allowed)
        if error.code == 404:
            nearest = ", ".join(self._nearest(incoming))
            return Refused(UNKNOWN_PATH, method=incoming.method, path=path, nearest=nearest)
        return Refused(MALFORMED_BODY, problem=(error.description or str(error)).rstrip("."))

    def _owner(self, path: str) -> Generation:
        return next((one for one in self.generations if one.owns(path)), self.generations[0])

    def _nearest(self, incoming: Incoming) -> list[str]:
        rows = [
            f"{endpoint.method} {path}"
            for generation in self.generations
            for endpoint in generation.endpoints
            for path in endpoint.paths
        ]
        return get_close_matches(f"{incoming.method} {incoming.path[:200]}", rows, 3, 0.0)


def _incoming(arguments: dict[str, Any]) -> Incoming:
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
        port=environ.get("SERVER_PORT", ""),
    )


def _record(
    exchange: Exchange, world: World, status: int, answer: bytes, assumed: Sequence[tuple[str, object]]
) -> None:
    incoming = exchange.incoming
    assert exchange.before is not None
    assert exchange.after is not None
    world.journal.add(
        Entry(
            id=exchange.cause,
            at=exchange.before.clock.instant,
            operation=exchange.operation,
            account=incoming.account.name if incoming.account is not None else None,
            domains=subjects(incoming),
            method=incoming.method,
            target=masked(incoming.target),
            body=incoming.body,
            credentials_in_query=incoming.credentials_in_query,
            status=status,
            answer=answer,
            duration=stopwatch() - exchange.began,
            changes=tuple(exchange.changes),
            refused=exchange.refused,
            assumed=tuple(assumed),
            fault=", ".join(rule.name for rule in exchange.faults) or None,
            fault_kind=", ".join(rule.kind.name for rule in exchange.faults) or None,
            lost=exchange.lost,
            before=exchange.before,
            after=exchange.after,
        )
    )


def _listed(assumed: Sequence[tuple[str, object]]) -> str:
    return ", ".join(f"{name}={_word(value)}" for name, value in assumed)


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "…"
