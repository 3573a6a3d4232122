"""Refusals common to all interfaces, and the HTTP status of each category."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Category, Refused, Rule, Wording

#: The HTTP status of each category of refusals.
STATUS: Mapping[Category, HTTPStatus] = {
    Category.INVALID: HTTPStatus.BAD_REQUEST,
    Category.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Category.PAYMENT: HTTPStatus.PAYMENT_REQUIRED,
    Category.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Category.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Category.WRONG_METHOD: HTTPStatus.METHOD_NOT_ALLOWED,
    Category.CONFLICT: HTTPStatus.CONFLICT,
    Category.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Category.WRONG_FORMAT: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    Category.LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
    Category.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
    Category.NOT_IMPLEMENTED: HTTPStatus.NOT_IMPLEMENTED,
    Category.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}

#: Rules that can refuse any request, even a request that reaches no operation.
ANYWHERE: tuple[Rule, ...] = (
    refusals.UNKNOWN_PATH,
    refusals.METHOD_NOT_ALLOWED,
    refusals.INTERNAL_ERROR,
    refusals.RATE_LIMITED,
    refusals.SERVICE_UNAVAILABLE,
    refusals.MAINTENANCE,
)

#: Rules about the form of a request. They are the same for all operations, so the documents of single
#: operations leave them out.
TRANSPORT: tuple[Rule, ...] = (
    refusals.INVALID_HOST,
    refusals.BODY_TOO_LARGE,
    refusals.UNKNOWN_WORLD,
    refusals.UNSUPPORTED_ENCODING,
    refusals.UNSUPPORTED_MEDIA_TYPE,
    refusals.MALFORMED_BODY,
    refusals.UNKNOWN_KEYS,
    refusals.OVER_SPEND_LIMIT,
    *(rule for rule in ANYWHERE if rule is not refusals.INTERNAL_ERROR),
)

#: Rules that any operation can raise, in addition to the rules of its interface and its declaration.
ANY_OPERATION: tuple[Rule, ...] = (refusals.UNKNOWN_KEYS, refusals.OVER_SPEND_LIMIT, refusals.INTERNAL_ERROR)

#: The JSON Schema of ``body_of``.
BODY_SHAPE: Mapping[str, object] = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}},
    "required": ["error", "message"],
}


def status_of(rule: Rule) -> HTTPStatus:
    """Return the HTTP status of a refusal by ``rule``."""
    return STATUS[rule.category]


def body_of(refused: Refused) -> dict[str, str]:
    """Return the body of an error response: ``error`` (the rule's code) and ``message``."""
    return {"error": refused.rule.code, "message": refused.message}


class ErrorEntry(NamedTuple):
    """An error in an OpenAPI document: HTTP status, fixed values of the body, and a line of text."""

    status: int
    body: Mapping[str, object]
    line: str


def documented_error(rule: Rule, wording: Wording, *, always_200: bool = False) -> ErrorEntry:
    """Return the ``ErrorEntry`` of a rule. The body of its responses is the result of ``body_of``."""
    status = HTTPStatus.OK if always_200 else status_of(rule)
    return ErrorEntry(int(status), {"error": rule.code}, f"`{rule.code}`: {sentence(rule, wording)}")


def sentence(rule: Rule, wording: Wording) -> str:
    """Return the message of a rule with placeholders for the facts, such as ``{limit}``."""
    return wording.with_words(rule.sentence).replace("!r}", "}")
