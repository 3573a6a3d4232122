"""The control interface: its requests act on worlds and need no credentials of an account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any

from reseller_sandbox import refusals
from reseller_sandbox.control.events import LocalSubscription
from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.control.resource import Resource
from reseller_sandbox.control_http import documents, endpoints
from reseller_sandbox.refusals import UNKNOWN_DOCUMENT, Refused, Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.state import Change
from reseller_sandbox.settings import Settings
from reseller_sandbox.web import errors
from reseller_sandbox.web.access_control import HEADER, Gate
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.fields import dumped
from reseller_sandbox.web.headers import HEADERS, WORLD
from reseller_sandbox.web.interface import Answer, Endpoint, Interface, endpoints_of, write, write_in_pieces
from reseller_sandbox.web.interfaces import PublicInterface
from reseller_sandbox.worlds import Engine, World

#: The pause between two pieces of a stream is this number of seconds for each subscriber. With many
#: subscribers, pieces become larger and rarer, so that other requests are not delayed.
_PACE = 0.0005

#: The number of cached documents. The cache exists because building a document takes 50 ms.
_MOST_KEPT = 12

#: The approximate largest size of a piece in bytes. If a client does not read, one piece stays in memory.
_PIECE = 1 << 16


def _event(record: Any) -> bytes:
    return b"id: %b\ndata: %b\n\n" % (str(record.mark).encode(), write(dumped(record)))


def _named(name: str, data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), write(data))


class EventStream:
    """The body of a response that sends a subscription as server-sent events.

    A record has ``id`` and ``data``. The events ``begin``, ``missed`` and ``end`` have only ``data``. Over a
    socket, the first event is ``begin``. Its ``instance`` identifies this start of the server.
    """

    content_type = "text/event-stream"

    def __init__(self, subscription: LocalSubscription[Any], instance: str) -> None:
        self._subscription = subscription
        self._first = [_named("begin", {"instance": instance})] if instance else []
        self._missed = 0

    def piece(self) -> bytes:
        """Return the bytes of all events that are ready now."""
        ended = self.ended
        events = self._subscription.written(_event, inf if ended else _PIECE)
        first, self._first = self._first, []
        if self._subscription.missed > self._missed:
            self._missed = self._subscription.missed
            events.insert(0, _named("missed", {"missed": self._missed}))
        return b"".join([*first, *events, *([self.end()] if ended else [])])

    @staticmethod
    def end() -> bytes:
        """Return the bytes of the event ``end``, with which a stream ends."""
        return _named("end", {})

    @property
    def ended(self) -> bool:
        """Whether the stream has ended."""
        return self._subscription.follower.ended

    @property
    def pause(self) -> float:
        """Return the seconds to wait between two pieces."""
        return max(_PACE * self._subscription.follower.count, self._subscription.pause)

    def when_news(self, call: Callable[[], None]) -> None:
        """Set the function to call when there are new events to send."""
        self._subscription.follower.when_news = call

    def close(self) -> None:
        """End the stream."""
        self._subscription.close()


class Control(Interface):
    """The control interface of one server: operations, OpenAPI documents and additional endpoints.

    ``public`` declares the interfaces that clients call. ``clients`` loads these interfaces and returns them,
    for their documents.
    """

    name = owner = "control"
    journalled = False
    common: tuple[Rule, ...] = (
        refusals.INVALID_HOST,
        refusals.BODY_TOO_LARGE,
        refusals.UNKNOWN_WORLD,
        *Gate.RULES,
    )
    error_shape: Mapping[str, object] = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("error", "message", "remedy")},
        "required": ["error", "message", "remedy"],
    }
    headers: Mapping[str, str] = {WORLD: HEADERS[WORLD]}

    def __init__(
        self,
        worlds: Engine,
        settings: Settings,
        resources: Mapping[str, type[Resource]],
        public: Sequence[PublicInterface],
        clients: Callable[[], Sequence[Interface]],
        more: Iterable[Endpoint],
    ) -> None:
        super().__init__(worlds, settings)
        self.gate = Gate(settings)
        self.resources = resources
        self.public = public
        self._clients = clients
        self.document = lru_cache(maxsize=_MOST_KEPT)(self._document)
        self.endpoints: tuple[Endpoint, ...] = (
            *endpoints.operation_endpoints(resources.values()),
            *endpoints_of(documents),
            *more,
        )

    def _document(self, name: str, assumed: Assumptions) -> dict[str, Any]:
        """Return the OpenAPI document ``name``. Refuse with ``unknown_document``."""
        from reseller_sandbox.web import openapi  # apispec is slow to import

        by_name = {f"{interface.name}.json": interface for interface in (*self._clients(), self)}
        if name not in by_name:
            raise Refused(UNKNOWN_DOCUMENT, document=name[:80], known=", ".join(by_name))
        return openapi.describe(by_name[name], assumed)

    def authenticate(self, request: RequestContext) -> None:
        """Refuse a request that has no access to the control interface."""
        self.gate.admit(request)

    def arguments(self, request: RequestContext, endpoint: Endpoint, world: World) -> dict[str, Any]:
        """Return the arguments of a request. If a browser reconnects to a stream, add ``since``."""
        values = super().arguments(request, endpoint, world)
        # A browser that reconnects to a stream sends the id of the last record that it received.
        if endpoint.streams and (mark := request.headers.get("Last-Event-ID")):
            values["since"] = mark
        return values

    def carry_out(
        self, request: RequestContext, endpoint: Endpoint, world: World
    ) -> tuple[Any, list[Change]]:
        """Carry out the request without a lock, because an operation locks the world itself."""
        call = endpoints.ControlCall(LocalTransport(self.worlds, world), request.arguments, request, self)
        return endpoint.handle(call), []

    def accept(self, request: RequestContext, endpoint: Endpoint, result: Any) -> Answer:
        """Return ``result`` as a response: in JSON, as a stream, or unchanged if it is an ``Answer``."""
        if isinstance(result, Answer):
            return result
        if endpoint.streams:
            request.headers_out["Cache-Control"] = "no-store"
            return Answer(
                endpoint.status, b"", EventStream.content_type, EventStream(result, request.instance)
            )
        body = endpoint.schemas.answer.dump(result)
        return Answer(endpoint.status, body if endpoint.lengthy_from is None else write_in_pieces(body))

    def refuse(self, request: RequestContext, refused: Refused) -> Answer:  # noqa: ARG002
        """Return a response with the refusal's ``error``, ``message`` and ``remedy``, and its status."""
        body = {**errors.body_of(refused), "remedy": refused.remedy}
        return Answer(errors.status_of(refused.rule), body)

    def security(self, assumed: Assumptions) -> Mapping[str, str]:  # noqa: ARG002
        """Return the header of the control token, if a token is required."""
        return {HEADER: "The control token of the server."} if self.gate.token is not None else {}
