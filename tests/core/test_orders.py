"""Limits of orders: years, addresses and the instant of a scheduled action."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.v2.client import connect


def test_a_transfer_adds_one_year_to_a_name_that_is_paid_for_ten(sandbox: Sandbox, api: Api) -> None:
    wish = {"domain": {"domainName": "far.com"}, "authCode": "let-me-in"}
    assert api.post("/v3/domains/requestTransfer", {**wish, "years": 2}).error == "period_too_long"
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts["limit"] == 1
    assert api.post("/v3/domains/requestTransfer", {**wish, "years": 1}).json["status"] == "pending"


@pytest.mark.parametrize(("added", "accepted"), [(11, True), (12, False)])
def test_a_host_has_at_most_thirteen_addresses(sandbox: Sandbox, added: int, accepted: bool) -> None:
    addresses = [{"ip": f"198.51.100.{number}", "type": "v4"} for number in range(added)]
    answer = connect(sandbox).put("/domain/active.com/host/ns1", {"ip": {"add": addresses}})
    assert len(sandbox.hosts["ns1.active.com"].ips) == (13 if accepted else 2)
    if not accepted:
        assert answer.json["msg"].startswith("Not the correct IPv4")
        why = sandbox.journal.why("r1")
        assert why is not None
        assert "198.51.100.11" in why.message
        assert "is one more than 13" in why.message


def test_a_third_party_action_can_be_scheduled_for_now_but_not_for_the_past(sandbox: Sandbox) -> None:
    now = sandbox.clock.now
    with pytest.raises(Refused, match="already"):
        sandbox.outside.when(at=now - timedelta(seconds=1)).register("planned.com")
    assert sandbox.outside.when(at=now).register("planned.com").plan is not None
    first = sandbox.clock.advance(until="next").fired[0]
    assert (first.at, first.event) == (now, "register")
