"""The registry: names, hosts, transfers, accounts, customers and contacts.

You can read and add records. They show names in Unicode, and accounts by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from heapq import nlargest, nsmallest
from typing import Annotated, Any, ClassVar, TypeVar, Unpack, cast

from msgspec.structs import asdict

from reseller_sandbox.control.resource import read, write
from reseller_sandbox.control.results import Keyed, Limit, Result, Start, changed_by, page, record_of
from reseller_sandbox.control.simulate import ActingResource, simulates
from reseller_sandbox.fixture.domains import DomainEntry, HostEntry
from reseller_sandbox.fixture.fields import Number
from reseller_sandbox.fixture.people import AccountEntry, ContactEntry, CustomerEntry
from reseller_sandbox.fixture.transfers import TransferEntry
from reseller_sandbox.refusals import INVALID_ENTRY, UNKNOWN_ACCOUNT, UNKNOWN_RECORD, Refused
from reseller_sandbox.registry import hosts, model, third_parties, zones
from reseller_sandbox.registry.model import OUTSIDE, Card, Flag, Order, Stage, TransferStatus
from reseller_sandbox.registry.state import State, held_order, own_accounts, own_order
from reseller_sandbox.registry.stepwise import in_order
from reseller_sandbox.registry.third_parties import find_account
from reseller_sandbox.values.clock import LATEST
from reseller_sandbox.values.kinds import TEXT, Switch, Text, choice
from reseller_sandbox.values.names import to_unicode, well_formed
from reseller_sandbox.values.patterns import Glob
from reseller_sandbox.worlds import Snapshot

R = TypeVar("R")

NameKey = Annotated[str, TEXT, "The name, in Unicode or ASCII."]
HostKey = Annotated[str, TEXT, "The host's whole name."]
CustomerKey = Annotated[Number, "The customer's id."]
ContactKey = Annotated[str, TEXT, "The contact's handle."]
StageWord = Annotated[str, choice(*(stage.value for stage in Stage))]
FlagWord = Annotated[str, choice(*(flag.value for flag in Flag))]
StatusWord = Annotated[str, choice(*(status.value for status in TransferStatus))]

_STAGES = {stage: number for number, stage in enumerate(Stage)}
#: The sort keys for names, except ``order``. If the sort key is ``due``, names without a timed transition
#: come last.
_SORTED: Mapping[str, Callable[[Order], Any]] = {
    "account": lambda order: (order.account, order.id),
    "stage": lambda order: (_STAGES[order.stage], order.id),
    "name": lambda order: (to_unicode(order.name), order.id),
    "expires": lambda order: (order.expires, order.id),
    "due": lambda order: (order.due or LATEST, order.id),
}
SortWord = Annotated[str, choice("order", *_SORTED)]


class HostRecord(Result, frozen=True, kw_only=True):
    """A name server below a name of the registry, with its glue addresses."""

    name: str
    domain: str
    ips: tuple[str, ...]


class TransferRecord(Result, frozen=True, kw_only=True):
    """The latest transfer of a name: both accounts, the status and the times."""

    domain: str
    status: TransferStatus
    gaining: str
    losing: str
    gaining_order: int
    losing_order: int
    requested: datetime
    completes: datetime


@changed_by(others="simulate.change")
class NameRecord(Result, frozen=True, kw_only=True):
    """An account's order for a name.

    ``ascii`` is the name in the registry. ``due`` is the time of the next timed transition. ``renewal`` is
    the current price of a renewal for one year. ``transfer`` is the latest transfer of the name.
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
    auth_code_expires: datetime | None
    registrant_changed: datetime | None
    license: str
    hosts: tuple[HostRecord, ...]
    transfer: TransferRecord | None


@changed_by(balance="accounts.set_balance, accounts.credit or accounts.debit")
class AccountRecord(Result, frozen=True, kw_only=True):
    """An account, with its balance, its credentials and its number of orders.

    ``revoked`` lists the credentials that no longer work. ``opening`` is the account's balance before its
    first movement of money.
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
    """A contact of an account, with its handle."""

    handle: str
    account: str
    card: Card
    customer: int | None
    extra: Mapping[str, str]


class NamePage(Result, frozen=True, kw_only=True):
    """A page of names. ``next`` is the start of the next page, if there is one.

    ``total`` counts the matching names of all pages.
    """

    names: tuple[NameRecord, ...]
    total: int
    next: int | None


class HostPage(Result, frozen=True, kw_only=True):
    """A page of hosts. ``next`` is the start of the next page, if there is one."""

    hosts: tuple[HostRecord, ...]
    next: int | None


class TransferPage(Result, frozen=True, kw_only=True):
    """A page of transfers. ``next`` is the start of the next page, if there is one."""

    transfers: tuple[TransferRecord, ...]
    next: int | None


class AccountList(Result, frozen=True, kw_only=True):
    """The accounts of the service."""

    accounts: tuple[AccountRecord, ...]


class CustomerPage(Result, frozen=True, kw_only=True):
    """A page of customers. ``next`` is the start of the next page, if there is one."""

    customers: tuple[CustomerRecord, ...]
    next: int | None


class ContactPage(Result, frozen=True, kw_only=True):
    """A page of contacts. ``next`` is the start of the next page, if there is one."""

    contacts: tuple[ContactRecord, ...]
    next: int | None


class RegistryResource(Keyed[R]):
    """A resource over records of the registry.

    ``shows`` converts a registry record to a result. ``section`` is the section of a fixture whose entries
    ``add`` takes.
    """

    section: ClassVar[str]
    #: A function that takes a snapshot and a registry record, and returns a result.
    shows: ClassVar[Any]

    def _page(self, snapshot: Snapshot, records: Iterable[object], limit: int, start: int) -> dict[str, Any]:
        """Return the fields that every page has: the results for ``records``, and ``next``."""
        rows, following = page(records, limit, start)
        return {self.name: tuple(self.shows(snapshot, row) for row in rows), "next": following}

    def _stored(self, kind: str, key: object, stored_key: object) -> R:
        """Return the result for the record with the key ``stored_key``. Refuse with ``unknown_record``."""
        snapshot = self._world.present()
        return self._shown(snapshot, getattr(snapshot.state, self.name).get(stored_key), kind, key)

    def _shown(self, snapshot: Snapshot, record: object, kind: str, key: object) -> R:
        """Return the result for ``record``. If ``record`` is None, refuse with ``unknown_record``."""
        if record is None:
            raise Refused(UNKNOWN_RECORD, kind=kind, key=key)
        return cast(R, self.shows(snapshot, record))

    def _add(self, key: object, entry: Mapping[str, object]) -> None:
        """Add a fixture entry to the world. Refuse with ``invalid_entry``."""
        transport = self._local
        fields = {field.removesuffix("_"): value for field, value in entry.items()}
        transport.worlds.add(transport.world, self.section, key, fields)


def host_record(_: Snapshot, host: model.Host) -> HostRecord:
    """Convert a host of the registry to a ``HostRecord``."""
    return HostRecord(name=to_unicode(host.name), domain=to_unicode(host.domain), ips=host.ips)


def transfer_record(snapshot: Snapshot, transfer: model.Transfer) -> TransferRecord:
    """Convert a transfer of the registry to a ``TransferRecord``."""
    accounts = snapshot.state.accounts
    return record_of(
        TransferRecord,
        transfer,
        domain=to_unicode(transfer.name),
        gaining=accounts[transfer.gaining].name,
        losing=accounts[transfer.losing].name,
    )


def name_record(snapshot: Snapshot, order: Order) -> NameRecord:
    """Convert an order for a name to a ``NameRecord``."""
    state = snapshot.state
    zone = state.zones[order.zone]
    premium = zones.premium_prices(zone, order.name)
    transfer = state.transfers.get(order.name)
    return record_of(
        NameRecord,
        order,
        name=to_unicode(order.name),
        ascii=order.name,
        account=state.accounts[order.account].name,
        order=order.id,
        zone=to_unicode(order.zone),
        premium=premium is not None,
        renewal=zones.renewal_price(zone, premium, 1, snapshot.clock.now()),
        flags=tuple(sorted(order.flags)),
        nameservers=tuple(map(to_unicode, order.nameservers)),
        contacts=asdict(order.contacts),
        customer=order.customer_id,
        hosts=tuple(host_record(snapshot, host) for host in hosts.of_domain(state, order.name)),
        transfer=transfer_record(snapshot, transfer) if transfer is not None else None,
    )


def account_record(snapshot: Snapshot, account: model.Account) -> AccountRecord:
    """Convert an account to an ``AccountRecord``."""
    key, state = (account.client_id,), snapshot.state
    orders, customers = state.orders_of_account.count(key), state.customers_of_account.count(key)
    return record_of(AccountRecord, account, orders=orders, customers=customers)


def account_records(snapshot: Snapshot) -> tuple[AccountRecord, ...]:
    """Return an ``AccountRecord`` for each account of this service, ordered by client id."""
    return tuple(account_record(snapshot, account) for account in own_accounts(snapshot.state))


def customer_record(snapshot: Snapshot, customer: model.Customer) -> CustomerRecord:
    """Convert a customer to a ``CustomerRecord``, which has no password."""
    owner = snapshot.state.accounts[customer.account].name
    return record_of(CustomerRecord, customer, id=customer.customer_id, account=owner)


def contact_record(snapshot: Snapshot, contact: model.Contact) -> ContactRecord:
    """Convert a contact to a ``ContactRecord``."""
    owner = snapshot.state.accounts[contact.account].name
    extra = dict(contact.extra)
    return record_of(ContactRecord, contact, account=owner, customer=contact.customer_id, extra=extra)


class Names(RegistryResource[NameRecord]):
    """The names of the registry: their holders and lifecycle stages."""

    section, shows = "domains", staticmethod(name_record)

    @read("GET names", UNKNOWN_ACCOUNT, long=True)
    def list(
        self,
        *,
        account: Text | None = None,
        zone: Text | None = None,
        stage: StageWord | None = None,
        flag: FlagWord | None = None,
        like: Text | None = None,
        sort: SortWord = "order",
        descending: Switch = False,
        limit: Limit = 100,
        start: Start = 0,
    ) -> NamePage:
        """Return a page of the names, sorted by account and order unless you set ``sort``.

        Args:
            account: Only names that this account holds.
            zone: Only names in this zone.
            stage: Only names at this stage.
            flag: Only names with this flag.
            like: Only names that match this pattern, with the wildcards ``*`` and ``?``.
            sort: The sort key. ``due`` is the time of the next timed transition.
            descending: Whether the largest sort key comes first.
        """
        snapshot = self._world.present()
        state = snapshot.state
        owner = client_id_of(state, account)
        pattern = Glob(like.lower()) if like is not None else None

        def matches(order: Order) -> bool:
            return (
                (zone is None or zone in (order.zone, to_unicode(order.zone)))
                and (stage is None or order.stage == stage)
                and (flag is None or flag in order.flags)
                and (pattern is None or _has_name(order, pattern))
            )

        order_ids = _numbers(state.orders_of_account, owner)
        orders = [order for order in map(state.orders.__getitem__, order_ids) if matches(order)]
        total = len(orders)
        if sort != "order":  # a heap finds one page without sorting all names
            first = nlargest if descending else nsmallest
            orders = first(start + limit + 1, orders, key=_SORTED[sort])
        elif descending:
            orders.reverse()
        return NamePage(**self._page(snapshot, orders, limit, start), total=total)

    @read("GET names/{name:path}", UNKNOWN_RECORD, UNKNOWN_ACCOUNT)
    def get(self, name: NameKey, /, *, account: Text | None = None) -> NameRecord:
        """Return one name, with the order of its holder.

        With ``account``, return the order of that account instead. That order may still wait for a transfer.

        Args:
            account: The account whose order you want, by default the holder.
        """
        snapshot = self._world.present()
        state, ascii_name = snapshot.state, registry_spelling(name)
        owner = client_id_of(state, account)
        order = held_order(state, ascii_name) if owner is None else own_order(state, owner, ascii_name)
        return self._shown(snapshot, order, "name", name)

    @write("POST names/{name:path}", INVALID_ENTRY)
    def add(self, name: NameKey, /, **entry: Unpack[DomainEntry]) -> NameRecord:
        """Add a name from the fields of a fixture entry. No request is sent and no account pays."""
        self._add(name, entry)
        return self.get(name)


class Hosts(RegistryResource[HostRecord]):
    """Name servers below names of the registry, with their glue addresses."""

    section, shows = "hosts", staticmethod(host_record)

    @read("GET hosts", long=True)
    def list(self, *, domain: Text | None = None, limit: Limit = 100, start: Start = 0) -> HostPage:
        """Return a page of the hosts, sorted by domain.

        Args:
            domain: Only hosts below this name.
        """
        snapshot = self._world.present()
        below = (registry_spelling(domain),) if domain is not None else ()
        records = (snapshot.state.hosts[name] for _, name in snapshot.state.hosts_of_domain.beginning(below))
        return HostPage(**self._page(snapshot, records, limit, start))

    @read("GET hosts/{name:path}", UNKNOWN_RECORD)
    def get(self, name: HostKey, /) -> HostRecord:
        """Return one host."""
        return self._stored("host", name, registry_spelling(name))

    @write("POST hosts/{name:path}", INVALID_ENTRY)
    def add(self, name: HostKey, /, **entry: Unpack[HostEntry]) -> HostRecord:
        """Add a host below a name, from the fields of a fixture entry."""
        self._add(name, entry)
        return self.get(name)


class Transfers(RegistryResource[TransferRecord]):
    """The latest transfer of each name between registrars."""

    section, shows = "transfers", staticmethod(transfer_record)

    @read("GET transfers", long=True)
    def list(self, *, status: StatusWord | None = None, limit: Limit = 100, start: Start = 0) -> TransferPage:
        """Return a page of the transfers, ordered by name.

        Args:
            status: Only transfers with this status.
        """
        snapshot = self._world.present()
        transfers = (
            transfer
            for _, transfer in in_order(snapshot.state.transfers)
            if status in (None, transfer.status)
        )
        return TransferPage(**self._page(snapshot, transfers, limit, start))

    @read("GET transfers/{domain:path}", UNKNOWN_RECORD)
    def get(self, domain: Text, /) -> TransferRecord:
        """Return the latest transfer of a name.

        Args:
            domain: The domain name.
        """
        return self._stored("transfer of", domain, registry_spelling(domain))

    @write("POST transfers/{domain:path}", INVALID_ENTRY)
    def add(self, domain: Text, /, **entry: Unpack[TransferEntry]) -> TransferRecord:
        """Add a transfer from the fields of a fixture entry. No request is sent and no account pays.

        Args:
            domain: The domain name. An account or another registrar must hold this name.
        """
        self._add(domain, entry)
        return self.get(domain)


class Accounts(RegistryResource[AccountRecord], ActingResource):
    """The accounts of the service: their money and their credentials.

    The staff changes a balance at once, unless you schedule the change with ``when``.

    >>> sandbox.accounts.credit("main", "50.00")
    >>> sandbox.accounts.when("P3D").set_balance("main", 0)
    """

    section, shows = "accounts", staticmethod(account_record)

    @read("GET accounts")
    def list(self) -> AccountList:
        """Return every account."""
        return AccountList(accounts=account_records(self._world.present()))

    @read("GET accounts/{account:path}", UNKNOWN_ACCOUNT)
    def get(self, account: Text, /) -> AccountRecord:
        """Return one account.

        Args:
            account: The account's name, or its client id.
        """
        snapshot = self._world.present()
        return account_record(snapshot, find_account(snapshot.state, account))

    @write("POST accounts/{account:path}", INVALID_ENTRY)
    def add(self, account: Text, /, **entry: Unpack[AccountEntry]) -> AccountRecord:
        """Add an account with its credentials and balance, from the fields of a fixture entry.

        Args:
            account: The name of the new account.
        """
        world = self._world
        earlier = world.state.accounts
        self._add(account, entry)
        added = next(record for number, record in world.state.accounts.items() if number not in earlier)
        return account_record(world.snapshot, added)

    credit = simulates(third_parties.credit, UNKNOWN_ACCOUNT, route="POST accounts/{account:path}/credit")
    debit = simulates(third_parties.debit, UNKNOWN_ACCOUNT, route="POST accounts/{account:path}/debit")
    set_balance = simulates(
        third_parties.set_balance, UNKNOWN_ACCOUNT, route="POST accounts/{account:path}/set_balance"
    )


class Customers(RegistryResource[CustomerRecord]):
    """The end clients of the accounts."""

    section, shows = "customers", staticmethod(customer_record)

    @read("GET customers", UNKNOWN_ACCOUNT, long=True)
    def list(
        self, *, account: Text | None = None, mail: Text | None = None, limit: Limit = 100, start: Start = 0
    ) -> CustomerPage:
        """Return a page of the customers, ordered by account.

        Args:
            account: Only customers of this account.
            mail: Only customers with this mail address.
        """
        snapshot = self._world.present()
        state = snapshot.state
        ids = _numbers(state.customers_of_account, client_id_of(state, account))
        customers = map(state.customers.__getitem__, ids)
        matching = (
            customer for customer in customers if mail is None or customer.card.mail.lower() == mail.lower()
        )
        return CustomerPage(**self._page(snapshot, matching, limit, start))

    @read("GET customers/{number}", UNKNOWN_RECORD)
    def get(self, number: CustomerKey, /) -> CustomerRecord:
        """Return one customer."""
        return self._stored("customer", number, number)

    @write("POST customers/{number}", INVALID_ENTRY)
    def add(self, number: CustomerKey, /, **entry: Unpack[CustomerEntry]) -> CustomerRecord:
        """Add a customer, from the fields of a fixture entry."""
        self._add(number, entry)
        return self.get(number)


class Contacts(RegistryResource[ContactRecord]):
    """The contacts of names, by handle."""

    section, shows = "contacts", staticmethod(contact_record)

    @read("GET contacts", UNKNOWN_ACCOUNT, long=True)
    def list(self, *, account: Text | None = None, limit: Limit = 100, start: Start = 0) -> ContactPage:
        """Return a page of the contacts, ordered by handle.

        Args:
            account: Only contacts of this account.
        """
        snapshot = self._world.present()
        owner = client_id_of(snapshot.state, account)
        contacts = (
            contact for _, contact in in_order(snapshot.state.contacts) if owner in (None, contact.account)
        )
        return ContactPage(**self._page(snapshot, contacts, limit, start))

    @read("GET contacts/{handle:path}", UNKNOWN_RECORD)
    def get(self, handle: ContactKey, /) -> ContactRecord:
        """Return one contact."""
        return self._stored("contact", handle, handle)

    @write("POST contacts/{handle:path}", INVALID_ENTRY)
    def add(self, handle: ContactKey, /, **entry: Unpack[ContactEntry]) -> ContactRecord:
        """Add a contact, from the fields of a fixture entry."""
        self._add(handle, entry)
        return self.get(handle)


def client_id_of(state: State, account: str | None) -> int | None:
    """Return the client id of ``account``. Without an account, return None."""
    return find_account(state, account).client_id if account is not None else None


def registry_spelling(name: str) -> str:
    """Return a name as the registry spells it (lower-case ASCII), or an invalid name in lower case."""
    return well_formed(name) or name.lower()


def _has_name(order: Order, pattern: Glob) -> bool:
    """Whether ``pattern`` matches the domain name of ``order``, in its ASCII or its Unicode form."""
    ascii_name, name = order.name, to_unicode(order.name)
    return pattern.matches(ascii_name) or (name is not ascii_name and pattern.matches(name))


def _numbers(index: Any, owner: int | None) -> Iterator[int]:
    """Return the numbers of the records that the account ``owner`` has in ``index``.

    Without ``owner``, return the numbers of every account of this service.
    """
    keys = index.walk() if owner is None else index.beginning((owner,))
    return (number for client, number in keys if client != OUTSIDE or owner == OUTSIDE)
