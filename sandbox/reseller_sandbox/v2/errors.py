"""Refusals in v2.0: the documented error for each rule and operation.

Several rules share an error. If no documented error describes a rule, the closest one is used. A header
names the rule and its sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused, Rule, Term, Wording
from reseller_sandbox.registry.lifecycle import Action
from reseller_sandbox.web import errors as web
from reseller_sandbox.web.errors import ErrorEntry

_LONGEST = 120

WORDING = Wording(
    {
        Term.YEARS: "period",
        Term.EXPIRY: "current_expiry_date",
        Term.END: "date_end",
        Term.AGREED_PRICE: "purchaseCost (in v3 alone)",
        Term.NAMESERVERS: "ns",
        Term.ADDRESSES: "ip",
        Term.HOST: "host_name",
        Term.AUTH_CODE: "transfer_code",
        Term.REGISTRANT: "contact_registrant",
        Term.ADMIN: "contact_admin",
        Term.TECH: "contact_tech",
        Term.BILLING: "contact_billing",
        Term.CONTACT: "contact_id",
        Term.CUSTOMER: "customer_id",
        Term.MAIL: "mail",
        Action.HOLD: "client_hold 1",
        Action.RELEASE_HOLD: "client_hold 0",
        Action.LOCK_TRANSFER: "client_transfer_prohibited 1",
        Action.UNLOCK_TRANSFER: "client_transfer_prohibited 0",
        Action.LOCK_UPDATE: "client_update_prohibited 1",
        Action.UNLOCK_UPDATE: "client_update_prohibited 0",
        Action.SET_FLAGS: "domain edit",
        Action.SET_AUTORENEW: "enableAutorenew in v3",
        Action.SET_AUTH_CODE: "setAuthcode in v3",
        Action.READ_AUTH_CODE: "getAuthcode in v3",
    }
)


class Documented(Struct, frozen=True):
    """An error of the contract: code and message. The message may have ``{info}`` or ``{param_name}``."""

    code: int
    message: str

    @property
    def name(self) -> str:
        """The message as the contract writes it. It names the error in faults and documents."""
        return self.message.replace("{", "{{ ").replace("}", " }}")


#: An error as a client receives it: code, message, and the name by which faults select the error.
RenderedError: TypeAlias = tuple[int, str, str]


class ErrorMapping(Struct, frozen=True):
    """The documented error for a rule. A fact of the refusal, or ``word``, fills the placeholder.

    ``stand_in`` is the fact to use if ``fact`` is missing.
    """

    error: Documented
    fact: str = ""
    word: str = ""
    stand_in: str = ""

    def message(self, refused: Refused) -> str:
        """Return the error's message, with facts of ``refused`` in place of the placeholder."""
        facts = refused.refusal.worded_facts
        filling = (self.word or str(facts.get(self.fact, facts.get(self.stand_in, r.UNKNOWN))))[:_LONGEST]
        return self.error.message.format(info=filling, param_name=filling)


INVALID = Documented(400, "Invalid {param_name}")
INVALID_PARAM = Documented(400, "Invalid Param")
EXTRA_UNKNOWN = Documented(400, "Extra param {info} unknown")
EXTRA_INVALID = Documented(400, "Invalid value for extra param {info}")
NOT_ENOUGH = Documented(400, "Not enough parameter: {info}")
ZONE = Documented(400, "Domain zone not support")
DOMAIN_NAME = Documented(400, "Not the correct domain name")
INVALID_ID = Documented(400, "Invalid id")
LICENSE = Documented(400, "Not the correct license")
NS = Documented(400, "Not the correct ns: {info}")
NOT_CORRECT = Documented(400, "Not the correct {param_name}")
MAXIMUM = Documented(400, "maximum value period: {info}")
MINIMUM = Documented(400, "minimum value period: {info}")
EXPIRY_DATE = Documented(400, "Not the correct current_expiry_date")
TRANSFER_CODE = Documented(400, "Not the correct transfer_code")
IPV4 = Documented(400, "Not the correct IPv4: {info}")
IPV6 = Documented(400, "Not the correct IPv6: {info}")
IP_TYPE = Documented(400, "Unknown ip type : {info}")
UNAUTHORISED = Documented(403, "Authorization failed")
NO_TOKEN = Documented(403, "Token not found")
MAIL_REGISTERED = Documented(403, "Mail already registered")
ACTIVE_ORDERS = Documented(403, "You can not delete the contact has active orders")
LINKED = Documented(403, "This object linked")
REGISTERED = Documented(403, "Domain is already registered")
FUNDS = Documented(403, "Not enough funds on the balance sheet")
ORDER_STATUS = Documented(403, "The status of the order does not allow to perform the operation")
UNSUPPORTED = Documented(403, "Order not support this action")
ID_NOT_FOUND = Documented(404, "ID not found")
OBJECT_NOT_FOUND = Documented(404, "Object not found {info}")
SYSTEM_ERROR = Documented(500, "System Error")

#: Rules that refuse a request before it reaches an operation. No error is documented for them, so the code is
#: the HTTP status.
TRANSPORT: tuple[Rule, ...] = (*web.TRANSPORT, r.VERSION_NOT_SERVED)

_NO_IMPLEMENTATION = "no implementation for this version"

#: The rules that check the body of a request.
BODY: tuple[Rule, ...] = (
    r.UNSUPPORTED_MEDIA_TYPE,
    r.MALFORMED_BODY,
    r.MISSING_PARAMETER,
    r.INVALID_PARAMETER,
)

#: Rules that lead to several errors, each with the fact that selects the error.
_VARIANTS: Mapping[Rule, str] = {
    r.INVALID_PARAMETER: "field",
    r.INVALID_IP: "version",
    r.DOMAIN_NOT_FOUND: "elsewhere",
}

Key = Rule | tuple[Rule, object]
ErrorMappings = Mapping[Key, ErrorMapping]


def _all(mapping: ErrorMapping, *keys: Key) -> ErrorMappings:
    return dict.fromkeys(keys, mapping)


#: The default error of each rule.
DEFAULTS: ErrorMappings = {
    r.TOKEN_MISSING: ErrorMapping(NO_TOKEN),
    r.UNKNOWN_TOKEN: ErrorMapping(UNAUTHORISED),
    r.INTERNAL_ERROR: ErrorMapping(SYSTEM_ERROR),
    r.MISSING_PARAMETER: ErrorMapping(NOT_ENOUGH, "field"),
    r.INVALID_NAME: ErrorMapping(DOMAIN_NAME),
    **_all(ErrorMapping(ZONE), r.ZONE_NOT_SUPPORTED, r.ZONE_OUT_OF_SERVICE, r.TRANSFERS_NOT_SUPPORTED),
    r.DOMAIN_NOT_FOUND: ErrorMapping(OBJECT_NOT_FOUND, "name"),
    **_all(ErrorMapping(INVALID_ID), r.CONTACT_NOT_FOUND, r.CUSTOMER_NOT_FOUND),
    r.INVALID_NAMESERVER: ErrorMapping(NS, "server"),
    **_all(ErrorMapping(LICENSE), r.LICENSE_REQUIRED, r.INVALID_LICENSE),
    **_all(ErrorMapping(REGISTERED), r.NAME_TAKEN, r.NAME_RESERVED, r.PREMIUM_NOT_TAKEN),
    r.PERIOD_TOO_LONG: ErrorMapping(MAXIMUM, "limit"),
    r.PERIOD_TOO_SHORT: ErrorMapping(MINIMUM, "limit"),
    **_all(ErrorMapping(EXPIRY_DATE), r.EXPIRY_MISMATCH, r.END_MISMATCH),
    r.INSUFFICIENT_FUNDS: ErrorMapping(FUNDS),
    **_all(ErrorMapping(ORDER_STATUS), r.WRONG_STATE, r.TRANSFER_PENDING, r.NO_TRANSFER, r.LOCKED),
    **_all(ErrorMapping(ORDER_STATUS), r.HOST_IN_USE, r.HOST_EXISTS),
    r.HOSTS_NOT_SUPPORTED: ErrorMapping(UNSUPPORTED),
    **_all(ErrorMapping(OBJECT_NOT_FOUND, "host"), r.INVALID_HOSTNAME, r.HOST_NOT_FOUND),
    r.UNKNOWN_IP_TYPE: ErrorMapping(IP_TYPE, "type"),
    (r.INVALID_IP, 4): ErrorMapping(IPV4, "ip"),
    (r.INVALID_IP, 6): ErrorMapping(IPV6, "ip"),
    r.WRONG_AUTH_CODE: ErrorMapping(TRANSFER_CODE),
    r.MAIL_TAKEN: ErrorMapping(MAIL_REGISTERED),
    r.CUSTOMER_HAS_ORDERS: ErrorMapping(ACTIVE_ORDERS),
    r.CONTACT_LINKED: ErrorMapping(LINKED),
    r.UNKNOWN_EXTRA: ErrorMapping(EXTRA_UNKNOWN, "field"),
    r.INVALID_EXTRA: ErrorMapping(EXTRA_INVALID, "field"),
}

_CUSTOMER: ErrorMappings = {
    **_all(ErrorMapping(INVALID, "field"), r.MISSING_PARAMETER, r.INVALID_PARAMETER),
    **_all(ErrorMapping(INVALID, "field"), r.INVALID_CONTACT, r.INVALID_CUSTOMER_ID),
    r.CUSTOMER_NOT_FOUND: ErrorMapping(ID_NOT_FOUND),
}

#: For a body whose domain name differs from the one in the path.
_OTHER_NAME: ErrorMappings = {(r.INVALID_PARAMETER, "domain_name"): ErrorMapping(DOMAIN_NAME)}

#: For operations whose documentation has "Invalid id" but not "Not found".
_ONLY_INVALID_ID: ErrorMappings = {r.DOMAIN_NOT_FOUND: ErrorMapping(INVALID_ID)}

#: For transfers: a domain of another account gets "Invalid id" instead of "not found".
_TRANSFER: ErrorMappings = {(r.DOMAIN_NOT_FOUND, True): ErrorMapping(INVALID_ID)}

#: For host operations, whose documentation does not have "Not the correct domain name".
_HOST: ErrorMappings = {
    r.INVALID_NAME: ErrorMapping(ZONE),
    (r.INVALID_PARAMETER, "domain_name"): ErrorMapping(ZONE),
    (r.INVALID_PARAMETER, "host_name"): ErrorMapping(OBJECT_NOT_FOUND, "value"),
}

#: For a parameter of the wrong type. No documented error is about types, so the placeholder has the problem.
_WRONG_TYPE = ErrorMapping(NOT_ENOUGH, "problem", stand_in="problems")

#: The errors that replace ``DEFAULTS`` in single operations.
EXCEPTIONS: Mapping[str, ErrorMappings] = {
    "v2.customer.create": _CUSTOMER,
    # "Mail already registered" is documented only for create.
    "v2.customer.edit": {**_CUSTOMER, r.MAIL_TAKEN: ErrorMapping(INVALID, word="mail")},
    "v2.customer.info": _CUSTOMER,
    "v2.customer.delete": _all(ErrorMapping(ID_NOT_FOUND), r.INVALID_CUSTOMER_ID, r.CUSTOMER_NOT_FOUND),
    "v2.contact.check": {r.INVALID_HANDLE: ErrorMapping(INVALID, word="contact_id")},
    # For an invalid value, the contract documents only this error of contact create.
    "v2.contact.create": {
        **_all(ErrorMapping(EXTRA_INVALID, "field"), r.INVALID_PARAMETER, r.INVALID_CONTACT),
        **_all(ErrorMapping(EXTRA_INVALID, word="contact_id"), r.INVALID_HANDLE, r.HANDLE_TAKEN),
        r.CUSTOMER_NOT_FOUND: ErrorMapping(EXTRA_INVALID, word="customer_id"),
    },
    "v2.contact.edit": {
        **_all(ErrorMapping(INVALID_PARAM), r.INVALID_PARAMETER, r.INVALID_CONTACT),
        **_all(ErrorMapping(INVALID_PARAM), r.INVALID_HANDLE, r.INVALID_EXTRA),
        **_all(ErrorMapping(INVALID_PARAM), r.LOCKED, r.INSUFFICIENT_FUNDS),
        r.CONTACT_NOT_FOUND: ErrorMapping(ID_NOT_FOUND),
    },
    "v2.contact.info": {r.CONTACT_NOT_FOUND: ErrorMapping(ID_NOT_FOUND)},
    "v2.contact.delete": {r.CONTACT_NOT_FOUND: ErrorMapping(ID_NOT_FOUND)},
    "v2.domain.register": {
        **_OTHER_NAME,
        r.INVALID_PARAMETER: ErrorMapping(INVALID_ID),  # contact_* and customer_id
        (r.INVALID_PARAMETER, "ns"): ErrorMapping(NS, "value"),
        (r.INVALID_PARAMETER, "period"): _WRONG_TYPE,
    },
    "v2.domain.edit": {
        **_OTHER_NAME,
        **_ONLY_INVALID_ID,
        r.INVALID_PARAMETER: ErrorMapping(NOT_CORRECT, "field"),
        (r.INVALID_PARAMETER, "ns"): ErrorMapping(NS, "value"),
        r.WRONG_STATE: ErrorMapping(NOT_CORRECT, word="status"),
        r.TRANSFER_PENDING: ErrorMapping(NOT_CORRECT, word="client_transfer_prohibited"),
        r.LOCKED: ErrorMapping(NOT_CORRECT, "flag"),
        r.HELD_BY_REGISTRY: ErrorMapping(NOT_CORRECT, word="client_hold"),
    },
    "v2.domain.delete": _ONLY_INVALID_ID,
    "v2.domain.renew": {
        **_OTHER_NAME,
        **_ONLY_INVALID_ID,
        (r.INVALID_PARAMETER, "current_expiry_date"): ErrorMapping(EXPIRY_DATE),
        (r.INVALID_PARAMETER, "date_end"): ErrorMapping(EXPIRY_DATE),
        r.PERIOD_TOO_LONG: ErrorMapping(MAXIMUM, "maximum", stand_in="limit"),
        r.PREMIUM_NOT_TAKEN: ErrorMapping(ORDER_STATUS),
        (r.INVALID_PARAMETER, "period"): _WRONG_TYPE,
    },
    "v2.domain.restore": {**_OTHER_NAME, **_ONLY_INVALID_ID},
    # The documented errors of a transfer request describe only an invalid domain or code.
    "v2.transfer.request": {
        **_OTHER_NAME,
        **_all(ErrorMapping(TRANSFER_CODE), r.MISSING_PARAMETER, (r.INVALID_PARAMETER, "transfer_code")),
        **_all(ErrorMapping(INVALID_ID), (r.INVALID_PARAMETER, "customer_id"), r.NOT_REGISTERED),
        **_all(ErrorMapping(INVALID_ID), r.PREMIUM_NOT_TAKEN, r.ALREADY_YOURS, r.WRONG_STATE),
        **_all(ErrorMapping(INVALID_ID), r.TRANSFER_PENDING, r.LOCKED, r.TOO_YOUNG, r.REGISTRANT_CHANGED),
    },
    "v2.transfer.status": _TRANSFER,
    "v2.transfer.cancel": _TRANSFER,
    "v2.transfer.approve": {**_OTHER_NAME, **_TRANSFER},
    "v2.transfer.reject": {**_OTHER_NAME, **_TRANSFER},
    "v2.host.check": _HOST,
    "v2.host.create": {**_HOST, r.INVALID_PARAMETER: _WRONG_TYPE},
    # "Not enough parameter" is documented only for create. In edit, a missing address gets the error for an
    # unknown type of address.
    "v2.host.edit": {
        **_HOST,
        r.MISSING_PARAMETER: ErrorMapping(IP_TYPE, "field"),
        r.INVALID_PARAMETER: ErrorMapping(IP_TYPE, "value"),
    },
    "v2.host.info": _HOST,
    "v2.host.delete": _HOST,
}


def answer(operation: str, refused: Refused) -> RenderedError:
    """Return the error that the client of ``operation`` receives for a refusal."""
    if refused.rule in TRANSPORT:
        message = _NO_IMPLEMENTATION if refused.rule is r.VERSION_NOT_SERVED else refused.message
        return web.status_of(refused.rule), message, refused.rule.code
    mapping = mapping_for(operation, refused)
    assert mapping is not None, f"{operation} has no error for {refused.rule.code}"
    return mapping.error.code, mapping.message(refused), mapping.error.name


def mapping_for(operation: str, refused: Refused) -> ErrorMapping | None:
    """Return the documented error for a refusal in ``operation``, or None if there is none."""
    rule = refused.rule
    variant = (rule, refused.facts.get(_VARIANTS.get(rule, "")))
    for mappings in (EXCEPTIONS.get(operation, {}), DEFAULTS):
        for key in (variant, rule):
            if key in mappings:
                return mappings[key]
    return None


def all_of(operation: str, rule: Rule) -> Iterator[Documented]:
    """Yield every documented error that a refusal by ``rule`` can have in ``operation``."""
    for mappings in (EXCEPTIONS.get(operation, {}), DEFAULTS):
        for key, mapping in mappings.items():
            if key == rule or (isinstance(key, tuple) and key[0] == rule):
                yield mapping.error
        if rule in mappings:
            return


def documented_errors(operation: str, rule: Rule, *, always_200: bool) -> Iterator[ErrorEntry]:
    """Yield each error that a refusal by ``rule`` can have, as the OpenAPI document shows it."""
    errors = list(dict.fromkeys(all_of(operation, rule)))
    if rule in TRANSPORT:
        words = _NO_IMPLEMENTATION if rule is r.VERSION_NOT_SERVED else web.sentence(rule, WORDING)
        errors.append(Documented(int(web.status_of(rule)), words))
    for error in errors:
        body = {"code": error.code, "msg": error.message}
        yield ErrorEntry(200 if always_200 else error.code, body, f"`{error.message}` ({rule.code})")


# Injected errors

#: The documented errors, by message as the contract writes it.
DOCUMENTED: Mapping[str, Documented] = {
    error.name: error for error in list(vars().values()) if isinstance(error, Documented)
}

_MAPPINGS = (DEFAULTS, *EXCEPTIONS.values())
_MAPPED = (key[0] if isinstance(key, tuple) else key for mappings in _MAPPINGS for key in mappings)

#: The rules that lead to an error in at least one operation, by code.
RULES: Mapping[str, Rule] = {rule.code: rule for rule in (*TRANSPORT, *_MAPPED)}

KNOWN = frozenset((*DOCUMENTED, *RULES))


def injected(operation: str, error: str, facts: Mapping[str, object]) -> RenderedError:
    """Return ``error`` as a client receives it. Use the system error if ``error`` is not documented.

    The facts ``info`` and ``param_name`` fill the placeholders of a message. Without enough facts to
    choose among several messages of a rule, the first is used.
    """
    documented = DOCUMENTED.get(error)
    rule = RULES.get(error, r.INTERNAL_ERROR)
    unknown = {name: r.UNKNOWN for name, value in rule.default.items() if value == ""}
    refused = Refused(rule, **{**unknown, **facts})
    refused.in_wording(WORDING)
    if documented is None:
        if refused.rule in TRANSPORT or mapping_for(operation, refused) is not None:
            return answer(operation, refused)
        documented = next(all_of(operation, refused.rule), SYSTEM_ERROR)
    filling = {"info": r.UNKNOWN, "param_name": r.UNKNOWN} | {key: str(value) for key, value in facts.items()}
    return documented.code, documented.message.format_map(filling), documented.name
