"""The records of the registry as people look at them: with names in Unicode and accounts by name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from reseller_sandbox.core import hosts, prices
from reseller_sandbox.core.model import (
    ROLES,
    Account,
    Card,
    Contact,
    Customer,
    Flag,
    Order,
    Stage,
    TransferStatus,
)
from reseller_sandbox.core.model import Host as HostKept
from reseller_sandbox.core.model import Transfer as TransferKept
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.state import State, own_accounts
from reseller_sandbox.powers.records import record_of
from reseller_sandbox.powers.result import Result


class HostRecord(Result, frozen=True, kw_only=True):
    """A name server below a name of the registry, with its glue addresses."""

    name: str
    domain: str
    ips: tuple[str, ...]


class TransferRecord(Result, frozen=True, kw_only=True):
    """The latest transfer of a name: who wants it from whom, and how that stands."""

    domain: str
    status: TransferStatus
    gaining: str
    losing: str
    gaining_order: int
    losing_order: int
    requested: datetime
    completes: datetime


class NameRecord(Result, frozen=True, kw_only=True):
    """An account's holding of a name, with all that both interfaces know of it.

    ``ascii`` is the name as the registry keeps it, ``due`` when time alone will move it on, ``renewal`` what
    a year costs now, ``transfer`` the latest transfer of the name.
    """

    name: str
    account: str
    stage: Stage
    expires: datetime
    order: int
    zone: str
    ascii: str
    created: datetime
    since: datetime
    due: datetime | None
    premium: bool
    renewal: Decimal
    autorenew: bool
    privacy: bool
    flags: tuple[Flag, ...]
    nameservers: tuple[str, ...]
    contacts: Mapping[str, str]
    customer: int | None
    auth_code: str
    license: str
    hosts: tuple[HostRecord, ...]
    transfer: TransferRecord | None


class AccountRecord(Result, frozen=True, kw_only=True):
    """An account: its money, what a client needs to act for it, and how much it has.

    ``revoked`` names the credentials that do not work any more; ``opening`` is the balance before the first
    movement of its ledger.
    """

    name: str
    client_id: int
    currency: str
    balance: Decimal
    opening: Decimal
    key: str
    secret: str
    token: str
    revoked: tuple[str, ...]
    reseller: bool
    contact: str
    nameservers: tuple[str, ...]
    orders: int
    customers: int


class CustomerRecord(Result, frozen=True, kw_only=True):
    """An end client of an account."""

    id: int
    account: str
    card: Card
    lang: str
    post_address: str


class ContactRecord(Result, frozen=True, kw_only=True):
    """A contact under its handle."""

    handle: str
    account: str
    card: Card
    customer: int | None
    extra: Mapping[str, str]


def name_record(state: State, order: Order, now: datetime) -> NameRecord:
    """Return a holding as people look at it at ``now``."""
    zone = state.zones[order.zone]
    special = prices.premium(zone, order.name)
    transfer = state.transfers.get(order.name)
    return record_of(
        NameRecord,
        order,
        name=to_unicode(order.name),
        ascii=order.name,
        account=state.accounts[order.account].name,
        order=order.id,
        zone=to_unicode(order.zone),
        premium=special is not None,
        renewal=prices.renewal(zone, special, 1, now),
        flags=tuple(sorted(order.flags)),
        nameservers=tuple(map(to_unicode, order.nameservers)),
        contacts=dict(zip(ROLES, order.contacts.handles(), strict=True)),
        customer=order.customer_id,
        hosts=tuple(map(host_record, hosts.of_domain(state, order.name))),
        transfer=transfer_record(state, transfer) if transfer is not None else None,
    )


def host_record(host: HostKept) -> HostRecord:
    """Return a host as people look at it."""
    return HostRecord(name=to_unicode(host.name), domain=to_unicode(host.domain), ips=host.ips)


def transfer_record(state: State, transfer: TransferKept) -> TransferRecord:
    """Return a transfer as people look at it."""
    return record_of(
        TransferRecord,
        transfer,
        domain=to_unicode(transfer.name),
        gaining=state.accounts[transfer.gaining].name,
        losing=state.accounts[transfer.losing].name,
    )


def accounts_shown(state: State) -> tuple[AccountRecord, ...]:
    """Return the accounts of this service as people look at them, in the order of their ids."""
    return tuple(account_record(state, account) for account in own_accounts(state))


def account_record(state: State, account: Account) -> AccountRecord:
    """Return an account as people look at it."""
    return record_of(
        AccountRecord,
        account,
        orders=state.orders_of_account.count((account.client_id,)),
        customers=state.customers_of_account.count((account.client_id,)),
    )


def customer_record(state: State, customer: Customer) -> CustomerRecord:
    """Return a customer as people look at it; its password is left out."""
    owner = state.accounts[customer.account].name
    return record_of(CustomerRecord, customer, id=customer.customer_id, account=owner)


def contact_record(state: State, contact: Contact) -> ContactRecord:
    """Return a contact as people look at it."""
    return record_of(
        ContactRecord,
        contact,
        account=state.accounts[contact.account].name,
        customer=contact.customer_id,
        extra=dict(contact.extra),
    )
