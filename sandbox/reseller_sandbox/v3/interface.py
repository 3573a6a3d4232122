"""v3: authentication, request bodies, answers and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.refusals import UNSUPPORTED_MEDIA_TYPE, Refused, Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.settings import Settings
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
from reseller_sandbox.v3.auth import SIGNATURE, Signatures
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.errors import ErrorEntry, documented_error
from reseller_sandbox.web.fields import load
from reseller_sandbox.web.headers import HEADERS
from reseller_sandbox.web.interface import Answer, Endpoint, Interface, endpoints_of
from reseller_sandbox.web.reading import note_ignored, require_consistent
from reseller_sandbox.worlds import Engine, World


class V3(Interface):
    """The v3 interface over the worlds of one server."""

    name = "v3"
    owner = "the contract's v3"
    common: tuple[Rule, ...] = errors.COMMON
    wording = errors.WORDING
    headers: Mapping[str, str] = {
        **HEADERS,
        SIGNATURE: "In v3, the settings of the reading that the signature matches.",
    }
    endpoints = endpoints_of(balance, availability, domains, locks, glue, transfers, authcodes, contacts)

    def __init__(self, worlds: Engine, settings: Settings) -> None:
        super().__init__(worlds, settings)
        self._signatures = Signatures(settings.header_prefix, settings.public_urls)

    def authenticate(self, request: RequestContext) -> None:
        """Determine the account that signed the request (see ``Signatures``)."""
        self._signatures.authenticate(request, self.worlds)

    def arguments(self, request: RequestContext, endpoint: Endpoint, world: World) -> dict[str, Any]:
        """Return the values of body, query and path, read by the endpoint's schemas."""
        reads_body = request.method in ("POST", "PUT")
        body = self._object(request, world) if reads_body else request.object_if_any
        note_ignored(endpoint, request, world, body, self._signatures.names)
        arguments = load(endpoint.body, body) if endpoint.body is not None else {}
        arguments |= request.path_arguments
        if endpoint.query is not None and (request.query or request.path_arguments):
            query = {name: request.query_value(name) for name in endpoint.query.fields}
            arguments |= load(endpoint.query, query | request.path_arguments)
        require_consistent(endpoint, request, world, body)
        return arguments

    def _object(self, request: RequestContext, world: World) -> dict[str, Any]:
        content_type = request.headers.get("Content-Type", "")
        is_other_type = request.body and "json" not in content_type.lower()
        if is_other_type and request.assumed_in(world).content_type == "json":
            raise Refused(
                UNSUPPORTED_MEDIA_TYPE,
                given=content_type[:80] or "none",
                expected="Content-Type: application/json",
                setting="v3.request.content_type=any",
            )
        return request.object

    def error(self, request: RequestContext, refused: Refused) -> Answer:
        """Return ``error`` and ``message``, with the status that the assumptions choose."""
        answer = super().error(request, refused)
        always_200 = self.assumed(request).v3_http_status == "always_200"
        return replace(answer, status=200) if always_200 else answer

    def security(self, assumed: Assumptions) -> Mapping[str, str]:
        """Return the descriptions of the headers for the API key and the signature."""
        return self._signatures.described(assumed)

    def documented_errors(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[ErrorEntry]:  # noqa: ARG002
        """Return the error of ``rule``."""
        return [documented_error(rule, self.wording, always_200=assumed.v3_http_status == "always_200")]
