"""Addresses of hosts: their spelling, their number, and the version that a wrong address was meant for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.hosts import TypedAddress, parse_address, parse_addresses, parse_typed
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.state import Draft, State

WORK = Draft(State(), datetime(2026, 3, 1, tzinfo=UTC), Assumptions(), "a test")


def test_an_address_has_a_single_spelling() -> None:
    for text, written in {
        "192.0.2.1": "192.0.2.1",
        "2001:DB8:0::1": "2001:db8::1",
        "::ffff:192.0.2.1": "::ffff:192.0.2.1",
        "::ffff:c000:201": "::ffff:192.0.2.1",
        "2000::": "2000::",
    }.items():
        assert parse_address(text) == written
        assert parse_addresses(WORK, [text]) == (written,)
        with pytest.raises(Refused, match="is there twice"):
            parse_addresses(WORK, [written, text])


def test_a_refused_address_has_the_version_that_was_meant() -> None:
    """A text with a colon was meant for version 6, any other for version 4."""
    versions = {"x": 4, "x:y": 6, "127.0.0.1": 4, "::1": 6, "fe80::1%a": 6}
    for addresses, version in [([], 4), *(([text], version) for text, version in versions.items())]:
        with pytest.raises(Refused) as refused:
            parse_addresses(WORK, addresses)
        assert (refused.value.code, refused.value.facts["version"]) == ("invalid_ip", version), addresses
    for kind, ip in [("v4", "2001:db8::1"), ("v6", "192.0.2.1")]:
        with pytest.raises(Refused) as refused:
            parse_typed([TypedAddress(kind, ip)])
        assert refused.value.facts["version"] == int(kind[1])
        with pytest.raises(Refused, match="unknown_ip_type"):
            parse_typed([TypedAddress("v5", ip), TypedAddress(kind, "x")])


def test_a_host_has_up_to_thirteen_addresses() -> None:
    addresses = [f"198.51.100.{number}" for number in range(14)]
    assert parse_addresses(WORK, addresses[:13]) == tuple(addresses[:13])
    with pytest.raises(Refused, match=r"198\.51\.100\.13.*is one more than 13"):
        parse_addresses(WORK, addresses)
