"""Customers of an account, and the checks of contact details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import INVALID_CONTACT, Refused, Term
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import CARD_FIELDS, Account, Card, Customer, Order, Stage
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.values import text_checks
from reseller_sandbox.values.names import BadName, normalise, shown
from reseller_sandbox.values.parameters import defaults
from reseller_sandbox.values.text_checks import cut, whole

_SHOWN = 40

_COUNTRY = re.compile(r"[A-Za-z]{2}")
_PHONE = re.compile(r"\+?[0-9]{1,4}\.[0-9][0-9 ()-]{2,19}")
_ANY_PHONE = re.compile(r"\+?[0-9(][0-9 .()/-]{2,30}")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")

#: An extension at the end of a telephone number, such as ``x12`` or ``ext. 12``.
_EXTENSION = re.compile(r"[0-9)]\s*(x|ext\.?|#|;ext=)\s*[0-9]{1,8}\s*$", re.IGNORECASE)

#: The part of a mail address before the ``@``: words and dots, with letters of any script.
_LOCAL_PART = re.compile(r"(?!\.)(?:[\w!#$%&'*+/=?^`{|}~-]|\.(?!\.|$))+")
_LONGEST_LOCAL_PART = 64
_LONGEST_MAIL = 254

#: The lengths of a number in digits, if nothing says of which country it is.
_LENGTHS = range(5, 16)

#: The pattern that a field must match unless it is empty, and the problem that a refusal states.
_PATTERNS = {
    "country": (_COUNTRY, "is not a two-letter country code"),
    **dict.fromkeys(("phone", "fax"), (_PHONE, "is not of the form <country code>.<number>")),
    "mail": (_MAIL, "is not an e-mail address"),
}

#: ``_PATTERNS`` for an interface that accepts any common form of telephone number.
_LOOSE_PATTERNS = _PATTERNS | dict.fromkeys(("phone", "fax"), (_ANY_PHONE, "is not a telephone number"))


def pattern_of(field: str, *, any_phone: bool = False) -> str:
    """Return the regular expression for a field of contact details, for JSON Schema.

    The expression also matches an empty field. Return an empty string if any text is valid.
    """
    pattern, _ = (_LOOSE_PATTERNS if any_phone else _PATTERNS).get(field, (None, ""))
    return "" if pattern is None else f"^({pattern.pattern})?$"


def require_valid_fields(
    draft: Draft, card: Card, paths: Mapping[str, str] = MappingProxyType({}), *, any_phone: bool = False
) -> None:
    """Refuse with ``invalid_contact`` for the first invalid field of contact details.

    ``paths`` has the paths of fields in the request, if these are not the names of the fields. The assumption
    ``contacts.checks`` decides whether only the form of a field counts.
    """
    patterns = _LOOSE_PATTERNS if any_phone else _PATTERNS
    for field in CARD_FIELDS:
        value: str = getattr(card, field)
        pattern, problem = patterns.get(field, (None, ""))
        flaw = text_checks.flaw(value)
        shown = value if flaw is None or len(value) <= _SHOWN else value[:_SHOWN] + "…"
        if flaw is None and value and pattern is not None:
            flaw = (
                _problem(draft, field, card, any_phone)
                if pattern.fullmatch(value)
                else _named(field, value, problem)
            )
        if flaw:
            raise Refused(INVALID_CONTACT, field=paths.get(field, field), value=shown, problem=flaw)


def _named(field: str, value: str, problem: str) -> str:
    """Return the problem of a field that does not match its pattern."""
    if field in ("phone", "fax") and _EXTENSION.search(value):
        return "has an extension, which a contact cannot have"
    return problem


def _problem(draft: Draft, field: str, card: Card, any_phone: bool) -> str:
    """Return the problem of a field whose form is right, or an empty string."""
    if draft.assumed.contact_checks == "loose":
        return ""
    match field:
        case "country":
            return "" if card.country.upper() in _countries() else "is not the code of a country in ISO 3166"
        case "mail":
            return _mail_problem(card.mail)
        case _:
            number: str = getattr(card, field)
            return _phone_problem(number, card.country, any_form=any_phone)


@cache
def _countries() -> frozenset[str]:
    table = files("tzdata.zoneinfo").joinpath("iso3166.tab").read_text("utf-8")
    return frozenset(line.partition("\t")[0] for line in table.splitlines() if not line.startswith("#"))


def _phone_problem(number: str, country: str, *, any_form: bool) -> str:
    """Return the problem of a telephone number, or an empty string for a possible number.

    A number has a country code, as in ``380.441234567``. With ``any_form``, a number without a ``+`` can also
    be a number of the contact's ``country``.
    """
    import phonenumbers  # imported on first use, because the import takes 45 ms

    code, dot, _ = number.removeprefix("+").partition(".")
    digits = re.sub("[^0-9]", "", number)
    is_dotted = dot and code.isdigit()
    if is_dotted and (code[0] == "0" or int(code) not in phonenumbers.COUNTRY_CODE_TO_REGION_CODE):
        problem = f"has the country code {code}, which no country has"
    else:
        problem = _impossible(f"+{digits}", None)
    if not problem or not any_form or number.startswith("+") or (is_dotted and code[0] != "0"):
        return problem
    is_possible = not _impossible(number, country.upper()) if country else len(digits) in _LENGTHS
    return "" if is_possible else problem


def _impossible(number: str, region: str | None) -> str:
    import phonenumbers as phones

    try:
        parsed = phones.parse(number, region)
    except phones.NumberParseException:
        return "has no country code that exists"
    # A local number, without its area code, is too short.
    result = phones.is_possible_number_with_reason(parsed)
    if result == phones.ValidationResult.IS_POSSIBLE:
        return ""
    is_long = result == phones.ValidationResult.TOO_LONG
    return f"is too {'long' if is_long else 'short'} for a number of the country code {parsed.country_code}"


def _mail_problem(address: str) -> str:
    """Return the problem of a mail address, or an empty string for a well-formed address."""
    local_part, _, domain = address.rpartition("@")
    if len(local_part.encode()) > _LONGEST_LOCAL_PART:
        return f"has more than {_LONGEST_LOCAL_PART} characters before the @"
    if len(address) > _LONGEST_MAIL:
        return f"has more than {_LONGEST_MAIL} characters"
    if not _LOCAL_PART.fullmatch(local_part):
        return f"is not an e-mail address: {cut(local_part, 20)!r} is not a valid name before the @"
    try:
        normalise(domain)
    except BadName as problem:
        return f"is not an e-mail address: {problem}"
    return ""


def is_missing(value: object, assumed: Assumptions) -> bool:
    """Whether a field of contact details is empty. A blank field is too, unless checks are loose."""
    if not isinstance(value, str):
        return value is None
    return not value or (text_checks.is_blank(value) and assumed.contact_checks == "strict")


def require_valid_card(draft: Draft, card: Card) -> None:
    """Refuse with ``invalid_contact`` for the first invalid field.

    The assumption ``v2.phone`` decides the form of telephone numbers.
    """
    phones = bool(card.phone or card.fax)
    require_valid_fields(draft, card, any_phone=phones and draft.assumed.phone_form == "any")


def tidy(card: Card) -> Card:
    """Return contact details with the country code in capitals."""
    return replace(card, country=card.country.upper())


#: The fields of a customer that are not contact details, such as ``lang``.
OWN_FIELDS = tuple(defaults(Customer))

#: Contact details that every customer has.
_REQUIRED = ("mail", "name")

_REMOVED = (Stage.REDEMPTION, Stage.PENDING_DELETE)


def parse_id(digits: str) -> int:
    """Read a customer id. Refuse with ``invalid_customer_id`` unless it has only digits."""
    if not digits.isascii() or not digits.isdigit():
        raise Refused(refusals.INVALID_CUSTOMER_ID, given=digits[:40], field=Term.CUSTOMER)
    return whole(digits)


def own(state: State, account: Account, number: int) -> Customer:
    """Return the account's customer by id, or refuse with ``customer_not_found``."""
    customer = state.customers.get(number)
    if customer is None or customer.account != account.client_id:
        raise Refused(refusals.CUSTOMER_NOT_FOUND, customer=number, field=Term.CUSTOMER)
    return customer


def by_mail(state: State, account: Account, mail: str) -> Customer:
    """Return the account's customer by e-mail address, or refuse with ``customer_not_found``."""
    number = state.customer_by_mail.get((account.client_id, mail.lower()))
    if number is None:
        raise Refused(refusals.CUSTOMER_NOT_FOUND, customer=f"with the mail {mail[:80]!r}", field=Term.MAIL)
    return state.customers[number]


def create(draft: Draft, account: Account, fields: Mapping[str, str]) -> Customer:
    """Create a customer of ``account`` with a new id.

    ``fields`` holds contact details and ``OWN_FIELDS``. Refuse with ``invalid_contact`` and ``mail_taken``.
    """
    blank = Customer(customer_id=0, account=account.client_id, card=Card())
    customer = _changed(draft, account, blank, fields)
    while (number := draft.next("customer")) in draft.state.customers:
        pass
    return draft.put(replace(customer, customer_id=number))


def edit(draft: Draft, account: Account, customer: Customer, fields: Mapping[str, str]) -> Customer:
    """Change ``fields`` of a customer. Refuse as ``create`` does."""
    return draft.put(_changed(draft, account, customer, fields))


def _changed(draft: Draft, account: Account, customer: Customer, fields: Mapping[str, str]) -> Customer:
    details = {field: fields[field] for field in CARD_FIELDS if field in fields}
    more: dict[str, Any] = {field: fields[field] for field in OWN_FIELDS if field in fields}
    card = replace(customer.card, **details)
    require_valid_card(draft, card)
    for field in _REQUIRED:
        if field in details and is_missing(details[field], draft.assumed):
            raise Refused(INVALID_CONTACT, field=field, value="", problem="must not be empty")
    card = tidy(card)
    holder = draft.state.customer_by_mail.get((account.client_id, card.mail.lower()))
    if holder not in (None, customer.customer_id):
        raise Refused(refusals.MAIL_TAKEN, customer=holder, mail=card.mail)
    return replace(customer, card=card, **more)


def active_orders(draft: Draft, customer: Customer) -> list[Order]:
    """Return the orders that prevent the deletion of ``customer``."""
    orders = list(_orders(draft.state, customer))
    if orders and draft.assumed.active_orders == "status_2":
        return [order for order in orders if order.stage is Stage.ACTIVE]
    return [order for order in orders if order.stage not in _REMOVED]


def delete(draft: Draft, customer: Customer) -> None:
    """Delete a customer. Its contacts and deleted domains remain without a customer.

    Refuse with ``customer_has_orders`` while the customer has active orders.
    """
    active = active_orders(draft, customer)
    if active:
        names = shown(*(order.name for order in active[:5]))
        raise Refused(refusals.CUSTOMER_HAS_ORDERS, customer=customer.customer_id, names=names)
    for order in list(_orders(draft.state, customer)):
        draft.put(replace(order, customer_id=None))
    linked = draft.state.linked.beginning(("customer_contact", customer.customer_id))
    for *_, handle in list(linked):
        draft.put(replace(draft.state.contacts[handle], customer_id=None))
    draft.remove(customer)


def _orders(state: State, customer: Customer) -> Iterator[Order]:
    linked = state.linked.beginning(("customer", customer.customer_id))
    return (state.orders[number] for *_, number in linked)
