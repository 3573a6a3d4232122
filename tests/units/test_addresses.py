"""Addresses of hosts: which are taken, how they are written, and which version a wrong one was meant for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reseller_sandbox.core.addresses import TypedAddress, parse_address, parse_addresses, parse_typed
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.state import Draft, State

WORK = Draft(State(), datetime(2026, 3, 1, tzinfo=UTC), Assumptions(), "a test")


def test_addresses_have_one_spelling(subtests: pytest.Subtests) -> None:
    """So that the same one is known again."""
    for given, written in [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("::ffff:c000:201", "::ffff:192.0.2.1"),
        ("2000::", "2000::"),
    ]:
        with subtests.test(given=given, written=written):
            assert parse_address(given) == written
            assert parse_addresses(WORK, [given]) == (written,)
            with pytest.raises(Refused, match="is there twice"):
                parse_addresses(WORK, [written, given])


def test_a_refused_address_tells_its_version(subtests: pytest.Subtests) -> None:
    """v2.0 chooses its message by it: what has a colon was meant for version 6, and nothing at all for 4."""
    for given, version in [
        ([], 4),
        (["x"], 4),
        (["x:y"], 6),
        (["127.0.0.1"], 4),
        (["::1"], 6),
        (["fe80::1%a"], 6),
    ]:
        with subtests.test(given=given, version=version):
            with pytest.raises(Refused) as refused:
                parse_addresses(WORK, given)
            assert (refused.value.code, refused.value.facts["version"]) == ("invalid_ip", version)


def test_a_host_has_up_to_thirteen_addresses(subtests: pytest.Subtests) -> None:
    """The first one too many is named."""
    for count, taken in [(1, True), (13, True), (14, False)]:
        with subtests.test(count=count, taken=taken):
            given = [f"198.51.100.{number}" for number in range(count)]
            if taken:
                assert parse_addresses(WORK, given) == tuple(given)
                return
            with pytest.raises(Refused, match=r"198\.51\.100\.13.*is one more than 13"):
                parse_addresses(WORK, given)


def test_an_address_is_of_the_version_that_it_is_said_to_be(subtests: pytest.Subtests) -> None:
    """The version that it should have had is told, and not the one that it has."""
    for kind, ip in [("v4", "2001:db8::1"), ("v6", "192.0.2.1")]:
        with subtests.test(kind=kind, ip=ip):
            with pytest.raises(Refused) as refused:
                parse_typed([TypedAddress(kind, ip)])
            assert refused.value.facts["version"] == int(kind[1])
            with pytest.raises(Refused, match="unknown_ip_type"):
                parse_typed([TypedAddress("v5", ip), TypedAddress(kind, "x")])
