"""Renewals in the course of time: tries without money, refunds, and names that lapsed years ago."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from reseller_sandbox import Sandbox
from tests.registry import balance, connect, edit, edit_zone
from tests.soundness import assert_consistent
from tests.v2.client import connect as connect_v2
from tests.v2.client import done

NAME = "active.com"
V3 = "/v3/domains"


@pytest.mark.parametrize(("value", "price"), [("charged", 15), ("free", 12)])
def test_a_renewal_costs_the_same_by_hand_and_by_the_clock(sandbox: Sandbox, value: str, price: int) -> None:
    body = {"current_expiry_date": "2026-11-21", "period": 1}
    ways: tuple[Callable[[], object], ...] = (
        lambda: connect(sandbox).post(f"{V3}/renewDomain/{NAME}", {"purchaseCost": "12.00"}),
        lambda: connect_v2(sandbox).put(f"/domain/{NAME}/renew", body),
        lambda: sandbox.clock.set(sandbox.names[NAME].expires),
    )
    for renew in ways:
        sandbox.reset(original=True)
        sandbox.assumptions.set({"v3.privacy.renewal": value})
        expires = sandbox.names[NAME].expires
        renew()
        assert sandbox.names[NAME].expires == expires.replace(year=expires.year + 1)
        assert balance(sandbox) == 10_000 - price


@pytest.mark.parametrize(("value", "back"), [("all", 56), ("registration", 26)])
def test_an_early_delete_refunds_as_assumed(sandbox: Sandbox, value: str, back: int) -> None:
    """A registration of two years with protection, a renewal in v3 and one in v2.0, deleted on day four."""
    sandbox.assumptions.set({"lifecycle.early_delete.refunds": value})
    api, client = connect(sandbox), connect_v2(sandbox)
    body = {"domain": {"domainName": "new.com", "privacyEnabled": True}, "years": 2}
    assert api.post(f"{V3}/createDomain", body).json["totalPaid"] == "26.00"
    assert api.post(f"{V3}/renewDomain/new.com").json["totalPaid"] == "15.00"
    sandbox.clock.advance("4d")
    done(client.put("/domain/new.com/renew", {"current_expiry_date": "2029-03-01", "period": 1}))
    assert balance(sandbox) == 10_000 - 26 - 15 - 15
    answer = client.delete("/domain/new.com")
    assert done(answer)
    assert answer.assumptions["lifecycle.early_delete.refunds"] == value
    assert balance(sandbox) == 10_000 - 56 + back
    assert_consistent(sandbox)


def begin_without_money(sandbox: Sandbox, tries: str) -> None:
    """Advance to the instant at which a name cannot renew itself."""
    sandbox.assumptions.set({"lifecycle.autorenew.tries": tries})
    sandbox.simulate.adjust_balance("main", to=1)
    sandbox.clock.set(sandbox.names[NAME].expires)
    assert sandbox.names[NAME].stage == "overdue"


def events(sandbox: Sandbox, by: str, name: str = NAME) -> list[str]:
    return [event.event for event in sandbox.clock.advance(by).events if event.subject == name]


@pytest.mark.parametrize("tries", ["once", "daily"])
def test_an_automatic_renewal_is_tried_once_or_daily_until_redemption(sandbox: Sandbox, tries: str) -> None:
    """Each try is at the hour of expiry. The term goes on from its end."""
    expires = sandbox.names[NAME].expires
    begin_without_money(sandbox, tries)
    with sandbox.fork() as fork:
        failed = ["automatic renewal failed"] * (29 if tries == "daily" else 0)
        assert events(fork, "30d") == [*failed, "redemption"]
        assert fork.names[NAME].since == expires + timedelta(days=30)
    assert events(sandbox, "3d") == failed[:3]
    sandbox.simulate.adjust_balance("main", to=100)
    assert events(sandbox, "23h") == []
    assert events(sandbox, "1h") == (["automatic renewal"] if tries == "daily" else [])
    if tries == "once":
        assert connect(sandbox).post(f"{V3}/renewDomain/{NAME}").json["totalPaid"] == "15.00"
    name = sandbox.names[NAME]
    assert (name.stage, name.expires) == ("active", expires.replace(year=expires.year + 1))
    assert balance(sandbox) == 85


def test_a_name_that_no_longer_renews_itself_is_not_tried_again(sandbox: Sandbox) -> None:
    edit(sandbox, {"lifecycle": {"overdue": ["renew", "set_autorenew"]}})
    begin_without_money(sandbox, "daily")
    api = connect(sandbox)
    assert api.post(f"{V3}/disableAutorenew/{NAME}").status == 200
    sandbox.simulate.adjust_balance("main", to=100)
    assert events(sandbox, "36h") == []
    assert api.post(f"{V3}/enableAutorenew/{NAME}").status == 200
    assert events(sandbox, "12h") == ["automatic renewal"]
    assert balance(sandbox) == 85


def test_a_name_that_lapsed_years_ago_is_overdue_until_enough_years_are_paid_for(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", policy={"overdue": 900})
    sandbox.names.add("late.com", stage="overdue", expires="-800d", autorenew=True)
    due = sandbox.names["late.com"].due
    api = connect(sandbox)
    for years, status in ((1, "suspended"), (1, "suspended"), (1, "active")):
        before = balance(sandbox)
        answer = api.post(f"{V3}/renewDomain/late.com", {"years": years}).json
        assert answer["status"] == status
        assert Decimal(answer["totalPaid"]) == before - balance(sandbox)
        assert status == "active" or sandbox.names["late.com"].due == due
        assert sandbox.clock.advance(0).events == ()
        assert api.get(f"{V3}/getDomain/late.com").json["status"] == status
    assert sandbox.clock.due(domain="late.com").due[0].event == "automatic renewal"


def request_transfer(sandbox: Sandbox) -> None:
    body = {"domain": {"domainName": "late.com", "autorenewEnabled": True}}
    code = sandbox.names["late.com"].auth_code
    answer = connect(sandbox, "other").post(f"{V3}/requestTransfer", {**body, "authCode": code})
    assert answer.json["status"] == "pending", answer.raw


#: The ways in which a name comes back with a year more, and its stage before.
WAYS: dict[str, tuple[str, Callable[[Sandbox], object]]] = {
    "a restore": ("redemption", lambda sandbox: done(connect_v2(sandbox).put("/domain/late.com/restore"))),
    "an approval": (
        "overdue",
        lambda sandbox: connect(sandbox).post(f"{V3}/approveTransfer/late.com").json["domainName"],
    ),
    "a third party": ("overdue", lambda sandbox: sandbox.simulate.complete_transfer("late.com")),
    "time": (
        "overdue",
        lambda sandbox: sandbox.clock.advance(until={"event": "transfer completion", "domain": "late.com"}),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_name_restored_years_after_its_expiry_is_overdue(sandbox: Sandbox, way: str) -> None:
    """No event of the name is due at an instant that has passed."""
    stage, come_back = WAYS[way]
    edit_zone(sandbox, "com", policy={"overdue": 900, "redemption": 900})
    sandbox.names.add("late.com", stage=stage, expires="-800d", autorenew=True)
    if stage == "overdue":
        request_transfer(sandbox)
    assert come_back(sandbox)
    now, money = sandbox.clock.now, balance(sandbox, "other")
    name = sandbox.names["late.com"]
    assert (name.stage, name.since) == ("overdue", now)
    assert sandbox.clock.advance(0).events == ()
    assert all(event.at > now for event in sandbox.clock.due(domain="late.com").due)
    assert events(sandbox, "P901D", "late.com") == ["redemption"]
    assert balance(sandbox, "other") == money
    assert_consistent(sandbox)
