"""What time does to names, seen from outside: terms, graces, renewals, transfers and promotions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import Flag, Prices, Stage
from reseller_sandbox.powers.records import Fired
from tests.clients import Api
from tests.registry import Make, arrange, arrange_zone, ask_for, balance, connect, order_of
from tests.soundness import assert_sound

NAME = "second.com"  # expires on 2026-08-13 at noon; auto-renewal is off
TERM = "2026-08-13T12:00:00Z"


def told(fired: Sequence[Fired], name: str = NAME) -> list[tuple[str, str]]:
    """When what happened to a name."""
    return [(event.at.isoformat()[:10], event.event) for event in fired if event.subject == name]


def status(api: Api, name: str = NAME) -> str:
    """The v3 status of a name, or the refusal."""
    answer = api.get(f"/v3/domains/getDomain/{name}")
    return str(answer.error or answer.json["status"])


def test_a_name_lives_out_its_life(sandbox: Sandbox, api: Api) -> None:
    """Expiry, 30 days overdue, 30 in redemption, 5 until it is free: each at its own instant."""
    assert told(sandbox.clock.set("2027-01-01").fired) == [
        ("2026-08-13", "expiry"),
        ("2026-09-12", "redemption"),
        ("2026-10-12", "pending delete"),
        ("2026-10-17", "release"),
    ]
    check = api.post("/v3/domains/checkAvailability", {"domainNames": [NAME]}).json
    assert check["results"][0]["status"] == "available"
    assert status(api) == "domain_not_found"
    assert api.post("/v3/domains/createDomain", {"domain": {"domainName": NAME}}).status == 200


@pytest.mark.parametrize(
    ("at", "stage"),
    [
        ("2026-08-13T11:59:59Z", Stage.ACTIVE),
        ("2026-08-13T12:00:00Z", Stage.OVERDUE),
        ("2026-09-12T11:59:59Z", Stage.OVERDUE),
        ("2026-09-12T12:00:00Z", Stage.REDEMPTION),
        ("2026-10-12T11:59:59Z", Stage.REDEMPTION),
        ("2026-10-12T12:00:00Z", Stage.PENDING_DELETE),
        ("2026-10-17T11:59:59Z", Stage.PENDING_DELETE),
    ],
)
def test_a_stage_ends_at_its_second(sandbox: Sandbox, api: Api, at: str, stage: Stage) -> None:
    """Not one before and not one after."""
    sandbox.clock.set(at)
    assert order_of(sandbox, NAME).stage is stage
    assert status(api) == ("active" if stage is Stage.ACTIVE else "suspended")


def test_autorenewal_renews_for_a_year(sandbox: Sandbox, api: Api) -> None:
    """At expiry, at the price of that moment; the entry names the event, not a request."""
    api.post(f"/v3/domains/enableAutorenew/{NAME}")
    arrange_zone(sandbox, "com", prices=_dearer(sandbox))
    before = balance(sandbox)
    fired = sandbox.clock.set(TERM).fired
    assert told(fired) == [("2026-08-13", "automatic renewal")]
    assert [event.charged for event in fired if event.subject == NAME] == [15]
    assert balance(sandbox) == before - 15
    entry = list(sandbox.world.state.ledger.values())
    last = max(entry, key=lambda one: one.id)
    assert (last.cause, last.name, last.amount, last.years) == (
        f"event:order:{order_of(sandbox, NAME).id}",
        NAME,
        -15,
        1,
    )
    assert api.get(f"/v3/domains/getDomain/{NAME}").json["domain"]["expireDate"] == "2027-08-13 12:00:00"


def _dearer(sandbox: Sandbox) -> Prices:
    from dataclasses import replace
    from decimal import Decimal

    return replace(sandbox.world.state.zones["com"].prices, renewal=Decimal(15))


def _switch_off(sandbox: Sandbox, api: Api) -> None:
    api.post(f"/v3/domains/disableAutorenew/{NAME}")


def _spend(sandbox: Sandbox, api: Api) -> None:
    from tests.registry import arrange_balance

    arrange_balance(sandbox, "11.99")


def _prohibit(sandbox: Sandbox, api: Api) -> None:
    arrange(sandbox, NAME, flags=frozenset({Flag.RENEW_PROHIBITED}))


def _leave(sandbox: Sandbox, api: Api) -> None:
    sandbox.clock.set("2026-08-12")
    ask_for(sandbox, NAME)


def _out_of_service(sandbox: Sandbox, api: Api) -> None:
    arrange_zone(sandbox, "com", in_service=False)


@pytest.mark.parametrize("hinder", [_switch_off, _spend, _prohibit, _leave, _out_of_service])
def test_autorenewal_does_not_happen(sandbox: Sandbox, api: Api, hinder: object) -> None:
    """Off, without funds, forbidden, while leaving, with the registry out of reach: the name goes overdue."""
    api.post(f"/v3/domains/enableAutorenew/{NAME}")
    hinder(sandbox, api)  # type: ignore[operator]
    before = len(sandbox.world.state.ledger)
    assert told(sandbox.clock.set(TERM).fired) == [("2026-08-13", "expiry")]
    assert status(api) == "suspended"
    assert len(sandbox.world.state.ledger) == before


def test_the_last_money_goes_to_the_name_that_expires_first(sandbox: Sandbox) -> None:
    """Renewals compete for the balance in the order in which they come due."""
    poor = connect(sandbox, "poor")
    from tests.registry import arrange_balance

    arrange_balance(sandbox, "12.00", "poor")
    arrange(sandbox, "poor.com.ua", "poor", autorenew=True)
    arrange(sandbox, "meagre.com", "poor", expires=sandbox.clock.now + timedelta(days=9))
    sandbox.clock.advance("270d")
    assert status(poor, "meagre.com") == "active"
    assert status(poor, "poor.com.ua") == "suspended"


def test_an_overdue_name_is_renewed_from_its_old_expiry(sandbox: Sandbox, api: Api) -> None:
    """The year counts from when it expired; it is live again at once."""
    sandbox.clock.set("2026-09-01")
    renewed = api.post(f"/v3/domains/renewDomain/{NAME}").json
    assert (renewed["status"], renewed["totalPaid"]) == ("active", "12.00")
    assert renewed["domain"]["expireDate"] == "2027-08-13T12:00:00Z"
    assert told(sandbox.clock.set("2027-08-14").fired) == [("2027-08-13", "expiry")]


def test_a_name_that_goes_into_redemption_ends_its_transfer(sandbox: Sandbox, api: Api, other: Api) -> None:
    """Whoever wanted it is refunded, and has it no more."""
    sandbox.clock.set("2026-09-10")
    code = api.get(f"/v3/domains/getAuthcode/{NAME}").json["authCode"]
    before = balance(sandbox, "other")
    asked = other.post("/v3/domains/requestTransfer", {"domain": {"domainName": NAME}, "authCode": code})
    assert asked.json["status"] == "pending"
    assert balance(sandbox, "other") == before - 9
    sandbox.clock.set("2026-09-13")
    assert balance(sandbox, "other") == before
    assert status(other) == "domain_not_found"
    assert order_of(sandbox, NAME).stage is Stage.REDEMPTION


def test_release_takes_the_hosts_along(sandbox: Sandbox, api: Api) -> None:
    """A freed name begins without glue records, at whoever registers it."""
    api.post(f"/v3/domains/glueRecords/{NAME}", {"hostname": "ns1", "ips": ["192.0.2.1"]})
    sandbox.clock.set("2027-01-01")
    api.post("/v3/domains/createDomain", {"domain": {"domainName": NAME}})
    assert api.get(f"/v3/domains/glueRecords/{NAME}").json == {"glueRecords": []}


@pytest.mark.parametrize(
    ("at", "registration", "renewal"),
    [
        ("2026-03-11T11:59:59Z", "4.00", "5.00"),
        ("2026-03-11T12:00:00Z", "11.00", "5.00"),
        ("2026-03-21T11:59:59Z", "11.00", "5.00"),
        ("2026-03-21T12:00:00Z", "11.00", "13.00"),
    ],
)
def test_a_promotion_ends_at_its_instant(
    sandbox: Sandbox, api: Api, at: str, registration: str, renewal: str
) -> None:
    """What is shown and what is charged change together."""
    sandbox.clock.set(at)
    shown = api.post("/v3/domains/checkAvailability", {"domainNames": ["a.net"]}).json["results"][0]
    assert (shown["purchaseCost"], shown["renewalCost"]) == (registration, renewal)
    made = api.post("/v3/domains/createDomain", {"domain": {"domainName": "a.net"}}).json
    assert made["totalPaid"] == registration
    assert made["domain"]["renewalCost"] == f"{renewal}0000"
    assert api.post("/v3/domains/renewDomain/a.net").json["totalPaid"] == renewal


def test_orders_may_take_time(make: Make) -> None:
    """With v2.order_processing in seconds a new order is pending, twice that long."""
    sandbox = make(assume={"v2.order_processing": "60"})
    api = connect(sandbox)
    made = api.post("/v3/domains/createDomain", {"domain": {"domainName": "slow.com"}})
    assert made.json["status"] == "pending"
    assert [event for _, event in told(sandbox.clock.advance(119).fired, "slow.com")] == ["processing"]
    assert status(api, "slow.com") == "pending"
    assert [event for _, event in told(sandbox.clock.advance(1).fired, "slow.com")] == ["activation"]
    assert status(api, "slow.com") == "active"


@pytest.mark.parametrize("leap", [1, 8, 100])
def test_one_leap_is_many_small_ones(make: Make, leap: int) -> None:
    """800 days at once, or in steps: the same registry to the last entry, and the same events."""
    whole, stepped = make(), make()
    at_once = whole.clock.advance("800d").fired
    in_steps: tuple[Fired, ...] = ()
    for _ in range(800 // leap):
        in_steps += stepped.clock.advance(f"{leap}d").fired
    assert in_steps == at_once
    assert len(at_once) > 40
    assert stepped.world.moment == whole.world.moment
    assert_sound(whole.world.state)


def test_events_fire_in_the_order_of_time(sandbox: Sandbox) -> None:
    """And each at its own instant."""
    fired = sandbox.clock.advance("800d").fired
    instants = [event.at for event in fired]
    assert instants == sorted(instants)
    assert len(set(instants)) > 10


def test_nothing_is_due_without_time(sandbox: Sandbox, api: Api) -> None:
    """A clock that stands still fires nothing, however many requests come."""
    before = sandbox.world.state
    for _ in range(3):
        api.get("/v3/domains")
    assert sandbox.clock.advance(0).fired == ()
    assert sandbox.world.state is before
