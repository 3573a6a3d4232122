"""v2.0: authentication, request bodies, answers and refusals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused, Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import Account
from reseller_sandbox.server.secrecy import key_masked
from reseller_sandbox.v2 import bodies, contacts, customers, domains, errors, hosts, transfers, zones
from reseller_sandbox.v2.shapes import Placeholders
from reseller_sandbox.web.access_control import HEADER as CONTROL_HEADER
from reseller_sandbox.web.application import VERSION
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.errors import ErrorEntry
from reseller_sandbox.web.fields import is_shape, load
from reseller_sandbox.web.headers import REFUSAL, refusal_value
from reseller_sandbox.web.interface import Answer, Endpoint, Interface, endpoints_of
from reseller_sandbox.web.reading import note_ignored, require_consistent
from reseller_sandbox.worlds import World

#: The header for the token in the contract. An assumption can accept further headers.
_HEADER = "X-Auth-Token"

#: Words in the names of headers that a client may use for a token by mistake.
_ALIKE = ("token", "auth")
_MOST_ALIKE = 3

_VERSION_PATH = re.compile(f"/{VERSION}(/|$)")


class V2(Interface):
    """The v2.0 interface over the worlds of one server."""

    name = "v2"
    content_type = "application/json; charset=utf-8"
    owner = "the contract's v2.0"
    common: tuple[Rule, ...] = (*Interface.common, r.VERSION_NOT_SERVED, r.TOKEN_MISSING, r.UNKNOWN_TOKEN)
    wording = errors.WORDING
    placeholders = Placeholders()
    error_shape: Mapping[str, object] = {
        "type": "object",
        "properties": {"code": {"type": "integer"}, "msg": {"type": "string"}, "status": {"type": "boolean"}},
        "required": ["code", "msg", "status"],
    }
    endpoints = endpoints_of(customers, contacts, domains, zones, transfers, hosts)

    def authenticate(self, request: RequestContext) -> None:
        """Find the world and the account of the request's token.

        Raise ``version_not_served``, ``token_missing`` or ``unknown_token``.
        """
        holder = self._holder(_HEADER, request.headers.get(_HEADER, ""), request)
        if holder is None:
            holders = (self._holder(name, token, request) for name, token in request.headers.items())
            holder = next(filter(None, holders), None)
        if holder is None:
            refused = self._refusal(request)
            self._require_version(request)
            raise refused
        request.world, request.sender = holder
        self._require_version(request)

    def _holder(self, name: str, token: str, request: RequestContext) -> tuple[World, Account] | None:
        """Return the world and the account of ``token`` if the world accepts tokens in header ``name``."""
        holder = self.worlds.by_token(token, request.world)
        accepted = holder[0].assumptions.token_headers if holder is not None else ()
        if name not in accepted and name.lower() not in map(str.lower, accepted):
            return None
        if name.lower() != _HEADER.lower():
            request.relied_on.add("token_headers")
        return holder

    def _refusal(self, request: RequestContext) -> Refused:
        """Return the refusal of a request without a valid token.

        If an account owns the rejected token, record the account as the sender of ``request``.
        """
        accepted = (request.world or self.worlds.default).assumptions.token_headers
        if accepted != (_HEADER,):
            request.relied_on.add("token_headers")
        token = next(filter(None, map(request.headers.get, accepted)), None)
        if token is not None:
            rejection = self.worlds.rejection(token, request.world)
            request.recognise(rejection.sender)
            return Refused(r.UNKNOWN_TOKEN, token=key_masked(token), reason=rejection.reason)
        return Refused(r.TOKEN_MISSING, header=" or ".join(accepted), instead=_instead(request, accepted))

    def _require_version(self, request: RequestContext) -> None:
        """Raise ``version_not_served`` if the world does not serve the version in the path.

        If V2.0 is served, a request for V2.0 does not count as using the assumption ``v2.versions``.
        """
        # Use V2.0 if no operation matches the path, because such a path has no version.
        version = request.path_arguments.get("version", "V2.0").upper()
        world = request.world or self.worlds.default
        if version == "V2.0" and version in world.assumptions.versions:
            return
        served = request.assumed_in(world).versions
        if version not in map(str.upper, served):
            raise Refused(r.VERSION_NOT_SERVED, version=version[:20], served=", ".join(served))

    def arguments(self, request: RequestContext, endpoint: Endpoint, world: World) -> dict[str, Any]:
        """Return the values of the body and of the placeholders in the path."""
        arguments: dict[str, object] = {}
        schemas = endpoint.schemas
        schema = schemas.body if is_shape(schemas.body) else None
        body = bodies.read(request, world) if schema is not None else request.object_if_any
        note_ignored(endpoint, request, world, body)
        if schema is not None:
            arguments = bodies.load(schema, body, request.assumed_in(world), world.secrecy)
        require_consistent(endpoint, request, world, body)
        arguments |= request.path_arguments
        return arguments | load(schemas.path, request.path_arguments, world.secrecy)

    def refuse(self, request: RequestContext, refused: Refused) -> Answer:
        """Return the response to a refusal: ``code``, ``msg`` and ``status``.

        The assumptions choose the HTTP status. A header has the rule and its sentence, which are more precise
        than the documented message.
        """
        self.require_declared(request, refused)
        request.headers_out[REFUSAL] = refusal_value(refused)
        return self._error(request, errors.answer(request.operation, refused))

    def inject(self, request: RequestContext, error: str, facts: Mapping[str, object]) -> Answer:
        """Return the response with ``error``, even if the contract has no such error for the operation."""
        return self._error(request, errors.injected(request.operation, error, facts))

    def unmatched(self, request: RequestContext, world: World) -> str:
        """Return a hint about the served versions if the path has no valid version, or ""."""
        if _VERSION_PATH.match(request.path):
            return ""
        return f"the version must be {' or '.join(request.assumed_in(world).versions)}"

    def _error(self, request: RequestContext, error: errors.RenderedError) -> Answer:
        assumed = self.assumed(request)
        code, message, name = error
        quirk = message == errors.ACTIVE_ORDERS.message and assumed.customer_delete_refusal_status
        status = 200 if assumed.v2_http_status == "always_200" else code
        return Answer(status, {"code": code, "msg": message, "status": quirk}, error=name)

    def name_form(self, request: RequestContext) -> str:
        """Return the form of names that ``v2.names.form`` chooses."""
        return self.assumed(request).v2_name_form

    @classmethod
    def known_errors(cls) -> frozenset[str]:
        """Return the messages of the documented errors, and the codes of all rules."""
        return errors.KNOWN

    @classmethod
    def documented(cls, endpoint: Endpoint) -> Mapping[str, Sequence[Rule]]:
        """Return the documented errors of an operation, each with the rules that lead to it."""
        rules_of: dict[str, list[Rule]] = {}
        for rule in (*cls.common, *endpoint.refuses, r.INTERNAL_ERROR):
            for name in dict.fromkeys(error.name for error in errors.all_of(endpoint.id, rule)):
                rules_of.setdefault(name, []).append(rule)
        return rules_of

    def content_types(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the content types of bodies that the assumptions accept."""
        forms = (bodies.FORM, bodies.MULTIPART) if assumed.request_format == "json_or_form" else ()
        return ("application/json", *forms)

    def security(self, assumed: Assumptions) -> Mapping[str, str]:
        """Return the first header in which the assumptions accept a token."""
        return {assumed.token_headers[0]: "The token of the account."}

    def documented_errors(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[ErrorEntry]:
        """Return each documented error to which ``rule`` leads."""
        return errors.documented_errors(endpoint.id, rule, always_200=assumed.v2_http_status == "always_200")


def _instead(request: RequestContext, accepted: Collection[str]) -> str:
    """Return a hint about similar headers of the request, with the options that accept them."""
    names = [name for name, _ in request.headers.items() if any(word in name.lower() for word in _ALIKE)]
    others = (CONTROL_HEADER.lower(), *(name.lower() for name in accepted))
    names = [name for name in names if name.lower() not in others][:_MOST_ALIKE]
    if not names:
        return ""
    settings = " ".join(f"--token-header {name}" for name in names)
    return f"; it carries {' and '.join(names)}, which {settings} would take"
