"""Glue addresses: what they look like, and which of them can lead anybody to a name server."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from typing import NamedTuple

from reseller_sandbox.core.refusals import INVALID_IP, UNKNOWN_IP_TYPE, Refused
from reseller_sandbox.core.state import Draft

MOST_ADDRESSES = 13

_BROADCAST = IPv4Address("255.255.255.255")
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_VERSIONS = {"v4": 4, "v6": 6}


class TypedAddress(NamedTuple):
    """An address as a caller writes it, with the type it is said to have: ``v4`` or ``v6``."""

    type: str
    ip: str


def parse_addresses(draft: Draft, texts: Sequence[str]) -> tuple[str, ...]:
    """Return IPv4 and IPv6 addresses in their canonical spelling; refuse with ``invalid_ip``."""
    if not texts:
        raise Refused(INVALID_IP, ip=[], problem="is empty: at least one is needed", version=4)
    if len(texts) > MOST_ADDRESSES:
        raise bad_address(texts[MOST_ADDRESSES], f"is one more than {MOST_ADDRESSES}")
    found: list[str] = []
    for text in texts:
        address = parse_address(text)
        if address in found:
            raise bad_address(text, "is there twice")
        require_allowed(draft, address)
        found.append(address)
    return tuple(found)


def parse_typed(given: Sequence[TypedAddress]) -> tuple[str, ...]:
    """Return addresses in their canonical spelling; refuse with ``unknown_ip_type``, then ``invalid_ip``."""
    for address in given:
        if address.type not in _VERSIONS:
            raise Refused(UNKNOWN_IP_TYPE, type=address.type[:60])
    return tuple(parse_address(address.ip, _VERSIONS[address.type]) for address in given)


def parse_address(text: str, version: int | None = None) -> str:
    """Return one address in its canonical spelling, of either version or of the one given.

    Refuse with ``invalid_ip`` what is no address, and what no name server can be reached under.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        address = None
    if address is None or (address.version == 6 and "%" in text):
        raise bad_address(text, "is not an IP address", version)
    if version is not None and address.version != version:
        raise bad_address(text, f"is not an IPv{version} address", version)
    kind = _unreachable(_meant(address))
    if kind is not None:
        problem = f"is {kind} address, under which nobody can reach a name server"
        raise bad_address(text, problem, version)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return f"::ffff:{address.ipv4_mapped}"  # as every version of Python should write it
    return str(address)


def require_allowed(draft: Draft, address: str) -> None:
    """Refuse with ``invalid_ip`` an address of a private network if the assumptions say so."""
    private = _meant(ipaddress.ip_address(address)).is_private
    if private and draft.assumed.private_glue == "refused":
        raise bad_address(address, "is for private networks or documentation alone")


def bad_address(text: str, problem: str, version: int | None = None) -> Refused:
    """Return the refusal of an address; its fact ``version`` is the one it should have, or seems to have."""
    meant = version or (6 if ":" in text else 4)
    return Refused(INVALID_IP, ip=text[:60], problem=problem, version=meant)


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the address that packets go to: an IPv4 address may be wrapped in an IPv6 one."""
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
