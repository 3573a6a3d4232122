"""How v3 refuses: the rule's name as ``error``, its sentence as ``message``, and an HTTP status that fits."""

from __future__ import annotations

from http import HTTPStatus

from reseller_sandbox.core import refusals
from reseller_sandbox.core.refusals import Rule
from reseller_sandbox.web import errors as web
from reseller_sandbox.web.errors import EMPTY_BODY

__all__ = ["BODY", "COMMON", "EMPTY_BODY", "NAMED", "STATUS"]

#: The HTTP status of each rule under ``v3.errors.http_status = semantic``.
STATUS: dict[Rule, HTTPStatus] = {
    **web.STATUS,
    refusals.CREDENTIALS_MISSING: HTTPStatus.UNAUTHORIZED,
    refusals.UNKNOWN_KEY: HTTPStatus.UNAUTHORIZED,
    refusals.SIGNATURE_MISMATCH: HTTPStatus.UNAUTHORIZED,
    refusals.TOO_MANY_NAMES: HTTPStatus.BAD_REQUEST,
    refusals.INVALID_NAME: HTTPStatus.BAD_REQUEST,
    refusals.ZONE_NOT_SUPPORTED: HTTPStatus.BAD_REQUEST,
    refusals.ZONE_OUT_OF_SERVICE: HTTPStatus.SERVICE_UNAVAILABLE,
    refusals.DOMAIN_NOT_FOUND: HTTPStatus.NOT_FOUND,
    refusals.NAME_TAKEN: HTTPStatus.CONFLICT,
    refusals.NAME_RESERVED: HTTPStatus.CONFLICT,
    refusals.WRONG_STATE: HTTPStatus.CONFLICT,
    refusals.SWITCHED_ALREADY: HTTPStatus.CONFLICT,
    refusals.TRANSFER_PENDING: HTTPStatus.CONFLICT,
    refusals.NO_TRANSFER: HTTPStatus.CONFLICT,
    refusals.LOCKED: HTTPStatus.CONFLICT,
    refusals.HELD_BY_REGISTRY: HTTPStatus.CONFLICT,
    refusals.INSUFFICIENT_FUNDS: HTTPStatus.PAYMENT_REQUIRED,
    refusals.PREMIUM_COST_REQUIRED: HTTPStatus.BAD_REQUEST,
    refusals.PRICE_MISMATCH: HTTPStatus.CONFLICT,
    refusals.PERIOD_TOO_LONG: HTTPStatus.BAD_REQUEST,
    refusals.PERIOD_TOO_SHORT: HTTPStatus.BAD_REQUEST,
    refusals.INVALID_NAMESERVER: HTTPStatus.BAD_REQUEST,
    refusals.INVALID_IP: HTTPStatus.BAD_REQUEST,
    refusals.HOSTS_NOT_SUPPORTED: HTTPStatus.CONFLICT,
    refusals.INVALID_HOSTNAME: HTTPStatus.BAD_REQUEST,
    refusals.HOST_EXISTS: HTTPStatus.CONFLICT,
    refusals.HOST_NOT_FOUND: HTTPStatus.NOT_FOUND,
    refusals.HOST_IN_USE: HTTPStatus.CONFLICT,
    refusals.CONTACTS_REQUIRED: HTTPStatus.BAD_REQUEST,
    refusals.INVALID_CONTACT: HTTPStatus.BAD_REQUEST,
    refusals.LICENSE_REQUIRED: HTTPStatus.BAD_REQUEST,
    refusals.INVALID_LICENSE: HTTPStatus.BAD_REQUEST,
    refusals.TRANSFERS_NOT_SUPPORTED: HTTPStatus.CONFLICT,
    refusals.NOT_REGISTERED: HTTPStatus.NOT_FOUND,
    refusals.ALREADY_YOURS: HTTPStatus.CONFLICT,
    refusals.TOO_YOUNG: HTTPStatus.CONFLICT,
    refusals.WRONG_AUTH_CODE: HTTPStatus.FORBIDDEN,
    refusals.INVALID_AUTH_CODE: HTTPStatus.BAD_REQUEST,
}

#: The rules by name.
NAMED: dict[str, Rule] = {rule.name: rule for rule in STATUS}

#: What any v3 operation may refuse, in the order of the checks, before its own checks begin.
COMMON: tuple[Rule, ...] = (
    refusals.BODY_TOO_LARGE,
    refusals.UNKNOWN_WORLD,
    refusals.CREDENTIALS_MISSING,
    refusals.UNKNOWN_KEY,
    refusals.SIGNATURE_MISMATCH,
)

#: What an operation that reads a body may refuse about it, after ``COMMON``.
BODY: tuple[Rule, ...] = (
    refusals.UNSUPPORTED_MEDIA_TYPE,
    refusals.MALFORMED_BODY,
    refusals.INVALID_PARAMETER,
)
