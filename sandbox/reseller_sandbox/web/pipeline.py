"""The path of every request, from the route to the journal.

The steps in their order:

1. ``create_app``: the Flask application finds the route. ``_view`` makes the ``RequestContext``.
2. ``_admit``: host, size, world and credentials.
3. ``fault_injection.before``: faults that apply before the operation.
4. ``_execute``: the arguments, the operation on a draft of the world, and the response or the refusal.
5. ``fault_injection.after``: faults that apply after the operation.
6. Third-party actions that are scheduled after the request (``RequestContext.run_scheduled``).
7. ``_record``: the journal entry.
8. ``_respond``: the HTTP response.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, cast

from flask import Flask, Response
from flask import request as flask_request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date
from werkzeug.wsgi import get_content_length

from reseller_sandbox.refusals import (
    BODY_TOO_LARGE,
    INTERNAL_ERROR,
    INVALID_HOST,
    UNKNOWN_WORLD,
    UNREAD,
    Refused,
)
from reseller_sandbox.registry.assumptions import named, spelt
from reseller_sandbox.server.delivery import (
    ENV_AGAIN,
    ENV_DELIVERY,
    ENV_HOSTS,
    ENV_SAID,
    ENV_SERVED,
    ENV_STREAM,
    ENV_TOO_LARGE,
    Again,
    delivering,
)
from reseller_sandbox.server.log import log_failure
from reseller_sandbox.server.messages import Unread
from reseller_sandbox.server.secrecy import host_masked
from reseller_sandbox.web import fault_injection
from reseller_sandbox.web import headers as names
from reseller_sandbox.web.context import ENV_PREFIX, ENV_WORLD, RequestContext
from reseller_sandbox.web.endpoint import BodyLimits, Endpoint
from reseller_sandbox.web.fault_injection import NO_ANSWER, Postponed
from reseller_sandbox.web.interface import Answer, Interface, Mount
from reseller_sandbox.web.lean import LeanApplication, WholeResponse
from reseller_sandbox.web.routing import Part, Route, Views
from reseller_sandbox.web.unmatched import Unmatched
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.world import Busy, hurried

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: The key of an application's extensions for the function that records a request that was not read.
TAKES_UNREAD = "reseller_sandbox.unread"

_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(?::[0-9]*)?")

#: The status that WSGI gets if the connection will carry no response.
UNANSWERED = 503


class Pipeline:
    """Runs the operation of each request and returns the response."""

    def __init__(self, worlds: Engine, mounts: Sequence[Mount], limits: BodyLimits) -> None:
        self.worlds = worlds
        self.mounts = mounts
        self.limits = limits
        self._unmatched = Unmatched(mounts, limits)

    def run(self, request: RequestContext, error: HTTPException | None = None) -> Response:
        """Return the response to a request. ``error`` is the reason why no route matches."""
        return _promptly(request, lambda: self._serve(request, error))

    def crashed(self, request: RequestContext, error: Exception) -> Response:
        """Return the response for a failure outside the pipeline."""
        return _promptly(request, lambda: self._respond(request, self._fail(request, error)))

    def owner(self, path: str) -> Interface:
        """Return the interface that owns a path, even if no route matches the path."""
        return next((one for one in self.mounts if one.owns(path)), self.mounts[0]).interface

    def _serve(self, request: RequestContext, error: HTTPException | None) -> Response:
        environ = request.environ
        again: Again | None = environ.pop(ENV_AGAIN, None)
        request.held = again.held if again is not None else None
        served = environ.get(ENV_SERVED, False)
        try:
            why = self._admit(request, error)
            if served and again is None and self._is_lengthy(request, why):
                environ[ENV_AGAIN] = Again(aside=True)
                return Response(status=204)
            try:
                answer = self._perform(request, why)
            except Postponed as postponed:
                if served:
                    environ[ENV_AGAIN] = postponed.again
                    return Response(status=204)
                time.sleep(postponed.again.after)
                request.held = postponed.again.held
                answer = self._perform(request, why)
        except Refused as refused:
            answer = self._refuse(request, refused)
        except Busy:
            raise
        except Exception as failure:
            if request.cause:  # the rollback of the world has removed the request
                environ.pop(ENV_DELIVERY, None)
                request = request.anew()
            answer = self._fail(request, failure)
        return self._respond(request, answer)

    def _admit(self, request: RequestContext, error: HTTPException | None) -> Refused | None:
        """Determine world and sender. Return the reason if the request reaches no operation."""
        try:
            self._receive(request)
            if error is not None:
                with suppress(Refused):  # only to identify the sender
                    request.interface.authenticate(request)
                return self._unmatched.why(error, request, self._world(request))
            request.interface.authenticate(request)
        except Refused as refused:
            return refused
        request.admitted = True
        return None

    def _receive(self, request: RequestContext) -> None:
        """Check host and size, find the world in the path, and read the body."""
        environ = request.environ
        _require_host(environ)
        if ENV_TOO_LARGE in environ or "CONTENT_LENGTH" in environ:
            limit = self.limits.of(request.path)
            if environ.get(ENV_TOO_LARGE) or (get_content_length(environ) or 0) > limit:
                raise Refused(BODY_TOO_LARGE, limit=limit, setting=self.limits.setting(request.path))
        name = environ.get(ENV_WORLD)
        if name is not None:
            request.world = self.worlds.get(name)
            if request.world is None:
                raise self.worlds.unknown(name if len(name) <= 200 else f"{name[:197]}…")
        request.read_body()

    def _is_lengthy(self, request: RequestContext, why: Refused | None) -> bool:
        """Whether the request takes so long that it must run on a separate thread."""
        lengthy = request.endpoint.lengthy_from if request.endpoint is not None and why is None else None
        return (lengthy is not None and len(request.body) >= lengthy) or self._world(request).is_far_behind

    def _world(self, request: RequestContext) -> World:
        return request.world or self.worlds.default

    def _perform(self, request: RequestContext, why: Refused | None) -> Answer:
        """Run the request with all its effects. ``why`` is a reason to refuse it."""
        world = self._world(request)
        if not request.interface.journalled:  # the control interface locks the worlds that it changes
            return self._execute(request, world, why)
        # Hold the lock from the request's number to its journal entry, so that the journal has the same
        # order as the effects.
        with world.undoing(Postponed, Busy):
            # A request to a past state is not client traffic: no fault applies to it, and no rule counts
            # it.
            is_client = not world.is_past and (why is None or why.rule is not UNKNOWN_WORLD)
            if (world.snapshot.faults.rules and is_client) or request.held is not None:
                answer = self._perform_with_faults(request, world, why)
            else:
                answer = self._execute(request, world, why)
            request.run_scheduled(answer.status)
            self._record(request, answer)
            return answer

    def _perform_with_faults(self, request: RequestContext, world: World, why: Refused | None) -> Answer:
        """Run the request with the effects that the faults of ``world`` select."""
        effects = fault_injection.before(request, world)
        if effects is None:
            return NO_ANSWER
        if effects.decided:
            return fault_injection.sent(effects, NO_ANSWER, request, world)
        if effects.commits:
            past = fault_injection.past(world, effects.commits)
            answer = self._execute(request, past, why)
        elif effects.again is None or why is not None:
            answer = self._execute(request, world, why)
        else:
            answer = fault_injection.twice(
                request, effects.again, lambda: self._execute(request, world, None)
            )
        return fault_injection.after(request, world, answer)

    def _execute(self, request: RequestContext, world: World, why: Refused | None) -> Answer:
        """Run the operation in ``world``. Return its result or its refusal as a response."""
        interface, endpoint = request.interface, request.endpoint
        try:
            if why is not None or endpoint is None:
                raise why or Refused(INTERNAL_ERROR)
            if not request.begun:
                request.begin(world)
            try:
                request.arguments = interface.arguments(request, endpoint, world)
                outcome = interface.carry_out(request, endpoint, world)
            finally:
                request.after = world.snapshot
            if outcome.refused is not None:
                raise outcome.refused
            request.carried_out = True
            request.changes = outcome.changes
            return interface.accept(request, endpoint, outcome.result)
        except Refused as refused:
            return self._refuse(request, refused)

    def _refuse(self, request: RequestContext, refused: Refused) -> Answer:
        """Return the response to a refusal.

        If no world is known, the refusal is recorded in the journal of the default world.
        """
        if not request.begun and (request.world is not None or request.interface.journalled):
            request.begin(self._world(request))
        refused.with_traceback(None)  # its frames reference the refusal and would keep the request alive
        request.refused = refused.in_wording(request.interface.wording)
        return request.interface.refuse(request, refused)

    def _fail(self, request: RequestContext, error: Exception) -> Answer:
        log_failure(request.operation, error)
        return self._refuse(request, Refused(INTERNAL_ERROR, where="; the log of the sandbox says where"))

    def _record(self, request: RequestContext, answer: Answer) -> None:
        """Write the request's journal entry once, together with its effects."""
        world = request.world
        if world is None or not request.begun or request.noted:
            return
        request.noted = True
        request.assumed = named(world.assumptions, request.relied_on)
        if request.cause:
            if (delivery := request.environ.get(ENV_DELIVERY)) is not None:
                request.held_up += delivery.holds_up(answer.content)
            world.journal.add(request.entry(answer.status, answer.content, answer.error))

    def _respond(self, request: RequestContext, answer: Answer) -> Response:
        """Return ``answer`` as an HTTP response."""
        environ, body, after = request.environ, answer.content, request.after
        now = after.clock.instant if after is not None else self._world(request).now()
        headers = {"Date": _http_date(now)}
        if request.begun:
            self._record(request, answer)
            headers |= _told(request)
        headers |= request.headers_out
        if request.refused is not None and request.refused.rule is BODY_TOO_LARGE:
            headers["Connection"] = "close"
        request.is_unanswered = not answer.status
        environ[ENV_SAID] = request
        if answer.stream is not None:
            if ENV_SERVED in environ:
                environ[ENV_STREAM] = answer.stream
            else:  # without a server no client waits for more, so send the pieces that exist
                while (piece := answer.stream.piece()) and not answer.stream.ended:
                    body += piece
                body += piece
                answer.stream.close()
        headers["Content-Type"] = answer.content_type or request.interface.content_type
        headers["Content-Length"] = str(len(body))
        return WholeResponse(body, answer.status or UNANSWERED, headers)

    def unread(self, lost: Unread) -> None:
        """Record a request that the server could not parse in the default world's journal."""
        if self.worlds.default.is_far_behind:  # the catch-up would block all other requests
            threading.Thread(target=self._unread, args=(lost,)).start()
            return
        try:
            with hurried():
                self._unread(lost)
        except Busy as busy:
            busy.turn.when_free(partial(self._unread, lost))

    def _unread(self, lost: Unread) -> None:
        path, interface = lost.target.partition("?")[0], self.mounts[0].interface
        headers, status = Headers(list(lost.headers)), lost.problem.status
        request = RequestContext(interface, None, lost.method, lost.target, path, "", headers)
        request.refused = Refused(UNREAD[lost.problem.error], problem=lost.problem.message).refusal
        world = self.worlds.default
        with world.lock:
            request.begin(world)
            world.journal.add(request.entry(status, lost.problem.answer().body if status else b""))


def _promptly(request: RequestContext, answer: Callable[[], Response]) -> Response:
    """Return the response of ``answer``.

    On the event loop, postpone it while another thread changes the world.
    """
    environ = request.environ
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


def _told(request: RequestContext) -> dict[str, str]:
    """Return the headers that report world, request number, faults and assumptions."""
    assert request.world is not None
    told = {names.WORLD: request.world.name}
    if request.cause:
        told[names.REQUEST] = request.cause
    if request.faults:
        told[names.FAULT] = ", ".join(request.fault_names)
    if request.assumed:
        told[names.ASSUMPTIONS] = _spelt(tuple(request.assumed))
    return told


@lru_cache(maxsize=256)
def _http_date(instant: datetime) -> str:
    return http_date(instant)


@lru_cache(maxsize=256)
def _spelt(assumed: tuple[tuple[str, object], ...]) -> str:
    return ", ".join([f"{name}={spelt(value, '|')}" for name, value in assumed])


def _require_host(environ: WSGIEnvironment) -> None:
    """Raise ``invalid_host`` unless the request has exactly one valid Host header.

    HTTP/1.0 may omit the header. A host in an absolute request target takes precedence over the header
    (RFC 9112, 3.2.2) and must be valid too.
    """
    found = [environ["HTTP_HOST"]] if "HTTP_HOST" in environ else []
    hosts: list[str] = environ.get(ENV_HOSTS, found)
    if len(hosts) > 1:
        raise Refused(INVALID_HOST, problem=f"has {len(hosts)} Host headers")
    if not hosts and environ["SERVER_PROTOCOL"] != "HTTP/1.0":
        raise Refused(INVALID_HOST, problem="has no Host header")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise Refused(INVALID_HOST, problem=f"has the Host header {host_masked(hosts[0])[:80]!r}")
    named: str | None = environ.get("HTTP_HOST")
    if named is not None and [named] != hosts and not (named and _HOST.fullmatch(named)):
        raise Refused(INVALID_HOST, problem=f"has the host {host_masked(named)[:80]!r} in its target")


# The application


def create_app(worlds: Engine, mounts: Sequence[Mount], limits: BodyLimits) -> Flask:
    """Return a WSGI application that serves ``mounts`` over ``worlds``.

    ``limits`` are the maximum sizes of request bodies.
    """
    pipeline = Pipeline(worlds, mounts, limits)
    app = LeanApplication(
        "reseller_sandbox", [Part(one.owns, partial(_views, pipeline, one)) for one in mounts]
    )
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.register_error_handler(HTTPException, lambda error: pipeline.run(_unmatched_view(pipeline), error))
    app.register_error_handler(Exception, lambda error: pipeline.crashed(_unmatched_view(pipeline), error))
    app.extensions[TAKES_UNREAD] = pipeline.unread
    app.wsgi_app = delivering(partial(_through_world, app.wsgi_app))  # type: ignore[assignment, method-assign]
    return app


def _views(pipeline: Pipeline, mount: Mount) -> Views:
    views = dict[Route, Callable[..., Response]]()
    for endpoint in mount.interface.endpoints:
        view = partial(_view, pipeline, mount.interface, endpoint)
        name = endpoint.id.replace(".", "/")  # Flask reads the part before a dot as a blueprint
        for number, rule in enumerate(endpoint.rules()):
            views[f"{name}#{number}", rule, endpoint.method] = view
    return views


def _view(pipeline: Pipeline, interface: Interface, endpoint: Endpoint, /, **arguments: str) -> Response:
    return pipeline.run(_context(interface, endpoint, arguments))


def _unmatched_view(pipeline: Pipeline) -> RequestContext:
    """Return the context of a request that no route matches.

    The interface that owns the path shapes the response.
    """
    return _context(pipeline.owner(flask_request.path), None, {})


def _context(interface: Interface, endpoint: Endpoint | None, arguments: dict[str, str]) -> RequestContext:
    return RequestContext.of(interface, endpoint, cast(Any, flask_request)._get_current_object(), arguments)


def _through_world(
    serve: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """Remove ``/_worlds/{name}`` from the path and note ``name`` as the request's world."""
    path: str = environ["PATH_INFO"]
    if path.startswith("/_worlds/"):
        name, _, rest = path.removeprefix("/_worlds/").partition("/")
        # WSGI carries bytes as latin-1
        environ[ENV_WORLD] = name.encode("latin-1").decode("utf-8", "replace")
        environ[ENV_PREFIX] = f"/_worlds/{name}"
        environ["PATH_INFO"] = f"/{rest}"
    return serve(environ, start_response)
