"""v3: how the interface authenticates, reads bodies, answers and refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reseller_sandbox.core import refusals
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import UNSUPPORTED_MEDIA_TYPE, Refused, Rule
from reseller_sandbox.v3 import (
    authcodes,
    availability,
    balance,
    contacts,
    domains,
    errors,
    glue,
    locks,
    transfers,
)
from reseller_sandbox.v3.auth import Signatures
from reseller_sandbox.v3.wording import WORDING
from reseller_sandbox.web import statements
from reseller_sandbox.web.bodies import load
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.errors import ANY_OPERATION, BODY_SHAPE, TRANSPORT, Shown, body_of, shown, status_of
from reseller_sandbox.web.headers import REFUSAL, TOLD
from reseller_sandbox.web.ignored import tell
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.interface import Answer, Transacting
from reseller_sandbox.worlds import Engine, World


class V3(Transacting):
    """The v3 interface over the worlds of one server."""

    name = "v3"
    journalled = True
    content_type = "application/json"
    common: tuple[Rule, ...] = errors.COMMON
    error_shape = BODY_SHAPE
    wording = WORDING
    placeholders = None
    headers = tuple(one for one in TOLD if one != REFUSAL)
    endpoints: tuple[Endpoint, ...] = (
        *balance.ENDPOINTS,
        *availability.ENDPOINTS,
        *domains.ENDPOINTS,
        *locks.ENDPOINTS,
        *glue.ENDPOINTS,
        *transfers.ENDPOINTS,
        *authcodes.ENDPOINTS,
        *contacts.ENDPOINTS,
    )
    rules: Mapping[str, Rule] = errors.named(endpoints)
    known_errors = frozenset(rules)

    def __init__(self, worlds: Engine, signatures: Signatures) -> None:
        self._worlds = worlds
        self._signatures = signatures

    def authenticate(self, incoming: Incoming) -> tuple[World, Account]:
        """Return whose signature it is; see ``Signatures``."""
        return self._signatures.authenticate(incoming, self._worlds)

    def arguments(self, endpoint: Endpoint, incoming: Incoming, world: World) -> dict[str, Any]:
        """Return the body and the query, read by the endpoint's schemas, and what stands in the path.

        What is said twice is the same each time.
        """
        reads_body = incoming.method in ("POST", "PUT")
        given = self._object(incoming, world) if reads_body else incoming.object_if_any
        tell(endpoint, incoming, world, given, self._signatures.names)
        found = load(endpoint.body, given) if endpoint.body is not None else {}
        found |= incoming.arguments
        if endpoint.query is not None and (incoming.query or incoming.arguments):
            asked = {name: incoming.query_value(name) for name in endpoint.query.fields}
            found |= load(endpoint.query, asked | incoming.arguments)
        statements.check(endpoint, incoming, world, given)
        return found

    def _object(self, incoming: Incoming, world: World) -> dict[str, Any]:
        content_type = incoming.headers.get("Content-Type", "")
        other = incoming.body and "json" not in content_type.lower()
        if other and incoming.assumed_in(world).content_type == "json":
            raise Refused(
                UNSUPPORTED_MEDIA_TYPE,
                given=content_type[:80] or "none",
                wanted="Content-Type: application/json",
                setting="v3.request.content_type=any",
            )
        return incoming.object

    def refuse(self, refused: Refused, incoming: Incoming, endpoint: Endpoint | None) -> Answer:
        """Return ``error`` and ``message``, with the status that the assumptions choose."""
        known = endpoint is None or refused.rule in (*self.common, *endpoint.refuses, *ANY_OPERATION)
        if not known:
            raise AssertionError(f"{endpoint.id if endpoint else ''} does not declare {refused.rule.code}")
        assumed = incoming.assumed_in(incoming.world or self._worlds.default)
        return Answer(
            200 if assumed.v3_http_status == "always_200" else status_of(refused.rule),
            body_of(refused),
            error=refused.rule.code,
        )

    def inject(
        self,
        error: str,
        facts: Mapping[str, object],
        incoming: Incoming,
        endpoint: Endpoint | None,  # noqa: ARG002
    ) -> Answer:
        """Return what ``refuse`` would, whether the operation declares the error or not."""
        rule = self.rules.get(error, refusals.INTERNAL_ERROR)
        refused = Refused(rule, **facts)
        refused.spoken_in(self.wording)
        return self.refuse(refused, incoming, None)

    @classmethod
    def documented(cls, endpoint: Endpoint) -> Mapping[str, Sequence[Rule]]:
        """Return what an operation and the authentication before it refuse by, under its code."""
        rules = (*cls.common, *endpoint.refuses)
        return {rule.code: (rule,) for rule in rules if rule not in TRANSPORT}

    def takes(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return the one content type of bodies."""
        return ("application/json",)

    def security(self, assumed: Assumptions) -> Mapping[str, str]:
        """Return the headers of the two elements, with the rule and an example."""
        return self._signatures.told(assumed)

    def shown(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[Shown]:  # noqa: ARG002
        """Return the one error that each rule is."""
        return [shown(rule, self.wording, always_200=assumed.v3_http_status == "always_200")]
