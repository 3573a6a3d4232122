"""The control interface as a generation: it needs no credentials and acts on worlds, not in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from sandbox.control import advice, clock, documents, general
from sandbox.control.call import ControlCall
from sandbox.core import refusals
from sandbox.core.model import Account
from sandbox.core.refusals import Refused, Rule
from sandbox.web import errors
from sandbox.web.bodies import load, read_object
from sandbox.web.generation import Answer, Endpoint, Generation, Incoming
from sandbox.worlds import Outcome, World, Worlds

STATUS: dict[Rule, HTTPStatus] = {
    **errors.STATUS,
    refusals.SET_BACK: HTTPStatus.CONFLICT,
    refusals.UNKNOWN_DOCUMENT: HTTPStatus.NOT_FOUND,
}


class Control:
    """Health, assumptions, reset, clock and documents, over the worlds of one server."""

    name = "control"
    journalled = False
    common: tuple[Rule, ...] = (refusals.BODY_TOO_LARGE, refusals.UNKNOWN_WORLD)
    error_shape = errors.BODY_SHAPE

    def __init__(self, worlds: Worlds, others: Sequence[Generation]) -> None:
        self._worlds = worlds
        self.endpoints: tuple[Endpoint, ...] = (
            *general.ENDPOINTS,
            *clock.ENDPOINTS,
            *advice.ENDPOINTS,
            documents.endpoint(lambda: (*others, self)),
        )

    def owns(self, path: str) -> bool:
        """Everything under ``/_sandbox``."""
        return path == "/_sandbox" or path.startswith("/_sandbox/")

    def authenticate(self, incoming: Incoming) -> tuple[World, Account | None]:
        """Anybody who reaches it, for the world in the path's prefix or the default one."""
        return incoming.world or self._worlds.default, None

    def arguments(self, endpoint: Endpoint, incoming: Incoming, world: World) -> dict[str, Any]:  # noqa: ARG002
        """The body, read by the endpoint's schema, and what stands in the path."""
        body = read_object(incoming.body) if incoming.method != "GET" else {}
        return incoming.arguments | (load(endpoint.body, body) if endpoint.body is not None else {})

    def carry_out(
        self,
        endpoint: Endpoint,
        world: World,
        account: Account | None,  # noqa: ARG002
        arguments: dict[str, Any],
        incoming: Incoming,  # noqa: ARG002
        cause: str,  # noqa: ARG002
    ) -> Outcome[Any]:
        """Directly on the world."""
        return Outcome(endpoint.handle(ControlCall(world, self._worlds, arguments)))

    def accept(self, endpoint: Endpoint, result: Any, incoming: Incoming, world: World) -> Answer:  # noqa: ARG002
        """The result through the endpoint's schema."""
        return Answer(endpoint.status, endpoint.answer.dump(result))

    def refuse(
        self,
        refused: Refused,
        incoming: Incoming,  # noqa: ARG002
        world: World | None,  # noqa: ARG002
        endpoint: Endpoint | None,  # noqa: ARG002
    ) -> Answer:
        """``error`` and ``message``, always with the status that fits."""
        return Answer(STATUS[refused.rule], errors.body_of(refused))

    def described(self, endpoint: Endpoint, rule: Rule) -> Iterable[tuple[int, str]]:  # noqa: ARG002
        """Each rule has one status."""
        return [(STATUS[rule], errors.described(rule))]
