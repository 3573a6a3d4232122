"""Situations: the cases in which code for registrars usually goes wrong.

The page *Test a registrar module* has one row for each of them. A situation counts when a request or an event
has met it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reseller_sandbox import refusals as r
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.refusals import Rule
from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.lifecycle import RENEWAL_FAILED
from reseller_sandbox.registry.model import Purpose, Stage
from reseller_sandbox.registry.zones import PARTICULARS
from reseller_sandbox.worlds.journal import Exercise

#: Whether a request to an operation met a situation. None stands for a request to no operation.
Met = Callable[[Exercise, ApiOperation | None], bool]


class Situation(Struct, frozen=True, kw_only=True):
    """A situation: its name, a description, and the way to make it (``how``, in Markdown).

    A request meets it if ``met`` says so, or if a rule in ``rules`` refused it. An event meets it if its name
    is in ``events``.
    """

    name: str
    about: str
    how: str
    met: Met | None = None
    rules: tuple[Rule, ...] = ()
    events: tuple[str, ...] = ()

    def met_by(self, exercise: Exercise, operation: ApiOperation | None) -> bool:
        """Whether requests with these properties met the situation."""
        refused = any(exercise.rule == rule.code for rule in self.rules)
        return refused or (self.met is not None and self.met(exercise, operation))


def _lost_order(exercise: Exercise, operation: ApiOperation | None) -> bool:
    late = (KINDS[kind].effect for kind, phase in exercise.faults if phase == "after" and kind in KINDS)
    return _ordered(exercise, operation, *Purpose) and any(effect != "altered" for effect in late)


def _ordered(exercise: Exercise, operation: ApiOperation | None, *purposes: Purpose) -> bool:
    """Whether the request placed an order for one of ``purposes``."""
    return exercise.carried_out and operation is not None and operation.orders in purposes


def _order(particular: str, *purposes: Purpose) -> Met:
    """Return whether a request ordered a name with a particular of its zone (see ``registry/zones.py``)."""
    assert particular in PARTICULARS
    return lambda exercise, operation: (
        particular in exercise.particulars and _ordered(exercise, operation, *purposes)
    )


def _fault(*kinds: str) -> Met:
    assert set(kinds) <= set(KINDS)
    return lambda exercise, _: any(kind in kinds for kind, _ in exercise.faults)


def _assumed(name: str, default: object = None) -> Met:
    """Return whether a response depended on an assumption that has another value than ``default``."""
    return lambda exercise, _: any(
        assumption == name and value != default for assumption, value in exercise.assumed
    )


def _internationalised(exercise: Exercise, operation: ApiOperation | None) -> bool:
    """Whether a response about one name had an internationalised name."""
    forms = [assumption for assumption, _ in exercise.assumed if assumption.endswith(".names.form")]
    return bool(forms) and operation is not None and not operation.lists_names


def _at(*stages: Stage) -> Met:
    return lambda exercise, operation: operation is not None and exercise.stage in stages


#: Every situation, in the order of the manual's table.
SITUATIONS: tuple[Situation, ...] = (
    Situation(
        name="paid twice",
        about="The answer to an order is lost or late, although the order was carried out.",
        how='`faults.add("reset", when={"phase": "after", "times": 1})`',
        met=_lost_order,
    ),
    Situation(
        name="stale list",
        about="A list or a name is read as it was some time ago.",
        how='`faults.add("stale")`',
        met=_fault("stale"),
    ),
    Situation(
        name="stale connection",
        about="The server has closed an idle connection, and the next request on it fails.",
        how='`faults.add("stale_connection")`',
        met=_fault("stale_connection"),
    ),
    Situation(
        name="rate limit",
        about="The service answers with 429 and Retry-After.",
        how='`faults.add("rate_limit", limit=5, window="1m")`',
        met=_fault("rate_limit"),
        rules=(r.RATE_LIMITED,),
    ),
    Situation(
        name="compressed answer",
        about="The service compresses its answers.",
        how='`assumptions.set({"responses.compression": "gzip"})`',
        met=_assumed("responses.compression", "none"),
    ),
    Situation(
        name="page size",
        about="The list of names has several pages, because the service limits their size.",
        how='`assumptions.set({"v3.list.max_per_page": 10})`',
        met=_assumed("v3.list.max_per_page", "none"),
    ),
    Situation(
        name="wrong by a day",
        about="Dates without a zone are in the time zone of the service.",
        how='`assumptions.set({"dates.time_zone": "Europe/Kyiv"})`',
        met=_assumed("dates.time_zone", "UTC"),
    ),
    Situation(
        name="slow registration",
        about="A registration is requested or in processing for some time.",
        how='`assumptions.set({"v2.order_processing": 3600})`',
        met=_at(Stage.REQUESTED, Stage.PROCESSING),
    ),
    Situation(
        name="refused registration",
        about="The registry refuses a registration in processing.",
        how="Order a name with `v2.order_processing=3600`. Then `simulate.refuse_registration(name)`.",
        events=("simulate.refuse_registration",),
    ),
    Situation(
        name="name taken",
        about="A name is already registered, perhaps since your check.",
        how='`simulate.when(after="v3.checkAvailability").register("free-name.com")`',
        rules=(r.NAME_TAKEN,),
    ),
    Situation(
        name="premium name",
        about="A name has its own price, to which the order must agree.",
        how="Order `gold.com`.",
        met=_order("premium", *Purpose),
        rules=(r.PREMIUM_COST_REQUIRED, r.PREMIUM_NOT_TAKEN, r.PRICE_MISMATCH),
    ),
    Situation(
        name="first-year price",
        about="The years after the first cost the price of a renewal.",
        how="Register an `.info` name for three years.",
        met=_order("later_years", Purpose.REGISTRATION),
    ),
    Situation(
        name="shortest term",
        about="A zone sells terms of two years or more.",
        how="Register or renew an `.ai` name.",
        met=_order("shortest_term", *Purpose),
        rules=(r.PERIOD_TOO_SHORT,),
    ),
    Situation(
        name="not enough money",
        about="The balance does not cover an order.",
        how='`accounts.set_balance("main", 5)`',
        rules=(r.INSUFFICIENT_FUNDS,),
    ),
    Situation(
        name="staff renewal",
        about="The staff of the service renews or changes a name.",
        how='`simulate.renew("active-example.com")`',
        events=("simulate.renew", "simulate.change"),
    ),
    Situation(
        name="failed auto-renewal",
        about="A name is not renewed automatically, because the balance is too low or a lock forbids it.",
        how='`accounts.set_balance("main", 5)` and `clock.advance(days=30)`',
        events=(RENEWAL_FAILED,),
    ),
    Situation(
        name="redemption",
        about="A name has expired, and only a restore brings it back.",
        how="Read `redemption-example.com`.",
        met=_at(Stage.REDEMPTION),
    ),
    Situation(
        name="pending transfer",
        about="A transfer is pending for days.",
        how="Read `arriving-example.com`.",
        met=_at(Stage.ARRIVING),
    ),
    Situation(
        name="rejected transfer",
        about="The losing registrar rejects a transfer.",
        how='`simulate.reject_transfer("arriving-example.com")`',
        events=("simulate.reject_transfer",),
    ),
    Situation(
        name="transfer without a year",
        about="A transfer adds no year, or begins a new term.",
        how="Transfer a `.de` name. In `.eu`, a transfer begins a new term.",
        met=_order("transfer_term", Purpose.TRANSFER),
    ),
    Situation(
        name="wrong or expired code",
        about="An authorization code is wrong or has expired.",
        how='`simulate.expire_auth_code("other-one.com")`',
        rules=(r.WRONG_AUTH_CODE,),
    ),
    Situation(
        name="locked after a new registrant",
        about="After a change of the registrant, a name cannot be transferred for some time.",
        how="Change the registrant of `kept-example.org`.",
        met=lambda exercise, _: "registrant_change_lock" in exercise.particulars,
        rules=(r.REGISTRANT_CHANGED,),
    ),
    Situation(
        name="shared contact",
        about="A contact that several names share gets another name or company.",
        how="In v2.0, edit the contact `MAIN-OWNER`.",
        met=_assumed("locks.cover_shared_contacts"),
    ),
    Situation(
        name="refused name servers",
        about="A zone refuses name servers, for example because it requires two.",
        how="Set one name server of a `.de` name.",
        rules=(r.INVALID_NAMESERVER,),
    ),
    Situation(
        name="lost glue",
        about="A name server has no glue record, or the record is missing.",
        how='`assumptions.set({"v3.nameservers.own_glue": "required"})`',
        met=_assumed("v3.nameservers.own_glue", "ignored"),
        rules=(r.HOST_NOT_FOUND,),
    ),
    Situation(
        name="internationalised name",
        about="The same name has a Unicode form and an xn-- form.",
        how="Read `españa-example.com` in both forms.",
        met=_internationalised,
    ),
)
