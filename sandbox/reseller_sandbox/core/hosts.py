"""Hosts: name servers below a name of the registry, with the glue addresses that lead to them."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from reseller_sandbox.core import names
from reseller_sandbox.core.lifecycle import Action, require
from reseller_sandbox.core.model import Host, Order
from reseller_sandbox.core.refusals import (
    HOST_EXISTS,
    HOST_IN_USE,
    HOST_NOT_FOUND,
    HOSTS_NOT_SUPPORTED,
    INVALID_HOSTNAME,
    INVALID_IP,
    INVALID_NAMESERVER,
    UNKNOWN_IP_TYPE,
    Refused,
)
from reseller_sandbox.core.state import Draft, State

MOST_NAMESERVERS = 13
MOST_ADDRESSES = 13


def parse_nameservers(draft: Draft, servers: Sequence[str], domain: str) -> tuple[str, ...]:
    """``servers`` as the registry keeps them; refuses with ``invalid_nameserver``."""
    if len(servers) > MOST_NAMESERVERS:
        raise Refused(
            INVALID_NAMESERVER,
            server=servers[MOST_NAMESERVERS],
            problem=f"is one more than {MOST_NAMESERVERS}",
        )
    found: list[str] = []
    for server in servers:
        name = parse_nameserver(server)
        if name in found:
            raise Refused(INVALID_NAMESERVER, server=server, problem="is there twice")
        if (
            names.below(name, domain)
            and draft.assumed.own_glue == "required"
            and name not in draft.state.hosts
        ):
            raise Refused(INVALID_NAMESERVER, server=server, problem="needs a glue record first")
        found.append(name)
    return tuple(found)


def parse_nameserver(text: str) -> str:
    """The name of one server as the registry keeps it; refuses with ``invalid_nameserver``."""
    try:
        return names.normalise(text)
    except names.BadName as problem:
        raise Refused(INVALID_NAMESERVER, server=text[:80], problem=f"is no host name: {problem}") from None


def parse_host(domain: str, text: str) -> str:
    """The full host name for ``text``: labels below ``domain``, or the whole name (with a final dot: always).

    Refuses with ``invalid_hostname`` when it is malformed, lies elsewhere or is ``domain`` itself.
    """
    trimmed = text.removesuffix(".")
    try:
        whole = names.normalise(trimmed) if "." in trimmed else ""
        if names.below(whole, domain):
            return whole
        if whole != domain and (not whole or trimmed == text):
            return names.normalise(f"{trimmed}.{domain}")
    except names.BadName as problem:
        raise Refused(INVALID_HOSTNAME, host=text[:80], problem=f"is no host name: {problem}") from None
    raise Refused(INVALID_HOSTNAME, host=text[:80], problem=f"does not lie below {names.to_unicode(domain)}")


def parse_addresses(texts: Sequence[str], field: str = "ips") -> tuple[str, ...]:
    """IPv4 and IPv6 addresses in their canonical spelling; refuses with ``invalid_ip``."""
    if not texts:
        raise Refused(INVALID_IP, field=field, ip=[], problem="is empty: at least one is needed", version=4)
    if len(texts) > MOST_ADDRESSES:
        raise _bad_address(texts[MOST_ADDRESSES], f"is one more than {MOST_ADDRESSES}", field)
    found: list[str] = []
    for text in texts:
        address = parse_address(text, field)
        if address in found:
            raise _bad_address(text, "is there twice", field)
        found.append(address)
    return tuple(found)


def parse_address(text: str, field: str = "ips", version: int | None = None) -> str:
    """One address in its canonical spelling, of either version or of the one given."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        address = None
    if address is None or (address.version == 6 and "%" in text):
        raise _bad_address(text, "is not an IP address", field, version)
    if version is not None and address.version != version:
        raise _bad_address(text, f"is not an IPv{version} address", field, version)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return f"::ffff:{address.ipv4_mapped}"  # as every version of Python should write it
    return str(address)


def _bad_address(text: str, problem: str, field: str, version: int | None = None) -> Refused:
    """The refusal of an address; its fact ``version`` is the one it should have, or seems to have."""
    meant = version or (6 if ":" in text else 4)
    return Refused(INVALID_IP, field=field, ip=text[:60], problem=problem, version=meant)


class TypedAddress(NamedTuple):
    """An address as a caller writes it, with the type it is said to have: ``v4`` or ``v6``."""

    type: str
    ip: str


_VERSIONS = {"v4": 4, "v6": 6}


def parse_typed(given: Sequence[TypedAddress]) -> tuple[str, ...]:
    """Addresses in their canonical spelling; refuses with ``unknown_ip_type``, then ``invalid_ip``."""
    for address in given:
        if address.type not in _VERSIONS:
            raise Refused(UNKNOWN_IP_TYPE, type=address.type[:60], field="ip")
    return tuple(parse_address(address.ip, "ip", _VERSIONS[address.type]) for address in given)


def of_domain(state: State, domain: str) -> list[Host]:
    """The hosts below ``domain``, by name."""
    return [state.hosts[name] for _, name in state.hosts_of_domain.beginning((domain,))]


def require_support(draft: Draft, order: Order, action: Action) -> None:
    """Refuse unless the order's zone keeps hosts and its stage allows ``action``."""
    zone = draft.state.zones[order.zone]
    if not zone.hosts:
        raise Refused(HOSTS_NOT_SUPPORTED, zone=names.to_unicode(zone.name))
    require_action(draft, order, action)


def require_action(draft: Draft, order: Order, action: Action) -> None:
    """Refuse unless the order's stage and flags allow ``action`` on its hosts."""
    require(draft, order, action, locks=draft.assumed.update_lock_covers == "updates")


def get(draft: Draft, order: Order, text: str) -> Host:
    """The host ``text`` below the order's name; refuses with ``host_not_found``."""
    name = parse_host(order.name, text)
    host = draft.state.hosts.get(name)
    if host is None or host.domain != order.name:
        raise Refused(HOST_NOT_FOUND, host=names.to_unicode(name))
    return host


def create(draft: Draft, order: Order, text: str, ips: Sequence[str]) -> Host:
    """A new host below the order's name."""
    name = parse_host(order.name, text)
    addresses = parse_addresses(ips)
    if name in draft.state.hosts:
        raise Refused(HOST_EXISTS, host=names.to_unicode(name))
    host = Host(name=name, domain=order.name, ips=addresses)
    draft.put(host)
    return host


def update(draft: Draft, order: Order, text: str, ips: Sequence[str]) -> Host:
    """Other addresses for a host that is there."""
    host = get(draft, order, text)
    changed = replace(host, ips=parse_addresses(ips))
    draft.put(changed)
    return changed


def change(
    draft: Draft, order: Order, text: str, add: Sequence[TypedAddress], remove: Sequence[TypedAddress]
) -> Host:
    """Take addresses from a host and give it others; one must be left.

    Refuses with ``host_not_found``, ``unknown_ip_type`` and ``invalid_ip``.
    """
    host = get(draft, order, text)
    ips = list(host.ips)
    for ip in parse_typed(remove):
        if ip not in ips:
            raise _bad_address(ip, "is no address of the host", "ip")
        ips.remove(ip)
    for ip in parse_typed(add):
        if ip in ips:
            raise _bad_address(ip, "is an address of the host already", "ip")
        ips.append(ip)
    if not ips:
        raise _bad_address(host.ips[-1], "is the last address: one must stay", "ip")
    if len(ips) > MOST_ADDRESSES:
        raise _bad_address(ips[-1], f"is one more than {MOST_ADDRESSES}", "ip")
    changed = replace(host, ips=tuple(ips))
    draft.put(changed)
    return changed


def delete(draft: Draft, order: Order, text: str) -> Host:
    """Remove a host; refuses with ``host_in_use`` while a name is delegated to it."""
    host = get(draft, order, text)
    require_unused(draft.state, host, besides=None)
    draft.remove(host)
    return host


def require_unused(state: State, host: Host, besides: Order | None) -> None:
    """Refuse with ``host_in_use`` while an order other than ``besides`` is delegated to ``host``."""
    linked = state.linked.beginning(("nameserver", host.name))
    users = [
        names.to_unicode(state.orders[number].name)
        for *_, number in linked
        if besides is None or number != besides.id
    ]
    if users:
        raise Refused(HOST_IN_USE, host=names.to_unicode(host.name), users=", ".join(users[:5]))
