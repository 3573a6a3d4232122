"""Domains: register, list, read, renew and delegate them."""

from __future__ import annotations

from itertools import islice
from typing import Any

from marshmallow import post_load, validate

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.registry import orders, purchases
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contacts import roles_required
from reseller_sandbox.registry.model import Order, Purpose
from reseller_sandbox.v3.shapes import (
    BODY,
    FOUND,
    PERIOD,
    PRICED,
    WIRE_NAMES,
    ContactsRequest,
    DomainRequest,
    Envelope,
    EnvelopeInFull,
    envelope,
    identifier,
    on_name,
    own_order,
    path_envelope,
    requested_order,
    summaries,
)
from reseller_sandbox.web.fields import (
    Amount,
    Array,
    Boolean,
    CachedObject,
    Digits,
    InnerObject,
    Integer,
    Price,
    Shape,
    Shaped,
    SpacedInstant,
    String,
    StringMap,
    Years,
)
from reseller_sandbox.web.interface import Call, refuses, route

_PAGING = ("perPage", "page")
_COUNTED = validate.Range(min=1, error="must be at least 1")

PER_PAGE = 100


# Registration


class FirstContacts(ContactsRequest):
    """The contacts of a new domain, by role."""

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the contact roles that the assumption ``v3.contacts.required`` makes required."""
        return tuple(WIRE_NAMES[role] for role in roles_required(assumed))


class NewDomain(DomainRequest):
    """A domain to register."""

    contacts = InnerObject(FirstContacts)

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return ``domainName``, and ``contacts`` if the assumptions require any contact."""
        return ("domainName", *(("contacts",) if roles_required(assumed) else ()))


class RegistrationRequest(Shape):
    """Request to register a domain."""

    domain = InnerObject(NewDomain, required=True)
    years = Years()
    purchaseCost = Price()
    tldRequirements = StringMap()


class Registered(Envelope):
    """Response of createDomain: the new domain, its order and the price paid."""

    client_id = identifier("client-id")
    totalPaid = Amount()


@refuses(
    *BODY,
    r.INVALID_NAME,
    r.ZONE_NOT_SUPPORTED,
    r.ZONE_OUT_OF_SERVICE,
    *PERIOD,
    r.PRIVACY_NOT_OFFERED,
    r.CONTACTS_REQUIRED,
    r.INVALID_CONTACT,
    r.INVALID_NAMESERVER,
    r.LICENSE_REQUIRED,
    r.INVALID_LICENSE,
    r.NAME_TAKEN,
    r.NAME_RESERVED,
    *PRICED,
)
@route(
    "v3.createDomain",
    "POST",
    "/v3/domains/createDomain",
    body=RegistrationRequest(),
    answer=Registered(),
    orders=Purpose.REGISTRATION,
    price=("purchaseCost",),
)
def create_domain(call: Call) -> dict[str, object]:
    """Register a domain for a number of years. The price is charged to the balance."""
    domain, assumed, parameters = call.arguments["domain"], call.assumed, requested_order(call)
    requirements = call.arguments.get("tldRequirements", {})
    switches = {"autorenewEnabled": assumed.create_autorenew, "lockedEnabled": assumed.create_locked}
    autorenew, transfer_lock = (
        domain.get(key, False) if choice == "as_sent" else choice == "always"
        for key, choice in switches.items()
    )
    order, paid = purchases.register(
        call.draft,
        call.account,
        purchases.Registration(
            **parameters,
            nameservers=domain.get("nameservers") or None,
            autorenew=autorenew,
            transfer_lock=transfer_lock,
            requirements=requirements,
            requirements_path="tldRequirements.",
        ),
    )
    note_unused_keys(call, order)
    for key, choice in switches.items():
        if key in domain and choice != "as_sent":
            is_on = choice == "always"
            call.ignore(f"domain.{key}", f"it is {choice} on", contradicted=domain[key] != is_on)
    for key in requirements:
        if not order.license or key != assumed.license:
            reason = f"the zone {order.zone} has no such requirement"
            call.ignore(f"tldRequirements.{key[:60]}", reason, contradicted=False)
    return {**envelope(call, order, domain["domainName"]), "totalPaid": paid}


def note_unused_keys(call: Call, order: Order) -> None:
    """Report the keys that had no effect on a registration, a transfer or a renewal of ``order``."""
    zone, special = purchases.zone_and_premium(call.draft.state, order)
    if (
        "purchaseCost" in call.arguments
        and special is None
        and call.assumed.purchase_cost != "whenever_given"
    ):
        call.ignore("purchaseCost", "an ordinary name has no agreed price", contradicted=False)
    wanted = call.arguments.get("domain", {}).get("privacyEnabled")
    if wanted is not None and zone.prices.privacy is None:
        reason = f"the zone {zone.name} offers no whois protection"
        call.ignore("domain.privacyEnabled", reason, contradicted=wanted)


# Reading


class PerPage(Digits):
    """The number of domains per page."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the maximum, if a larger number is refused."""
        most = assumed.list_max_per_page
        return {"maximum": most} if isinstance(most, int) and assumed.list_over_max == "refused" else {}


class Page(Shape):
    """The number of domains per page, and the number of the page."""

    perPage = PerPage(validate=_COUNTED, metadata={"default": PER_PAGE})
    page = Digits(validate=_COUNTED, metadata={"default": 1})

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that the assumption ``v3.list.parameters`` makes required."""
        return _PAGING if assumed.list_parameters == "required" else ()


class DomainSummary(Shape):
    """A domain in a list."""

    domainName = String()
    privacyEnabled = Boolean()
    lockedEnabled = Boolean()
    autorenewEnabled = Boolean()
    createDate = SpacedInstant()
    expireDate = SpacedInstant()
    premium = Boolean()


class DomainList(Shape):
    """One page of the account's domains, the oldest order first."""

    domains = Array(CachedObject(DomainSummary))
    nextPage = Integer()
    lastPage = Integer()

    def optional_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that the last page omits."""
        return ("nextPage", *(("lastPage",) if assumed.list_last_page == "with_next" else ()))


@refuses(r.INVALID_PARAMETER)
@route(
    "v3.listDomains",
    "GET",
    "/v3/domains",
    "/v3/domains/{perPage}/{page}",
    query=Page(),
    answer=DomainList(),
    lists_names=True,
)
def list_domains(call: Call) -> dict[str, object]:
    """Return the account's domains, page by page."""
    page, per_page = _page(call)
    mine = (call.account.client_id,)
    state = call.draft.state
    total = state.orders_of_account.count(mine)
    last = max(1, -(-total // per_page))
    start = min((page - 1) * per_page, total)
    keys = islice(state.orders_of_account.beginning(mine, start), min(per_page, total - start))
    orders_by_id = state.orders
    answer: dict[str, object] = {"domains": summaries(call, [orders_by_id[number] for _, number in keys])}
    if page < last:
        answer["nextPage"] = page + 1
    if page < last or call.assumed.list_last_page == "always":
        answer["lastPage"] = last
    return answer


def _page(call: Call) -> tuple[int, int]:
    missing = [name for name in _PAGING if name not in call.arguments]
    if missing and call.assumed.list_parameters == "required":
        raise Refused(INVALID_PARAMETER, problems="; ".join(f"{name} is missing" for name in missing))
    per_page, most = call.arguments.get("perPage", PER_PAGE), call.assumed.list_max_per_page
    if isinstance(most, int) and per_page > most:
        if "perPage" in call.arguments and call.assumed.list_over_max == "refused":
            raise Refused(INVALID_PARAMETER, problems=f"perPage must be at most {most}, not {per_page}")
        per_page = most
    return call.arguments.get("page", 1), per_page


@refuses(*FOUND)
@route("v3.getDomain", "GET", "/v3/domains/getDomain/{domainName}", answer=EnvelopeInFull())
def get_domain(call: Call) -> dict[str, object]:
    """Return all data of one of the account's domains."""
    text: str = call.arguments["domainName"]
    if text.isascii() and text.isdigit() and call.assumed.get_domain_order_id == "on":
        return envelope(call, orders.own_by_id(call.draft.state, call.account, text), in_full=True)
    return envelope(call, own_order(call), text, in_full=True)


# Renewal


class Renewal(Shape):
    """A domain with the term and the price of its renewal."""

    domainName = String()
    years = Years()
    purchaseCost = Price()

    def naming_keys(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return ``domainName``."""
        return ("domainName",)


class RenewalRequest(Renewal):
    """Request to renew a domain.

    The term and the price may also be inside ``domain``. The domain name may be in the path.
    """

    domain = InnerObject(Renewal)

    def naming_keys(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return ``domain``, which contains the name."""
        return ("domain",)

    @post_load
    def merge_domain(self, values: dict[str, Any], **_: object) -> dict[str, object]:
        """Merge ``domain`` into the values beside it. A value beside ``domain`` takes precedence."""
        return {**values.pop("domain", {}), **values}


class RenewalInQuery(Shape):
    """A renewal's term and price in the query string."""

    years = Digits(metadata=Years.shape)
    purchaseCost = Price()


class Renewed(Envelope):
    """Response of renewDomain: the renewed domain, its order and the price paid."""

    totalPaid = Amount()


@refuses(*BODY, *FOUND, r.WRONG_STATE, r.TRANSFER_PENDING, r.LOCKED, r.ZONE_OUT_OF_SERVICE, *PERIOD, *PRICED)
@route(
    "v3.renewDomain",
    "POST",
    "/v3/domains/renewDomain",
    "/v3/domains/renewDomain/{domainName}",
    body=RenewalRequest(),
    query=RenewalInQuery(),
    answer=Renewed(),
    orders=Purpose.RENEWAL,
    price=("purchaseCost", "domain.purchaseCost", "?purchaseCost"),
)
def renew_domain(call: Call) -> dict[str, object]:
    """Renew a domain for a number of years. The price is charged to the balance."""
    if "domainName" not in call.arguments:
        raise Refused(INVALID_PARAMETER, problems="domain.domainName is missing")
    placed = purchases.renew(
        call.draft, own_order(call), call.arguments.get("years", 1), call.arguments.get("purchaseCost")
    )
    note_unused_keys(call, placed.order)
    return {**path_envelope(call, placed.order), "totalPaid": placed.paid}


# Delegation


class NameserversRequest(Shape):
    """The new name servers of a domain."""

    nameservers = Array(String(), required=True)


@on_name(
    "setNameservers", Envelope(), r.WRONG_STATE, r.LOCKED, r.INVALID_NAMESERVER, body=NameserversRequest()
)
def set_nameservers(call: Call) -> dict[str, object]:
    """Delegate a domain to other name servers."""
    order = orders.set_nameservers(call.draft, own_order(call), call.arguments["nameservers"])
    return path_envelope(call, order)
