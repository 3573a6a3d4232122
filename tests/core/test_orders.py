"""What orders of names come to at their limits: years, addresses, instants."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.core import hosts
from reseller_sandbox.core.addresses import TypedAddress
from reseller_sandbox.core.state import Draft
from tests.clients import Api
from tests.registry import order_of


def test_a_transfer_of_a_name_that_is_paid_far_ahead_adds_one_year_at_most(
    sandbox: Sandbox, api: Api
) -> None:
    """One is always possible: the term is cut short by the longest there is."""
    wish = {"domain": {"domainName": "far.com"}, "authCode": "let-me-in"}
    assert api.post("/v3/domains/requestTransfer", {**wish, "years": 2}).error == "period_too_long"
    refused = list(sandbox.world.journal)[-1].refused
    assert refused is not None
    assert refused.facts["limit"] == 1
    assert api.post("/v3/domains/requestTransfer", {**wish, "years": 1}).json["status"] == "pending"


@pytest.mark.parametrize(("added", "taken"), [(11, True), (12, False)])
def test_a_host_that_is_given_more_addresses_has_thirteen_at_most(
    sandbox: Sandbox, added: int, taken: bool
) -> None:
    """The one that is too many is told."""
    work = Draft(sandbox.world.state, sandbox.clock.now, sandbox.world.assumptions, "a test")
    order = order_of(sandbox, "active.com")
    more = [TypedAddress("v4", f"198.51.100.{number}") for number in range(added)]
    if taken:
        assert len(hosts.change(work, order, "ns1", more, []).ips) == 13
        return
    with pytest.raises(Refused, match=r"198\.51\.100\.11.*is one more than 13"):
        hosts.change(work, order, "ns1", more, [])


def test_what_others_do_can_be_planned_for_this_very_instant(sandbox: Sandbox) -> None:
    """A second ago is past; now is when it comes next."""
    now = sandbox.clock.now
    with pytest.raises(Refused, match="already"):
        sandbox.outside.when(at=now - timedelta(seconds=1)).register("planned.com")
    assert sandbox.outside.when(at=now).register("planned.com").plan is not None
    first = sandbox.clock.advance(until="next").fired[0]
    assert (first.at, first.event) == (now, "register")
