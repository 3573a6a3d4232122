"""The fixture format: every key there is, once.

A fixture is a YAML mapping. Every key may be left out except those marked *.

``now``             the instant the world begins at: 2026-01-31T10:00:00Z (default: :data:`BEGINNING`)
``frozen``          true: time moves only when told; false: it runs (default: what the server says)
``seed``            a text that codes and chances follow from
``assume``          assumption: value, for what the contract leaves open
``include``         fixture: [section, …], takes whole sections from another fixture, packaged or
                    beside this file; where both have entries of a section, the entries here win
``contact_params``  name: pattern, the extra parameters that contacts take
``zones``           name: prices* {registration*, renewal*, transfer*, restore*, privacy, owner_change},
                    types, min_years, max_years, registration_promotion and renewal_promotion
                    {price*, until*}, policy {add_grace, overdue, redemption, pending_delete, transfer,
                    transfer_lock} in days, transfers, hosts, idn, in_service, license (a pattern),
                    premium {label: {registration*, renewal*, transfer*}}, reserved [label, …]
``accounts``        name: contact* (a card, or the handle of a contact), client_id, key, secret, token,
                    currency, balance, reseller, nameservers, revoked [key, token]. Left out, the id is the
                    next free one from 1001, and the credentials NAME-key, NAME-secret and NAME-token
``contacts``        handle: account, customer, extra {parameter: value}, and a card: name, company,
                    address, city, region, zip, country, phone, fax, mail
``customers``       id: account, lang, password, post_address, and a card
``domains``         name: account, stage, created, expires, since, due, contacts {registrant, admin, tech,
                    billing: handle}, nameservers, customer, privacy, autorenew, flags, auth_code,
                    license, hosts {label: [ip, …]}, years, registration (ledger entries that an
                    early delete refunds), id
``taken``           names that other registrars hold: a list, or name: the keys of a domain, and
                    ``locked: true`` for a transfer lock
``transfers``       name: to*, from, status, requested, completes, charges (ledger entries), order (the
                    arriving order, with the keys of a domain), gaining_order, losing_order
``ledger``          id: at*, amount*, purpose*, account, cause, operation, order, domain, years,
                    refunds
``plans``           id: action*, given {parameter: value}, and either at, an instant, or after
                    {operation*, domain, answer}, a client's request; struck and refused, once done
``faults``          name: a rule as ``PUT /_sandbox/faults`` takes it (kind*, match, when, the kind's own
                    parameters; or preset), and what it has counted so far: matched, struck
``counters``        name: the last number given out, where that is not the highest in use

Dates are absolute (2026-01-31, 2026-01-31T10:00:00Z; UTC where no offset is given) or relative to
``now`` (-400d, +30d, -P1Y, now), so that a fixture moves as a whole when it is loaded at another
instant. Amounts are plain decimal numbers. Names are Unicode or ASCII.

An ``account`` left out is the first of the file; ``outside`` is every other registrar. A ``balance``
is the money there now, after the ledger. An order's dates follow from its stage where they are left
out: an active one was created 100 days ago, for a year; a lapsed one entered its stage just now. The
calendar goes on from there: an active order whose ``expires`` is past expires at the first request.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from sandbox.core import outside
from sandbox.core.model import Flag, Policy, Premium, Prices, Purpose, Stage, TransferStatus
from sandbox.seeds.fields import (
    Date,
    Label,
    Listing,
    Money,
    Names,
    Pattern,
    Recorded,
    Strict,
    Switch,
    Table,
    Text,
    Whole,
    Word,
)
from sandbox.seeds.reader import Tree

#: Where a fixture's time begins when it does not say.
BEGINNING = "2026-01-15T12:00:00Z"

#: The word for the account that stands for every other registrar.
OUTSIDE_WORD = "outside"

#: The kinds of zones that a listing can ask for.
ZONE_TYPES = ("popular", "international", "ukrainian", "new")

#: The stages that a fixture's order can be in; an arriving order is written under its transfer.
STAGES = tuple(stage for stage in Stage if stage not in (Stage.ARRIVING, Stage.RELEASED))

_LONGEST_GRACE = 3650


class PricesSchema(Recorded):
    """A zone's prices."""

    record = Prices
    registration = Money(required=True)
    renewal = Money(required=True)
    transfer = Money(required=True)
    restore = Money(required=True)
    privacy = Money()
    owner_change = Money()


class PremiumSchema(Recorded):
    """A premium name's prices."""

    record = Premium
    registration = Money(required=True)
    renewal = Money(required=True)
    transfer = Money(required=True)


class PolicySchema(Recorded):
    """A zone's periods, in days."""

    record = Policy
    add_grace = Whole(most=_LONGEST_GRACE)
    overdue = Whole(most=_LONGEST_GRACE)
    redemption = Whole(most=_LONGEST_GRACE)
    pending_delete = Whole(most=_LONGEST_GRACE)
    transfer = Whole(most=_LONGEST_GRACE)
    transfer_lock = Whole(most=_LONGEST_GRACE)


class PromotionSchema(Strict):
    """A lower price for a time."""

    price = Money(required=True)
    until = Date(required=True)


class ZoneSchema(Strict):
    """A zone."""

    types = Listing(Word(ZONE_TYPES))
    prices = fields.Nested(PricesSchema, required=True)
    registration_promotion = fields.Nested(PromotionSchema)
    renewal_promotion = fields.Nested(PromotionSchema)
    min_years = Whole(1, 10)
    max_years = Whole(1, 10)
    policy = fields.Nested(PolicySchema)
    transfers = Switch()
    hosts = Switch()
    idn = Switch()
    license = Pattern()
    in_service = Switch()
    premium = Table(keys=Label(), values=fields.Nested(PremiumSchema))
    reserved = Listing(Label())


class CardSchema(Strict):
    """Who somebody is."""

    name = Text()
    company = Text()
    address = Text()
    city = Text()
    region = Text()
    zip = Text()
    country = Text()
    phone = Text()
    fax = Text()
    mail = Text()


class OwnContactSchema(CardSchema):
    """An account's own contact, written in its place."""

    handle = Text()


class CardOrHandle(fields.Nested):
    """An account's own contact, or the handle of one under ``contacts``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(OwnContactSchema, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, Tree):
            return super()._deserialize(value, attr, data, *args, **kwargs)
        return Text().deserialize(value)


class ContactSchema(CardSchema):
    """A contact."""

    account = Text()
    customer = Whole(1)
    extra = Table(keys=Text(), values=Text())


class CustomerSchema(CardSchema):
    """A customer."""

    account = Text()
    lang = Text()
    password = Text()
    post_address = Text()


class AccountSchema(Strict):
    """An account."""

    name = Text()
    client_id = Whole(1)
    key = Text()
    secret = Text()
    token = Text()
    currency = Text()
    balance = Money(signed=True)
    reseller = Switch()
    contact = CardOrHandle(required=True)
    nameservers = Listing(Text())
    revoked = Listing(Word(("key", "token")))


class RolesSchema(Strict):
    """The handles of an order's contacts."""

    registrant = Text()
    admin = Text()
    tech = Text()
    billing = Text()


class ArrivingSchema(Strict):
    """What an order has at any stage."""

    id = Whole(1)
    created = Date()
    expires = Date()
    since = Date()
    due = Date()
    contacts = fields.Nested(RolesSchema)
    nameservers = Listing(Text())
    customer = Whole(1)
    privacy = Switch()
    autorenew = Switch()
    flags = Listing(Word(Flag, Flag))
    auth_code = Text()
    license = Text()
    years = Whole(1, 10)
    registration = Listing(Whole(1))


class HoldingSchema(ArrivingSchema):
    """An order that holds its name."""

    stage = Word(STAGES, Stage)
    hosts = Table(keys=Text(), values=Listing(Text()))


class DomainSchema(HoldingSchema):
    """An account's order."""

    account = Text()


class TakenSchema(HoldingSchema):
    """A name held by another registrar."""

    locked = Switch()


class TransferSchema(Strict):
    """A transfer."""

    gaining = Text(data_key="to")
    losing = Text(data_key="from")
    status = Word(TransferStatus, TransferStatus)
    requested = Date()
    completes = Date()
    charges = Listing(Whole(1))
    order = fields.Nested(ArrivingSchema)
    gaining_order = Whole(1)
    losing_order = Whole(1)


class LedgerSchema(Strict):
    """A movement of money."""

    at = Date(required=True)
    account = Text()
    amount = Money(signed=True, required=True)
    purpose = Word(Purpose, Purpose, required=True)
    cause = Text()
    operation = Text()
    order = Whole(1)
    domain = Text()
    years = Whole(most=10)
    refunds = Whole(1)


class AfterSchema(Strict):
    """Which request a plan waits for."""

    operation = Text(required=True)
    domain = Text()
    answer = Word(("accepted", "refused", "any"))


class PlanSchema(Strict):
    """Something that the rest of the world will do."""

    action = Word(outside.ACTIONS, required=True)
    given = Table(keys=Text(), values=fields.Raw())
    at = Date()
    after = fields.Nested(AfterSchema)
    struck = Date()
    refused = Text()


class SectionsSchema(Strict):
    """The sections of a fixture."""

    now = Date(absolute=True)
    frozen = Switch()
    seed = Text()
    assume = Table(keys=Text(), values=fields.Raw())
    contact_params = Table(keys=Text(), values=Pattern())
    zones = Table(keys=Text(), values=fields.Nested(ZoneSchema))
    accounts = Table(keys=Text(), values=fields.Nested(AccountSchema))
    contacts = Table(keys=Text(), values=fields.Nested(ContactSchema))
    customers = Table(keys=Whole(1), values=fields.Nested(CustomerSchema))
    domains = Table(keys=Text(), values=fields.Nested(DomainSchema))
    taken = Names(keys=Text(), values=fields.Nested(TakenSchema))
    transfers = Table(keys=Text(), values=fields.Nested(TransferSchema))
    ledger = Table(keys=Whole(1), values=fields.Nested(LedgerSchema))
    plans = Table(keys=Whole(1), values=fields.Nested(PlanSchema))
    faults = Table(keys=Text(), values=fields.Raw())
    counters = Table(keys=Text(), values=Whole())


#: The sections by name, in the order in which they are written.
SECTIONS = tuple(SectionsSchema().load_fields)


class FixtureSchema(SectionsSchema):
    """A whole fixture."""

    include = Table(keys=Text(), values=Listing(Word(SECTIONS)))

    def salvage(self, valid: Any) -> Any:
        """The entries that are sound, so that what is wrong between them can be told as well."""
        return valid
