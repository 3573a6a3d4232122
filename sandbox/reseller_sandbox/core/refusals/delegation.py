"""Name servers, and the glue records that lead to them."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import conflict, invalid, not_found

INVALID_NAMESERVER = invalid(
    "invalid_nameserver",
    "{NAMESERVERS}: {server!r} {problem}.",
    "send other name servers: {server!r} {problem}",
)
INVALID_IP = invalid("invalid_ip", "{ADDRESSES}: {ip!r} {problem}.", "send another address: {ip!r} {problem}")
UNKNOWN_IP_TYPE = invalid(
    "unknown_ip_type", "{ADDRESSES}: the type {type!r} is neither v4 nor v6.", "use v4 or v6"
)
HOSTS_NOT_SUPPORTED = conflict(
    "hosts_not_supported",
    "The zone {zone} keeps no glue records.",
    "use name servers outside the zone {zone}",
)
INVALID_HOSTNAME = invalid(
    "invalid_hostname", "{HOST}: {host!r} {problem}.", "use another host name: {host!r} {problem}"
)
HOST_EXISTS = conflict(
    "host_exists", "The glue record {host} exists already.", "edit {host}, or delete it first"
)
HOST_NOT_FOUND = not_found("host_not_found", "There is no glue record {host}.", "create {host} first")
HOST_IN_USE = conflict(
    "host_in_use",
    "{host} is a name server of {users}.",
    "take {host} out of the name servers of {users} first",
)
