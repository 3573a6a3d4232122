"""Hosts: name servers below a registered domain, with their glue addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import INVALID_IP, UNKNOWN_IP_TYPE, Refused
from reseller_sandbox.registry.lifecycle import Action, require
from reseller_sandbox.registry.model import MOST_NAMESERVERS, Host, Order, Zone
from reseller_sandbox.registry.state import Draft, State, held_order
from reseller_sandbox.values import names
from reseller_sandbox.values.kinds import NAME, listed

MOST_ADDRESSES = 13

#: The host name of a domain that is its own name server.
APEX = "@"

_BROADCAST = IPv4Address("255.255.255.255")
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_VERSIONS = {"v4": 4, "v6": 6}


class TypedAddress(NamedTuple):
    """An IP address in a request, with the type that the request declares (``v4``, ``v6``)."""

    type: str
    ip: str


def parse_addresses(draft: Draft, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses of a host in canonical form, or refuse with ``invalid_ip``."""
    if not texts:
        raise Refused(INVALID_IP, ip=[], problem="is empty; at least one is required", version=4)
    if len(texts) > MOST_ADDRESSES:
        raise bad_address(texts[MOST_ADDRESSES], f"exceeds the maximum of {MOST_ADDRESSES} addresses")
    addresses: list[str] = []
    for text in texts:
        address = parse_address(text)
        if address in addresses:
            raise bad_address(text, "is a duplicate")
        require_allowed(draft, address)
        addresses.append(address)
    return tuple(addresses)


def parse_typed(addresses: Sequence[TypedAddress]) -> tuple[str, ...]:
    """Return addresses in canonical form, after a check of their declared types.

    Refuse with ``unknown_ip_type``, then ``invalid_ip``.
    """
    for address in addresses:
        if address.type not in _VERSIONS:
            raise Refused(UNKNOWN_IP_TYPE, type=address.type[:60])
    return tuple(parse_address(address.ip, _VERSIONS[address.type]) for address in addresses)


def parse_address(text: str, version: int | None = None) -> str:
    """Return an IP address in canonical form. ``version`` can require IPv4 or IPv6.

    Refuse with ``invalid_ip`` if the text is not an IP address, or if no name server can have this address.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        address = None
    if address is None or (address.version == 6 and "%" in text):
        raise bad_address(text, "is not an IP address", version)
    if version is not None and address.version != version:
        raise bad_address(text, f"is not an IPv{version} address", version)
    kind = _unreachable(_unmapped(address))
    if kind is not None:
        problem = f"is {kind} address, which no name server can have"
        raise bad_address(text, problem, version)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return f"::ffff:{address.ipv4_mapped}"  # ``str(address)`` would depend on the Python version
    return str(address)


def require_allowed(draft: Draft, address: str) -> None:
    """Refuse a private address if ``hosts.private_addresses`` is ``refused``."""
    private = _unmapped(ipaddress.ip_address(address)).is_private
    if private and draft.assumed.private_glue == "refused":
        raise bad_address(address, "is only for private networks or documentation")


def bad_address(text: str, problem: str, version: int | None = None) -> Refused:
    """Return the exception ``invalid_ip`` for the address ``text``.

    Its fact ``version`` is the expected IP version, or the version that the text seems to have.
    """
    meant = version or (6 if ":" in text else 4)
    return Refused(INVALID_IP, ip=text[:60], problem=problem, version=meant)


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address inside an IPv4-mapped IPv6 address. Return any other address unchanged."""
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _unreachable(address: IPv4Address | IPv6Address) -> str | None:
    kinds = {
        "the unspecified": address.is_unspecified,
        "a loopback": address.is_loopback,
        "a link-local": address.is_link_local,
        "a multicast": address.is_multicast,
        "the broadcast": address == _BROADCAST,
        "a reserved": address.is_reserved or address in _THIS_NETWORK,
    }
    return next((kind for kind, fits in kinds.items() if fits), None)


NAMESERVERS = listed(NAME, most=MOST_NAMESERVERS, distinct=True)


def parse_nameservers(
    draft: Draft, account: int, servers: Sequence[str], domain: str, zone: Zone, present: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the name servers of a request for ``domain`` in ``zone``, in canonical form.

    Name servers that the domain already has (``present``) need no glue record. Refuse with
    ``invalid_nameserver``.
    """
    most, least = zone.max_nameservers, zone.min_nameservers
    if not least <= len(servers) <= most:
        problem = f"exceeds the maximum of {most} name servers in {{}}"
        if len(servers) < least:
            problem = f"does not suffice, because {{}} requires at least {least} name servers"
        problem = names.shown(zone.name, pattern=problem)
        server = servers[: most + 1][-1] if servers else []
        raise Refused(refusals.INVALID_NAMESERVER, server=server, problem=problem)
    parsed: list[str] = []
    for server in servers:
        name = parse_nameserver(server)
        if name in parsed:
            raise Refused(refusals.INVALID_NAMESERVER, server=server, problem="is a duplicate")
        parent = None if name in present else _glueless_below(draft.state, account, name, domain)
        if parent and draft.assumed.own_glue == "required":
            place = "is the domain {}" if parent == name else "lies below {}"
            problem = names.shown(parent, pattern=f"{place} and needs a glue record first")
            raise Refused(refusals.INVALID_NAMESERVER, server=server, problem=problem)
        parsed.append(name)
    return tuple(parsed)


def _glueless_below(state: State, account: int, server: str, domain: str) -> str | None:
    """Return the domain of ``server`` if ``server`` needs a glue record, or None.

    ``server`` is this domain itself, or lies below it. The domain is ``domain``, another domain of the
    account, or a free domain in a zone of the service. Return None if the glue record exists.
    """
    if server in state.hosts:
        return None
    ends = [server, *names.suffixes(server)]
    parent = next((name for name, end in pairwise(ends) if end in state.zones), None)
    if parent is None or parent == domain:
        return parent
    order = held_order(state, parent)
    return parent if order is None or order.account == account else None


def parse_nameserver(text: str) -> str:
    """Return a name server in canonical form, or refuse with ``invalid_nameserver``."""
    try:
        return names.normalise(text)
    except names.BadName as problem:
        raise Refused(
            refusals.INVALID_NAMESERVER, server=text[:80], problem=f"is not a host name: {problem}"
        ) from None


def parse_host(domain: str, text: str) -> str:
    """Return the full name of a host: ``ns1.example.com`` for ``ns1`` in ``example.com``.

    ``text`` is one label, or a full name with a dot. ``@`` or the domain's own name stand for the domain
    itself. Refuse with ``invalid_hostname`` if the name is malformed or does not lie below ``domain``.
    """
    if text == APEX:
        return domain
    try:
        name = names.normalise(text if names.dotted(text) else f"{text}.{domain}")
    except names.BadName as problem:
        raise Refused(
            refusals.INVALID_HOSTNAME, host=text[:80], problem=f"is not a host name: {problem}"
        ) from None
    if name != domain and not names.below(name, domain):
        elsewhere = names.shown(domain, pattern="does not lie below {}")
        raise Refused(refusals.INVALID_HOSTNAME, host=text[:80], problem=elsewhere)
    return name


def of_domain(state: State, domain: str) -> list[Host]:
    """Return the hosts below ``domain``, sorted by name."""
    return [state.hosts[name] for _, name in state.hosts_of_domain.beginning((domain,))]


def require_support(draft: Draft, order: Order, action: Action) -> None:
    """Refuse unless the order's zone supports hosts and the order's stage permits ``action``."""
    zone = draft.state.zones[order.zone]
    if not zone.hosts:
        raise Refused(refusals.HOSTS_NOT_SUPPORTED, zone=names.shown(zone.name))
    require(draft, order, action)


def get(draft: Draft, order: Order, text: str) -> Host:
    """Return the host ``text`` below the order's domain, or refuse with ``host_not_found``."""
    name = parse_host(order.name, text)
    host = draft.state.hosts.get(name)
    if host is None or host.domain != order.name:
        raise Refused(refusals.HOST_NOT_FOUND, host=names.shown(name))
    return host


def create(draft: Draft, order: Order, text: str, ips: Sequence[str]) -> Host:
    """Create a host below the order's domain, or refuse with ``host_exists``."""
    name = parse_host(order.name, text)
    addresses = parse_addresses(draft, ips)
    if name in draft.state.hosts:
        raise Refused(refusals.HOST_EXISTS, host=names.shown(name))
    return draft.put(Host(name=name, domain=order.name, ips=addresses))


def update(draft: Draft, order: Order, text: str, ips: Sequence[str]) -> Host:
    """Replace all addresses of a host with ``ips``."""
    host = get(draft, order, text)
    return draft.put(replace(host, ips=parse_addresses(draft, ips)))


def change(
    draft: Draft, order: Order, text: str, add: Sequence[TypedAddress], remove: Sequence[TypedAddress]
) -> Host:
    """Remove addresses from a host and add others. At least one address must remain.

    Refuse with ``host_not_found``, ``unknown_ip_type`` and ``invalid_ip``.
    """
    host = get(draft, order, text)
    ips = list(host.ips)
    for ip in parse_typed(remove):
        if ip not in ips:
            raise bad_address(ip, "is not an address of the host")
        ips.remove(ip)
    for ip in parse_typed(add):
        if ip in ips:
            raise bad_address(ip, "is already an address of the host")
        require_allowed(draft, ip)
        ips.append(ip)
    if not ips:
        raise bad_address(host.ips[-1], "is the last address; at least one is required")
    if len(ips) > MOST_ADDRESSES:
        raise bad_address(ips[-1], f"exceeds the maximum of {MOST_ADDRESSES} addresses")
    return draft.put(replace(host, ips=tuple(ips)))


def delete(draft: Draft, order: Order, text: str) -> Host:
    """Delete a host. Refuse with ``host_in_use`` while it is a domain's name server."""
    host = get(draft, order, text)
    require_unused(draft.state, host, besides=None)
    draft.remove(host)
    return host


def require_unused(state: State, host: Host, besides: Order | None) -> None:
    """Refuse with ``host_in_use`` while ``host`` is a name server of a domain.

    The domain of order ``besides`` does not count.
    """
    linked = state.linked.beginning(("nameserver", host.name))
    users = [state.orders[number].name for *_, number in linked if besides is None or number != besides.id]
    if users:
        raise Refused(refusals.HOST_IN_USE, host=names.shown(host.name), users=names.shown(*users[:5]))
