"""The registry, to look at: names, accounts, customers, contacts, hosts and transfers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.model import OUTSIDE, Flag, Order, Stage, TransferStatus
from reseller_sandbox.core.names import BadName, normalise, to_unicode
from reseller_sandbox.core.refusals import UNKNOWN_ACCOUNT, UNKNOWN_RECORD, Refused
from reseller_sandbox.core.terms import account_called
from reseller_sandbox.core.values import Text, choice, whole
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power, look
from reseller_sandbox.powers.registry_records import (
    AccountRecord,
    ContactRecord,
    CustomerRecord,
    HostRecord,
    NameRecord,
    TransferRecord,
    account_record,
    accounts_here,
    contact_record,
    customer_record,
    host_record,
    name_record,
    transfer_record,
)

T = TypeVar("T")

Limit = Annotated[int, whole(1, 1000)]
Start = Annotated[int, whole(0, 10**9)]
StageWord = Annotated[str, choice(*(stage.value for stage in Stage))]
FlagWord = Annotated[str, choice(*(flag.value for flag in Flag))]
StatusWord = Annotated[str, choice(*(status.value for status in TransferStatus))]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesFound:
    """A page of names; ``next`` is where the following page starts, where there is one."""

    names: tuple[NameRecord, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsFound:
    """The accounts of the service."""

    accounts: tuple[AccountRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomersFound:
    """A page of customers; ``next`` is where the following page starts, where there is one."""

    customers: tuple[CustomerRecord, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactsFound:
    """A page of contacts; ``next`` is where the following page starts, where there is one."""

    contacts: tuple[ContactRecord, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsFound:
    """A page of hosts; ``next`` is where the following page starts, where there is one."""

    hosts: tuple[HostRecord, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransfersFound:
    """A page of transfers; ``next`` is where the following page starts, where there is one."""

    transfers: tuple[TransferRecord, ...]
    next: int | None


class Names(Power):
    """The names of the registry, and who holds them at which stage of their lives."""

    def __getitem__(self, name: str) -> NameRecord:
        """Return the holding of a name; refuse with ``unknown_record`` where nobody holds it."""
        return self.get(name)

    def __contains__(self, name: str) -> bool:
        """Whether somebody holds a name."""
        try:
            self.get(name)
        except Refused as refused:
            if refused.rule is UNKNOWN_RECORD:
                return False
            raise
        return True

    @look(UNKNOWN_ACCOUNT)
    def list(
        self,
        *,
        account: Text | None = None,
        zone: Text | None = None,
        stage: StageWord | None = None,
        flag: FlagWord | None = None,
        like: Text | None = None,
        limit: Limit = 100,
        start: Start = 0,
    ) -> NamesFound:
        """Return a page of the names, those of one account after another, the oldest orders first.

        Args:
            account: The account that holds them.
            zone: The zone that they are in.
            stage: The stage that they are at.
            flag: A flag that they have.
            like: A pattern of their names, with ``*`` and ``?``.
            limit: How many to list.
            start: Where the page starts, as the page before has said.
        """
        world = here(self).world
        moment = world.present()
        state = moment.state
        owner = account_called(state, account).client_id if account is not None else None
        pattern = Glob(like.lower()) if like is not None else None

        def wanted(order: Order) -> bool:
            return (
                (zone is None or zone in (order.zone, to_unicode(order.zone)))
                and (stage is None or order.stage == stage)
                and (flag is None or flag in order.flags)
                and (pattern is None or any(map(pattern.matches, (order.name, to_unicode(order.name)))))
            )

        orders = (state.orders[number] for _, number in _keys(state.orders_of_account, owner))
        now = moment.clock.now()
        rows, following = _page(filter(wanted, orders), limit, start)
        return NamesFound(names=tuple(name_record(state, order, now) for order in rows), next=following)

    @look(UNKNOWN_RECORD, UNKNOWN_ACCOUNT)
    def get(self, name: Text, /, *, account: Text | None = None) -> NameRecord:
        """Return one name as its holder has it, or as ``account`` does, to which it may be on its way.

        Args:
            name: The name, in Unicode or ASCII.
            account: Whose order is meant, where not the holder's.
        """
        moment = here(self).world.present()
        state, spelt = moment.state, _spelt(name)
        if account is not None:
            number = state.own_order.get((account_called(state, account).client_id, spelt))
        else:
            number = state.holding_order.get(spelt)
        order = _found(state.orders.get(number) if number is not None else None, "name", name)
        return name_record(state, order, moment.clock.now())


class Accounts(Power):
    """The accounts of the service: their money and their credentials."""

    def __getitem__(self, name: str) -> AccountRecord:
        """Return an account by its name or its client id."""
        return self.get(name)

    @look()
    def list(self) -> AccountsFound:
        """Return every account."""
        state = here(self).world.present().state
        return AccountsFound(accounts=tuple(account_record(state, one) for one in accounts_here(state)))

    @look(UNKNOWN_ACCOUNT)
    def get(self, name: Text, /) -> AccountRecord:
        """Return one account.

        Args:
            name: Its name, or its client id.
        """
        state = here(self).world.present().state
        return account_record(state, account_called(state, name))


class Customers(Power):
    """The end clients of the accounts."""

    def __getitem__(self, number: int) -> CustomerRecord:
        """Return the customer of that id."""
        return self.get(number)

    @look(UNKNOWN_ACCOUNT)
    def list(
        self, *, account: Text | None = None, mail: Text | None = None, limit: Limit = 100, start: Start = 0
    ) -> CustomersFound:
        """Return a page of the customers, those of one account after another.

        Args:
            account: Whose customers they are.
            mail: The mail that one has.
            limit: How many to list.
            start: Where the page starts, as the page before has said.
        """
        state = here(self).world.present().state
        owner = account_called(state, account).client_id if account is not None else None
        found = (state.customers[number] for _, number in _keys(state.customers_of_account, owner))
        meant = (one for one in found if mail is None or one.card.mail.lower() == mail.lower())
        rows, following = _page(meant, limit, start)
        shown = tuple(customer_record(state, one) for one in rows)
        return CustomersFound(customers=shown, next=following)

    @look(UNKNOWN_RECORD)
    def get(self, number: Annotated[int, whole(1, 10**15)], /) -> CustomerRecord:
        """Return one customer.

        Args:
            number: The customer's id.
        """
        state = here(self).world.present().state
        return customer_record(state, _found(state.customers.get(number), "customer", number))


class Contacts(Power):
    """The contacts of names, under their handles."""

    def __getitem__(self, handle: str) -> ContactRecord:
        """Return the contact under that handle."""
        return self.get(handle)

    @look(UNKNOWN_ACCOUNT)
    def list(self, *, account: Text | None = None, limit: Limit = 100, start: Start = 0) -> ContactsFound:
        """Return a page of the contacts, by handle.

        Args:
            account: Whose contacts they are.
            limit: How many to list.
            start: Where the page starts, as the page before has said.
        """
        state = here(self).world.present().state
        owner = account_called(state, account).client_id if account is not None else None
        found = (state.contacts[handle] for handle in sorted(state.contacts))
        rows, following = _page((one for one in found if owner in (None, one.account)), limit, start)
        return ContactsFound(contacts=tuple(contact_record(state, one) for one in rows), next=following)

    @look(UNKNOWN_RECORD)
    def get(self, handle: Text, /) -> ContactRecord:
        """Return one contact.

        Args:
            handle: The contact's handle.
        """
        state = here(self).world.present().state
        return contact_record(state, _found(state.contacts.get(handle), "contact", handle))


class Hosts(Power):
    """The name servers below names of the registry, with their glue addresses."""

    def __getitem__(self, name: str) -> HostRecord:
        """Return the host of that name."""
        return self.get(name)

    @look()
    def list(self, *, domain: Text | None = None, limit: Limit = 100, start: Start = 0) -> HostsFound:
        """Return a page of the hosts, by the names that they lie below.

        Args:
            domain: The name that they lie below.
            limit: How many to list.
            start: Where the page starts, as the page before has said.
        """
        state = here(self).world.present().state
        keys = state.hosts_of_domain.beginning((_spelt(domain),) if domain is not None else ())
        rows, following = _page((state.hosts[name] for _, name in keys), limit, start)
        return HostsFound(hosts=tuple(map(host_record, rows)), next=following)

    @look(UNKNOWN_RECORD)
    def get(self, name: Text, /) -> HostRecord:
        """Return one host.

        Args:
            name: The host's whole name.
        """
        state = here(self).world.present().state
        return host_record(_found(state.hosts.get(_spelt(name)), "host", name))


class Transfers(Power):
    """The transfers of names between registrars: the latest one of each name."""

    def __getitem__(self, domain: str) -> TransferRecord:
        """Return the latest transfer of a name."""
        return self.get(domain)

    @look()
    def list(
        self, *, status: StatusWord | None = None, limit: Limit = 100, start: Start = 0
    ) -> TransfersFound:
        """Return a page of the transfers, by name.

        Args:
            status: How they stand.
            limit: How many to list.
            start: Where the page starts, as the page before has said.
        """
        state = here(self).world.present().state
        found = (state.transfers[name] for name in sorted(state.transfers))
        rows, following = _page((one for one in found if status in (None, one.status)), limit, start)
        shown = tuple(transfer_record(state, one) for one in rows)
        return TransfersFound(transfers=shown, next=following)

    @look(UNKNOWN_RECORD)
    def get(self, domain: Text, /) -> TransferRecord:
        """Return the latest transfer of a name.

        Args:
            domain: The name.
        """
        state = here(self).world.present().state
        return transfer_record(state, _found(state.transfers.get(_spelt(domain)), "transfer of", domain))


def _keys(index: Any, owner: int | None) -> Iterator[tuple[int, int]]:
    """Return the keys of an index by account: those of ``owner``, or those of every account here."""
    keys: Iterator[tuple[int, int]] = index.walk() if owner is None else index.beginning((owner,))
    return (key for key in keys if key[0] != OUTSIDE or owner == OUTSIDE)


def _page(found: Iterable[T], limit: int, start: int) -> tuple[tuple[T, ...], int | None]:
    """Return ``limit`` of what was found, from ``start`` on, and where the next page starts."""
    rows = tuple(islice(found, start, start + limit + 1))
    return rows[:limit], start + limit if len(rows) > limit else None


def _spelt(name: str) -> str:
    """Return a name as the registry keeps it, or as it is where it can be none."""
    try:
        return normalise(name)
    except BadName:
        return name.lower()


def _found(record: T | None, kind: str, key: object) -> T:
    if record is None:
        raise Refused(UNKNOWN_RECORD, kind=kind, key=key)
    return record
