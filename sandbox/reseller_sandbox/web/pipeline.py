"""The one path that every request takes, whichever generation it belongs to."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast
from wsgiref.handlers import format_date_time

from flask import Response, request
from werkzeug.exceptions import HTTPException

from reseller_sandbox.core.assumptions import named
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import BODY_TOO_LARGE, INTERNAL_ERROR, UNKNOWN_WORLD, UNREAD, Refused
from reseller_sandbox.server.delivery import (
    ENV_AGAIN,
    ENV_NOTE,
    ENV_SERVED,
    ENV_STREAM,
    ENV_TOO_LARGE,
    Again,
    Stream,
)
from reseller_sandbox.server.heads import Unread
from reseller_sandbox.web import strikes
from reseller_sandbox.web.exchange import Exchange
from reseller_sandbox.web.generation import Answer, Endpoint, Generation, Incoming, content
from reseller_sandbox.web.hosts import require_host
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.web.strikes import Postponed
from reseller_sandbox.web.unmatched import Unmatched
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.turn import Busy, hurried

#: Keys of the WSGI environment under which the path prefix of a world is handed on.
ENV_WORLD = "sandbox.world"
ENV_PREFIX = "sandbox.prefix"

#: The status that stands for none, where WSGI wants one and the connection will not carry it.
UNANSWERED = 503

log = logging.getLogger("reseller_sandbox")


class Pipeline:
    """Takes a request to its endpoint and brings the answer back, with what is to be said about it."""

    def __init__(self, worlds: Engine, generations: Sequence[Generation], limits: BodyLimits) -> None:
        self.worlds = worlds
        self.generations = generations
        self.limits = limits
        self._unmatched = Unmatched(generations, limits)

    def run(self, generation: Generation, endpoint: Endpoint, arguments: dict[str, Any]) -> Response:
        """Answer a request that has matched ``endpoint``."""
        return _promptly(lambda: self._serve(generation, endpoint, arguments))

    def stray(self, error: HTTPException) -> Response:
        """Answer a request that no endpoint takes, in the shape of the generation it looks like."""
        return _promptly(lambda: self._serve(self._owner(request.path), None, {}, error))

    def _serve(
        self,
        generation: Generation,
        endpoint: Endpoint | None,
        arguments: dict[str, Any],
        error: HTTPException | None = None,
    ) -> Response:
        exchange = Exchange(generation, endpoint, _incoming(arguments), stopwatch())
        again: Again | None = request.environ.pop(ENV_AGAIN, None)
        exchange.held = again.held if again is not None else None
        try:
            let_in = self._admitted(exchange, error)
            if again is None and ENV_SERVED in request.environ and self._is_lengthy(exchange, let_in):
                request.environ[ENV_AGAIN] = Again(aside=True)
                return Response(status=204)
            try:
                answer = self._perform(exchange, let_in)
            except Postponed as postponed:
                if request.environ.get(ENV_SERVED):
                    request.environ[ENV_AGAIN] = postponed.again
                    return Response(status=204)
                time.sleep(postponed.again.after)
                exchange.held = postponed.again.held
                answer = self._perform(exchange, let_in)
        except Refused as refused:
            answer = self._refuse(exchange, refused)
        except Busy:
            raise
        except Exception as failure:
            answer = self._fail(exchange, failure)
        return self._finish(exchange, answer)

    def _admitted(
        self, exchange: Exchange, error: HTTPException | None
    ) -> tuple[World, Account | None] | Refused:
        """For whom and in which world the operation is to be done, or why no operation is reached."""
        incoming, generation = exchange.incoming, exchange.generation
        try:
            self._read(incoming)
            if error is not None:
                with suppress(Refused):  # only to know whose it is
                    generation.authenticate(incoming)
                return self._unmatched.why(error, incoming)
            let_in = generation.authenticate(incoming)
        except Refused as refused:
            return refused
        exchange.admitted = True
        return let_in

    def crashed(self, error: Exception) -> Response:
        """Answer for a failure outside any endpoint."""
        exchange = Exchange(self._owner(request.path), None, _incoming({}), stopwatch())
        return _promptly(lambda: self._finish(exchange, self._fail(exchange, error)))

    def unread(self, lost: Unread) -> None:
        """Keep account, in the default world, of a request that the server could not read."""
        if self.worlds.default.is_far_behind:  # to catch up would hold up everybody
            threading.Thread(target=self._unread, args=(lost,)).start()
            return
        try:
            with hurried():
                self._unread(lost)
        except Busy as busy:
            busy.turn.when_free(partial(self._unread, lost))

    def _unread(self, lost: Unread) -> None:
        path = lost.target.partition("?")[0]
        incoming = Incoming(lost.method, lost.target, path, "", dict(lost.headers), [], b"")
        exchange = Exchange(self.generations[0], None, incoming, stopwatch())
        rule = UNREAD[lost.problem.error]
        exchange.refused = Refused(rule, problem=lost.problem.message).refusal
        world = self.worlds.default
        with world.lock:
            exchange.begin(world)
            status = lost.problem.status
            exchange.record(world, status, lost.problem.answer().body if status else b"", ())

    def _refuse(self, exchange: Exchange, refused: Refused) -> Answer:
        """The answer to a refusal, which stands in a journal: the default world's where none is known."""
        known = exchange.incoming.world
        if exchange.world is None and (known is not None or exchange.generation.journalled):
            exchange.begin(known or self.worlds.default)
        return exchange.refuse(refused)

    def _read(self, incoming: Incoming) -> None:
        environ = request.environ
        require_host(environ)
        limit = self.limits.of(incoming.path)
        if environ.get(ENV_TOO_LARGE) or (request.content_length or 0) > limit:
            raise Refused(BODY_TOO_LARGE, limit=limit, setting=self.limits.setting(incoming.path))
        name = environ.get(ENV_WORLD)
        if name is not None:
            incoming.world = self.worlds.get(name)
            if incoming.world is None:
                raise Refused(UNKNOWN_WORLD, world=_short(name))
        incoming.body = request.get_data(cache=False)

    def _perform(self, exchange: Exchange, let_in: tuple[World, Account | None] | Refused) -> Answer:
        why = let_in if isinstance(let_in, Refused) else None
        nowhere = exchange.incoming.world or self.worlds.default
        world, account = (nowhere, None) if isinstance(let_in, Refused) else let_in
        if not exchange.generation.journalled:  # control, which locks what it changes for itself
            return self._act(exchange, world, account, why)
        with world.lock:
            faults = world.moment.faults.rules and (why is None or why.rule is not UNKNOWN_WORLD)
            if faults or exchange.held is not None:
                return strikes.perform(exchange, world, account, why)
            return self._act(exchange, world, account, why)

    def _is_lengthy(self, exchange: Exchange, let_in: tuple[World, Account | None] | Refused) -> bool:
        """Whether the request would hold up the others, were it not done beside them."""
        if isinstance(let_in, Refused):
            return (exchange.incoming.world or self.worlds.default).is_far_behind
        lengthy = exchange.endpoint.lengthy_from if exchange.endpoint is not None else None
        return (lengthy is not None and len(exchange.incoming.body) >= lengthy) or let_in[0].is_far_behind

    def _act(self, exchange: Exchange, world: World, account: Account | None, why: Refused | None) -> Answer:
        if why is not None or exchange.endpoint is None:
            return self._refuse(exchange, why or Refused(INTERNAL_ERROR))
        exchange.begin(world)
        return exchange.act(exchange.endpoint, world, account, exchange.cause)

    def _fail(self, exchange: Exchange, error: Exception) -> Answer:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename}, line {frame.lineno}"
        log.error("%s failed: %s: %r (%s)", exchange.operation, type(error).__name__, str(error), where)
        return self._refuse(exchange, Refused(INTERNAL_ERROR, where="; the log of the sandbox says where"))

    def _finish(self, exchange: Exchange, answer: Answer) -> Response:
        """The answer as HTTP, once it stands in the journal."""
        body = b"" if isinstance(answer.body, Stream) else content(answer)
        headers = {"Date": format_date_time((exchange.world or self.worlds.default).now().timestamp())}
        if exchange.world is not None:
            assumed = named(exchange.world.assumptions, exchange.incoming.assumed)
            if exchange.cause:
                exchange.record(exchange.world, answer.status, body, assumed)
            headers |= _told(exchange, exchange.world, assumed)
        headers |= exchange.incoming.headers_out
        if exchange.refused is not None and exchange.refused.rule is BODY_TOO_LARGE:
            headers["Connection"] = "close"
        request.environ[ENV_NOTE] = exchange.note
        if isinstance(answer.body, Stream):
            if request.environ.get(ENV_SERVED):
                request.environ[ENV_STREAM] = answer.body
            else:  # nobody waits for more: what there is, and no end
                body = answer.body.piece()
                answer.body.close()
        content_type = answer.content_type or exchange.generation.content_type
        return Response(body, answer.status or UNANSWERED, headers, content_type=content_type)

    def _owner(self, path: str) -> Generation:
        return next((one for one in self.generations if one.owns(path)), self.generations[0])


def _promptly(answer: Callable[[], Response]) -> Response:
    """What ``answer`` makes; on the event loop only if nobody is at work on the world, else it is put off."""
    again: Again | None = request.environ.get(ENV_AGAIN)
    if ENV_SERVED not in request.environ or (again is not None and again.aside):
        return answer()
    try:
        with hurried():
            return answer()
    except Busy as busy:
        held = again.held if again is not None else None
        request.environ[ENV_AGAIN] = Again(held=held, when=busy.turn.when_free)
        return Response(status=204)


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
        environ=environ,
    )


def _told(exchange: Exchange, world: World, assumed: Sequence[tuple[str, object]]) -> dict[str, str]:
    """What the headers say of a request beside its answer: its world and name, its faults, its grounds."""
    told = {
        "X-Sandbox-World": world.name,
        "X-Sandbox-Request": exchange.cause,
        "X-Sandbox-Fault": exchange.struck_by,
        "X-Sandbox-Assumptions": ", ".join(f"{name}={_word(value)}" for name, value in assumed),
    }
    return {name: value for name, value in told.items() if value}


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "…"
