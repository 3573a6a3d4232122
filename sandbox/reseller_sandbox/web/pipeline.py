"""The one path that every request takes, whichever interface it belongs to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from flask import Response
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date
from werkzeug.wsgi import get_content_length

from reseller_sandbox.core.assumptions import named, spelt
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import BODY_TOO_LARGE, INTERNAL_ERROR, UNKNOWN_WORLD, UNREAD, Refused
from reseller_sandbox.server.delivery import (
    ENV_AGAIN,
    ENV_DELIVERY,
    ENV_SAID,
    ENV_SERVED,
    ENV_STREAM,
    ENV_TOO_LARGE,
    Again,
)
from reseller_sandbox.server.log import log_failure
from reseller_sandbox.server.messages import Unread
from reseller_sandbox.web import headers as names
from reseller_sandbox.web import strikes
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.exchange import Exchange
from reseller_sandbox.web.hosts import require_host
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.interface import Answer, Interface
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.web.mount import Mount
from reseller_sandbox.web.strikes import Postponed
from reseller_sandbox.web.unmatched import Unmatched
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.turn import Busy, hurried

#: Key of the WSGI environment for the name of the world that the path chose.
ENV_WORLD = "sandbox.world"

#: The status that stands for none, where WSGI wants one and the connection will not carry it.
UNANSWERED = 503

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Pipeline:
    """Takes a request to its endpoint and brings the answer back, with what is to be said about it."""

    def __init__(self, worlds: Engine, mounts: Sequence[Mount], limits: BodyLimits) -> None:
        self.worlds = worlds
        self.mounts = mounts
        self.limits = limits
        self._unmatched = Unmatched(mounts, limits)

    def run(self, interface: Interface, endpoint: Endpoint, incoming: Incoming) -> Response:
        """Answer a request that has matched ``endpoint``."""
        return _promptly(incoming, lambda: self._serve(Exchange(interface, endpoint, incoming, stopwatch())))

    def stray(self, error: HTTPException, incoming: Incoming) -> Response:
        """Answer a request that no endpoint takes, in the shape of the interface it looks like."""
        owner = self._owner(incoming.path)
        return _promptly(incoming, lambda: self._serve(Exchange(owner, None, incoming, stopwatch()), error))

    def crashed(self, error: Exception, incoming: Incoming) -> Response:
        """Answer for a failure outside any endpoint."""
        exchange = Exchange(self._owner(incoming.path), None, incoming, stopwatch())
        return _promptly(incoming, lambda: self._finish(exchange, self._fail(exchange, error)))

    def _serve(self, exchange: Exchange, error: HTTPException | None = None) -> Response:
        environ = exchange.incoming.environ
        again: Again | None = environ.pop(ENV_AGAIN, None)
        exchange.held = again.held if again is not None else None
        served = environ.get(ENV_SERVED, False)
        try:
            let_in = self._admitted(exchange, error)
            if served and again is None and self._is_lengthy(exchange, let_in):
                environ[ENV_AGAIN] = Again(aside=True)
                return Response(status=204)
            try:
                answer = self._perform(exchange, let_in)
            except Postponed as postponed:
                if served:
                    environ[ENV_AGAIN] = postponed.again
                    return Response(status=204)
                time.sleep(postponed.again.after)
                exchange.held = postponed.again.held
                answer = self._perform(exchange, let_in)
        except Refused as refused:
            answer = self._refuse(exchange, refused)
        except Busy:
            raise
        except Exception as failure:
            if exchange.cause:  # the world has forgotten the request
                environ.pop(ENV_DELIVERY, None)
                exchange = exchange.anew()
            answer = self._fail(exchange, failure)
        return self._finish(exchange, answer)

    def _admitted(
        self, exchange: Exchange, error: HTTPException | None
    ) -> tuple[World, Account | None] | Refused:
        """Return for whom and in which world the operation is to be done, or why no operation is reached."""
        incoming, interface = exchange.incoming, exchange.interface
        try:
            self._read(incoming)
            if error is not None:
                with suppress(Refused):  # only to know whose it is
                    interface.authenticate(incoming)
                return self._unmatched.why(error, incoming, incoming.world or self.worlds.default)
            let_in = interface.authenticate(incoming)
        except Refused as refused:
            return refused
        exchange.admitted = True
        return let_in

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
        incoming = Incoming(lost.method, lost.target, path, "", dict(lost.headers))
        exchange = Exchange(self.mounts[0].interface, None, incoming, stopwatch())
        rule = UNREAD[lost.problem.error]
        exchange.refused = Refused(rule, problem=lost.problem.message).refusal
        world = self.worlds.default
        with world.lock:
            exchange.begin(world)
            status = lost.problem.status
            exchange.record(world, status, lost.problem.answer().body if status else b"")

    def _refuse(self, exchange: Exchange, refused: Refused) -> Answer:
        """Return the answer to a refusal, and journal it: in the default world where no other is known."""
        known = exchange.incoming.world
        if exchange.world is None and (known is not None or exchange.interface.journalled):
            exchange.begin(known or self.worlds.default)
        return exchange.refuse(refused)

    def _read(self, incoming: Incoming) -> None:
        """Read the body, and find the world that the path names; both can be refused."""
        environ = incoming.environ
        require_host(environ)
        if ENV_TOO_LARGE in environ or "CONTENT_LENGTH" in environ:
            limit = self.limits.of(incoming.path)
            if environ.get(ENV_TOO_LARGE) or (get_content_length(environ) or 0) > limit:
                raise Refused(BODY_TOO_LARGE, limit=limit, setting=self.limits.setting(incoming.path))
        name = environ.get(ENV_WORLD)
        if name is not None:
            incoming.world = self.worlds.get(name)
            if incoming.world is None:
                raise self.worlds.unknown(_short(name))
        incoming.read_body()

    def _perform(self, exchange: Exchange, let_in: tuple[World, Account | None] | Refused) -> Answer:
        why = let_in if isinstance(let_in, Refused) else None
        nowhere = exchange.incoming.world or self.worlds.default
        world, account = (nowhere, None) if isinstance(let_in, Refused) else let_in
        if not exchange.interface.journalled:  # control, which locks what it changes for itself
            return self._act(exchange, world, account, why)
        # Hold the lock from the request's number to its journal entry, because the journal's order is the
        # order of the effects, with no other effect in between.
        with world.undoing(Postponed, Busy):
            faults = world.moment.faults.rules and (why is None or why.rule is not UNKNOWN_WORLD)
            # Who looks at the past is no client: what is told is what was, and counts nowhere.
            if (faults and not world.is_past) or exchange.held is not None:
                answer = strikes.perform(exchange, world, account, why)
            else:
                answer = self._answered(exchange, world, account, why)
            exchange.set_plans_off(answer)
            self._note(exchange, answer)
            return answer

    def _answered(
        self, exchange: Exchange, world: World, account: Account | None, why: Refused | None
    ) -> Answer:
        try:
            return self._act(exchange, world, account, why)
        except Refused as refused:
            return self._refuse(exchange, refused)

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
        log_failure(exchange.operation, error)
        return self._refuse(exchange, Refused(INTERNAL_ERROR, where="; the log of the sandbox says where"))

    def _finish(self, exchange: Exchange, answer: Answer) -> Response:
        """Return the answer as HTTP, once it stands in the journal."""
        incoming, body = exchange.incoming, answer.content
        after = exchange.after
        now = after.clock.instant if after is not None else (exchange.world or self.worlds.default).now()
        headers = {"Date": _http_date(now)}
        if exchange.world is not None:
            self._note(exchange, answer)
            headers |= _told(exchange, exchange.world, exchange.assumed)
        headers |= incoming.headers_out
        if exchange.refused is not None and exchange.refused.rule is BODY_TOO_LARGE:
            headers["Connection"] = "close"
        exchange.is_unanswered = not answer.status
        incoming.environ[ENV_SAID] = exchange
        if answer.stream is not None:
            if ENV_SERVED in incoming.environ:
                incoming.environ[ENV_STREAM] = answer.stream
            else:  # nobody waits for more: what there is, and no end
                while (piece := answer.stream.piece()) and not answer.stream.ended:
                    body += piece
                body += piece
                answer.stream.close()
        headers["Content-Type"] = answer.content_type or exchange.interface.content_type
        headers["Content-Length"] = str(len(body))
        return WholeResponse(body, answer.status or UNANSWERED, headers)

    def _note(self, exchange: Exchange, answer: Answer) -> None:
        """Write the request into the journal of its world, if it has one: once, whoever answers in the end.

        What a request has changed is there for others when its world is free again, and so is this.
        """
        incoming, world = exchange.incoming, exchange.world
        if world is None or exchange.noted:
            return
        exchange.noted = True
        exchange.assumed = named(world.assumptions, incoming.assumed)
        if exchange.cause:
            if (delivery := incoming.environ.get(ENV_DELIVERY)) is not None:
                exchange.held_up += delivery.holds_up(answer.content)
            exchange.record(world, answer.status, answer.content, exchange.assumed, answer.error)

    def _owner(self, path: str) -> Interface:
        return next((one for one in self.mounts if one.owns(path)), self.mounts[0]).interface


class WholeResponse(Response):
    """An answer that is complete as it is made, with a body that is known and no cookies.

    It goes out as it was made unless somebody, such as a hook of Flask's, has looked at its headers or given
    it another body: what those are kept in takes longer to make than the answer to send.
    """

    default_mimetype = None

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        vars(self).update(_begun(status), _on_close=[])
        self._lines = list(headers.items())
        self._headers: Headers | None = None
        self._body = self.response = [body]

    @property
    def headers(self) -> Headers:
        """The headers."""
        if self._headers is None:
            self._headers = Headers(self._lines)
        return self._headers

    @headers.setter
    def headers(self, headers: Headers) -> None:
        self._headers = headers

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send it, as WSGI has it."""
        lines, body = self._lines, self._body[0]
        empty = self.status_code in (204, 304)
        if self._headers is not None or self.response is not self._body or _is_split(lines):
            body = self.get_data()
            if not empty:
                self.headers["Content-Length"] = str(len(body))
            lines = self.headers.to_wsgi_list()
        start_response(self.status, lines)
        return () if empty or environ["REQUEST_METHOD"] == "HEAD" else (body,)


@lru_cache(maxsize=64)
def _begun(status: int) -> Mapping[str, Any]:
    """Return what a response keeps beside what is its own: Werkzeug takes a while to find it out."""
    own = ("headers", "response", "_on_close")
    return {name: value for name, value in vars(Response(status=status)).items() if name not in own}


def _is_split(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a header has the end of a line in it, with which others could be made up."""
    text = "".join([part for header in headers for part in header])
    return "\n" in text or "\r" in text


@lru_cache(maxsize=256)
def _http_date(instant: datetime) -> str:
    return http_date(instant)


def _promptly(incoming: Incoming, answer: Callable[[], Response]) -> Response:
    """Return what ``answer`` makes; on the event loop it is put off while the world is being changed."""
    environ = incoming.environ
    again: Again | None = environ.get(ENV_AGAIN)
    if ENV_SERVED not in environ or (again is not None and again.aside):
        return answer()
    try:
        with hurried():
            return answer()
    except Busy as busy:
        held = again.held if again is not None else None
        environ[ENV_AGAIN] = Again(held=held, when=busy.turn.when_free)
        return Response(status=204)


def _told(exchange: Exchange, world: World, assumed: Sequence[tuple[str, object]]) -> dict[str, str]:
    """Return what the headers say of a request: its world and number, its faults, its assumptions."""
    told = {names.WORLD: world.name}
    if exchange.cause:
        told[names.REQUEST] = exchange.cause
    if exchange.faults:
        told[names.FAULT] = exchange.fault
    if assumed:
        told[names.ASSUMPTIONS] = _spelt(tuple(assumed))
    return told


@lru_cache(maxsize=256)
def _spelt(assumed: tuple[tuple[str, object], ...]) -> str:
    return ", ".join([f"{name}={spelt(value, '|')}" for name, value in assumed])


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "…"
