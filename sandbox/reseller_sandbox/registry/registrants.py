"""Registrants: what makes a new registrant, and its price, its lock and its authorization code."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.registry import contacts, ledger
from reseller_sandbox.registry.lifecycle import Action, require_unlocked
from reseller_sandbox.registry.model import CARD_FIELDS, Card, Contact, Order, Purpose, Stage
from reseller_sandbox.registry.purchases import auth_code
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.values import money

#: The fields that identify a registrant, by the value of ``lifecycle.new_registrant``.
_IDENTITY: Mapping[str, Sequence[str]] = {
    "name_or_company": ("name", "company"),
    "email_too": ("name", "company", "mail"),
    "any_field": CARD_FIELDS,
}


def is_new(draft: Draft, before: Card, after: Card) -> bool:
    """Whether ``after`` is another registrant than ``before``.

    Blanks at the ends, repeated blanks and the Unicode form of letters make no difference.
    """
    if before == after:
        return False
    fields = _IDENTITY[draft.assumed.new_registrant]
    return any(_normalised(getattr(before, field)) != _normalised(getattr(after, field)) for field in fields)


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def changed(draft: Draft, orders: Sequence[Order]) -> None:
    """Record that ``orders`` of one account have a new registrant. Charge the owner-change price of each.

    Depending on the zone's policy, the domain gets a new code and cannot be transferred for a while. Refuse
    with ``insufficient_funds``.
    """
    prices = [draft.state.zones[order.zone].prices.owner_change for order in orders]
    if orders:
        ledger.require_funds(draft.state.accounts[orders[0].account], sum(prices, money.NOTHING))
    for order, price in zip(orders, prices, strict=True):
        ledger.charge(draft, order, price, Purpose.OWNER_CHANGE)
        draft.put(replace(order, **consequences(draft, order.zone)))


def consequences(draft: Draft, zone: str) -> dict[str, Any]:
    """Return the fields of an order that a new registrant changes: the start of its lock, and a new code."""
    policy, fields = draft.state.zones[zone].policy, dict[str, Any]()
    if policy.registrant_change_lock:
        fields["registrant_changed"] = draft.now
    if policy.auth_code_days:
        fields |= auth_code(draft, zone)
    return fields


def edit_contact(
    draft: Draft, contact: Contact, changes: Mapping[str, str], extra: Mapping[str, object]
) -> None:
    """Change fields of a contact, which can be the registrant of several domains.

    With ``locks.cover_shared_contacts``, a new registrant costs the owner-change price of each domain. Refuse
    as ``contacts.edit`` does, then with ``locked`` and ``insufficient_funds``.
    """
    edited = contacts.edit(draft, contact, changes, extra)
    orders = [draft.state.orders[at] for *_, at in draft.state.linked.beginning(("contact", contact.handle))]
    concerned = [
        order
        for order in orders
        if order.contacts.registrant == contact.handle and order.stage is not Stage.ARRIVING
    ]
    if not concerned or not is_new(draft, contact.card, edited.card):
        return
    if draft.assumed.cover_shared_contacts == "off":
        return
    for order in concerned:
        require_unlocked(draft, order, Action.SET_CONTACTS, registrant=True)
    changed(draft, concerned)
