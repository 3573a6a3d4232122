"""The control interface: it asks for no account's credentials and acts on worlds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reseller_sandbox.control import documents, rows
from reseller_sandbox.control.call import ControlCall, Nothing
from reseller_sandbox.control.events import EventStream
from reseller_sandbox.core import refusals
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, PLAIN, Refused, Rule
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.powers.power import Power
from reseller_sandbox.web import errors
from reseller_sandbox.web.bodies import load
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.gate import Gate
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.interface import Answer, Interface
from reseller_sandbox.worlds import Engine, Outcome, World


class Control:
    """Health, assumptions, reset, clock and documents, over the worlds of one server."""

    name = "control"
    journalled = False
    content_type = "application/json"
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
    wording = PLAIN
    known_errors: frozenset[str] = frozenset()

    def __init__(
        self,
        worlds: Engine,
        others: Sequence[Interface],
        gate: Gate | None = None,
        powers: Mapping[str, type[Power]] = POWERS,
    ) -> None:
        self._worlds = worlds
        self._gate = gate or Gate()
        self.credentials = self._gate.credentials
        every = (*rows.endpoints(powers.values()), documents.endpoint(lambda: (*others, self)))
        self.endpoints: tuple[Endpoint, ...] = tuple(map(_strict, every))

    def owns(self, path: str) -> bool:
        """Everything under ``/_sandbox``."""
        return path == "/_sandbox" or path.startswith("/_sandbox/")

    def authenticate(self, incoming: Incoming) -> tuple[World, Account | None]:
        """Whom the gate lets in, for the world in the path's prefix or the default one."""
        self._gate.admit(incoming)
        return incoming.world or self._worlds.default, None

    def arguments(self, endpoint: Endpoint, incoming: Incoming, world: World) -> dict[str, Any]:  # noqa: ARG002
        """The query and the body, read by the endpoint's schemas, and what stands in the path."""
        query = dict(incoming.query)
        if endpoint.streams and (mark := incoming.headers.get("Last-Event-ID")):
            query["since"] = mark  # what a browser says when it comes again
        found = load(endpoint.query, query) if endpoint.query is not None else {}
        body = incoming.object if incoming.method != "GET" else {}
        found |= load(endpoint.body, body) if endpoint.body is not None else {}
        return incoming.arguments | found

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

    def accept(self, endpoint: Endpoint, result: Any, incoming: Incoming) -> Answer:
        """The result through the endpoint's schema."""
        if endpoint.streams:
            incoming.headers_out["Cache-Control"] = "no-store"
            return Answer(endpoint.status, b"", EventStream.content_type, EventStream(result))
        return Answer(endpoint.status, endpoint.answer.dump(result))

    def refuse(
        self,
        refused: Refused,
        incoming: Incoming,  # noqa: ARG002
        endpoint: Endpoint | None,  # noqa: ARG002
    ) -> Answer:
        """``error``, ``message`` and ``remedy``, always with the status that fits."""
        body = {**errors.body_of(refused), "remedy": refused.remedy}
        return Answer(errors.status_of(refused.rule), body)

    def inject(
        self,
        error: str,  # noqa: ARG002
        facts: Mapping[str, object],
        incoming: Incoming,
        endpoint: Endpoint | None,
    ) -> Answer:
        """Nothing strikes control."""
        return self.refuse(Refused(refusals.INTERNAL_ERROR, **facts), incoming, endpoint)

    def described(self, endpoint: Endpoint, rule: Rule) -> Iterable[tuple[int, str]]:  # noqa: ARG002
        """Each rule has one status."""
        return [(errors.status_of(rule), errors.described(rule, self.wording))]


def _strict(row: Endpoint) -> Endpoint:
    """``row``, which takes an empty object, and an empty query, where it takes nothing else."""
    refuses = dict.fromkeys((INVALID_PARAMETER, *row.refuses))
    row = replace(row, query=row.query or Nothing(), refuses=tuple(refuses))
    if row.method == "GET" or row.body is not None:
        return row
    return replace(row, body=Nothing(), refuses=tuple(dict.fromkeys((MALFORMED_BODY, *refuses))))
