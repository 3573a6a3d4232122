"""Glue records: name servers below a domain, with their addresses."""

from __future__ import annotations

from reseller_sandbox import refusals as r
from reseller_sandbox.registry import hosts
from reseller_sandbox.registry.lifecycle import Action, require
from reseller_sandbox.registry.model import Host, Order
from reseller_sandbox.v3.shapes import BODY, FOUND, AlternativeKeys, own_order, render_name
from reseller_sandbox.web.fields import Array, InnerObject, Shape, String
from reseller_sandbox.web.interface import Call, refuses, route

_ALL = "/v3/domains/glueRecords/{domainName}"
_ONE = "/v3/domains/glueRecords/{domainName}/{hostname}"
_READ = (*FOUND, r.WRONG_STATE)
_CHANGE = (*FOUND, r.HOSTS_NOT_SUPPORTED, r.WRONG_STATE, r.LOCKED)


class AddressesRequest(AlternativeKeys):
    """The IP addresses of a host, under the key ``ips`` or ``ip``."""

    alternatives = ("ips", "ip")

    ips = Array(String())
    ip = Array(String())


class GlueRequest(AddressesRequest):
    """A new host: its label below the domain (``ns1``) and its IP addresses."""

    hostname = String(required=True)


class HostName(Shape):
    """The fully qualified name of a host, and its domain."""

    domainName = String()
    hostname = String()


class GlueRecord(HostName):
    """A host with its addresses."""

    ips = Array(String())


class GlueList(Shape):
    """The hosts below a domain."""

    glueRecords = Array(InnerObject(HostName))


@refuses(*BODY, *_CHANGE, r.INVALID_HOSTNAME, r.INVALID_IP, r.HOST_EXISTS)
@route("v3.createGlueRecord", "POST", _ALL, body=GlueRequest(), answer=GlueRecord())
def create(call: Call) -> dict[str, object]:
    """Add a host below a domain."""
    order = _changeable(call)
    return _record(call, hosts.create(call.draft, order, call.arguments["hostname"], call.arguments["ips"]))


@refuses(*BODY, *_CHANGE, r.INVALID_HOSTNAME, r.HOST_NOT_FOUND, r.INVALID_IP)
@route("v3.updateGlueRecord", "PUT", _ONE, body=AddressesRequest(), answer=GlueRecord())
def update(call: Call) -> dict[str, object]:
    """Replace the addresses of a host."""
    order = _changeable(call)
    return _record(call, hosts.update(call.draft, order, call.arguments["hostname"], call.arguments["ips"]))


@refuses(*_CHANGE, r.INVALID_HOSTNAME, r.HOST_NOT_FOUND, r.HOST_IN_USE)
@route("v3.deleteGlueRecord", "DELETE", _ONE, answer=HostName())
def delete(call: Call) -> dict[str, object]:
    """Remove a host."""
    return _record(call, hosts.delete(call.draft, _changeable(call), call.arguments["hostname"]))


@refuses(*_READ)
@route("v3.listGlueRecords", "GET", _ALL, answer=GlueList())
def read_all(call: Call) -> dict[str, object]:
    """Return the hosts below a domain, without their addresses.

    If the zone does not support hosts, the list is empty.
    """
    glue_hosts = hosts.of_domain(call.draft.state, _readable(call).name)
    return {"glueRecords": [_record(call, host) for host in glue_hosts]}


@refuses(*_READ, r.INVALID_HOSTNAME, r.HOST_NOT_FOUND)
@route("v3.getGlueRecord", "GET", _ONE, answer=GlueRecord())
def read(call: Call) -> dict[str, object]:
    """Return a host with its addresses."""
    return _record(call, hosts.get(call.draft, _readable(call), call.arguments["hostname"]))


def _readable(call: Call) -> Order:
    order = own_order(call)
    require(call.draft, order, Action.READ_HOSTS)
    return order


def _changeable(call: Call) -> Order:
    order = own_order(call)
    hosts.require_support(call.draft, order, Action.CHANGE_HOSTS)
    return order


def _record(call: Call, host: Host) -> dict[str, object]:
    spelling = call.arguments["domainName"]
    return {
        "domainName": render_name(call, host.domain, spelling),
        "hostname": render_name(call, host.name, spelling),
        "ips": list(host.ips),
    }
