"""Rules in which the zones of registries differ: prices, refunds, terms, locks, codes and registrants."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Answer, person
from tests.registry import assert_replays, balance, connect, create, edit, edit_name, edit_zone
from tests.v2.client import connect as connect_v2
from tests.v2.client import done

D = "/v3/domains"
NS = {"array": ["ns1.a.net", "ns2.a.net"]}


def transfer(sandbox: Sandbox, name: str, account: str = "main", **body: Any) -> Answer:
    code = sandbox.names[name].auth_code
    return connect(sandbox, account).post(
        f"{D}/requestTransfer", {"domain": {"domainName": name}, "authCode": code, **body}
    )


def register_v2(sandbox: Sandbox, name: str, years: int) -> Answer:
    roles = {f"contact_{role}": "OWN" for role in ("registrant", "admin", "tech", "billing")}
    return connect_v2(sandbox).post(f"/domain/{name}", {**roles, "ns": NS, "period": years})


def refusal(answer: Answer) -> str:
    """Return the rule and the sentence of a refusal in either interface."""
    return answer.headers.get("x-sandbox-refusal") or f"{answer.error}: {answer.message}"


def events(sandbox: Sandbox, by: str, name: str) -> list[str]:
    """Advance the clock. Return the events of ``name``."""
    return [event.event for event in sandbox.clock.advance(by).events if event.subject == name]


def refunded(sandbox: Sandbox) -> list[Any]:
    return [entry for entry in sandbox.ledger.list().entries if entry.kind == "refund"]


def expires(sandbox: Sandbox, name: str) -> str:
    return sandbox.names[name].expires.date().isoformat()


@pytest.mark.parametrize(
    ("name", "first", "later"), [("new.com", 10, 12), ("new.net", 4, 5), ("copper.com", 20, 18)]
)
def test_the_years_after_the_first_cost_the_renewal_price(
    sandbox: Sandbox, name: str, first: int, later: int
) -> None:
    edit_zone(sandbox, "com", premium={"copper": {"renewal": 18}})
    sandbox.contacts.add("OWN", name="Own")
    zone = name.partition(".")[2]
    before = balance(sandbox)
    for later_years, price in (("registration", 3 * first), ("renewal", first + 2 * later)):
        sandbox.simulate.set_prices(zone, later_years=later_years)
        for cost in (None, price):
            answer = create(connect(sandbox), name, 3, cost)
            if name == "copper.com" and cost is None:
                assert answer.error == "premium_cost_required"
                assert f"must be {price}.00" in answer.message
                continue
            assert answer.json["totalPaid"] == f"{price}.00"
            assert balance(sandbox) == before - price
            sandbox.rewind(answer.headers["x-sandbox-request"])
        if name == "copper.com":
            assert create(connect(sandbox), name, 3, 3 * first + 1).error == "price_mismatch"
        answer = register_v2(sandbox, name, 3)
        assert done(answer)
        assert balance(sandbox) == before - price
        sandbox.rewind(answer.headers["x-sandbox-request"])
        body = {"domainNames": [name]}
        [offer] = connect(sandbox).post(f"{D}/checkAvailability", body).json["results"]
        assert (offer["purchaseCost"], offer["renewalCost"]) == (f"{first}.00", f"{later}.00")


@pytest.mark.parametrize("automatic", [False, True])
def test_a_delete_within_the_grace_of_a_renewal_takes_the_renewal_back(
    sandbox: Sandbox, automatic: bool
) -> None:
    edit_zone(sandbox, "com", policy={"renew_grace": 5, "autorenew_grace": 45})
    end, before = expires(sandbox, "active.com"), balance(sandbox)
    grace = "autorenew_grace" if automatic else "renew_grace"
    if automatic:
        sandbox.clock.advance(until={"domain": "active.com", "event": "automatic renewal"})
    else:
        connect(sandbox).post(f"{D}/renewDomain/active.com", {"years": 2})
    paid = before - balance(sandbox)
    sandbox.clock.advance("P44DT23H59M59S" if automatic else "P4DT23H59M59S")
    sandbox.snapshots.add("in-time")
    answer = connect_v2(sandbox).delete("/domain/active.com")
    assert done(answer)
    assert balance(sandbox) == before
    assert expires(sandbox, "active.com") == end
    refunds = refunded(sandbox)
    assert {entry.grace for entry in refunds} == {grace}
    assert sum(entry.amount for entry in refunds) == paid
    assert sandbox.names["active.com"].stage == "redemption"
    assert done(connect_v2(sandbox).put("/domain/active.com/restore"))
    assert done(connect_v2(sandbox).delete("/domain/active.com"))
    assert len(refunded(sandbox)) == len(refunds), "nothing is refunded twice"

    sandbox.restore("in-time")
    sandbox.clock.advance("1s")
    assert done(connect_v2(sandbox).delete("/domain/active.com"))
    assert (balance(sandbox), len(refunded(sandbox))) == (before - paid, 0)


def test_a_delete_by_a_third_party_and_the_add_grace_name_their_rule(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", policy={"renew_grace": 5})
    sandbox.simulate.renew("second.com", years=2)
    dropped = sandbox.simulate.drop("second.com")
    assert dropped.events[0].charged == Decimal("-24.00")
    create(connect(sandbox))
    connect(sandbox).post(f"{D}/renewDomain/new.com")
    connect_v2(sandbox).delete("/domain/new.com")
    refunds = refunded(sandbox)
    assert [(entry.domain, entry.amount, entry.grace) for entry in refunds] == [
        ("second.com", Decimal(24), "renew_grace"),
        ("new.com", Decimal(10), "add_grace"),
        ("new.com", Decimal(12), "add_grace"),
    ]


@pytest.mark.parametrize(
    ("rule", "added", "stage"),
    [("when_due", (0, 1), "active"), ("always", (1, 1), "active"), ("never", (0, 0), "overdue")],
)
def test_a_restore_adds_a_year_as_the_policy_says(
    sandbox: Sandbox, rule: str, added: tuple[int, int], stage: str
) -> None:
    edit_zone(sandbox, "com", policy={"restore_years": rule})
    connect_v2(sandbox).delete("/domain/second.com")
    for name, years in zip(("second.com", "redemption.com"), added, strict=True):
        end = sandbox.names[name].expires
        assert done(connect_v2(sandbox).put(f"/domain/{name}/restore"))
        assert sandbox.names[name].expires.year - end.year == years, name
    assert sandbox.names["redemption.com"].stage == stage


@pytest.mark.parametrize("rule", ["extends", "unchanged", "restarts"])
def test_a_transfer_extends_keeps_or_restarts_the_term(sandbox: Sandbox, rule: str) -> None:
    edit_zone(sandbox, "com", transfer_term=rule)
    end = sandbox.names["theirs.com"].expires
    answer = transfer(sandbox, "theirs.com", years=3)
    assert answer.json["totalPaid"] == "9.00"
    [charge] = sandbox.ledger.list(domain="theirs.com").entries
    assert (charge.years or 0) == int(rule != "unchanged")
    assert events(sandbox, "5d", "theirs.com") == ["transfer completion"]
    now = sandbox.clock.now
    expected = {
        "extends": end.replace(year=end.year + 1),
        "unchanged": end,
        "restarts": now.replace(year=now.year + 1),
    }
    assert sandbox.names["theirs.com"].expires == expected[rule]


@pytest.mark.parametrize("days_later", [44, 46])
@pytest.mark.parametrize("rule", ["extends", "unchanged", "restarts"])
def test_a_transfer_takes_back_an_automatic_renewal_within_its_grace(
    sandbox: Sandbox, rule: str, days_later: int
) -> None:
    edit_zone(sandbox, "com", transfer_term=rule, policy={"autorenew_grace": 45})
    end, before = expires(sandbox, "active.com"), balance(sandbox)
    sandbox.clock.advance(until={"domain": "active.com", "event": "automatic renewal"})
    renewed, paid = expires(sandbox, "active.com"), before - balance(sandbox)
    sandbox.clock.advance(days=days_later)
    sandbox.simulate.change("active.com", flags=[])
    assert transfer(sandbox, "active.com", account="other").status == 200
    assert done(connect_v2(sandbox).put("/domain/active.com/transfer/approve"))
    is_back = days_later < 45 and rule != "unchanged"
    assert before - balance(sandbox) == (0 if is_back else paid)
    assert {entry.grace for entry in refunded(sandbox)} == ({"autorenew_grace"} if is_back else set())
    start = {"extends": end if is_back else renewed, "restarts": sandbox.clock.now.date().isoformat()}
    later = f"{int(start[rule][:4]) + 1}{start[rule][4:]}" if rule in start else renewed
    assert expires(sandbox, "active.com") == later
    assert_replays(sandbox)


@pytest.mark.parametrize("counted", ["one", "as_sent"])
def test_a_transfer_reports_years_that_it_does_not_add(sandbox: Sandbox, counted: str) -> None:
    sandbox.assumptions.set({"v3.transfer.years": counted})
    for rule, least, reason in [
        ("extends", 1, "one year"),
        ("restarts", 2, "2 years"),
        ("unchanged", 1, "no year"),
    ]:
        edit_zone(sandbox, "com", transfer_term=rule, min_transfer_years=least)
        ignored = transfer(sandbox, "theirs.com", years=3).headers.get("x-sandbox-ignored")
        has_effect = counted == "as_sent" and rule != "unchanged"
        assert ignored == (None if has_effect else f"years; a transfer adds {reason}")
        assert connect(sandbox).post(f"{D}/cancelTransfer/theirs.com").status == 200


def test_an_overdue_name_stays_overdue_after_a_transfer_that_adds_no_year(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", transfer_term="unchanged")
    transfer(sandbox, "lapsed.com")
    connect(sandbox, "other").post(f"{D}/approveTransfer/lapsed.com")
    assert (sandbox.names["lapsed.com"].account, sandbox.names["lapsed.com"].stage) == ("main", "overdue")


def test_renewals_and_transfers_have_a_shortest_term(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", min_renewal_years=2, min_transfer_years=2)
    api, v2 = connect(sandbox), connect_v2(sandbox)
    for body in ({}, {"years": 1}):
        answer = api.post(f"{D}/renewDomain/second.com", body)
        assert (answer.error, "the minimum for second.com is 2" in answer.message) == (
            "period_too_short",
            True,
        )
    date = {"current_expiry_date": expires(sandbox, "second.com")}
    assert v2.put("/domain/second.com/renew", {**date, "period": 1}).json["msg"] == "minimum value period: 2"
    assert done(v2.put("/domain/second.com/renew", {**date, "period": 2}))
    assert transfer(sandbox, "theirs.com", years=1).error == "period_too_short"
    ends = {name: sandbox.names[name].expires for name in ("theirs.com", "silver.com", "active.com")}
    assert transfer(sandbox, "theirs.com").json["totalPaid"] == "18.00"
    assert done(v2.post("/domain/silver.com/transfer", {"transfer_code": "let-me-in"}))
    sandbox.clock.advance("300d")
    assert {name: sandbox.names[name].expires.year - end.year for name, end in ends.items()} == {
        "theirs.com": 2,
        "silver.com": 2,
        "active.com": 2,
    }, "an automatic renewal has the shortest term as well"
    sandbox.simulate.request_transfer("second.com")


@pytest.mark.parametrize("tries", ["once", "daily"])
def test_automatic_renewal_begins_days_before_the_expiry(sandbox: Sandbox, tries: str) -> None:
    sandbox.assumptions.set({"lifecycle.autorenew.tries": tries})
    edit_zone(sandbox, "com", policy={"autorenew_before": 3})
    end = sandbox.names["meagre.com"].expires
    early = sandbox.clock.set(end - timedelta(days=4)).events
    assert [event for event in early if event.subject == "meagre.com"] == []
    failed = [event for event in sandbox.clock.advance("1d").events if event.subject == "meagre.com"]
    assert [event.event for event in failed] == ["automatic renewal failed"]
    assert "12.00 USD are needed and the balance is 1.00 USD" in failed[0].note
    again = ["automatic renewal failed"] if tries == "daily" else []
    assert events(sandbox, "1d", "meagre.com") == again
    sandbox.accounts.credit("poor", 20)
    lucky = "automatic renewal" if tries == "daily" else "expiry"
    assert events(sandbox, "2d", "meagre.com") == [lucky]


def test_a_name_that_is_switched_to_automatic_renewal_late_is_tried_on_the_next_day(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", policy={"autorenew_before": 10})
    edit_name(sandbox, "second.com", created="-360d", expires="+5d", due=None)
    connect(sandbox).post(f"{D}/enableAutorenew/second.com")
    assert events(sandbox, "23h", "second.com") == []
    assert events(sandbox, "1h", "second.com") == ["automatic renewal"]


def change_registrant(sandbox: Sandbox, **fields: str) -> Answer:
    contact = {"name": "Main Holder", "country": "UA", "city": "Kyiv", "email": "main@example.com", **fields}
    fields = {"phone": "+380.441234567", **person(), **contact}
    return connect(sandbox).post(f"{D}/setContacts/second.com", {"contacts": {"reg-contact": fields}})


def test_a_new_registrant_locks_the_name_against_transfer_and_gets_a_new_code(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", policy={"registrant_change_lock": 60, "auth_code_days": 30})
    code = sandbox.names["second.com"].auth_code
    assert change_registrant(sandbox, city="Lviv").status == 200
    assert sandbox.names["second.com"].auth_code == code, "an update is no change of the registrant"
    assert change_registrant(sandbox, name="Another").status == 200
    assert sandbox.names["second.com"].auth_code != code
    answer = transfer(sandbox, "second.com", "other")
    assert (answer.error, answer.status) == ("registrant_changed", 409)
    assert "cannot be transferred before 2026-04-30" in answer.message
    explained = sandbox.journal[answer.headers["x-sandbox-request"]].refusal
    assert explained is not None
    assert explained.allowed_at == sandbox.clock.now + timedelta(days=60)
    body = {"transfer_code": sandbox.names["second.com"].auth_code}
    answer = connect_v2(sandbox, "other").post("/domain/second.com/transfer", body)
    assert answer.json["msg"] == "Invalid id"
    assert refusal(answer).startswith("registrant_changed:")
    with pytest.raises(Refused, match="new registrant since"):
        sandbox.simulate.request_transfer("second.com")
    assert sandbox.simulate.request_transfer("second.com", force=True)
    sandbox.simulate.cancel_transfer("second.com")
    sandbox.clock.advance("60d")
    connect(sandbox).post(f"{D}/setAuthcode/second.com", {"authcode": "fresh-code"})
    assert transfer(sandbox, "second.com", "other").status == 200


def test_a_new_registrant_by_the_staff_locks_the_name_and_costs_nothing(sandbox: Sandbox) -> None:
    edit_zone(
        sandbox,
        "com",
        policy={"registrant_change_lock": 60, "auth_code_days": 30},
        prices={"owner_change": 5},
    )
    before, code = balance(sandbox), sandbox.names["second.com"].auth_code
    present = sandbox.contacts[sandbox.names["second.com"].contacts["registrant"]].card
    sandbox.contacts.add("SAME", name=f"{present.name} ", company=present.company)
    sandbox.contacts.add("NEW", name="Another")
    sandbox.simulate.change("second.com", contacts={"registrant": "SAME", "tech": "NEW"})
    assert sandbox.names["second.com"].auth_code == code
    assert sandbox.names["second.com"].registrant_changed is None
    sandbox.simulate.change("second.com", contacts={"registrant": "NEW"})
    assert sandbox.names["second.com"].auth_code != code
    assert transfer(sandbox, "second.com", "other").error == "registrant_changed"
    sandbox.simulate.change("second.com", contacts={"registrant": "SAME"}, auth_code="by-staff")
    assert sandbox.names["second.com"].auth_code == "by-staff"
    assert balance(sandbox) == before
    sandbox.clock.advance("60d")
    sandbox.simulate.change("second.com", auth_code="by-staff")
    assert transfer(sandbox, "second.com", "other").status == 200


def test_a_code_expires_and_a_new_one_does_not(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", policy={"auth_code_days": 30})
    sandbox.clock.advance("30d")
    answer = transfer(sandbox, "theirs.com")
    assert answer.error == "wrong_auth_code"
    assert "that code expired on 2026-03-31" in answer.message
    answer = connect_v2(sandbox).post("/domain/theirs.com/transfer", {"transfer_code": "let-me-in"})
    assert answer.json["msg"] == "Not the correct transfer_code"
    connect(sandbox, "other").post(f"{D}/setAuthcode/theirs.com", {"authcode": "let-me-in"})
    assert transfer(sandbox, "theirs.com").status == 200
    connect(sandbox, "other").post(f"{D}/approveTransfer/theirs.com")
    held = sandbox.names["theirs.com"]
    assert held.auth_code != "let-me-in"
    assert held.auth_code_expires == sandbox.clock.now + timedelta(days=30)


REGISTRANTS: dict[str, set[str]] = {
    "name_or_company": {"name", "company"},
    "email_too": {"name", "company", "email"},
    "any_field": {"name", "company", "email", "phone", "city"},
}


@pytest.mark.parametrize("assumed", REGISTRANTS)
def test_only_the_identity_of_a_contact_makes_a_new_registrant(sandbox: Sandbox, assumed: str) -> None:
    sandbox.assumptions.set({"lifecycle.new_registrant": assumed, "v3.update_lock.covers": "registrant_only"})
    edit_zone(sandbox, "com", prices={"owner_change": "4.00"})
    assert change_registrant(sandbox).status == 200  # fills in the contact's fields
    others = {
        "name": "Another",
        "company": "Works",
        "email": "x@example.com",
        "phone": "380.447654321",
        "city": "Odesa",
    }
    wire = {"company": "company-name"}
    for field, value in others.items():
        for flags, locked in ((["client_update_prohibited"], True), (None, False)):
            edit_name(sandbox, "second.com", flags=flags)
            before = balance(sandbox)
            is_new = field in REGISTRANTS[assumed]
            answer = change_registrant(sandbox, **{wire.get(field, field): value})
            assert answer.error == ("locked" if is_new and locked else None), (field, answer.raw)
            assert before - balance(sandbox) == (4 if is_new and not locked else 0), field
            assert answer.assumptions["lifecycle.new_registrant"] == assumed
            if not locked or not is_new:
                sandbox.rewind(answer.headers["x-sandbox-request"])
    for name in ("Main  Holder", " Main Holder\u00a0"):
        before = balance(sandbox)
        assert change_registrant(sandbox, name=name).status == 200
        assert balance(sandbox) == before


@pytest.fixture
def shared(sandbox: Sandbox) -> Sandbox:
    """A contact that is the registrant of three names, and the technical contact of a fourth."""
    edit_zone(sandbox, "com.ua", prices={"owner_change": "2.50"})
    contact = {"account": "main", "name": "Shared Holder", "country": "UA"}
    roles = {"contacts": {"registrant": "SHARED"}}
    names = dict.fromkeys(("active.com", "second.com", "held.com.ua"), roles)
    edit(
        sandbox,
        {
            "contacts": {"SHARED": contact},
            "domains": {**names, "leaving.com": {"contacts": {"tech": "SHARED"}}},
        },
    )
    edit_zone(sandbox, "com", prices={"owner_change": "4.00"})
    return sandbox


def edit_shared(sandbox: Sandbox, **fields: str) -> Answer:
    required = {"address": "1 Street", "city": "Kyiv", "zip": "01001", "country": "UA"}
    body = {**required, "mail": "a@b.cd", "phone": "+380.441234567", "name": "Shared Holder", **fields}
    return connect_v2(sandbox).put("/contact/SHARED", body)


@pytest.mark.parametrize("assumed", ["on", "off"])
def test_an_edit_of_a_shared_contact_is_a_change_of_each_registrant(shared: Sandbox, assumed: str) -> None:
    shared.assumptions.set({"locks.cover_shared_contacts": assumed})
    before = balance(shared)
    assert done(edit_shared(shared, phone="+380.441111111"))
    assert balance(shared) == before
    answer = edit_shared(shared, name="Another Holder")
    assert done(answer)
    assert answer.assumptions["locks.cover_shared_contacts"] == assumed
    paid = shared.ledger.list(purpose="owner_change").entries
    assert [(entry.domain, entry.amount) for entry in paid] == (
        [("active.com", -4), ("second.com", -4), ("held.com.ua", Decimal("-2.50"))] if assumed == "on" else []
    )
    connect(shared).post(f"{D}/lockUpdate/second.com")
    answer = edit_shared(shared, name="Third Holder")
    if assumed == "off":
        assert done(answer)
        return
    assert answer.json["msg"] == "Invalid Param"
    assert refusal(answer).startswith("locked: second.com has the flag client_update_prohibited")
    assert shared.contacts["SHARED"].card.name == "Another Holder"
    assert done(edit_shared(shared, name="Another Holder", phone="+380.442222222")), (
        "an update stays possible"
    )


def test_an_edit_of_a_shared_contact_needs_money_for_every_name(shared: Sandbox) -> None:
    shared.accounts.set_balance("main", 10)
    answer = edit_shared(shared, name="Another Holder")
    assert answer.json["msg"] == "Invalid Param"
    assert refusal(answer).startswith("insufficient_funds: 10.50 USD are needed")
    assert (balance(shared), shared.contacts["SHARED"].card.name) == (10, "Shared Holder")


TOO_FEW: list[Callable[[Sandbox], Answer]] = [
    lambda sandbox: create(connect(sandbox), nameservers=["ns1.a.net"]),
    lambda sandbox: connect(sandbox).post(f"{D}/setNameservers/second.com", {"nameservers": ["ns1.a.net"]}),
    lambda sandbox: transfer(
        sandbox, "theirs.com", domain={"domainName": "theirs.com", "nameservers": ["a.b"]}
    ),
    lambda sandbox: connect_v2(sandbox).put("/domain/second.com", {"ns": {"del": ["ns1.home.net"]}}),
]


@pytest.mark.parametrize("ask", TOO_FEW)
def test_a_zone_has_a_least_number_of_name_servers(
    sandbox: Sandbox, ask: Callable[[Sandbox], Answer]
) -> None:
    edit_zone(sandbox, "com", min_nameservers=2)
    answer = ask(sandbox)
    assert refusal(answer).startswith("invalid_nameserver:")
    assert "com requires at least 2 name servers" in refusal(answer)
    assert transfer(sandbox, "theirs.com").status == 200, "a transfer keeps the servers of the name"


def test_a_zone_has_a_greatest_number_of_name_servers(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", max_nameservers=2)
    answer = create(connect(sandbox), nameservers=["ns1.a.net", "ns2.a.net", "ns3.a.net"])
    assert answer.error == "invalid_nameserver"
    assert "'ns3.a.net' exceeds the maximum of 2 name servers in com" in answer.message
    answer = connect_v2(sandbox).put("/domain/second.com", {"ns": {"add": ["ns3.a.net"]}})
    assert answer.json["msg"] == "Not the correct ns: ns3.a.net"


POLICY = {
    "renew_grace": 5,
    "autorenew_grace": 45,
    "autorenew_before": 7,
    "registrant_change_lock": 60,
    "auth_code_days": 20,
    "restore_years": "never",
}


def test_the_rules_survive_export_recording_rewind_fork_and_any_steps_of_time(sandbox: Sandbox) -> None:
    sandbox.assumptions.set({"lifecycle.autorenew.tries": "daily"})
    edit_name(sandbox, "meagre.com", expires="+60d", due=None)
    terms = {"transfer_term": "restarts", "min_renewal_years": 2, "min_transfer_years": 2}
    prices = {"later_years": "renewal"}
    edit_zone(sandbox, "com", policy=POLICY, prices=prices, max_nameservers=4, **terms)
    api = connect(sandbox)
    assert create(api, years=3).status == 200
    assert api.post(f"{D}/renewDomain/second.com", {"years": 2}).status == 200
    assert change_registrant(sandbox, name="Another").status == 200
    assert transfer(sandbox, "theirs.com").status == 200
    answer = api.post(f"{D}/enableAutorenew/leaving.com")
    assert sandbox.names["leaving.com"].auth_code_expires is not None

    seen = []
    for world, steps in (("one", ["100d"]), ("many", ["33h"] * 72 + ["24h"])):
        fork = sandbox.fork(name=world)
        happened = [event for step in steps for event in fork.clock.advance(step).events]
        seen.append([(event.at, event.event, event.subject, event.charged) for event in happened])
        text = fork.export()
        fork.load(text)
        assert fork.export() == text
    assert seen[0] == seen[1]
    assert "automatic renewal failed" in {event for _, event, _, _ in seen[0]}
    assert_replays(sandbox)
    sandbox.rewind(answer.headers["x-sandbox-request"])
    assert sandbox.names["leaving.com"].autorenew is False
