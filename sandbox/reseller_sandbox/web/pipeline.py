"""The pipeline: the steps of every request, from the route to the journal.

``Application`` finds the route. ``Pipeline.run`` makes the ``RequestContext``, and takes it through these
steps:

1. ``_resolve``: host, size, world and body.
2. ``_authenticate``: the account. If no route matches, the canned answer or the reason.
3. ``fault_injection.before``: faults that apply before the operation.
4. ``_execute``: the arguments, the operation on a draft of the world, and the response or the refusal.
5. ``fault_injection.after``: faults that apply after the operation.
6. ``after_request``: third-party actions that are scheduled after the request.
7. ``_record``: the journal entry.
8. ``_respond``: the HTTP response.
"""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import flask
from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date
from werkzeug.wsgi import get_content_length, get_input_stream

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import UNREAD, Refused
from reseller_sandbox.registry.assumptions import named, spelt
from reseller_sandbox.server.delivery import Again, Env
from reseller_sandbox.server.log import log_failure
from reseller_sandbox.server.messages import Unread
from reseller_sandbox.server.secrecy import host_masked
from reseller_sandbox.settings import Settings
from reseller_sandbox.web import canned_answers, fault_injection
from reseller_sandbox.web import headers as names
from reseller_sandbox.web.application import Application, Views, WholeResponse
from reseller_sandbox.web.context import ENV_WORLD, RequestContext
from reseller_sandbox.web.encoding import ENCODING, accepts_gzip, decoded
from reseller_sandbox.web.fault_injection import NO_ANSWER, Postponed
from reseller_sandbox.web.interface import Answer, Endpoint, Interface, Mount, is_control, max_body
from reseller_sandbox.web.unmatched import Unmatched
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.snapshot import after_request
from reseller_sandbox.worlds.world import Busy, hurried, spending_at_most

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

#: A key in ``app.extensions``. Its value is a function that records requests that the server cannot parse.
TAKES_UNREAD = "reseller_sandbox.unread"

_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(?::[0-9]*)?")

#: Types of documents in which a browser runs scripts, and the header that keeps them from the page's origin.
_ACTIVE = re.compile(
    r"\s*(?:text/html|text/xsl|multipart/|(?:text|application|image)/(?:\S+\+)?xml\b)", re.IGNORECASE
)
_POLICY = "Content-Security-Policy"

#: Formatted dates are cached, because formatting a date takes 8 % of the time of a request.
_http_date = lru_cache(maxsize=256)(http_date)

#: The status that WSGI gets for a request without a response.
UNANSWERED = 503


def create_app(worlds: Engine, mounts: Sequence[Mount], settings: Settings) -> Flask:
    """Return a WSGI application that serves ``mounts`` over ``worlds``."""
    pipeline = Pipeline(worlds, mounts, settings)
    app = Application("reseller_sandbox", mounts, partial(_views, pipeline))
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.register_error_handler(Exception, pipeline.run_without_view)
    app.extensions[TAKES_UNREAD] = pipeline.unread
    app._got_first_request = True  # so that Flask refuses hooks and routes, which would have no effect
    return app


def _views(pipeline: Pipeline, interface: Interface) -> Views:
    return {
        # Replace the dot: Flask reads the part before a dot as the name of a blueprint.
        (f"{endpoint.id.replace('.', '/')}#{number}", rule, endpoint.method): partial(
            pipeline.run, interface, endpoint, None
        )
        for endpoint in interface.endpoints
        for number, rule in enumerate(endpoint.rules())
    }


class Pipeline:
    """Runs the operation of each request and returns the response."""

    def __init__(self, worlds: Engine, mounts: Sequence[Mount], settings: Settings) -> None:
        self.worlds = worlds
        self.mounts = mounts
        self.settings = settings
        self._unmatched = Unmatched(mounts)

    def run_without_view(self, error: Exception) -> WholeResponse:
        """Return the response to a request that no route matches, or that fails with ``error``.

        The interface that owns the path shapes the response.
        """
        owners = [mount for mount in self.mounts if mount.owns(flask.request.path)]
        interface = [*owners, *self.mounts][0].interface
        return self.run(interface, None, error)

    def run(
        self, interface: Interface, endpoint: Endpoint | None, error: Exception | None, /, **arguments: str
    ) -> WholeResponse:
        """Return the response to Flask's current request. ``arguments`` are the placeholders of its path.

        ``error`` is the reason why Flask called no view. On the event loop, the request is postponed while
        another thread changes the world, or if a fault delays the request. Under another WSGI server, the
        calling thread waits.
        """
        request = RequestContext.of(interface, endpoint, arguments)
        environ = request.environ
        again: Again | None = environ.pop(Env.AGAIN, None)
        served = Env.SERVED in environ
        must_not_wait = served and (again is None or not again.aside)
        while True:
            request.held = again.held if again is not None else None
            try:
                with hurried() if must_not_wait else nullcontext():
                    return self._take_steps(request, error, must_not_wait=must_not_wait)
            except Busy as busy:
                again = Again(held=request.held, when=busy.lock.when_free)
            except Postponed as postponed:
                again = postponed.again
            if served:
                environ[Env.AGAIN] = again
                return WholeResponse(b"", 204, {})
            time.sleep(again.after)

    def _take_steps(
        self, request: RequestContext, error: Exception | None, *, must_not_wait: bool
    ) -> WholeResponse:
        """Run all steps of a request in order, and return the response."""
        try:
            try:
                self._resolve(request)
                self._authenticate(request, error)
            except Refused as refused:
                request.rejected = refused.with_traceback(None)
            if must_not_wait and self._is_lengthy(request):
                raise Postponed(Again(held=request.held, aside=True))
            spend_limit = request.headers.get(names.SPEND_LIMIT)
            with spending_at_most(None if spend_limit is None else _limit(spend_limit)):
                answer = self._perform(request)
        except (Busy, Postponed):
            raise
        except Refused as refused:  # The world has rolled back the effects of the request.
            request.environ.pop(Env.DELIVERY, None)
            request = request.without_effects()
            answer = self._refuse(request, refused)
        except Exception as failure:
            # The rollback has removed the request from the journal, so the request gets a new entry.
            if request.cause:
                request.environ.pop(Env.DELIVERY, None)
                request = request.without_effects()
            log_failure(request.operation, failure)
            where = "; the log of the sandbox has the details"
            answer = self._refuse(request, Refused(r.INTERNAL_ERROR, where=where))
        return self._respond(request, answer)

    def _resolve(self, request: RequestContext) -> None:
        """Check host and size of a request, find the world in the path, and read the body."""
        environ = request.environ
        _require_host(environ)
        limit = max_body(self.settings, request.path)
        option = "--max-control-body" if is_control(request.path) else "--max-body"
        too_large = partial(Refused, r.BODY_TOO_LARGE, limit=limit, setting=option)
        if environ.get(Env.TOO_LARGE) or (get_content_length(environ) or 0) > limit:
            raise too_large()
        name = environ.get(ENV_WORLD)
        if name is not None:
            request.world = self.worlds.get(name)
            if request.world is None:
                raise self.worlds.unknown(name)
        # A fault or another thread can hold a request up, and its body has then been read already.
        if not request.body and ("CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ):
            request.body = get_input_stream(environ).read()
        if ENCODING in environ and request.body:
            body = decoded(request.body, environ[ENCODING], limit)
            if len(body) > limit:
                raise too_large()
            # The body is now as if it had come without the encoding: in the journal, and in a replay.
            request.body = body
            del environ[ENCODING]

    def _authenticate(self, request: RequestContext, error: Exception | None) -> None:
        """Set the world and the sender of a request.

        If no route matches, find a canned answer, or raise ``error`` as a refusal.
        """
        if error is None:
            request.interface.authenticate(request)
            request.admitted = True
            return
        if not isinstance(error, HTTPException):
            raise error
        self._identify(request)
        if request.interface.journalled and error.code in (404, 405):
            request.canned = canned_answers.find(request, self._world(request))
        if not request.canned:
            raise self._unmatched.refusal(error, request, self._world(request))

    def _identify(self, request: RequestContext) -> None:
        """Set the world and the sender of a request to an unknown path, if its credentials are valid.

        If the path belongs to no interface, every interface for clients tries its authentication.
        """
        owners = [mount.interface for mount in self.mounts if mount.owns(request.path)]
        for interface in owners or (mount.interface for mount in self.mounts):
            if interface.journalled or owners:
                with suppress(Refused):
                    interface.authenticate(request)
                    return

    def _is_lengthy(self, request: RequestContext) -> bool:
        """Whether the request takes so long that it must run on a separate thread."""
        endpoint = request.endpoint if request.rejected is None else None
        lengthy = endpoint.lengthy_from if endpoint is not None else None
        return (lengthy is not None and len(request.body) >= lengthy) or self._world(request).is_far_behind

    def _world(self, request: RequestContext) -> World:
        return request.world or self.worlds.default

    def _perform(self, request: RequestContext) -> Answer:
        """Run a request with its faults and scheduled actions, and write the journal entry."""
        world, rejected = self._world(request), request.rejected
        if not request.interface.journalled:  # the control interface locks the worlds that it changes
            return self._execute(request, world)
        # Hold the lock from the request's number to its journal entry, so that the journal has the same
        # order as the effects.
        with world.undoing(Postponed, Busy):
            # A request to a past state is not client traffic, so faults neither apply to it nor count it.
            is_client = not world.is_past and (rejected is None or rejected.rule is not r.UNKNOWN_WORLD)
            if (world.snapshot.faults.rules and is_client) or request.held is not None:
                answer = self._perform_with_faults(request, world)
            else:
                answer = self._execute(request, world)
            request.status = answer.status
            if request.cause and world.state.waiting.first() is not None:
                world.travel(after_request(request), cause=request.step)
                request.after = world.snapshot
            self._record(request, answer)
            return answer

    def _perform_with_faults(self, request: RequestContext, world: World) -> Answer:
        """Run a request with the effects of the faults that apply in ``world``."""
        effects = fault_injection.before(request, world)
        if effects.decided:
            return fault_injection.deliver(effects, NO_ANSWER, request, world)
        if effects.commits:
            past = fault_injection.past(world, effects.commits, effects.max_age)
            answer = self._execute(request, past)
        elif effects.again is None or request.rejected is not None:
            answer = self._execute(request, world)
        else:
            answer = fault_injection.twice(request, effects.again, partial(self._execute, request, world))
        return fault_injection.after(request, world, answer)

    def _execute(self, request: RequestContext, world: World) -> Answer:
        """Run the operation in ``world``. Return its result or its refusal as a response."""
        interface, endpoint = request.interface, request.endpoint
        try:
            if request.rejected is not None:
                raise request.rejected
            if not request.begun:
                request.begin(world)
            if endpoint is None:
                return canned_answers.respond(request, world)
            try:
                request.arguments = interface.arguments(request, endpoint, world)
                result, changes = interface.carry_out(request, endpoint, world)
            finally:
                request.after = world.snapshot
            request.carried_out = True
            request.changes = changes
            return interface.accept(request, endpoint, result)
        except Refused as refused:
            return self._refuse(request, refused)

    def _refuse(self, request: RequestContext, refused: Refused) -> Answer:
        """Return the response to a refusal.

        If no world is known, the refusal is recorded in the journal of the default world.
        """
        if not request.begun and (request.world is not None or request.interface.journalled):
            request.begin(self._world(request))
        # The frames of a traceback reference the refusal and would keep the request alive.
        refused.with_traceback(None)
        interface = request.interface
        request.refused = refused.in_wording(interface.wording, partial(interface.reword, request))
        return interface.refuse(request, refused)

    def _record(self, request: RequestContext, answer: Answer) -> None:
        """Write the journal entry of a request, unless the entry has been written already."""
        world = request.world
        if world is None or not request.begun or request.recorded:
            return
        request.recorded = True
        if (
            answer.content
            and answer.stream is None
            and request.interface.journalled
            and world.assumptions.compression != "none"
        ):
            request.has_encodings = True
            if accepts_gzip(request.headers.get("Accept-Encoding", "")):
                # The response depends on the assumption, because the client gets it in gzip.
                request.relied_on.add("compression")
                # Without a time, the same content always gives the same bytes.
                request.compressed = gzip.compress(answer.content, mtime=0)
        request.assumed = named(world.assumptions, request.relied_on)
        if request.cause:
            if (delivery := request.environ.get(Env.DELIVERY)) is not None:
                request.held_up += delivery.holds_up(answer.content)
            request.answer_headers = self._headers(request, answer) if answer.status else {}
            world.journal.add(request.entry(answer.status, answer.content, answer.error))

    def _respond(self, request: RequestContext, answer: Answer) -> WholeResponse:
        """Return ``answer`` as an HTTP response."""
        environ = request.environ
        self._record(request, answer)
        body = request.compressed or answer.content
        headers = request.answer_headers or self._headers(request, answer)
        request.is_unanswered = not answer.status
        environ[Env.LOG_WORDS] = request.log_words
        if answer.stream is not None:
            if Env.SERVED in environ:
                environ[Env.STREAM] = answer.stream
            else:  # without a server nothing can stream, so the body gets all available pieces
                while (piece := answer.stream.piece()) and not answer.stream.ended:
                    body += piece
                body += piece
                answer.stream.close()
                headers["Content-Length"] = str(len(body))
        return WholeResponse(body, answer.status or UNANSWERED, headers)

    def _headers(self, request: RequestContext, answer: Answer) -> dict[str, str]:
        """Return the response headers for ``answer``.

        Headers report the world, the number of the request, the faults and the assumptions.
        """
        after = request.after
        now = after.clock.instant if after is not None else self._world(request).now()
        headers = {"Date": _http_date(now)}
        if request.begun:
            assert request.world is not None
            headers[names.WORLD] = request.world.name
            if request.cause:
                headers[names.REQUEST] = request.cause
            if request.faults:
                headers[names.FAULT] = ", ".join(request.fault_names)
            if request.assumed:
                assumed = [f"{name}={spelt(value, '|')}" for name, value in request.assumed]
                headers[names.ASSUMPTIONS] = ", ".join(assumed)
        headers |= request.headers_out
        if request.refused is not None and request.refused.rule is r.BODY_TOO_LARGE:
            headers["Connection"] = "close"
        headers["Content-Type"] = answer.content_type or request.interface.content_type
        if request.interface.journalled and _ACTIVE.match(headers["Content-Type"]):
            # A canned answer or a fault has the origin of the page, whose session its scripts could use.
            _add(headers, _POLICY, "sandbox")
        if request.has_encodings:
            _add(headers, "Vary", "Accept-Encoding")
        if request.compressed:
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(request.compressed or answer.content))
        return headers

    def unread(self, lost: Unread) -> None:
        """Add a journal entry to the default world for a request that the server could not parse."""
        # Many due events are carried out on a thread, because they would block all other requests.
        if self.worlds.default.is_far_behind:
            threading.Thread(target=self._unread, args=(lost,)).start()
            return
        try:
            with hurried():
                self._unread(lost)
        except Busy as busy:
            busy.lock.when_free(partial(self._unread, lost))

    def _unread(self, lost: Unread) -> None:
        path, interface = lost.target.partition("?")[0], self.mounts[0].interface
        headers, status = Headers(list(lost.headers)), lost.problem.status
        request = RequestContext(interface, None, lost.method, lost.target, path, "", headers)
        request.refused = Refused(UNREAD[lost.problem.error], problem=lost.problem.message).refusal
        world = self.worlds.default
        with world.lock:
            request.begin(world)
            world.journal.add(request.entry(status, lost.problem.answer().body if status else b""))


def _limit(text: str) -> Decimal:
    """Return the spend limit in a header. A value that is not a number permits no charges."""
    try:
        limit = Decimal(text)
    except InvalidOperation:
        return Decimal(0)
    return limit if limit.is_finite() else Decimal(0)


def _add(headers: dict[str, str], name: str, value: str) -> None:
    """Add ``value`` to the list in the header ``name``, which a canned answer can spell in any case."""
    present = [headers.pop(key) for key in list(headers) if key.lower() == name.lower()]
    headers[name] = ", ".join([value, *present])


def _require_host(environ: WSGIEnvironment) -> None:
    """Raise ``invalid_host`` unless the request has exactly one valid Host header.

    HTTP/1.0 may omit the header. A host in an absolute request target takes precedence over the header
    (RFC 9112, 3.2.2) and must be valid too.
    """
    host_header = [environ["HTTP_HOST"]] if "HTTP_HOST" in environ else []
    hosts: list[str] = environ.get(Env.HOSTS, host_header)
    if len(hosts) > 1:
        raise Refused(r.INVALID_HOST, problem=f"has {len(hosts)} Host headers")
    if not hosts and environ["SERVER_PROTOCOL"] != "HTTP/1.0":
        raise Refused(r.INVALID_HOST, problem="has no Host header")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise Refused(r.INVALID_HOST, problem=f"has the invalid Host header {host_masked(hosts[0])[:80]!r}")
    host: str | None = environ.get("HTTP_HOST")
    if host is not None and [host] != hosts and not (host and _HOST.fullmatch(host)):
        raise Refused(
            r.INVALID_HOST, problem=f"has the invalid host {host_masked(host)[:80]!r} in its target"
        )
