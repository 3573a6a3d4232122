"""Contacts: what a good one looks like, and how a name comes by its four."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sandbox.core.model import CARD_FIELDS, ROLES, Account, Card, Contact, Contacts
from sandbox.core.refusals import CONTACT_NOT_FOUND, CONTACTS_REQUIRED, INVALID_CONTACT, Refused
from sandbox.core.state import Draft

_COUNTRY = re.compile(r"[A-Za-z]{2}")
_PHONE = re.compile(r"\+?[0-9]{1,4}\.[0-9][0-9 ()-]{2,19}")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_LONGEST = 255

#: What is asked of a field that is not empty: a pattern, and the words for a refusal.
_PATTERNS = {
    "country": (_COUNTRY, "is not a two-letter country code"),
    "phone": (_PHONE, "is not of the form <country code>.<number>"),
    "fax": (_PHONE, "is not of the form <country code>.<number>"),
    "mail": (_MAIL, "is not an e-mail address"),
}

#: A contact to be made, or the handle of one that is there.
Wanted = Card | str


def problem_with(card: Card) -> tuple[str, str, str] | None:
    """The first bad field of ``card`` as (field, value, what is wrong), or None."""
    for field in CARD_FIELDS:
        value: str = getattr(card, field)
        if len(value) > _LONGEST:
            return field, value[:40] + "…", f"is longer than {_LONGEST} characters"
        pattern, complaint = _PATTERNS.get(field, (None, ""))
        if value and pattern is not None and not pattern.fullmatch(value):
            return field, value, complaint
    return None


def check(wanted: Mapping[str, Wanted], wire_names: Mapping[str, str], prefix: str = "contacts.") -> None:
    """Refuse with ``invalid_contact`` on the first bad field, under the names the caller uses."""
    for role in ROLES:
        given = wanted.get(role)
        problem = problem_with(given) if isinstance(given, Card) else None
        if problem is not None:
            field, value, complaint = problem
            path = f"{prefix}{wire_names[role]}.{wire_names[field]}"
            raise Refused(INVALID_CONTACT, field=path, value=value, problem=complaint)


def require_roles(draft: Draft, given: Mapping[str, object], wire_names: Mapping[str, str]) -> None:
    """Refuse with ``contacts_required`` when a contact that the assumptions ask for is missing."""
    asked = {"none": (), "registrant": ROLES[:1], "all": ROLES}[draft.assumed.contacts_required]
    missing = [wire_names[role] for role in asked if role not in given]
    if missing:
        raise Refused(CONTACTS_REQUIRED, missing=", ".join(missing))


def assign(
    draft: Draft, account: Account, wanted: Mapping[str, Wanted], current: Contacts | None = None
) -> Contacts:
    """The four handles of a name: those wanted, else the ``current`` ones, else the account's own.

    Cards that say the same become one contact. Refuses with ``contact_not_found`` for a handle
    that is not this account's.
    """
    made: dict[Card, str] = {}
    handles: dict[str, str] = {}
    for role in ROLES:
        given = wanted.get(role)
        if isinstance(given, str):
            handles[role] = own(draft, account, given, field=f"contact_{role}").handle
        elif given is not None:
            handles[role] = made[given] = made.get(given) or create(draft, account, given).handle
        else:
            handles[role] = getattr(current, role) if current is not None else account.contact
    return Contacts(**handles)


def own(draft: Draft, account: Account, handle: str, field: str) -> Contact:
    """The account's contact under ``handle``; refuses with ``contact_not_found``."""
    contact = draft.state.contacts.get(handle)
    if contact is None or contact.account != account.client_id:
        raise Refused(CONTACT_NOT_FOUND, field=field, handle=handle)
    return contact


def create(draft: Draft, account: Account, card: Card) -> Contact:
    """A new contact of ``account`` under a handle that is not in use."""
    while (handle := f"C{draft.next('contact'):06d}") in draft.state.contacts:
        pass
    contact = Contact(handle=handle, account=account.client_id, card=_tidy(card))
    draft.put(contact)
    return contact


def _tidy(card: Card) -> Card:
    return replace(card, country=card.country.upper())
