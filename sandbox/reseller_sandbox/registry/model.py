"""The records of the registry. Each is immutable; a change is a new record in a new state.

Names are kept in their ASCII form (``xn--…``), money as ``Decimal``
in the account's currency, instants as aware UTC datetimes in whole seconds.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from msgspec import Struct

from reseller_sandbox.registry.matching import Match
from reseller_sandbox.registry.money import NOTHING


class Action(StrEnum):
    """What a holder may ask for a name; the value reads on after "where"."""

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
        """What fixtures call it."""
        return self.name.lower()


#: The actions that change nothing.
LOOKS = frozenset({Action.CHECK_HOST, Action.READ_HOSTS, Action.READ_AUTH_CODE})


#: The world that a server begins with.
DEFAULT = "default"

#: The account that stands for every other registrar. It has no credentials and pays nothing.
OUTSIDE = 0

#: How far ahead a name can be paid for, in years.
LONGEST_TERM = 10

ROLES = ("registrant", "admin", "tech", "billing")


class Stage(StrEnum):
    """Where an order is in its life."""

    REQUESTED = "requested"
    PROCESSING = "processing"
    ARRIVING = "arriving"
    ACTIVE = "active"
    OVERDUE = "overdue"
    REDEMPTION = "redemption"
    PENDING_DELETE = "pending_delete"
    RELEASED = "released"


class Flag(StrEnum):
    """What is switched on for a name, under its EPP name: by the holder, or, server_…, by the registry."""

    HOLD = "client_hold"
    TRANSFER_PROHIBITED = "client_transfer_prohibited"
    UPDATE_PROHIBITED = "client_update_prohibited"
    DELETE_PROHIBITED = "client_delete_prohibited"
    RENEW_PROHIBITED = "client_renew_prohibited"
    SERVER_HOLD = "server_hold"


#: The flags that take a name out of the DNS.
HOLDS = frozenset({Flag.HOLD, Flag.SERVER_HOLD})


class TransferStatus(StrEnum):
    """How a transfer stands, under its EPP name."""

    PENDING = "pending"
    CLIENT_APPROVED = "clientApproved"
    CLIENT_REJECTED = "clientRejected"
    CLIENT_CANCELLED = "clientCancelled"
    SERVER_APPROVED = "serverApproved"
    SERVER_CANCELLED = "serverCancelled"


class Purpose(StrEnum):
    """What a ledger entry was for."""

    REGISTRATION = "registration"
    RENEWAL = "renewal"
    RESTORE = "restore"
    TRANSFER = "transfer"
    PRIVACY = "privacy"
    OWNER_CHANGE = "owner_change"
    ADJUSTMENT = "adjustment"


class Card(Struct, frozen=True, kw_only=True):
    """Who somebody is and where to reach them: what contacts and customers have in common."""

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
    """A reseller's account: its credentials, its money and what it falls back on.

    ``revoked`` names the credentials that do not work any more: ``key``, ``token``, sorted.
    """

    client_id: int
    name: str
    key: str
    secret: str
    token: str
    currency: str
    opening: Decimal
    balance: Decimal
    reseller: bool
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


class Contact(Struct, frozen=True, kw_only=True):
    """A contact under its handle. ``extra`` holds additional parameters as sorted pairs."""

    handle: str
    account: int
    card: Card
    customer_id: int | None = None
    extra: tuple[tuple[str, str], ...] = ()


class RoleHandles(Struct, frozen=True, kw_only=True):
    """The handles of a name's four contacts."""

    registrant: str
    admin: str
    tech: str
    billing: str

    def handles(self) -> tuple[str, ...]:
        """Return the four handles in the order of ``ROLES``."""
        return (self.registrant, self.admin, self.tech, self.billing)


class Promotion(Struct, frozen=True, kw_only=True):
    """A lower yearly price, until an instant."""

    price: Decimal
    until: datetime


class Premium(Struct, frozen=True, kw_only=True):
    """The yearly prices of one premium name."""

    registration: Decimal
    renewal: Decimal
    transfer: Decimal


class Prices(Struct, frozen=True, kw_only=True):
    """A zone's prices: per year for registration, renewal and privacy, per act for the others.

    Without a price for privacy, the zone offers none.
    """

    registration: Decimal
    renewal: Decimal
    transfer: Decimal
    restore: Decimal
    privacy: Decimal | None = None
    owner_change: Decimal = NOTHING


class Policy(Struct, frozen=True, kw_only=True):
    """The lengths, in days, that decide when a name of a zone moves on."""

    add_grace: int = 5
    overdue: int = 30
    redemption: int = 30
    pending_delete: int = 5
    transfer: int = 5
    transfer_lock: int = 60


class Zone(Struct, frozen=True, kw_only=True):
    """A zone that names are registered in.

    ``license`` is the pattern that a licence number must match, or empty where none is asked for.
    ``premium`` and ``reserved`` hold first labels in ASCII form, sorted.
    """

    name: str
    types: tuple[str, ...] = ()
    prices: Prices
    registration_promotion: Promotion | None = None
    renewal_promotion: Promotion | None = None
    min_years: int = 1
    max_years: int = 10
    policy: Policy = Policy()
    transfers: bool = True
    hosts: bool = True
    idn: bool = False
    license: str = ""
    in_service: bool = True
    premium: tuple[tuple[str, Premium], ...] = ()
    reserved: tuple[str, ...] = ()


class Order(Struct, frozen=True, kw_only=True):
    """An account's holding of a name, from the request to the release.

    ``created`` is when the name was first registered, ``since`` when it entered its
    stage, ``due`` when time alone will move it on. ``registration`` holds the
    ledger entries of its registration, ``renewals`` those of renewals within the add grace period,
    ``arrived`` is when it came here by a transfer, ``retry`` when an overdue one tries to renew itself again.
    """

    id: int
    account: int
    name: str
    zone: str
    stage: Stage
    created: datetime
    expires: datetime
    since: datetime
    due: datetime | None = None
    contacts: RoleHandles
    nameservers: tuple[str, ...] = ()
    customer_id: int | None = None
    privacy: bool = False
    autorenew: bool = False
    flags: frozenset[Flag] = frozenset()
    auth_code: str = ""
    license: str = ""
    years: int
    registration: tuple[int, ...] = ()
    renewals: tuple[int, ...] = ()
    arrived: datetime | None = None
    retry: datetime | None = None


class Host(Struct, frozen=True, kw_only=True):
    """A name server below a name of the registry, with its glue addresses."""

    name: str
    domain: str
    ips: tuple[str, ...]


class Transfer(Struct, frozen=True, kw_only=True):
    """The latest transfer of a name, from the order that holds it to the one that wants it."""

    name: str
    status: TransferStatus
    gaining: int
    losing: int
    gaining_order: int
    losing_order: int
    requested: datetime
    completes: datetime
    charges: tuple[int, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether it is still undecided."""
        return self.status is TransferStatus.PENDING


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """One movement of money. ``amount`` is negative for a charge and positive for a refund.

    ``cause`` names the request or the timed event that made it, ``operation`` what that was;
    ``refunds`` is the entry it gives back.
    """

    id: int
    at: datetime
    account: int
    amount: Decimal
    purpose: Purpose
    cause: str
    operation: str = ""
    order: int | None = None
    name: str = ""
    years: int = 0
    refunds: int | None = None


class ScheduledAction(Struct, frozen=True, kw_only=True):
    """Something that the rest of the world will do: ``at`` an instant, or ``after`` a request.

    ``given`` is what the action is told, as sorted pairs. ``applied`` is when it was done, or when
    it came to nothing: ``refused`` says why.
    """

    id: int
    action: str
    given: tuple[tuple[str, Any], ...] = ()
    at: datetime | None = None
    after: Match | None = None
    applied: datetime | None = None
    refused: str = ""


Record = Account | Customer | Contact | Zone | Order | Host | Transfer | LedgerEntry | ScheduledAction

CARD_FIELDS = Card.__struct_fields__
