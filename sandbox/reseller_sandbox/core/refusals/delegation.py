"""Name servers, and the glue records that lead to them."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import Category, Rule

INVALID_NAMESERVER = Rule(
    "invalid_nameserver",
    Category.INVALID,
    "{NAMESERVERS}: {server!r} {problem}.",
    "send other name servers: {server!r} {problem}",
)
INVALID_IP = Rule(
    "invalid_ip", Category.INVALID, "{ADDRESSES}: {ip!r} {problem}.", "send another address: {ip!r} {problem}"
)
UNKNOWN_IP_TYPE = Rule(
    "unknown_ip_type",
    Category.INVALID,
    "{ADDRESSES}: the type {type!r} is neither v4 nor v6.",
    "use v4 or v6",
)
HOSTS_NOT_SUPPORTED = Rule(
    "hosts_not_supported",
    Category.CONFLICT,
    "The zone {zone} keeps no glue records.",
    "use name servers outside the zone {zone}",
)
INVALID_HOSTNAME = Rule(
    "invalid_hostname",
    Category.INVALID,
    "{HOST}: {host!r} {problem}.",
    "use another host name: {host!r} {problem}",
)
HOST_EXISTS = Rule(
    "host_exists",
    Category.CONFLICT,
    "The glue record {host} exists already.",
    "edit {host}, or delete it first",
)
HOST_NOT_FOUND = Rule(
    "host_not_found", Category.NOT_FOUND, "There is no glue record {host}.", "create {host} first"
)
HOST_IN_USE = Rule(
    "host_in_use",
    Category.CONFLICT,
    "{host} is a name server of {users}.",
    "take {host} out of the name servers of {users} first",
)
