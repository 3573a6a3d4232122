"""The operation that lists the zones in which domains can be registered, with their prices."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from marshmallow import fields

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import ZONE_TYPES, Promotion, Zone
from reseller_sandbox.v2.shapes import Done, done, render_name
from reseller_sandbox.web.fields import (
    Array,
    Boolean,
    Digits,
    InnerObject,
    MoneyNumber,
    Shape,
    Shaped,
    SpacedInstant,
    String,
)
from reseller_sandbox.web.interface import Call, route

_ALL = "/{version}/domain/zones"

_OF_PROMOTIONS = ("date_end_reg_action", "date_end_renew_action", "price_reg_action", "price_renew_action")


class ZonesQuery(Shape):
    """Selection of zones: a type, the maximum number, and the number to skip."""

    type = String()
    limit = Digits()
    start = Digits()


class ActionEnd(SpacedInstant):
    """Field for the end of a promotion. Without a promotion, it is an empty string or null."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the type that ``v2.zones.no_promotion`` chooses."""
        if assumed.no_promotion == "regular":
            return {"type": "string", "pattern": f"^({self.written})?$"}
        return {**SpacedInstant.shape, "type": _type("string", assumed)}

    def _serialize(self, value: object, attr: object, obj: Any, **kwargs: object) -> str | None:
        return "" if value == "" else super()._serialize(value, attr, obj, **kwargs)


class ActionPrice(MoneyNumber):
    """Field for the price of a promotion. Without a promotion, it is the regular price or null."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the type that ``v2.zones.no_promotion`` chooses."""
        return {"type": _type("number", assumed)}


def _type(name: str, assumed: Assumptions) -> object:
    return [name, "null"] if assumed.no_promotion == "nulls" else name


class ZoneShown(Shape):
    """The data of a zone in a response."""

    zone = String()
    date_end_reg_action = ActionEnd()
    date_end_renew_action = ActionEnd()
    idn_avail = Boolean()
    max_length = fields.Integer()
    min_length = fields.Integer()
    price_reg = MoneyNumber()
    price_reg_action = ActionPrice()
    price_renew = MoneyNumber()
    price_renew_action = ActionPrice()
    price_restore = MoneyNumber()
    price_transfer = MoneyNumber()
    transfer_avail = Boolean()

    def optional_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that a response may omit because there is no promotion or no zone."""
        if assumed.zones_data == "object":
            return tuple(self.fields)
        return _OF_PROMOTIONS if assumed.no_promotion == "omitted" else ()


class OneOrMany(Array):
    """Field for an array, or for one of its elements alone."""

    def _serialize(self, value: Any, attr: Any, obj: object, **kwargs: object) -> Any:
        if isinstance(value, list):
            return super()._serialize(value, attr, obj, **kwargs)
        return self.inner._serialize(value, attr, obj, **kwargs)


class ZoneList(Done):
    """Response of zones: an array of zones, in the order of their names."""

    data = Array(InnerObject(ZoneShown))


class FirstZone(Done):
    """Response of zones: only the first zone."""

    data = InnerObject(ZoneShown)


class Zones(Done):
    """Response of zones: all zones, or only the first zone, as ``v2.zones.data`` chooses."""

    data = OneOrMany(InnerObject(ZoneShown))

    def response_schema(self, assumed: Assumptions) -> Shape:
        """Return the schema that the assumption ``v2.zones.data`` chooses."""
        return ZoneList() if assumed.zones_data == "list" else FirstZone()


@route(
    "v2.domain.zones",
    "GET",
    *tuple(
        _ALL + type_ + limit + start
        for type_ in ("/{type}", "")
        for limit in ("/limit/{limit}", "")
        for start in ("/start/{start}", "")
    ),
    path=ZonesQuery(),
    answer=Zones(),
)
def zones(call: Call) -> dict[str, Any]:
    """Return the zones of a type, or all zones, sorted by name.

    For an unknown type, return no zones. The response header X-Sandbox-Ignored then names the types.
    """
    arguments, state = call.arguments, call.draft.state
    if "type" in arguments and arguments["type"] not in ZONE_TYPES:
        call.ignore("type", f"the types are {' '.join(ZONE_TYPES)}", contradicted=True)
    of_type = [
        state.zones[name]
        for name in sorted(state.zones)
        if "type" not in arguments or arguments["type"] in state.zones[name].types
    ]
    start = arguments.get("start", 0)
    page = of_type[start : start + arguments.get("limit", len(of_type))]
    listed = [_shown(call, zone) for zone in page]
    if call.assumed.zones_data == "object":
        return done(data=listed[0] if listed else {})
    return done(data=listed)


def _shown(call: Call, zone: Zone) -> dict[str, object]:
    return {
        "zone": render_name(call, zone.name),
        "idn_avail": zone.idn,
        "max_length": zone.max_years,
        "min_length": zone.min_years,
        "price_reg": zone.prices.registration,
        "price_renew": zone.prices.renewal,
        "price_restore": zone.prices.restore,
        "price_transfer": zone.prices.transfer,
        "transfer_avail": zone.transfers,
        **_promotion(call, "reg", zone.registration_promotion, zone.prices.registration),
        **_promotion(call, "renew", zone.renewal_promotion, zone.prices.renewal),
    }


def _promotion(call: Call, word: str, promotion: Promotion | None, regular: Decimal) -> dict[str, object]:
    end, price = f"date_end_{word}_action", f"price_{word}_action"
    if promotion is not None:
        return {end: call.local(promotion.until), price: promotion.price}
    if call.assumed.no_promotion == "omitted":
        return {}
    return {end: "", price: regular} if call.assumed.no_promotion == "regular" else {end: None, price: None}
