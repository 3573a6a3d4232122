"""Contacts: validation, and the assignment of a domain's four contacts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused, Term
from reseller_sandbox.registry import customers
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.customers import require_valid_card, require_valid_fields, tidy
from reseller_sandbox.registry.model import CARD_FIELDS, ROLES, Account, Card, Contact, RoleHandles
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.values import patterns
from reseller_sandbox.values.names import shown
from reseller_sandbox.values.text_checks import names_phrase

_HANDLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

#: The fields of a new contact, or the handle of an existing contact.
ContactInput = Mapping[str, str] | str


def check(
    draft: Draft,
    by_role: Mapping[str, ContactInput],
    wire_names: Mapping[str, str],
    required: Iterable[str] = (),
) -> None:
    """Refuse unless ``by_role`` has a contact for each ``required`` role, and all new contacts are valid.

    The refusals are ``contacts_required``, and ``invalid_contact`` for the first invalid field. They use the
    names of the request.
    """
    missing = [wire_names[role] for role in required if role not in by_role]
    if missing:
        raise Refused(refusals.CONTACTS_REQUIRED, missing=", ".join(missing))
    for role in ROLES:
        contact = by_role.get(role, "")
        if not isinstance(contact, str):
            path = {field: f"{wire_names[role]}.{wire_names[field]}" for field in contact}
            require_valid_fields(draft, Card(**contact), path)


def roles_required(assumed: Assumptions) -> tuple[str, ...]:
    """Return the roles for which the registration of a domain must name a contact."""
    return {"none": (), "registrant": ROLES[:1], "all": ROLES}[assumed.contacts_required]


def assign(
    draft: Draft, account: Account, by_role: Mapping[str, ContactInput], current: RoleHandles | None = None
) -> RoleHandles:
    """Create the new contacts in ``by_role``. Return the handles of a domain's contacts.

    A role gets the contact in ``by_role``, or else in ``current``, or else the account's own. Equal new
    contacts become one. Refuse with ``contact_not_found`` for a handle that is not in this account.
    """
    new_handles: dict[Card, str] = {}
    handles: dict[str, str] = {}
    for role in ROLES:
        contact, handle = by_role.get(role), getattr(current, role) if current is not None else None
        if isinstance(contact, str):
            handles[role] = own(draft, account, contact, Term[role.upper()]).handle
        elif contact is not None:
            card = completed(draft, contact, handle)
            handles[role] = new_handles[card] = new_handles.get(card) or create(draft, account, card).handle
        else:
            handles[role] = handle or account.contact
    return RoleHandles(**handles)


def completed(draft: Draft, fields: Mapping[str, str], handle: str | None) -> Card:
    """Return contact details from the ``fields`` of a request.

    Depending on the assumptions, omitted fields keep their values from the contact ``handle``.
    """
    card = Card()
    if handle is not None and len(fields) < len(CARD_FIELDS) and draft.assumed.contacts_left_out == "kept":
        card = draft.state.contacts[handle].card
    return tidy(replace(card, **fields))


def own(draft: Draft, account: Account, handle: str, field: Term = Term.CONTACT) -> Contact:
    """Return the account's contact ``handle``, or refuse with ``contact_not_found``."""
    contact = draft.state.contacts.get(handle)
    if contact is None or contact.account != account.client_id:
        raise Refused(refusals.CONTACT_NOT_FOUND, field=field, handle=handle)
    return contact


def create(draft: Draft, account: Account, card: Card) -> Contact:
    """Create a contact of ``account`` with a generated handle (``C000012``)."""
    while (handle := f"C{draft.next('contact'):06d}") in draft.state.contacts:
        pass
    return draft.put(Contact(handle=handle, account=account.client_id, card=card))


def parse_handle(text: str) -> str:
    """Return ``text`` if it is a valid handle, or refuse with ``invalid_handle``."""
    if not _HANDLE.fullmatch(text):
        problem = "it has 1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first"
        raise Refused(refusals.INVALID_HANDLE, handle=text[:80], problem=problem)
    return text


def add(
    draft: Draft,
    account: Account,
    handle: str,
    card: Card,
    extra: Mapping[str, object],
    customer_id: int | None = None,
) -> Contact:
    """Create a contact of ``account`` with a handle that the client chose.

    Refuse, in this order: ``unknown_extra``, ``invalid_extra``, ``invalid_contact``, ``customer_not_found``,
    ``handle_taken``.
    """
    pairs = _extra(draft, extra, strict=True)
    require_valid_card(draft, card)
    if customer_id is not None:
        customers.own(draft.state, account, customer_id)
    if handle in draft.state.contacts:  # of any account
        raise Refused(refusals.HANDLE_TAKEN, handle=handle)
    return draft.put(
        Contact(
            handle=handle, account=account.client_id, card=tidy(card), customer_id=customer_id, extra=pairs
        )
    )


def edit(draft: Draft, contact: Contact, changes: Mapping[str, str], extra: Mapping[str, object]) -> Contact:
    """Change fields of a contact. Extra parameters that the fixture does not declare are ignored.

    Refuse with ``invalid_extra`` and ``invalid_contact``.
    """
    parameters = {**dict(contact.extra), **dict(_extra(draft, extra, strict=False))}
    card = replace(contact.card, **changes)
    require_valid_card(draft, card)
    return draft.put(replace(contact, card=tidy(card), extra=tuple(sorted(parameters.items()))))


def remove(draft: Draft, contact: Contact) -> None:
    """Delete a contact. Refuse with ``contact_linked`` while the contact is in use.

    A contact is in use if it is a contact of a domain, or the account's own contact.
    """
    linked = draft.state.linked.beginning(("contact", contact.handle))
    number = next((number for *_, number in linked), None)
    if number is not None:
        link = shown(draft.state.orders[number].name, pattern="a contact of {}")
        raise Refused(refusals.CONTACT_LINKED, handle=contact.handle, link=link)
    if draft.state.accounts[contact.account].contact == contact.handle:
        raise Refused(refusals.CONTACT_LINKED, handle=contact.handle, link="the account's own")
    draft.remove(contact)


def _extra(draft: Draft, parameters: Mapping[str, object], *, strict: bool) -> tuple[tuple[str, str], ...]:
    """Return the ``parameters`` that the fixture declares, as sorted pairs.

    If ``strict``, refuse other parameters with ``unknown_extra``.
    """
    if not parameters:
        return ()
    _ = draft.assumed.extra_contact_params  # read, so that the response header lists this assumption
    known = dict(draft.state.contact_params)
    if strict:
        for name in sorted(parameters):
            if name not in known:
                listed = names_phrase(sorted(known), "parameters")
                raise Refused(refusals.UNKNOWN_EXTRA, field=name[:60], known=listed)
    pairs = []
    for name in sorted(set(parameters) & set(known)):
        value = parameters[name]
        if not isinstance(value, str) or not patterns.matches(known[name], value):
            raise Refused(refusals.INVALID_EXTRA, field=name, pattern=known[name])
        pairs.append((name, str(value)))
    return tuple(pairs)
