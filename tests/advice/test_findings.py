"""A finding has the rule, the name, the money, the requests and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.advice.corpus import DOMAINS, Client

READ = "getDomain/second.com"
NEW = {"domain": {"domainName": "new.com"}}
THEIRS = {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"}

#: The rule, the operation, the body, the name and the price of an order.
ORDERS: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("registration_repeated", "createDomain", NEW, "new.com", "10.00"),
    ("transfer_repeated", "requestTransfer", THEIRS, "theirs.com", "9.00"),
]


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    """A client of a new world with a frozen clock."""
    with sandbox.fork() as world:
        yield Client(world)


def found(client: Client) -> list[tuple[Any, ...]]:
    """Return the rule, the amount and the requests of each finding."""
    findings = client.sandbox.advice.list().findings
    return [(one.rule, one.amount and str(one.amount), *one.entries) for one in findings]


def finding(client: Client) -> Any:
    """Return the only finding."""
    (one,) = client.sandbox.advice.list().findings
    return one


def fresh(client: Client) -> Client:
    """Return a client of the same world at its beginning, without faults."""
    client.sandbox.faults.clear()
    client.sandbox.reset()
    return client


def before(client: Client, operation: str) -> None:
    """Let the next request of an operation fail before it takes effect."""
    when = {"phase": "before", "times": 1}
    client.sandbox.faults.add("error", error="internal_error", match={"operation": operation}, when=when)


def test_a_finding_is_the_same_over_http_and_in_python(client: Client) -> None:
    for _ in range(2):
        client.renew("españa.com")
    (shown,) = client.send("GET", "/_sandbox/advice")["findings"]
    assert (shown["rule"], shown["severity"]) == ("renewed_twice", "money")
    assert (shown["account"], shown["domains"]) == ("main", ["españa.com"])
    assert (shown["amount"], shown["currency"], shown["entries"]) == ("12.00", "USD", ["r1", "r2"])
    assert "españa.com" in shown["summary"]
    assert "12.00 USD" in shown["summary"]
    assert "current_expiry_date" in shown["instead"]
    assert found(client) == [("renewed_twice", "12.00", "r1", "r2")]


def test_reading_advice_changes_nothing_and_a_reset_removes_it(client: Client) -> None:
    for _ in range(2):
        client.renew("second.com")
    world = client.sandbox
    exported, answers = world.export(), [client.send("GET", "/_sandbox/advice") for _ in range(2)]
    assert answers[0] == answers[1]
    assert (world.export(), world.journal.count()) == (exported, 2)
    world.reset()
    empty = client.send("GET", "/_sandbox/advice")
    assert (empty["findings"], empty["requests"], empty["dropped"]) == ([], 0, 0)


def test_findings_are_in_the_order_of_the_requests(client: Client) -> None:
    client.sandbox.clock.run()
    for _ in range(5):
        client.send("GET", "/v3/balance")
    for name in ("second.com", "second.com", "held.com.ua", "held.com.ua"):
        client.renew(name)
    assert [(one.rule, *one.domains) for one in client.sandbox.advice.list().findings] == [
        ("polled_without_pause",),
        ("renewed_twice", "second.com"),
        ("renewed_twice", "held.com.ua"),
    ]


def test_a_careful_client_of_all_operations_gets_no_advice(client: Client) -> None:
    """With refusals that are met once, and pauses that move the clock."""
    client.send("GET", "/v3/balance")
    client.post("checkAvailability", {"domainNames": ["tour.com", "gold.com", "second.com"]})
    client.create("tour.com", years=2)
    assert client.create("tour.com")["error"] == "name_taken"
    client.create("nic.com")
    for name in ("tour.com", "second.com"):
        client.post("renewDomain", {"domain": {"domainName": name}})
    for switch in ("lock", "unlock", "lockTransfer", "unlockTransfer", "enableAutorenew"):
        client.post(f"{switch}/tour.com")
    client.post("glueRecords/tour.com", {"hostname": "ns1", "ips": ["192.0.2.1"]})
    client.post("setNameservers/tour.com", {"nameservers": ["ns1.tour.com", "ns2.home.net"]})
    client.transfer("theirs.com")
    for _ in range(6):
        client.get("getDomain/theirs.com")
        client.wait("P1D")
    client.wait("P3Y")
    client.get("getDomain/tour.com")
    assert found(client) == []


def test_unusual_requests_in_the_journal_are_read(client: Client) -> None:
    odd = [
        ("GET", "/v3/domains?perPage=%ff&page=x", b""),
        ("GET", f"/v3/domains?perPage={'9' * 5000}&page=-1", b""),
        ("GET", "/v3/domains?perPage=0&page=0", b""),
        ("GET", "/v3/domains/0/0", b""),
        ("GET", "/v3/domains/getDomain/%ff?%zz&&=&a=b;c&=&", b""),
        ("POST", "/v3/domains/createDomain", b"[" * 50_000),
        ("POST", "/v3/domains/renewDomain", b'{"domain": {"domainName": "\\ud800"}}'),
        ("PUT", "/V2.0/domain/second.com/renew", b'{"current_expiry_date": {"a": [1]}}'),
        ("PUT", "/V2.0/domain/second.com/renew", b"\xff\x00"),
        ("PUT", "/V2.0/domain/second.com/renew", b"[1]"),
    ]
    for fault in (None, {"status": 200}, {"error": "internal_error"}):
        fresh(client)
        if fault is not None:
            client.sandbox.faults.add("error", when={"phase": "before"}, **fault)
        for method, target, body in odd:
            client.sandbox.client().open(target, method=method, data=body)
        assert {rule for rule, *_ in found(client)} <= {"renewed_without_guard", "keys_ignored"}


def test_an_order_that_is_repeated_after_a_lost_answer_is_one_finding(client: Client) -> None:
    for rule, operation, body, name, cost in ORDERS:
        for late in ({}, {"kind": "latency", "seconds": 1}, {"kind": "drip", "size": 500, "pause": 1}):
            fresh(client).lose(f"v3.{operation}", **late)
            for _ in range(3):
                client.post(operation, body)
            assert found(client) == [(rule, cost, "r1", "r2", "r3")]
            assert (finding(client).severity, list(finding(client).domains)) == ("money", [name])
            assert "r1" in finding(client).summary


def test_an_order_with_a_known_answer_can_be_repeated(client: Client) -> None:
    """The refusal of another account has nothing to do with a lost answer."""
    for _, operation, body, _, _ in ORDERS:
        fresh(client)
        for _ in range(2):
            client.post(operation, body)
        assert found(client) == []
        before(fresh(client), f"v3.{operation}")
        for _ in range(2):
            client.post(operation, body)
        assert found(client) == []
        fresh(client).lose(f"v3.{operation}")
        client.post(operation, body)
        client.sandbox.client("other").post(f"{DOMAINS}/{operation}", json=body)
        assert [rule for rule, *_ in found(client)] == ["lost_answer_ignored"]


def test_a_repeated_order_of_a_premium_name_without_its_price_has_the_price(client: Client) -> None:
    for _ in range(2):
        client.create("copper.com")
    assert found(client) == [("premium_without_price", None, "r1", "r2")]
    assert "20.00" in finding(client).summary
    for _ in range(2):
        fresh(client).create("tin.com")
        assert found(client) == []
    client.create("tin.com", purchaseCost="15.00")
    assert found(client) == []


def test_a_repeated_renewal_is_one_finding_with_its_costs(client: Client) -> None:
    for _ in range(3):
        client.renew("second.com", years=2)
    assert found(client) == [("renewed_twice", "48.00", "r1", "r2", "r3")]
    assert "3 times for 2 years each" in finding(client).summary
    fresh(client).renew("second.com")
    client.send("GET", "/v3/balance")
    client.renew("active.com")
    client.wait("PT50M")
    client.renew("second.com")
    assert found(client) == [("renewed_twice", "12.00", "r1", "r4")]
    assert "within 50 minutes" in finding(client).summary
    fresh(client).sandbox.faults.add("duplicate")
    client.renew("second.com")
    assert found(client) == [("renewed_twice", "12.00", "r1")]


def test_other_renewals_are_not_repetitions(client: Client) -> None:
    """Other names, terms or hours; a renewal that was refused, or failed before it took effect."""
    client.renew("active.com")
    client.renew("second.com")
    client.renew("second.com", years=2)
    client.wait("PT2H")
    client.renew("active.com")
    assert client.renew("second.com", years=9)["error"] == "period_too_long"
    assert found(client) == []
    before(fresh(client), "v3.renewDomain")
    for _ in range(2):
        client.renew("second.com")
    assert found(client) == []


def test_a_renewal_is_repeated_up_to_a_day_after_a_lost_answer(client: Client) -> None:
    for is_lost in (False, True):
        if is_lost:
            fresh(client).lose("v3.renewDomain")
        client.renew("second.com")
        client.wait("PT20H")
        client.renew("second.com")
        assert found(client) == ([("renewed_twice", "12.00", "r1", "r2")] if is_lost else [])
    assert "lost" in finding(client).summary


def test_a_renewal_within_hours_of_an_automatic_renewal_is_a_finding(client: Client) -> None:
    for wait, autorenew in (("P2D", True), ("PT3H", False), ("PT3H", True)):
        fresh(client)
        if not autorenew:
            client.post("disableAutorenew/active.com")
        client.sandbox.clock.set(client.sandbox.names["active.com"].expires)
        client.wait(wait)
        client.renew("active.com")
        expected = (
            [("renewed_after_auto_renewal", "15.00", "r1")] if (wait, autorenew) == ("PT3H", True) else []
        )
        assert found(client) == expected
    assert "for 15.00 USD and" in finding(client).summary
    assert "within 3 hours" in finding(client).summary


def test_five_reads_in_a_row_are_polling(client: Client) -> None:
    """Requests of another account are not between them, and other requests are."""
    clock = client.sandbox.clock
    clock.run()
    for _ in range(4):
        client.get(READ)
    assert found(client) == []
    for _ in range(3):
        client.get(READ)
    assert found(client) == [("polled_without_pause", None, *(f"r{number}" for number in range(1, 8)))]
    assert list(finding(client).domains) == ["second.com"]
    for read in (
        lambda: client.post("checkAvailability", {"domainNames": ["new.com"]}),
        lambda: client.send("GET", "/V2.0/domain/arriving.com/transfer"),
    ):
        fresh(client)
        clock.run()
        for _ in range(5):
            read()
        assert [rule for rule, *_ in found(client)] == ["polled_without_pause"]
    fresh(client)
    clock.run()
    for number in range(8):
        client.send("GET", "/v3/balance")
        client.post("setAuthcode/second.com", {"authCode": f"code-{number}"})
    assert found(client) == []
    for _ in range(5):
        client.get(READ)
        client.sandbox.client("other").get("/v3/balance")
    assert {one.account for one in client.sandbox.advice.list().findings} == {"main", "other"}


def test_a_list_that_is_not_read_to_its_end_is_a_finding(client: Client) -> None:
    """In both forms of the path. Pages of another length are another list."""
    for form in ("/v3/domains?perPage={}&page={}", "/v3/domains/{}/{}"):
        fresh(client)
        for page in (1, 2):
            client.send("GET", form.format(5, page))
        assert found(client) == [("pages_not_followed", None, "r2")]
        assert finding(client).severity == "data"
        assert "up to page 2 of" in finding(client).summary
        assert "page 3" in finding(client).summary
        page = 3
        while page:
            page = client.send("GET", form.format(5, page)).get("nextPage")
        assert found(client) == []
    fresh(client).send("GET", "/v3/domains?perPage=5&page=1")
    client.send("GET", "/v3/domains?perPage=10&page=2")
    assert "5 names a page" in finding(client).summary
    fresh(client).send("GET", "/v3/domains")
    assert found(client) == []


def test_credentials_in_targets_are_one_finding_without_the_secrets(client: Client) -> None:
    key = client.sandbox.account().key
    for _ in range(2):
        client.send("GET", f"/v3/balance?X-SVC-APIKEY={key}&X-SVC-SIGNATURE=f00dfeed")
    assert found(client) == [("credentials_in_query", None, "r1", "r2")]
    assert "f00dfeed" not in str(finding(client))
    fresh(client).send("GET", "/V2.0/domain/second.com?X-Auth-Token=a-token-nobody-has")
    assert ("credentials_in_query", None, "r1") in found(client)
    assert "nobody-has" not in client.sandbox.journal["r1"].request.target


def test_a_name_that_expires_for_lack_of_money_is_a_finding(client: Client) -> None:
    """Also if the name was released since. The last payment before the expiry is its request."""
    world = client.sandbox
    for fate, wait in (
        ("overdue", "P1D"),
        ("redemption", "P31D"),
        ("pending delete", "P61D"),
        ("released", "P100D"),
    ):
        fresh(client).sandbox.outside.adjust_balance("main", to="24.99")
        client.create("new.com")
        world.clock.set(world.names["active.com"].expires)
        client.wait(wait)
        client.send("GET", "/v3/balance")
        assert found(client) == [("auto_renewal_unpaid", None, "r1")]
        one = finding(client)
        assert (one.severity, one.account, list(one.domains)) == ("data", "main", ["active.com"])
        for part in ("for 15.00 USD", "was 14.99 USD", fate):
            assert part in one.summary
    fresh(client).sandbox.outside.adjust_balance("main", to="20.00")
    client.send("GET", "/v3/balance")
    world.clock.set(world.names["active.com"].expires)
    client.wait("P1Y6M")
    client.send("GET", "/v3/balance")
    for part in ("on 2027-", "was 5.00 USD", "released"):
        assert part in finding(client).summary


def test_other_names_that_expire_are_no_finding(client: Client) -> None:
    """With enough money, without renewal, of an unused account, or expired before the world began."""
    world = client.sandbox
    expires = world.names["active.com"].expires
    world.outside.adjust_balance("main", to="25.00")
    client.create("new.com")
    world.clock.set(expires)
    client.send("GET", "/v3/balance")
    assert (world.account().balance, found(client)) == (0, [])
    fresh(client).sandbox.outside.adjust_balance("main", to="1.00")
    client.post("disableAutorenew/active.com")
    world.clock.set(expires)
    client.send("GET", "/v3/balance")
    assert found(client) == []
    fresh(client).send("GET", "/v3/balance")
    client.wait("P2Y")
    client.send("GET", "/v3/balance")
    assert "auto_renewal_unpaid" not in [rule for rule, *_ in found(client)]
    fresh(client).sandbox.outside.adjust_balance("main", to="0.00")
    world.names.add("was-overdue.com", account="main", stage="overdue", autorenew=True)
    client.send("GET", "/v3/balance")
    assert found(client) == []


def test_a_renewal_in_v2_without_the_expiry_is_a_finding(client: Client) -> None:
    for _ in range(2):
        client.renew_v2("second.com")
    assert found(client) == [("renewed_without_guard", None, "r1", "r2")]
    assert "current_expiry_date" in finding(client).instead
    fresh(client).renew_v2("second.com", current_expiry_date=client.expiry("second.com"))
    client.renew("second.com")
    assert found(client) == [("renewed_twice", "12.00", "r2", "r3")]
    fresh(client).lose("v2.transfer.request")
    for _ in range(2):
        client.transfer_v2("theirs.com")
    assert found(client) == [("transfer_repeated", "9.00", "r1", "r2")]
