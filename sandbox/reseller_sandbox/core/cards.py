"""Cards: what is asked of the fields that contacts and customers have in common."""

from __future__ import annotations

import re

from msgspec.structs import replace

from reseller_sandbox.core import texts
from reseller_sandbox.core.model import CARD_FIELDS, Card
from reseller_sandbox.core.refusals import INVALID_CONTACT, Refused
from reseller_sandbox.core.state import Draft

_SHOWN = 40

_COUNTRY = re.compile(r"[A-Za-z]{2}")
_PHONE = re.compile(r"\+?[0-9]{1,4}\.[0-9][0-9 ()-]{2,19}")
_ANY_PHONE = re.compile(r"\+?[0-9(][0-9 .()/-]{2,30}")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")

#: What is asked of a field that is not empty: a pattern, and the words for a refusal.
_PATTERNS = {
    "country": (_COUNTRY, "is not a two-letter country code"),
    "phone": (_PHONE, "is not of the form <country code>.<number>"),
    "fax": (_PHONE, "is not of the form <country code>.<number>"),
    "mail": (_MAIL, "is not an e-mail address"),
}

#: The same where a telephone number may be written in any usual way.
_LOOSE_PATTERNS = {
    **_PATTERNS,
    "phone": (_ANY_PHONE, "is not a telephone number"),
    "fax": (_ANY_PHONE, "is not a telephone number"),
}


def pattern_of(field: str, *, any_phone: bool = False) -> str:
    """Return the pattern of a field, which may also be empty; an empty pattern where any text will do."""
    pattern, _ = (_LOOSE_PATTERNS if any_phone else _PATTERNS).get(field, (None, ""))
    return "" if pattern is None else f"^({pattern.pattern})?$"


def problem_with(card: Card, *, any_phone: bool = False) -> tuple[str, str, str] | None:
    """Return the first bad field of ``card`` as (field, value, what is wrong), or None."""
    patterns = _LOOSE_PATTERNS if any_phone else _PATTERNS
    for field in CARD_FIELDS:
        value: str = getattr(card, field)
        flaw = texts.flaw(value)
        if flaw is not None:
            return field, value if len(value) <= _SHOWN else value[:_SHOWN] + "…", flaw
        pattern, complaint = patterns.get(field, (None, ""))
        if value and pattern is not None and not pattern.fullmatch(value):
            return field, value, complaint
    return None


def require_good(draft: Draft, card: Card) -> None:
    """Refuse with ``invalid_contact`` on the first bad field; ``v2.phone`` says what a number looks like."""
    phones = bool(card.phone or card.fax)
    problem = problem_with(card, any_phone=phones and draft.assumed.phone_form == "any")
    if problem is not None:
        field, value, complaint = problem
        raise Refused(INVALID_CONTACT, field=field, value=value, problem=complaint)


def tidy(card: Card) -> Card:
    """Return the card as the registry keeps it."""
    return replace(card, country=card.country.upper())
