"""Availability: whether domains can be registered, with terms and prices."""

from __future__ import annotations

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import TOO_MANY_NAMES, Refused
from reseller_sandbox.registry import purchases
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.v3.shapes import BODY, render_name
from reseller_sandbox.values.money import NOTHING
from reseller_sandbox.web.fields import Amount, Array, Boolean, InnerObject, Shape, Shaped, String
from reseller_sandbox.web.interface import Call, refuses, route

MOST_NAMES = 50

#: The only availability status that the contract names.
AVAILABLE = "available"


class AvailabilityRequest(Shape):
    """The domain names whose availability is requested."""

    domainNames = Array(String(), required=True, metadata={"maxItems": MOST_NAMES})


class Status(String):
    """The availability of a domain name, as a word such as ``available``."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the possible words. Assumptions choose the words for unavailable names."""
        words = (
            AVAILABLE,
            assumed.availability_taken,
            assumed.availability_reserved,
            assumed.availability_unsupported,
            assumed.availability_invalid,
        )
        return {"enum": list(dict.fromkeys(words))}


class AvailabilityResult(Shape):
    """Whether a name can be registered, for how long and at what price."""

    domainName = String()
    sdn = String()
    tld = String()
    status = Status()
    purchaseCost = Amount()
    renewalCost = Amount()
    premium = Boolean()
    periodMin = String()
    periodMax = String()


class Availabilities(Shape):
    """One result for each requested name, in the order of the request."""

    results = Array(InnerObject(AvailabilityResult))


@refuses(*BODY, r.TOO_MANY_NAMES)
@route(
    "v3.checkAvailability",
    "POST",
    "/v3/domains/checkAvailability",
    body=AvailabilityRequest(),
    answer=Availabilities(),
    only_reads=True,
)
def check_availability(call: Call) -> dict[str, object]:
    """Return whether domains can be registered.

    For an unavailable domain, the prices and periods in the result may be 0.
    """
    names: list[str] = call.arguments["domainNames"]
    if len(names) > MOST_NAMES:
        raise Refused(TOO_MANY_NAMES, field="domainNames", count=len(names), limit=MOST_NAMES)
    return {"results": [_availability(call, text) for text in names]}


def _availability(call: Call, text: str) -> dict[str, object]:
    try:
        availability = purchases.availability(call.draft, parse_name(text))
    except Refused as refused:
        call.refused.append(refused)
        unsupported = refused.rule is r.ZONE_NOT_SUPPORTED
        word = call.assumed.availability_unsupported if unsupported else call.assumed.availability_invalid
        return _result(text, word)
    return _result(
        render_name(call, availability.name, text), _availability_status(call, availability), availability
    )


def _result(name: str, status: str, availability: purchases.Availability | None = None) -> dict[str, object]:
    """Return the nine fields of a name's result. Without ``availability``, prices and terms are 0."""
    sdn, _, tld = name.partition(".")
    return {
        "domainName": name,
        "sdn": sdn,
        "tld": tld,
        "status": status,
        "purchaseCost": availability.purchase if availability else NOTHING,
        "renewalCost": availability.renewal if availability else NOTHING,
        "premium": availability is not None and availability.premium is not None,
        "periodMin": str(availability.zone.min_years if availability else 0),
        "periodMax": str(availability.zone.max_years if availability else 0),
    }


def _availability_status(call: Call, availability: purchases.Availability) -> str:
    if availability.taken:
        return call.assumed.availability_taken
    if availability.reserved:
        return call.assumed.availability_reserved
    if availability.zone.in_service or call.assumed.availability_out_of_service == "available":
        return AVAILABLE
    return call.assumed.availability_unsupported
