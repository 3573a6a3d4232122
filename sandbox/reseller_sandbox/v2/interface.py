"""v2.0: how the interface authenticates, reads bodies, answers and refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import INTERNAL_ERROR, VERSION_NOT_SERVED, Refused, Rule
from reseller_sandbox.v2 import (
    auth,
    bodies,
    contacts,
    customers,
    domains,
    edits,
    errors,
    hosts,
    injected,
    renewals,
    transfers,
    zones,
)
from reseller_sandbox.v2.shapes import Placeholders
from reseller_sandbox.v2.wording import WORDING
from reseller_sandbox.web import statements
from reseller_sandbox.web.bodies import load
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.errors import ANY_OPERATION, Shown, in_header
from reseller_sandbox.web.headers import REFUSAL, SIGNATURE, TOLD
from reseller_sandbox.web.ignored import tell
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.interface import Answer, Transacting
from reseller_sandbox.worlds import Engine, World


class V2(Transacting):
    """The v2.0 interface over the worlds of one server."""

    name = "v2"
    journalled = True
    content_type = "application/json; charset=utf-8"
    known_errors = injected.KNOWN
    common: tuple[Rule, ...] = errors.COMMON
    wording = WORDING
    placeholders = Placeholders()
    headers = tuple(one for one in TOLD if one != SIGNATURE)
    error_shape: Mapping[str, object] = {
        "type": "object",
        "properties": {"code": {"type": "integer"}, "msg": {"type": "string"}, "status": {"type": "boolean"}},
        "required": ["code", "msg", "status"],
    }
    endpoints: tuple[Endpoint, ...] = (
        *customers.ENDPOINTS,
        *contacts.ENDPOINTS,
        *domains.ENDPOINTS,
        *edits.ENDPOINTS,
        *renewals.ENDPOINTS,
        *zones.ENDPOINTS,
        *transfers.ENDPOINTS,
        *hosts.ENDPOINTS,
    )

    def __init__(self, worlds: Engine) -> None:
        self._worlds = worlds

    def authenticate(self, incoming: Incoming) -> tuple[World, Account]:
        """Return whose token it is; refuse by ``version_not_served``, or as ``auth.refusal`` says."""
        found = auth.find(incoming, self._worlds)
        if found is not None:
            incoming.world, incoming.account = found
            self._require_version(incoming)
            return found
        refused = auth.refusal(incoming, self._worlds)
        self._require_version(incoming)
        raise refused

    def _require_version(self, incoming: Incoming) -> None:
        """Refuse a version that is not served; that V2.0 is served by default rests on no assumption."""
        version = incoming.arguments.get("version", "V2.0").upper()  # none where no operation takes the path
        world = incoming.world or self._worlds.default
        if version == "V2.0" and version in world.assumptions.versions:
            return
        served = incoming.assumed_in(world).versions
        if version not in (one.upper() for one in served):
            raise Refused(VERSION_NOT_SERVED, version=version[:20], served=", ".join(served))

    def arguments(self, endpoint: Endpoint, incoming: Incoming, world: World) -> dict[str, Any]:
        """Return the body, read by the endpoint's schema, and what stands in the path."""
        found: dict[str, Any] = {}
        asked = endpoint.body if isinstance(endpoint.body, bodies.BodyAsked) else None
        given = bodies.read(incoming, world) if asked is not None else incoming.object_if_any
        tell(endpoint, incoming, world, given)
        if asked is not None:
            found = bodies.load(asked, given, incoming.assumed_in(world))
        statements.check(endpoint, incoming, world, given)
        found |= incoming.arguments
        return found | (load(endpoint.path, incoming.arguments) if endpoint.path is not None else {})

    def refuse(self, refused: Refused, incoming: Incoming, endpoint: Endpoint | None) -> Answer:
        """Return ``code``, ``msg`` and ``status``, with the HTTP status that the assumptions choose.

        The rule and its sentence, which say more than the documented message, stand in a header.
        """
        known = endpoint is None or refused.rule in (*self.common, *endpoint.refuses, *ANY_OPERATION)
        if not known:
            raise AssertionError(f"{endpoint.id if endpoint else ''} does not declare {refused.rule.code}")
        assumed = incoming.assumed_in(incoming.world or self._worlds.default)
        incoming.headers_out[REFUSAL] = in_header(str(refused))
        return _error(assumed, errors.answer(endpoint.id if endpoint is not None else "", refused))

    def inject(
        self, error: str, facts: Mapping[str, object], incoming: Incoming, endpoint: Endpoint | None
    ) -> Answer:
        """Return what ``refuse`` would, whether the operation declares the error or not."""
        return _error(
            incoming.assumed_in(incoming.world or self._worlds.default),
            injected.words(endpoint.id if endpoint is not None else "", error, facts),
        )

    @classmethod
    def documented(cls, endpoint: Endpoint) -> Mapping[str, Sequence[Rule]]:
        """Return the documented errors of an operation, each with the rules that become it."""
        found: dict[str, list[Rule]] = {}
        for rule in (*cls.common, *endpoint.refuses, INTERNAL_ERROR):
            for name in dict.fromkeys(error.name for error in errors.all_of(endpoint.id, rule)):
                found.setdefault(name, []).append(rule)
        return found

    def takes(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return JSON's content type, and where forms are taken that of those."""
        return ("application/json", *((bodies.FORM,) if assumed.request_format == "json_or_form" else ()))

    def security(self, assumed: Assumptions) -> Mapping[str, str]:
        """Return the first of the headers that take a token."""
        return {assumed.token_headers[0]: "The token of the account."}

    def shown(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[Shown]:
        """Return each documented error that a rule becomes."""
        return errors.shown(endpoint.id, rule, always_200=assumed.v2_http_status == "always_200")


def _error(assumed: Assumptions, told: errors.Worded) -> Answer:
    quirk = told.message == errors.ACTIVE_ORDERS.message and assumed.customer_delete_refusal_status
    body = {"code": told.code, "msg": told.message, "status": quirk}
    status = 200 if assumed.v2_http_status == "always_200" else told.code
    return Answer(status, body, error=told.name)
