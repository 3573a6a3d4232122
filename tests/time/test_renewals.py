"""What a renewal costs does not depend on who asks for it: v3, v2.0 or the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.assumptions import Assumptions, catalogue
from reseller_sandbox.core.clock import days, years_later
from reseller_sandbox.core.model import Flag, Order, Policy, Premium, Promotion, Purpose, Stage
from tests.registry import REGISTRY, arrange_balance, arrange_zone, balance, connect, order_of, write
from tests.soundness import assert_sound
from tests.v2.client import connect as connect_v2
from tests.v2.client import done

NAME = "active.com"
MOMENT = timedelta(seconds=1)
AMOUNTS = st.integers(0, 3000).map(lambda cents: Decimal(cents) / 100)


def in_v3(sandbox: Sandbox) -> None:
    """Renew by hand in v3, with the price that the name is shown with."""
    api = connect(sandbox)
    shown = api.get(f"/v3/domains/getDomain/{NAME}").json["domain"]["renewalCost"]
    before = balance(sandbox)
    answer = api.post(f"/v3/domains/renewDomain/{NAME}", {"purchaseCost": shown})
    assert answer.status == 200, answer.raw
    assert Decimal(answer.json["totalPaid"]) == before - balance(sandbox)


def in_v2(sandbox: Sandbox) -> None:
    """Renew by hand in v2.0."""
    ends = order_of(sandbox, NAME).expires.date().isoformat()
    client = connect_v2(sandbox)
    done(client.put(f"/domain/{NAME}/renew", {"current_expiry_date": ends, "period": 1}))


def by_the_clock(sandbox: Sandbox) -> None:
    """Let the name renew itself."""
    before, expires = balance(sandbox), order_of(sandbox, NAME).expires
    [fired] = [one for one in sandbox.clock.advance("1s").fired if one.subject == NAME]
    assert (fired.event, fired.charged) == ("automatic renewal", before - balance(sandbox))
    assert order_of(sandbox, NAME).expires == years_later(expires, 1)


WAYS: tuple[Callable[[Sandbox], None], ...] = (in_v3, in_v2, by_the_clock)


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    """What the price of a renewal could depend on."""
    ends_in = draw(st.sampled_from([None, -1, 1, 400]))
    premium = draw(st.none() | st.builds(Premium, registration=AMOUNTS, renewal=AMOUNTS, transfer=AMOUNTS))
    return {
        "prices": {name: draw(AMOUNTS) for name in ("renewal", "privacy")},
        "promotion": None if ends_in is None else (draw(AMOUNTS), days(ends_in)),
        "premium": premium,
        "privacy": draw(st.booleans()),
        "flags": frozenset(draw(st.sets(st.sampled_from([Flag.HOLD, Flag.UPDATE_PROHIBITED])))),
        "assume": {
            "v3.privacy.renewal": draw(st.sampled_from(["charged", "free"])),
            "v3.privacy.charged": draw(st.sampled_from(["per_year", "once"])),
        },
    }


@pytest.mark.slow
@given(situation=situations())
def test_a_renewal_costs_the_same_by_hand_and_by_the_clock(situation: dict[str, Any]) -> None:
    """Whatever the zone, the name and the assumptions; a second before it expires, and then."""
    sandbox = Sandbox(REGISTRY, assume=situation["assume"])
    paid = []
    for way in WAYS:
        sandbox.reset()
        order = order_of(sandbox, NAME)
        com = sandbox.world.state.zones["com"]
        write(sandbox, replace(order, privacy=situation["privacy"], flags=situation["flags"], autorenew=True))
        premium = (("active", situation["premium"]),) if situation["premium"] else ()
        arrange_zone(sandbox, "com", prices=replace(com.prices, **situation["prices"]), premium=premium)
        if situation["promotion"] is not None:
            price, ahead = situation["promotion"]
            arrange_zone(
                sandbox, "com", renewal_promotion=Promotion(price=price, until=order.expires + ahead)
            )
        sandbox.clock.set(order.expires - MOMENT)
        before = balance(sandbox)
        way(sandbox)
        paid.append(before - balance(sandbox))
        assert_sound(sandbox.world.state)
    assert len(set(paid)) == 1, paid


def test_protection_is_an_entry_of_its_own_when_a_name_renews_itself(sandbox: Sandbox) -> None:
    """As it is when somebody asks for the renewal."""
    sandbox.clock.set(order_of(sandbox, NAME).expires)
    ledger = sandbox.world.state.ledger
    assert [(ledger[at].purpose, ledger[at].amount, ledger[at].years) for at in sorted(ledger)[-2:]] == [
        (Purpose.RENEWAL, -12, 1),
        (Purpose.PRIVACY, -3, 1),
    ]


def test_a_balance_that_covers_the_name_but_not_its_protection(sandbox: Sandbox) -> None:
    """Neither is charged, and the name expires."""
    arrange_balance(sandbox, "14.99")
    sandbox.clock.set(order_of(sandbox, NAME).expires)
    assert order_of(sandbox, NAME).stage is Stage.OVERDUE
    assert balance(sandbox) == Decimal("14.99")


# The silences of the contract about renewals and deletes in the course of time.

#: What each value gives back of a registration at 26.00 and two renewals at 15.00.
REFUNDS = {"all": 56, "registration": 26}

#: What happens to a name without money in three days, and once there is some.
TRIES = {"once": ([], []), "daily": (["automatic renewal failed"] * 3, ["automatic renewal"])}

TRIED = {
    "lifecycle.early_delete.refunds": set(REFUNDS),
    "lifecycle.autorenew.tries": set(TRIES),
    "lifecycle.transfer_lock.from": {"creation_or_transfer", "creation"},  # with the transfers of v3
}


@pytest.mark.parametrize(("value", "back"), REFUNDS.items())
def test_what_an_early_delete_refunds(value: str, back: int) -> None:
    """A registration of two years with protection, a renewal in v3 and one in v2.0, deleted on day four."""
    sandbox = Sandbox(REGISTRY, assume={"lifecycle.early_delete.refunds": value})
    api, client = connect(sandbox), connect_v2(sandbox)
    wanted = {"domain": {"domainName": "new.com", "privacyEnabled": True}, "years": 2}
    assert api.post("/v3/domains/createDomain", wanted).json["totalPaid"] == "26.00"
    assert api.post("/v3/domains/renewDomain/new.com").json["totalPaid"] == "15.00"
    again = {"current_expiry_date": "2029-03-01", "period": 1}
    sandbox.clock.advance("4d")
    done(client.put("/domain/new.com/renew", again))
    assert balance(sandbox) == 10_000 - 26 - 15 - 15
    before = balance(sandbox)
    answer = client.delete("/domain/new.com")
    assert done(answer)
    assert answer.assumptions["lifecycle.early_delete.refunds"] == value
    assert balance(sandbox) - before == back
    assert_sound(sandbox.world.state)


def test_a_renewal_after_the_grace_is_not_remembered_for_it(sandbox: Sandbox) -> None:
    """An order keeps the entries of its renewals only as long as a delete could refund them."""
    api = connect(sandbox)
    api.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    api.post("/v3/domains/renewDomain/new.com")
    assert len(order_of(sandbox, "new.com").renewals) == 1
    sandbox.clock.advance("5d")
    api.post("/v3/domains/renewDomain/new.com")
    assert order_of(sandbox, "new.com").renewals == ()


def _broke(value: str) -> tuple[Sandbox, Order]:
    sandbox = Sandbox(REGISTRY, assume={"lifecycle.autorenew.tries": value})
    arrange_balance(sandbox, "1.00")
    order = order_of(sandbox, NAME)
    sandbox.clock.set(order.expires)
    assert order_of(sandbox, NAME).stage is Stage.OVERDUE
    return sandbox, order


def _events(sandbox: Sandbox, by: str) -> list[str]:
    return [one.event for one in sandbox.clock.advance(by).fired if one.subject == NAME]


@pytest.mark.parametrize(("value", "failed", "paid"), [(value, *told) for value, told in TRIES.items()])
def test_when_automatic_renewal_is_tried(value: str, failed: list[str], paid: list[str]) -> None:
    """Once, or each day at the hour of expiry until there is money; the term goes on from where it ended."""
    sandbox, order = _broke(value)
    assert _events(sandbox, "3d") == failed
    arrange_balance(sandbox, "100.00")
    assert _events(sandbox, "23h") == []
    assert _events(sandbox, "1h") == paid
    if not paid:
        assert connect(sandbox).post(f"/v3/domains/renewDomain/{NAME}").json["totalPaid"] == "15.00"
    renewed = order_of(sandbox, NAME)
    assert (renewed.stage, renewed.expires) == (Stage.ACTIVE, years_later(order.expires, 1))
    assert balance(sandbox) == 85


def test_a_name_that_no_longer_renews_itself_is_not_tried_again() -> None:
    """Where a fixture lets autorenewal be switched while a name is overdue: off ends the tries, on begins."""
    assumed = {"lifecycle.autorenew.tries": "daily"}
    permits = {"overdue": ["renew", "set_autorenew"]}
    sandbox, api = (made := Sandbox(REGISTRY, assume=assumed)), connect(made)
    sandbox.load(f"{sandbox.export()}lifecycle: {permits}\n")
    arrange_balance(sandbox, "1.00")
    order = order_of(sandbox, NAME)
    sandbox.clock.set(order.expires)
    assert api.post(f"/v3/domains/disableAutorenew/{NAME}").status == 200
    arrange_balance(sandbox, "100.00")
    assert _events(sandbox, "36h") == []
    assert api.post(f"/v3/domains/enableAutorenew/{NAME}").status == 200
    assert _events(sandbox, "12h") == ["automatic renewal"]
    assert balance(sandbox) == 85


def test_daily_tries_end_with_redemption() -> None:
    """After thirty days nothing is tried any more; the other thresholds stay where they are."""
    sandbox, order = _broke("daily")
    assert _events(sandbox, "30d") == ["automatic renewal failed"] * 29 + ["redemption"]
    assert order_of(sandbox, NAME).since == order.expires + days(30)


@pytest.mark.parametrize("value", TRIES)
def test_a_leap_fires_what_small_steps_fire(value: str) -> None:
    """Forty days at once, or one by one."""
    leap, _ = _broke(value)
    steps, _ = _broke(value)
    assert _events(leap, "40d") == [event for _ in range(40) for event in _events(steps, "1d")]
    assert leap.world.state == steps.world.state


def test_every_assumption_about_the_lifecycle_is_tried() -> None:
    """Each value of each is switched on by a test of this file, or where it says."""
    for item in catalogue(Assumptions()):
        name, takes = str(item["name"]), str(item["takes"])
        if name.startswith("lifecycle."):
            assert TRIED.get(name) == set(takes.removeprefix("one of ").split(", ")), name


def test_a_name_that_lapsed_years_ago_stays_overdue_until_enough_years_are_paid_for() -> None:
    """Each renewal is charged once, and its answer tells what the next one tells."""
    sandbox = Sandbox(REGISTRY)
    arrange_zone(sandbox, "com", policy=Policy(overdue=900))
    sandbox.names.add("late.com", stage="overdue", expires="-800d", autorenew=True)
    ends = sandbox.names["late.com"].due
    api = connect(sandbox)
    for years, status in ((1, "suspended"), (1, "suspended"), (1, "active")):
        before = balance(sandbox)
        answer = api.post("/v3/domains/renewDomain/late.com", {"years": years}).json
        assert answer["status"] == status
        assert Decimal(answer["totalPaid"]) == before - balance(sandbox)
        if status == "suspended":
            assert sandbox.names["late.com"].due == ends
        sandbox.clock.advance(0)
        assert api.get("/v3/domains/getDomain/late.com").json["status"] == status
        assert balance(sandbox) == before - Decimal(answer["totalPaid"])
    assert sandbox.clock.due(domain="late.com").due[0].event == "automatic renewal"


def _restored(sandbox: Sandbox) -> None:
    sandbox.names.add("late.com", stage="redemption", expires="-800d", autorenew=True)
    done(connect_v2(sandbox).put("/domain/late.com/restore"))


def _asked_for(sandbox: Sandbox) -> None:
    sandbox.names.add("late.com", stage="overdue", expires="-800d", autorenew=True)
    sandbox.outside.adjust_balance("other", to=500)
    wanted = {"domain": {"domainName": "late.com", "autorenewEnabled": True}}
    code = sandbox.names["late.com"].auth_code
    answer = connect(sandbox, "other").post("/v3/domains/requestTransfer", {**wanted, "authCode": code})
    assert answer.json["status"] == "pending", answer.raw


def _approved(sandbox: Sandbox) -> None:
    _asked_for(sandbox)
    assert connect(sandbox).post("/v3/domains/approveTransfer/late.com").status == 200


def _completed(sandbox: Sandbox) -> None:
    _asked_for(sandbox)
    sandbox.outside.complete_transfer("late.com")


def _completed_in_time(sandbox: Sandbox) -> None:
    _asked_for(sandbox)
    sandbox.clock.advance(until={"event": "transfer completion", "domain": "late.com"})


@pytest.mark.parametrize("back", [_restored, _approved, _completed, _completed_in_time])
def test_a_name_that_lapsed_years_ago_comes_back_overdue(back: Callable[[Sandbox], None]) -> None:
    """By whatever way it comes back with one year more: nothing befalls it at an instant that has passed."""
    sandbox = Sandbox(REGISTRY)
    arrange_zone(sandbox, "com", policy=Policy(overdue=900, redemption=900))
    back(sandbox)
    now, money = sandbox.clock.now, balance(sandbox, "other")
    name = sandbox.names["late.com"]
    assert (name.stage, name.since) == ("overdue", now)
    assert sandbox.clock.advance(0).fired == ()
    assert all(one.at > now for one in sandbox.clock.due(domain="late.com").due)
    assert [one.event for one in sandbox.clock.advance("P901D").fired if one.subject == "late.com"] == [
        "redemption"
    ]
    assert balance(sandbox, "other") == money
    assert_sound(sandbox.world.state)
