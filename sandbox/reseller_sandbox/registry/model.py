"""Records of the registry. Records are immutable: a change makes a new record.

A fixture can set a field if the annotation of the field has a kind. Numerous records are invisible for the
garbage collector (``gc=False``), because they have no cycles and a collection would visit each of them.

Domain names are in ASCII form (``xn--…``), money is a ``Decimal`` in the account's currency, and instants
are aware UTC datetimes in whole seconds.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Struct

from reseller_sandbox.values.kinds import (
    AMOUNT,
    BALANCE,
    ID,
    LABEL,
    LINE,
    Switch,
    choice,
    listed,
    table,
    whole,
)
from reseller_sandbox.values.matching import Match
from reseller_sandbox.values.money import NOTHING
from reseller_sandbox.values.parameters import record
from reseller_sandbox.values.patterns import PATTERN
from reseller_sandbox.values.scripts import SCRIPTS


class Action(StrEnum):
    """An action of the registrant. The value is the action as a noun in error messages."""

    RENEW = "renewal"
    RESTORE = "restore"
    DELETE = "delete"
    HOLD = "lock"
    RELEASE_HOLD = "unlock"
    LOCK_TRANSFER = "locking against transfer"
    UNLOCK_TRANSFER = "unlocking for transfer"
    LOCK_UPDATE = "locking against updates"
    UNLOCK_UPDATE = "unlocking for updates"
    SET_AUTORENEW = "switching auto-renewal"
    SET_FLAGS = "setting a status"
    SET_NAMESERVERS = "changing name servers"
    SET_CONTACTS = "changing contacts"
    CHANGE_HOSTS = "changing glue records"
    CHECK_HOST = "checking for a glue record"
    READ_HOSTS = "reading glue records"
    SET_AUTH_CODE = "setting the code"
    READ_AUTH_CODE = "reading the code"
    TRANSFER_OUT = "transfer to another registrar"
    APPROVE_TRANSFER = "approving a transfer"
    REJECT_TRANSFER = "rejecting a transfer"
    CANCEL_TRANSFER = "cancelling a transfer"

    @property
    def key(self) -> str:
        """The name of the action in fixtures: ``lock_transfer``."""
        return self.name.lower()


#: The actions that only read.
READ_ACTIONS = frozenset({Action.CHECK_HOST, Action.READ_HOSTS, Action.READ_AUTH_CODE})


#: The name of the world that every server has.
DEFAULT = "default"

#: The client id that stands for all other registrars. This account has no credentials and pays nothing.
OUTSIDE = 0

#: The maximum term of a domain in years, counted from the current instant.
LONGEST_TERM = 10


class Stage(StrEnum):
    """The stage of an order in the life cycle of its domain."""

    REQUESTED = "requested"
    PROCESSING = "processing"
    ARRIVING = "arriving"
    ACTIVE = "active"
    OVERDUE = "overdue"
    REDEMPTION = "redemption"
    PENDING_DELETE = "pending_delete"
    RELEASED = "released"


class Flag(StrEnum):
    """A flag of a domain. The value is the EPP status in snake case.

    The registry sets flags that begin with ``server_``, the registrant sets the others.
    """

    HOLD = "client_hold"
    TRANSFER_PROHIBITED = "client_transfer_prohibited"
    UPDATE_PROHIBITED = "client_update_prohibited"
    DELETE_PROHIBITED = "client_delete_prohibited"
    RENEW_PROHIBITED = "client_renew_prohibited"
    SERVER_HOLD = "server_hold"


#: The flags that remove a domain from the DNS.
HOLDS = frozenset({Flag.HOLD, Flag.SERVER_HOLD})

#: An object that all records without flags share.
NO_FLAGS = frozenset[Flag]()


class TransferStatus(StrEnum):
    """The status of a transfer. The value is the EPP word."""

    PENDING = "pending"
    CLIENT_APPROVED = "clientApproved"
    CLIENT_REJECTED = "clientRejected"
    CLIENT_CANCELLED = "clientCancelled"
    SERVER_APPROVED = "serverApproved"
    SERVER_CANCELLED = "serverCancelled"


class Purpose(StrEnum):
    """The purpose of a charge, refund or adjustment in the ledger."""

    REGISTRATION = "registration"
    RENEWAL = "renewal"
    RESTORE = "restore"
    TRANSFER = "transfer"
    PRIVACY = "privacy"
    OWNER_CHANGE = "owner_change"
    ADJUSTMENT = "adjustment"


class Card(Struct, frozen=True, kw_only=True):
    """Contact details: the fields that contacts and customers share."""

    name: str = ""
    company: str = ""
    address: str = ""
    city: str = ""
    region: str = ""
    zip: str = ""
    country: str = ""
    phone: str = ""
    fax: str = ""
    mail: str = ""


class Account(Struct, frozen=True, kw_only=True):
    """A reseller's account: credentials, balance and defaults for new orders.

    ``revoked`` holds the sorted names of the credentials that no longer work: ``key``, ``token``.
    """

    client_id: int
    name: str
    key: str
    secret: str
    token: str
    currency: str = "USD"
    opening: Decimal
    balance: Decimal = NOTHING
    reseller: bool = True
    contact: str
    nameservers: tuple[str, ...]
    revoked: tuple[str, ...] = ()


class Customer(Struct, frozen=True, kw_only=True):
    """An end client of a reseller."""

    customer_id: int
    account: int
    card: Card
    lang: str = ""
    password: str = ""
    post_address: str = ""


class Contact(Struct, frozen=True, kw_only=True, gc=False):
    """A contact of an account, by handle. ``extra`` holds extra parameters as sorted pairs."""

    handle: str
    account: int
    card: Card
    customer_id: int | None = None
    extra: tuple[tuple[str, str], ...] = ()


class RoleHandles(Struct, frozen=True, kw_only=True, gc=False):
    """The handles of the contacts of a domain, by role."""

    registrant: str
    admin: str
    tech: str
    billing: str


#: The types of zones by which a request can filter the listing of zones.
ZONE_TYPES = ("popular", "international", "ukrainian", "new")

Price = Annotated[Decimal, AMOUNT]
Days = Annotated[int, whole(0, 3650)]
Years = Annotated[int, whole(1, LONGEST_TERM)]
LaterYears = Annotated[str, choice("registration", "renewal")]

#: The maximum number of name servers of a domain, in any zone.
MOST_NAMESERVERS = 13


class Promotion(Struct, frozen=True, kw_only=True):
    """A lower price per year, which ends at the instant ``until``."""

    price: Decimal
    until: datetime


class Premium(Struct, frozen=True, kw_only=True):
    """The prices of a premium name.

    Args:
        registration: Price of a registration, per year.
        renewal: Price of a renewal, per year.
        transfer: Price of a transfer.
    """

    registration: Price
    renewal: Price
    transfer: Price


class Prices(Struct, frozen=True, kw_only=True):
    """The prices of a zone.

    Args:
        registration: Price of a registration, per year.
        renewal: Price of a renewal, per year.
        transfer: Price of a transfer.
        restore: Price of a restore in redemption.
        privacy: Price of whois protection, per year. Without this price, the zone offers no protection.
        owner_change: Price of a change of the registrant.
        later_years: The price of each year after the first in a registration of several years: the
            registration price, or the renewal price.
    """

    registration: Price
    renewal: Price
    transfer: Price
    restore: Price
    privacy: Annotated[Decimal | None, AMOUNT] = None
    owner_change: Price = NOTHING
    later_years: LaterYears = "registration"


class Policy(Struct, frozen=True, kw_only=True):
    """The periods of a zone in days, and other rules of its life cycle.

    Args:
        add_grace: Period after registration in which a deletion is refunded.
        overdue: Period after expiry in which a name can still be renewed.
        redemption: Period in which a lapsed name can be restored.
        pending_delete: Period from the end of redemption to the release.
        transfer: Period after which an unanswered transfer completes.
        transfer_lock: Period after registration in which a name cannot be transferred.
        renew_grace: Period after a renewal by request in which a deletion refunds the renewal.
        autorenew_grace: Period after an automatic renewal in which a deletion refunds the renewal. So does a
            transfer that completes, unless it leaves the term unchanged.
        autorenew_before: Period before expiry at whose start a name is renewed automatically.
        registrant_change_lock: Period after a change of the registrant in which a name cannot be transferred.
        auth_code_days: Period after which an authorization code expires. If set, a new registrant also gets
            a new code. 0 means never.
        restore_years: When a restore adds the shortest renewal: if the term has ended, always, or never.
    """

    add_grace: Days = 5
    overdue: Days = 30
    redemption: Days = 30
    pending_delete: Days = 5
    transfer: Days = 5
    transfer_lock: Days = 60
    renew_grace: Days = 0
    autorenew_grace: Days = 0
    autorenew_before: Days = 0
    registrant_change_lock: Days = 0
    auth_code_days: Days = 0
    restore_years: Annotated[str, choice("when_due", "always", "never")] = "when_due"


#: The periods of ``Policy`` within which a deletion or a transfer refunds something.
GRACES = ("add_grace", "renew_grace", "autorenew_grace")


class Zone(Struct, frozen=True, kw_only=True):
    """A zone in which domains are registered.

    ``premium`` and ``reserved`` hold first labels in ASCII form.

    Args:
        types: The types of the zone, by which requests filter the listing of zones.
        prices: The prices of ordinary names in the zone.
        min_years: The shortest registration, in years.
        max_years: The longest registration, in years.
        min_renewal_years: The shortest renewal, in years.
        min_transfer_years: The shortest term that a transfer adds, in years.
        transfer_term: The expiry date after a transfer: the former one plus the years of the transfer, the
            former one, or the day of the transfer plus the years.
        min_nameservers: The minimum number of name servers.
        max_nameservers: The maximum number of name servers.
        policy: The periods and rules of the zone's life cycle.
        transfers: Whether names can be transferred.
        hosts: Whether names can have hosts with glue records.
        idn: Whether internationalised names are accepted.
        scripts: The scripts whose letters are accepted. Default: all scripts.
        mixed_scripts: Whether a name can have letters of several scripts. The scripts of Japanese, Korean or
            Chinese are never mixed, also with Latin letters.
        license: Regular expression for licence numbers. If set, a registration requires a licence number.
        in_service: Whether the zone's registry accepts registrations, renewals, restores and transfers.
        premium: The prices of premium names, by label.
        reserved: Labels that nobody can register.
    """

    name: str
    types: Annotated[tuple[str, ...], listed(choice(*ZONE_TYPES), distinct=True)] = ()
    prices: Annotated[Prices, record(Prices)]
    registration_promotion: Promotion | None = None
    renewal_promotion: Promotion | None = None
    min_years: Years = 1
    max_years: Years = 10
    min_renewal_years: Years = 1
    min_transfer_years: Years = 1
    transfer_term: Annotated[str, choice("extends", "unchanged", "restarts")] = "extends"
    min_nameservers: Annotated[int, whole(0, MOST_NAMESERVERS)] = 0
    max_nameservers: Annotated[int, whole(1, MOST_NAMESERVERS)] = MOST_NAMESERVERS
    policy: Annotated[Policy, record(Policy)] = Policy()
    transfers: Switch = True
    hosts: Switch = True
    idn: Switch = False
    scripts: Annotated[tuple[str, ...], listed(choice(*SCRIPTS), distinct=True)] = ()
    mixed_scripts: Annotated[str, choice("accepted", "refused")] = "accepted"
    license: Annotated[str, PATTERN] = ""
    in_service: Switch = True
    premium: Annotated[dict[str, Premium] | None, table(LABEL, record(Premium))] = None
    reserved: Annotated[tuple[str, ...], listed(LABEL, distinct=True)] = ()


class Renewal(Struct, frozen=True, kw_only=True, gc=False):
    """A renewal of a domain, which a deletion within its grace period undoes.

    Args:
        at: The instant of the renewal.
        before: The expiry date before the renewal.
        automatic: Whether the clock renewed the domain.
        charges: The ledger entries of the renewal.
    """

    at: datetime
    before: datetime
    automatic: bool = False
    charges: tuple[int, ...] = ()


class Order(Struct, frozen=True, kw_only=True, gc=False):
    """An account's order for a domain, from the first request to the release of the domain.

    ``created`` is the instant of the domain's first registration. ``since`` is the start of the current
    stage, and ``due`` is its end if nobody acts. ``registration`` holds ids of ledger entries of the
    registration, and ``renewals`` those of renewals within the add grace period. ``arrived`` is the
    instant at which a transfer brought the domain. ``retry`` is the next attempt to renew the order
    automatically, except the attempt at its expiry. ``registrant_changed`` is the instant of the latest
    change of the registrant. From the instant ``auth_code_expires`` on, the authorization code is refused.
    ``update_lock_used`` is whether the update lock was ever set or cleared.
    """

    id: int
    account: int
    name: str
    zone: str
    stage: Stage = Stage.ACTIVE
    created: datetime
    expires: datetime
    since: datetime
    due: datetime | None = None
    contacts: RoleHandles
    nameservers: tuple[str, ...] = ()
    customer_id: int | None = None
    privacy: bool = False
    autorenew: bool = False
    flags: frozenset[Flag] = NO_FLAGS
    auth_code: str = ""
    auth_code_expires: datetime | None = None
    license: str = ""
    years: int = 1
    registration: tuple[int, ...] = ()
    renewals: tuple[int, ...] = ()
    last_renewal: Renewal | None = None
    registrant_changed: datetime | None = None
    arrived: datetime | None = None
    retry: datetime | None = None
    update_lock_used: bool = False


class Host(Struct, frozen=True, kw_only=True, gc=False):
    """A name server below a registered domain, with the addresses of its glue record."""

    name: str
    domain: str
    ips: tuple[str, ...]


class Transfer(Struct, frozen=True, kw_only=True):
    """The latest transfer of a domain from one account (losing) to another (gaining)."""

    name: str
    status: TransferStatus = TransferStatus.PENDING
    gaining: int
    losing: int
    gaining_order: int
    losing_order: int
    requested: datetime
    completes: datetime
    charges: tuple[int, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether the transfer is pending."""
        return self.status is TransferStatus.PENDING


class LedgerEntry(Struct, frozen=True, kw_only=True, gc=False):
    """An entry of the ledger: one change of an account's balance.

    Args:
        amount: The amount that the entry adds to the balance, negative for a charge.
        purpose: The purpose of the charge, refund or adjustment.
        cause: The request or event that caused the entry. Default: fixture.
        operation: The operation of the request that caused the entry.
        order: The id of the order that the entry is about.
        years: The number of years that the amount pays for.
        refunds: The id of the charge that this entry refunds.
        grace: The period of the zone's policy that granted this refund.
    """

    id: int
    at: datetime
    account: int
    amount: Annotated[Decimal, BALANCE]
    purpose: Annotated[Purpose, choice(*Purpose)]
    cause: Annotated[str, LINE] = "fixture"
    operation: Annotated[str, LINE] = ""
    order: Annotated[int | None, ID] = None
    name: str = ""
    years: Annotated[int, whole(0, LONGEST_TERM)] = 0
    refunds: Annotated[int | None, ID] = None
    grace: Annotated[str | None, choice(*GRACES)] = None


class ScheduledAction(Struct, frozen=True, kw_only=True):
    """A third party's action that is scheduled ``at`` an instant or ``after`` a request.

    ``parameters`` are sorted pairs. ``applied`` is the instant at which the sandbox carried the action out or
    refused it. ``refused`` is the message of that refusal.
    """

    id: int
    action: str
    parameters: tuple[tuple[str, Any], ...] = ()
    at: datetime | None = None
    after: Match | None = None
    applied: datetime | None = None
    refused: str = ""


Record = Account | Customer | Contact | Zone | Order | Host | Transfer | LedgerEntry | ScheduledAction

CARD_FIELDS = Card.__struct_fields__

#: The roles of a domain's contacts.
ROLES = RoleHandles.__struct_fields__
