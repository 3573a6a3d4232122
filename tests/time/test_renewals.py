"""What a renewal costs does not depend on who asks for it: v3, v2.0 or the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY, balance, connect, edit, edit_zone
from tests.soundness import assert_consistent
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
    ends = sandbox.names[NAME].expires.date().isoformat()
    client = connect_v2(sandbox)
    done(client.put(f"/domain/{NAME}/renew", {"current_expiry_date": ends, "period": 1}))


def by_the_clock(sandbox: Sandbox) -> None:
    """Let the name renew itself."""
    before, expires = balance(sandbox), sandbox.names[NAME].expires
    [fired] = [one for one in sandbox.clock.advance("1s").fired if one.subject == NAME]
    assert (fired.event, fired.charged) == ("automatic renewal", before - balance(sandbox))
    assert sandbox.names[NAME].expires == years_later(expires)


def years_later(when: datetime, years: int = 1) -> datetime:
    """Return the same day of a later year."""
    return when.replace(year=when.year + years)


WAYS: tuple[Callable[[Sandbox], None], ...] = (in_v3, in_v2, by_the_clock)


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    """What the price of a renewal could depend on."""
    ends_in = draw(st.sampled_from([None, -1, 1, 400]))
    kinds = ("registration", "renewal", "transfer")
    premium = draw(st.none() | st.fixed_dictionaries(dict.fromkeys(kinds, AMOUNTS)))
    return {
        "prices": {name: draw(AMOUNTS) for name in ("renewal", "privacy")},
        "promotion": None if ends_in is None else (draw(AMOUNTS), timedelta(days=ends_in)),
        "premium": premium,
        "privacy": draw(st.booleans()),
        "flags": sorted(draw(st.sets(st.sampled_from(["client_hold", "client_update_prohibited"])))),
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
        expires = sandbox.names[NAME].expires
        zone: dict[str, Any] = {"prices": situation["prices"]}
        zone |= {"premium": {"active": situation["premium"]} if situation["premium"] else None}
        if situation["promotion"] is not None:
            price, ahead = situation["promotion"]
            zone["renewal_promotion"] = {"price": price, "until": expires + ahead}
        name = {"privacy": situation["privacy"], "flags": situation["flags"], "autorenew": True}
        edit(sandbox, {"zones": {"com": zone}, "domains": {NAME: name}})
        sandbox.clock.set(expires - MOMENT)
        before = balance(sandbox)
        way(sandbox)
        paid.append(before - balance(sandbox))
        assert_consistent(sandbox)
    assert len(set(paid)) == 1, paid


def test_protection_is_an_entry_of_its_own_when_a_name_renews_itself(sandbox: Sandbox) -> None:
    """As it is when somebody asks for the renewal."""
    sandbox.clock.set(sandbox.names[NAME].expires)
    assert [(row.purpose, row.amount, row.years) for row in sandbox.ledger.find(limit=2).entries] == [
        ("renewal", -12, 1),
        ("privacy", -3, 1),
    ]


def test_a_balance_that_covers_the_name_but_not_its_protection(sandbox: Sandbox) -> None:
    """Neither is charged, and the name expires."""
    sandbox.outside.adjust_balance("main", to="14.99")
    sandbox.clock.set(sandbox.names[NAME].expires)
    assert sandbox.names[NAME].stage == "overdue"
    assert balance(sandbox) == Decimal("14.99")


# The silences of the contract about renewals and deletes in the course of time.

#: What each value gives back of a registration at 26.00 and two renewals at 15.00.
REFUNDS = {"all": 56, "registration": 26}

#: What happens to a name without money in three days, and once there is some.
TRIES = {"once": ([], []), "daily": (["automatic renewal failed"] * 3, ["automatic renewal"])}


@pytest.mark.parametrize(("value", "back"), REFUNDS.items())
def test_an_early_delete_refunds_what_the_assumption_says(value: str, back: int) -> None:
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
    assert_consistent(sandbox)


def _without_money(value: str) -> tuple[Sandbox, datetime]:
    """Return a sandbox at the instant at which a name could not renew itself, and that instant."""
    sandbox = Sandbox(REGISTRY, assume={"lifecycle.autorenew.tries": value})
    sandbox.outside.adjust_balance("main", to=1)
    expires = sandbox.names[NAME].expires
    sandbox.clock.set(expires)
    assert sandbox.names[NAME].stage == "overdue"
    return sandbox, expires


def _events(sandbox: Sandbox, by: str) -> list[str]:
    return [one.event for one in sandbox.clock.advance(by).fired if one.subject == NAME]


@pytest.mark.parametrize(("value", "failed", "paid"), [(value, *told) for value, told in TRIES.items()])
def test_automatic_renewal_is_tried_once_or_daily(value: str, failed: list[str], paid: list[str]) -> None:
    """Once, or each day at the hour of expiry until there is money; the term goes on from where it ended."""
    sandbox, expires = _without_money(value)
    assert _events(sandbox, "3d") == failed
    sandbox.outside.adjust_balance("main", to=100)
    assert _events(sandbox, "23h") == []
    assert _events(sandbox, "1h") == paid
    if not paid:
        assert connect(sandbox).post(f"/v3/domains/renewDomain/{NAME}").json["totalPaid"] == "15.00"
    renewed = sandbox.names[NAME]
    assert (renewed.stage, renewed.expires) == ("active", years_later(expires))
    assert balance(sandbox) == 85


def test_a_name_that_no_longer_renews_itself_is_not_tried_again() -> None:
    """Where a fixture lets autorenewal be switched while a name is overdue: off ends the tries, on begins."""
    assumed = {"lifecycle.autorenew.tries": "daily"}
    permits = {"overdue": ["renew", "set_autorenew"]}
    sandbox, api = (made := Sandbox(REGISTRY, assume=assumed)), connect(made)
    sandbox.load(f"{sandbox.export()}lifecycle: {permits}\n")
    sandbox.outside.adjust_balance("main", to=1)
    sandbox.clock.set(sandbox.names[NAME].expires)
    assert api.post(f"/v3/domains/disableAutorenew/{NAME}").status == 200
    sandbox.outside.adjust_balance("main", to=100)
    assert _events(sandbox, "36h") == []
    assert api.post(f"/v3/domains/enableAutorenew/{NAME}").status == 200
    assert _events(sandbox, "12h") == ["automatic renewal"]
    assert balance(sandbox) == 85


def test_daily_tries_end_with_redemption() -> None:
    """After thirty days nothing is tried any more; the other thresholds stay where they are."""
    sandbox, expires = _without_money("daily")
    assert _events(sandbox, "30d") == ["automatic renewal failed"] * 29 + ["redemption"]
    assert sandbox.names[NAME].since == expires + timedelta(days=30)


@pytest.mark.parametrize("value", TRIES)
def test_a_leap_fires_what_small_steps_fire(value: str) -> None:
    """Forty days at once, or one by one."""
    leap, _ = _without_money(value)
    steps, _ = _without_money(value)
    assert _events(leap, "40d") == [event for _ in range(40) for event in _events(steps, "1d")]
    assert leap.export() == steps.export()


def test_a_name_that_lapsed_years_ago_stays_overdue_until_enough_years_are_paid_for() -> None:
    """Each renewal is charged once, and its answer tells what the next one tells."""
    sandbox = Sandbox(REGISTRY)
    edit_zone(sandbox, "com", policy={"overdue": 900})
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
    edit_zone(sandbox, "com", policy={"overdue": 900, "redemption": 900})
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
    assert_consistent(sandbox)
