"""The accounts, contacts and customers of a fixture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from sandbox.core.model import CARD_FIELDS, OUTSIDE, Account, Card, Contact, Customer
from sandbox.seeds.problems import nearest, nearest_or_all, shown
from sandbox.seeds.schema import OUTSIDE_WORD
from sandbox.seeds.site import OUTSIDE_CONTACT, Path, Site

#: Where the client ids begin that a fixture leaves open.
FIRST_CLIENT_ID = 1001

#: What an account has where the fixture says nothing.
USUAL: Mapping[str, Any] = MappingProxyType({"currency": "USD", "balance": Decimal(0), "reseller": True})

OUTSIDE_ACCOUNT = Account(
    client_id=OUTSIDE,
    name=OUTSIDE_WORD,
    key="",
    secret="",
    token="",
    currency=USUAL["currency"],
    opening=Decimal(0),
    balance=Decimal(0),
    reseller=False,
    contact=OUTSIDE_CONTACT.handle,
    nameservers=(),
)


def build(site: Site) -> None:
    """Note the accounts, contacts and customers, and put all but the accounts into the state.

    The accounts wait for the ledger, which their opening balances follow from.
    """
    _accounts(site)
    site.accounts[OUTSIDE_WORD] = OUTSIDE_ACCOUNT
    site.contacts[OUTSIDE_CONTACT.handle] = OUTSIDE_CONTACT
    _customers(site)
    _contacts(site)
    site.put(contact for contact in site.contacts.values() if contact is not None)
    site.put(customer for customer in site.customers.values() if customer is not None)
    for word, entry in site.section("accounts").items():
        account = site.accounts.get(word)
        if account is not None and isinstance(entry["contact"], str):
            own_contact(site, ("accounts", word, "contact"), account, account.contact)


def handle_of(client_id: int) -> str:
    """The handle that an account's own contact gets when the fixture leaves it open."""
    return f"A{client_id}"


def credentials_of(name: str) -> dict[str, str]:
    """The credentials that an account gets when the fixture leaves them open."""
    return {"key": f"{name}-key", "secret": f"{name}-secret", "token": f"{name}-token"}


def own_contact(site: Site, path: Path, account: Account, handle: str) -> str:
    """``handle``, which is to be one of the account's contacts."""
    if handle not in site.contacts:
        site.report(path, f"unknown contact {shown(handle)}{nearest(handle, site.contacts)}")
        return handle
    contact = site.contacts[handle]
    if contact is not None and contact.account != account.client_id:
        site.report(path, f"the contact {shown(handle)} is another account's")
    return handle


def own_customer(site: Site, path: Path, account: Account, number: int | None) -> int | None:
    """``number``, which is to be one of the account's customers, where it is given."""
    if number is None:
        return None
    if number not in site.customers:
        known = [str(other) for other in site.customers]
        site.report(path, f"unknown customer {number}{nearest(str(number), known)}")
        return number
    customer = site.customers[number]
    if customer is not None and customer.account != account.client_id:
        site.report(path, f"the customer {number} is another account's")
    return number


def _accounts(site: Site) -> None:
    given = site.section("accounts")
    taken = {entry["client_id"] for entry in given.values() if "client_id" in entry}
    free = (number for number in range(FIRST_CLIENT_ID, 10**9) if number not in taken)
    seen: dict[tuple[str, object], str] = {}
    for word in site.written("accounts"):
        if word == OUTSIDE_WORD:
            site.report(("accounts", word), f"{OUTSIDE_WORD!r} is every other registrar already", key=True)
        elif word not in given:
            site.accounts[word] = None
        else:
            site.accounts[word] = account = _account(site, word, given[word], free)
            _require_unique(site, word, account, seen)


def _account(site: Site, word: str, given: dict[str, Any], free: Iterator[int]) -> Account:
    client_id = given["client_id"] if "client_id" in given else next(free)
    path = ("accounts", word)
    contact = given["contact"]
    if isinstance(contact, dict):
        handle = contact.get("handle", handle_of(client_id))
        _add_contact(site, (*path, "contact"), Contact(handle=handle, account=client_id, card=_card(contact)))
        contact = handle
    name = given.get("name", word)
    balance = given.get("balance", USUAL["balance"])
    return Account(
        client_id=client_id,
        name=name,
        **{field: given.get(field, usual) for field, usual in credentials_of(name).items()},
        currency=given.get("currency", USUAL["currency"]),
        opening=balance,
        balance=balance,
        reseller=given.get("reseller", USUAL["reseller"]),
        contact=contact,
        nameservers=site.nameservers((*path, "nameservers"), given.get("nameservers", ())),
        revoked=tuple(sorted(set(given.get("revoked", ())))),
    )


def _require_unique(site: Site, word: str, account: Account, seen: dict[tuple[str, object], str]) -> None:
    for field in ("client_id", "key", "token"):
        value = getattr(account, field)
        first = seen.setdefault((field, value), word)
        if first != word:
            site.report(("accounts", word, field), f"the {field} {shown(value)} is that of {first} already")


def _card(given: dict[str, Any]) -> Card:
    return Card(**{field: given[field] for field in CARD_FIELDS if field in given})


def _add_contact(site: Site, path: Path, contact: Contact) -> None:
    if contact.handle in site.contacts or contact.handle == OUTSIDE_CONTACT.handle:
        site.report(path, f"the contact {shown(contact.handle)} is there already", key=True)
    site.contacts[contact.handle] = contact


def _contacts(site: Site) -> None:
    given = site.section("contacts")
    for handle in site.written("contacts"):
        if handle not in given:
            site.contacts.setdefault(handle, None)
            continue
        path, entry = ("contacts", handle), given[handle]
        account = site.account((*path, "account"), entry.get("account"))
        if account is None:
            site.contacts.setdefault(handle, None)
            continue
        contact = Contact(
            handle=handle,
            account=account.client_id,
            card=_card(entry),
            customer_id=own_customer(site, (*path, "customer"), account, entry.get("customer")),
            extra=_extra(site, (*path, "extra"), entry.get("extra", {})),
        )
        _add_contact(site, path, contact)


def _extra(site: Site, path: Path, given: dict[str, str]) -> tuple[tuple[str, str], ...]:
    patterns = site.section("contact_params")
    for name, value in given.items():
        if name in patterns and not re.fullmatch(patterns[name], value):
            site.report((*path, name), f"{shown(value)} does not match {shown(patterns[name])}")
        elif name not in patterns and name not in site.written("contact_params"):
            hint = nearest_or_all(name, patterns) if patterns else "; there are no contact_params"
            site.report((*path, name), f"unknown parameter {shown(name)}{hint}", key=True)
    return tuple(sorted(given.items()))


def _customers(site: Site) -> None:
    given = site.section("customers")
    mails: dict[tuple[int, str], int] = {}
    site.customers.update({int(key): None for key in site.written("customers") if key.isdecimal()})
    for number, entry in given.items():
        path = ("customers", number)
        account = site.account((*path, "account"), entry.get("account"))
        if account is None:
            continue
        rest = {field: entry[field] for field in ("lang", "password", "post_address") if field in entry}
        customer = Customer(customer_id=number, account=account.client_id, card=_card(entry), **rest)
        site.customers[number] = customer
        first = mails.setdefault((account.client_id, customer.card.mail.lower()), number)
        if first != number:
            mail = shown(customer.card.mail)
            site.report((*path, "mail"), f"the mail {mail} is that of customer {first} already")
