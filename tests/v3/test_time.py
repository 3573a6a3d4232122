"""The effects of time on names: terms, graces, renewals, transfers and promotions."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import Make, contents
from tests.soundness import assert_books_balance

D = "/v3/domains"
NAME = "second.com"  # expires on 2026-08-13 at noon; auto-renewal is off
TERM = "2026-08-13T12:00:00Z"


def events(fired: Any, name: str = NAME) -> list[tuple[str, str]]:
    """Return the events of a name with their dates."""
    return [(event.at.isoformat()[:10], event.event) for event in fired if event.subject == name]


def status(api: Api, name: str = NAME) -> str:
    """Return the v3 status of a name, or the refusal."""
    answer = api.get(f"{D}/getDomain/{name}")
    return str(answer.error or answer.json["status"])


def test_a_name_that_is_not_renewed_is_released_and_begins_without_hosts(sandbox: Sandbox, api: Api) -> None:
    api.post(f"{D}/glueRecords/{NAME}", {"hostname": "ns1", "ips": ["192.0.2.1"]})
    assert events(sandbox.clock.set("2027-01-01").fired) == [
        ("2026-08-13", "expiry"),
        ("2026-09-12", "redemption"),
        ("2026-10-12", "pending delete"),
        ("2026-10-17", "release"),
    ]
    check = api.post(f"{D}/checkAvailability", {"domainNames": [NAME]}).json
    assert check["results"][0]["status"] == "available"
    assert status(api) == "domain_not_found"
    assert api.post(f"{D}/createDomain", {"domain": {"domainName": NAME}}).status == 200
    assert api.get(f"{D}/glueRecords/{NAME}").json == {"glueRecords": []}


def test_a_stage_ends_at_its_second(sandbox: Sandbox, api: Api, subtests: pytest.Subtests) -> None:
    for at, stage in [
        ("2026-08-13T11:59:59Z", "active"),
        ("2026-08-13T12:00:00Z", "overdue"),
        ("2026-09-12T11:59:59Z", "overdue"),
        ("2026-09-12T12:00:00Z", "redemption"),
        ("2026-10-12T11:59:59Z", "redemption"),
        ("2026-10-12T12:00:00Z", "pending_delete"),
        ("2026-10-17T11:59:59Z", "pending_delete"),
    ]:
        with subtests.test(at=at):
            sandbox.clock.set(at)
            assert sandbox.names[NAME].stage == stage
            assert status(api) == ("active" if stage == "active" else "suspended")


def test_autorenewal_renews_for_a_year_at_the_price_of_that_moment(sandbox: Sandbox, api: Api) -> None:
    api.post(f"{D}/enableAutorenew/{NAME}")
    sandbox.outside.set_prices("com", renewal=15)
    fired = sandbox.clock.set(TERM).fired
    assert events(fired) == [("2026-08-13", "automatic renewal")]
    assert [event.charged for event in fired if event.subject == NAME] == [15]
    [entry] = sandbox.ledger.find(domain=NAME).entries
    assert (entry.amount, entry.years, entry.request) == (-15, 1, None)
    assert entry.cause == f"event:order:{sandbox.names[NAME].order}"
    assert api.get(f"{D}/getDomain/{NAME}").json["domain"]["expireDate"] == "2027-08-13 12:00:00"


def test_an_overdue_name_is_renewed_from_its_old_expiry(sandbox: Sandbox, api: Api) -> None:
    sandbox.clock.set("2026-09-01")
    renewed = api.post(f"{D}/renewDomain/{NAME}").json
    assert (renewed["status"], renewed["totalPaid"]) == ("active", "12.00")
    assert renewed["domain"]["expireDate"] == "2027-08-13T12:00:00Z"
    assert events(sandbox.clock.set("2027-08-14").fired) == [("2027-08-13", "expiry")]


def test_a_promotion_ends_at_its_second_for_the_shown_and_the_charged_price(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    for at, registration, renewal in [
        ("2026-03-11T11:59:59Z", "4.00", "5.00"),
        ("2026-03-11T12:00:00Z", "11.00", "5.00"),
        ("2026-03-21T11:59:59Z", "11.00", "5.00"),
        ("2026-03-21T12:00:00Z", "11.00", "13.00"),
    ]:
        with subtests.test(at=at):
            sandbox.reset()
            sandbox.clock.set(at)
            shown = api.post(f"{D}/checkAvailability", {"domainNames": ["a.net"]}).json["results"][0]
            assert (shown["purchaseCost"], shown["renewalCost"]) == (registration, renewal)
            made = api.post(f"{D}/createDomain", {"domain": {"domainName": "a.net"}}).json
            assert made["totalPaid"] == registration
            assert made["domain"]["renewalCost"] == f"{renewal}0000"
            assert api.post(f"{D}/renewDomain/a.net").json["totalPaid"] == renewal


def test_one_leap_of_800_days_equals_many_steps_in_events_and_contents(make: Make) -> None:
    whole, stepped = make(), make()
    at_once = whole.clock.advance("800d").fired
    in_steps = [one for _ in range(100) for one in stepped.clock.advance("8d").fired]
    assert in_steps == list(at_once)
    assert len(at_once) > 40
    instants = [event.at for event in at_once]
    assert instants == sorted(instants)
    assert contents(stepped) == contents(whole)
    assert_books_balance(whole)
