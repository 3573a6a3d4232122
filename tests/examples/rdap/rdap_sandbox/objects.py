"""The objects of RDAP, and the operations that return them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from marshmallow import fields

from reseller_sandbox.refusals import HOST_NOT_FOUND, INVALID_NAME, NOT_HELD, UNKNOWN_RECORD, Refused
from reseller_sandbox.registry.model import Card, Order, Stage
from reseller_sandbox.registry.state import State, account_named, held_order, pending_transfer
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.web.fields import Array, Shape, String
from reseller_sandbox.web.interface import Call, refuses, route

CONFORMANCE: Mapping[str, Any] = {"rdapConformance": ["rdap_level_0"]}

#: The status of a domain at a stage. A domain at another stage is active unless a flag says more.
STATUSES = {
    Stage.REQUESTED: "pending create",
    Stage.PROCESSING: "pending create",
    Stage.OVERDUE: "auto renew period",
    Stage.REDEMPTION: "redemption period",
    Stage.PENDING_DELETE: "pending delete",
}


class Help(Shape):
    """A response of RDAP."""

    rdapConformance = Array(String())
    links = Array(fields.Dict())
    notices = Array(fields.Dict())


class Entity(Help):
    """A registrar or a contact."""

    objectClassName = String()
    handle = String()
    roles = Array(String())
    vcardArray = Array(fields.Raw())


class Nameserver(Help):
    """A name server. Its addresses are known if it has a glue record."""

    objectClassName = String()
    ldhName = String()
    unicodeName = String()
    ipAddresses = fields.Dict()


class Domain(Help):
    """A domain."""

    objectClassName = String()
    handle = String()
    ldhName = String()
    unicodeName = String()
    status = Array(String())
    events = Array(fields.Dict())
    entities = Array(fields.Dict())
    nameservers = Array(fields.Dict())
    secureDNS = fields.Dict()


@refuses(INVALID_NAME, NOT_HELD)
@route("rdap.domain", "GET", "/rdap/domain/{domainName}", answer=Domain())
def domain(call: Call) -> dict[str, Any]:
    """Return the registration of a domain."""
    state, name = call.draft.state, parse_name(call.arguments["domainName"])
    order = held_order(state, name)
    if order is None:
        raise Refused(NOT_HELD, name=name)
    registrar = _entity(state.accounts[order.account].name, ["registrar"])
    return {
        "objectClassName": "domain",
        "handle": str(order.id),
        **_names(name),
        "status": _statuses(state, order),
        "events": [
            _event("registration", order.created),
            _event("expiration", order.expires),
            _event("last update of RDAP database", call.draft.now),
        ],
        "entities": [registrar, *([] if order.privacy else _contacts(state, order))],
        "nameservers": [_nameserver(state, server) for server in order.nameservers],
        "secureDNS": {"delegationSigned": False},
    }


@refuses(INVALID_NAME, HOST_NOT_FOUND)
@route("rdap.nameserver", "GET", "/rdap/nameserver/{hostname}", answer=Nameserver())
def nameserver(call: Call) -> dict[str, Any]:
    """Return a name server that has a glue record."""
    name = parse_name(call.arguments["hostname"])
    if name not in call.draft.state.hosts:
        raise Refused(HOST_NOT_FOUND, host=name)
    return _nameserver(call.draft.state, name)


@refuses(UNKNOWN_RECORD)
@route("rdap.entity", "GET", "/rdap/entity/{handle}", answer=Entity())
def entity(call: Call) -> dict[str, Any]:
    """Return a contact by its handle, or a registrar by the name of its account."""
    state, handle = call.draft.state, call.arguments["handle"]
    if handle in state.contacts:
        return _entity(handle, card=state.contacts[handle].card)
    if account_named(state, handle) is None:
        raise Refused(UNKNOWN_RECORD, kind="entity", key=handle[:80])
    return _entity(handle, ["registrar"])


@route("rdap.help", "GET", "/rdap/help", answer=Help())
def show_help(call: Call) -> dict[str, Any]:
    """Return a description of the service."""
    return {"notices": [{"title": "Sandbox", "description": ["The data of a sandbox, not of a registry."]}]}


def _statuses(state: State, order: Order) -> list[str]:
    statuses = [flag.replace("_", " ") for flag in sorted(order.flags)]
    statuses += [STATUSES[order.stage]] if order.stage in STATUSES else []
    statuses += ["pending transfer"] if pending_transfer(state, order.name) else []
    return statuses or ["active"]


def _contacts(state: State, order: Order) -> list[dict[str, Any]]:
    """Return each contact of a domain once, with its roles."""
    roles: dict[str, list[str]] = {}
    for role, name in (("registrant", "registrant"), ("admin", "administrative"), ("tech", "technical")):
        roles.setdefault(getattr(order.contacts, role), []).append(name)
    cards = {handle: state.contacts[handle].card for handle in roles if handle in state.contacts}
    return [_entity(handle, roles[handle], card) for handle, card in cards.items()]


def _entity(handle: str, roles: Iterable[str] = (), card: Card | None = None) -> dict[str, Any]:
    lines: list[list[Any]] = [
        ["version", {}, "text", "4.0"],
        ["fn", {}, "text", card.name if card else handle],
    ]
    if card is not None:
        address = ["", "", card.address, card.city, card.region, card.zip, card.country]
        lines += [["org", {}, "text", card.company]] if card.company else []
        lines += [["adr", {}, "text", address]]
        lines += [["tel", {"type": "voice"}, "uri", f"tel:{card.phone}"], ["email", {}, "text", card.mail]]
    with_roles = {"roles": list(roles)} if roles else {}
    return {"objectClassName": "entity", "handle": handle, **with_roles, "vcardArray": ["vcard", lines]}


def _nameserver(state: State, name: str) -> dict[str, Any]:
    host = state.hosts.get(name)
    addresses: dict[str, list[str]] = {}
    for ip in host.ips if host is not None else ():
        addresses.setdefault("v6" if ":" in ip else "v4", []).append(ip)
    return {
        "objectClassName": "nameserver",
        **_names(name),
        **({"ipAddresses": addresses} if addresses else {}),
    }


def _names(name: str) -> dict[str, str]:
    return {"ldhName": name, **({"unicodeName": to_unicode(name)} if "xn--" in name else {})}


def _event(action: str, at: datetime) -> dict[str, str]:
    return {"eventAction": action, "eventDate": wire(at)}
