"""Names that expired because the balance did not cover their automatic renewal."""

from __future__ import annotations

from datetime import datetime

import pytest

from reseller_sandbox import Sandbox
from tests.advice.conftest import Advice
from tests.clients import Api
from tests.registry import arrange, arrange_balance, order_of

LAPSE = {"overdue": "P1D", "redemption": "P31D", "pending delete": "P61D", "released": "P100D"}


@pytest.fixture
def autorenewing(served: Sandbox) -> datetime:
    """When the account's only name that renews itself expires."""
    return order_of(served, "active.com").expires


@pytest.mark.parametrize("fate", LAPSE)
def test_too_little_money_for_the_automatic_renewal(
    served: Sandbox, wire: Api, advice: Advice, autorenewing: datetime, fate: str
) -> None:
    """Whatever has become of the name since; the last payment before is what shows it."""
    arrange_balance(served, "24.99")
    paid = wire.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    served.clock.set(autorenewing)
    served.clock.advance(LAPSE[fate])
    wire.get("/v3/balance")
    (found,) = advice("auto_renewal_unpaid")
    assert (found["severity"], found["account"]) == ("data", "main")
    assert found["domains"] == ["active.com"]
    assert found["entries"] == [paid.headers["x-sandbox-request"]]
    assert "for 15.00 USD" in found["summary"]
    assert "was 14.99 USD" in found["summary"]
    assert fate in found["summary"]


def test_just_enough_money(served: Sandbox, wire: Api, advice: Advice, autorenewing: datetime) -> None:
    """It was renewed."""
    arrange_balance(served, "25.00")
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    served.clock.set(autorenewing)
    wire.get("/v3/balance")
    assert served.account().balance == 0
    assert advice() == []


def test_a_name_that_does_not_renew_itself(
    served: Sandbox, wire: Api, advice: Advice, autorenewing: datetime
) -> None:
    """Its holder wanted it so; the same for one that was deleted, or may not be renewed."""
    arrange_balance(served, "1.00")
    wire.post("/v3/domains/disableAutorenew/active.com")
    served.clock.set(autorenewing)
    wire.get("/v3/balance")
    assert advice() == []


def test_an_account_that_nobody_uses_gets_no_advice(served: Sandbox, wire: Api, advice: Advice) -> None:
    """The registry has a poor account with a name that renews itself; the client is another one."""
    wire.get("/v3/balance")
    served.clock.advance("P2Y")
    wire.get("/v3/balance")
    assert [one["account"] for one in advice("auto_renewal_unpaid")] == []


def test_a_name_that_had_expired_before_the_world_began(served: Sandbox, wire: Api, advice: Advice) -> None:
    """No request could have helped it."""
    arrange(served, "overdue.com", autorenew=True)
    arrange_balance(served, "0.00")
    wire.get("/v3/balance")
    assert advice() == []


def test_a_name_that_renewed_itself_before_it_did_not(
    served: Sandbox, wire: Api, advice: Advice, autorenewing: datetime
) -> None:
    """The money was there once; it is the second expiry that is spoken of, also when the name is gone."""
    arrange_balance(served, "20.00")
    wire.get("/v3/balance")
    served.clock.set(autorenewing)
    served.clock.advance("P1Y6M")
    wire.get("/v3/balance")
    (found,) = advice()
    assert found["rule"] == "auto_renewal_unpaid"
    assert "on 2027-" in found["summary"]
    assert "was 5.00 USD" in found["summary"]
    assert "released" in found["summary"]
