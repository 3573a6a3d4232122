"""The control interface: its requests act on worlds and need no credentials of an account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any
from urllib.parse import unquote

from reseller_sandbox.control.events import LocalSubscription
from reseller_sandbox.control.hints import meant
from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.control.resource import ROOT, Resource, operations_by_id
from reseller_sandbox.control_http import documents
from reseller_sandbox.control_http.endpoints import ControlCall, endpoint_of
from reseller_sandbox.refusals import UNKNOWN_DOCUMENT, Refused, Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.state import Change
from reseller_sandbox.settings import Settings
from reseller_sandbox.values.text_checks import did_you_mean, shortened
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


#: The words for HTTP methods that many APIs have and most operations lack.
_VERBS = {"POST": "add", "DELETE": "remove", "PUT": "replace", "PATCH": "change"}


def _event(record: Any) -> bytes:
    return b"id: %b\ndata: %b\n\n" % (str(record.mark).encode(), write(dumped(record)))


def _named(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), write(data))


class EventStream:
    """The body of a response that sends a subscription as server-sent events.

    A record has ``id`` and ``data``. The events ``begin``, ``missed`` and ``end`` have only ``data``. The
    first event is ``begin``. Its ``instance`` identifies this start of the server, and is empty without a
    server.
    """

    content_type = "text/event-stream"

    def __init__(self, subscription: LocalSubscription[Any], instance: str) -> None:
        self._subscription = subscription
        self._first = [_named("begin", {"instance": instance})]
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
    common: tuple[Rule, ...] = (*Interface.common, *Gate.RULES)
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
            *(endpoint_of(operation) for each in resources.values() for operation in each.operations()),
            *endpoints_of(documents),
            *more,
        )

    def _document(
        self, name: str, assumed: Assumptions, servers: tuple[str, ...] = (), version: str = "3.1"
    ) -> bytes:
        """Return the JSON of an OpenAPI document with the URLs ``servers``. Refuse with ``unknown_document``.

        Documents are kept as text, because the collector would visit 10,000 objects in each.
        """
        from reseller_sandbox.web import openapi  # apispec is slow to import

        by_name = {f"{interface.name}.json": interface for interface in (*self._clients(), self)}
        if name not in by_name:
            raise Refused(UNKNOWN_DOCUMENT, document=name[:80], known=", ".join(by_name))
        return write(openapi.describe(by_name[name], assumed, servers, version))

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

    def unmatched(self, request: RequestContext, world: World) -> str:  # noqa: ARG002
        """Return the operations that the words of an unknown path mean in other programs, or ""."""
        operations = self._similar(request)
        be = "is" if len(operations) == 1 else "are"
        return f"the nearest {be} {', '.join(operations)}" if operations else ""

    def instead(self, request: RequestContext) -> str:
        """Return the operations that a method, such as DELETE, or the last word of a path means, or ""."""
        resource, _, rest = request.path.removeprefix(f"{ROOT}/").partition("/")
        if request.method not in _VERBS or (request.method == "POST" and rest):
            return did_you_mean(self._similar(request))
        operations = self._meant(_VERBS[request.method], resource)
        return f"; to {_VERBS[request.method]}, use {' or '.join(operations)}" if operations else ""

    def _similar(self, request: RequestContext) -> list[str]:
        """Return the operations, as method and path, that the last word of a path means."""
        resource, *others = request.path.removeprefix(f"{ROOT}/").split("/")
        if resource not in self.resources:
            return self._meant(resource, "")
        return self._meant(others[-1] if others else resource, resource)

    def _meant(self, word: str, resource: str) -> list[str]:
        """Return the operations, as method and path, that ``word`` means. See ``hints.meant``."""
        known = operations_by_id(self.resources.values())
        of = self.resources.get(resource)  # endpoints of the page and the manual belong to none
        own = [each.name for each in of.operations()] if of else ()
        within = f"{resource}.{{}}" if resource else "{}.list"
        ids = (name if "." in name else within.format(name) for name in meant(word, resource, own))
        return [f"{known[each].method} {known[each].path}" for each in ids if each in known]

    def carry_out(
        self, request: RequestContext, endpoint: Endpoint, world: World
    ) -> tuple[object, list[Change]]:
        """Carry out the request without a lock, because an operation locks the world itself."""
        call = ControlCall(LocalTransport(self.worlds, world), request.arguments, request, self)
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

    def refuse(self, request: RequestContext, refused: Refused) -> Answer:
        """Return a response with the refusal's ``error``, ``message`` and ``remedy``, and its status.

        The name at the end of a path can contain slashes, so ``accounts/main/topup`` names an account. If the
        request is refused, the message suggests the operation that ``topup`` means. A slash that the client
        has encoded, as the remote client does, belongs to the name.
        """
        message, endpoint = refused.message, request.endpoint
        name = request.path.removeprefix(f"{ROOT}/").partition("/")[2]
        last = unquote(request.target.partition("?")[0].rpartition("/")[2])
        is_name = (
            endpoint is not None and endpoint.paths[0].endswith("}") and refused.rule in endpoint.refuses
        )
        if is_name and name.endswith(f"/{last}") and (hint := did_you_mean(self._similar(request))):
            message += f" The path was read as the name {shortened(name)}{hint}"
        body = {**errors.body_of(refused), "message": message, "remedy": refused.remedy}
        return Answer(errors.status_of(refused.rule), body)

    def security(self, assumed: Assumptions) -> Mapping[str, str]:  # noqa: ARG002
        """Return the header of the control token, if a token is required."""
        needs_token = self.settings.control_token is not None
        return {HEADER: "The control token of the server."} if needs_token else {}
