"""What any interface may have to refuse, and the HTTP status that fits."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from reseller_sandbox.core import refusals
from reseller_sandbox.core.refusals import Refused, Rule

#: The HTTP status of each rule that is no one interface's own.
STATUS: Mapping[Rule, HTTPStatus] = {
    refusals.MALFORMED_BODY: HTTPStatus.BAD_REQUEST,
    refusals.BODY_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    refusals.UNSUPPORTED_MEDIA_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    refusals.UNKNOWN_PATH: HTTPStatus.NOT_FOUND,
    refusals.METHOD_NOT_ALLOWED: HTTPStatus.METHOD_NOT_ALLOWED,
    refusals.UNKNOWN_WORLD: HTTPStatus.NOT_FOUND,
    refusals.INVALID_PARAMETER: HTTPStatus.BAD_REQUEST,
    refusals.INTERNAL_ERROR: HTTPStatus.INTERNAL_SERVER_ERROR,
    refusals.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    refusals.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    refusals.MAINTENANCE: HTTPStatus.SERVICE_UNAVAILABLE,
}

#: What an operation that takes an empty body may refuse about a body that is none.
EMPTY_BODY: tuple[Rule, ...] = (refusals.UNSUPPORTED_MEDIA_TYPE, refusals.MALFORMED_BODY)

#: The JSON Schema of ``body_of``.
BODY_SHAPE: Mapping[str, object] = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}},
    "required": ["error", "message"],
}


def body_of(refused: Refused) -> dict[str, str]:
    """An error as ``error``, the rule's name, and ``message``, its sentence."""
    return {"error": refused.rule.name, "message": refused.message}


def described(rule: Rule) -> str:
    """A rule as documents list it, where errors look like ``body_of``."""
    return f"`{rule.name}`: {rule.sentence}"
