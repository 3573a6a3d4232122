"""A finding has the rule, the name, the money, the requests and a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.advice.corpus import Client


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    """A client of a new world with a frozen clock."""
    with sandbox.fork() as world:
        yield Client(world)


def findings_of(client: Client) -> list[str]:
    """Return the rule, the amount and the requests of each finding."""
    findings = client.sandbox.advice.list().findings
    return [" ".join([finding.rule, str(finding.amount or "-"), *finding.entries]) for finding in findings]


def finding(client: Client) -> Any:
    (only,) = client.sandbox.advice.list().findings
    return only


def test_a_finding_of_advice_is_the_same_over_http_and_in_python(client: Client) -> None:
    client.do("2 times: renew españa.com")
    (shown,) = client.send("GET", "/_sandbox/advice")["findings"]
    assert (shown["rule"], shown["severity"]) == ("renewed_twice", "money")
    assert (shown["account"], shown["domains"]) == ("main", ["españa.com"])
    assert (shown["amount"], shown["currency"], shown["entries"]) == ("12.00", "USD", ["r1", "r2"])
    assert "españa.com" in shown["summary"]
    assert "12.00 USD" in shown["summary"]
    assert "current_expiry_date" in shown["instead"]
    assert findings_of(client) == ["renewed_twice 12.00 r1 r2"]
    exported, count = client.sandbox.export(), client.sandbox.journal.count()
    client.send("GET", "/_sandbox/advice")
    assert (client.sandbox.export(), client.sandbox.journal.count()) == (exported, count)
    client.sandbox.reset()
    empty = client.send("GET", "/_sandbox/advice")
    assert (empty["findings"], empty["requests"], empty["dropped"]) == ([], 0, 0)


def test_malformed_requests_in_the_journal_do_not_break_advice(client: Client) -> None:
    odd = [
        ("GET", "/v3/domains?perPage=%ff&page=x", b""),
        ("GET", "/v3/domains/0/0", b""),
        ("GET", "/v3/domains/getDomain/%ff?%zz&&=&a=b;c&=&", b""),
        ("POST", "/v3/domains/createDomain", b"[" * 50_000),
        ("POST", "/v3/domains/renewDomain", b'{"domain": {"domainName": "\\ud800"}}'),
        ("PUT", "/V2.0/domain/second.com/renew", b'{"current_expiry_date": {"a": [1]}}'),
        ("PUT", "/V2.0/domain/second.com/renew", b"\xff\x00"),
    ]
    for fault in (None, {"status": 200}, {"error": "internal_error"}):
        client.sandbox.faults.clear()
        client.sandbox.reset()
        if fault is not None:
            client.sandbox.faults.add("error", when={"phase": "before"}, **fault)
        for method, target, body in odd:
            client.sandbox.client().open(target, method=method, data=body)
        rules = {finding.rule for finding in client.sandbox.advice.list().findings}
        assert rules <= {"renewed_without_guard", "keys_ignored"}


UNPAID = "have 24.99, create new.com, to_expiry active.com"

#: A program, its findings with amounts and requests, and words in the summary if there is one finding.
ROWS: tuple[tuple[str, str, str], ...] = (
    # An order that is repeated after a lost answer is a finding. After a known answer it is not.
    ("lose v3.createDomain; 3 times: create new.com", "registration_repeated 10.00 r1 r2 r3", "r1"),
    ("lose v3.requestTransfer; 2 times: transfer theirs.com", "transfer_repeated 9.00 r1 r2", "theirs.com"),
    ("2 times: create new.com", "", ""),
    ("fail v3.createDomain; 2 times: create new.com", "", ""),
    ("lose v3.createDomain, create new.com, other create new.com", "lost_answer_ignored 10.00 r1", ""),
    # Premium names.
    ("2 times: create copper.com", "premium_without_price - r1 r2", "20.00"),
    ("renew second.com purchaseCost=1.00", "price_not_enforced 11.00 r1", "sent 1.00 and paid 12.00"),
    ("create tin.com, create tin.com purchaseCost=15.00", "", ""),
    # Renewals: the same name and term within an hour, or within a day after a lost answer.
    ("3 times: renew second.com years=2", "renewed_twice 48.00 r1 r2 r3", "3 times for 2 years each"),
    (
        "renew second.com, balance, renew active.com, wait PT50M, renew second.com",
        "renewed_twice 12.00 r1 r4",
        "within 50 minutes",
    ),
    ("duplicate, renew second.com", "renewed_twice 12.00 r1", ""),
    ("renew active.com, renew second.com, renew second.com years=2", "", ""),
    ("renew second.com, renew second.com years=9", "", ""),
    ("fail v3.renewDomain; 2 times: renew second.com", "", ""),
    ("renew second.com, wait PT20H, renew second.com", "", ""),
    (
        "lose v3.renewDomain, renew second.com, wait PT20H, renew second.com",
        "renewed_twice 12.00 r1 r2",
        "lost",
    ),
    ("learn_expiry second.com, renew_guarded second.com, renew second.com", "renewed_twice 12.00 r2 r3", ""),
    (
        "to_expiry active.com, wait PT3H, renew active.com",
        "renewed_after_auto_renewal 15.00 r1",
        "for 15.00 USD and;within 3 hours",
    ),
    ("post disableAutorenew/active.com, to_expiry active.com, wait PT3H, renew active.com", "", ""),
    # Five reads in a row without a pause. Requests of another account do not interrupt the row.
    ("run_the_clock; 6 times: look second.com", "polled_without_pause - r1 r2 r3 r4 r5 r6", "second.com"),
    ("run_the_clock; 3 times: balance; wait PT3S; 2 times: balance", "", ""),
    ("run_the_clock; 8 times: balance, set_code second.com {n}", "", ""),
    (
        "run_the_clock; 5 times: look second.com, other balance",
        "polled_without_pause - r1 r3 r5 r7 r9; polled_without_pause - r2 r4 r6 r8 r10",
        "",
    ),
    (
        "run_the_clock; 5 times: balance; 2 times: renew second.com; 2 times: renew held.com.ua",
        "polled_without_pause - r1 r2 r3 r4 r5; renewed_twice 12.00 r6 r7; renewed_twice 7.00 r8 r9",
        "",
    ),
    # A list that is not read to its end.
    ("page 5 1, page 5 2", "pages_not_followed - r2", "up to page 2 of;page 3"),
    ("page 5 1, page 10 2", "pages_not_followed - r1", "5 names a page"),
    ("lose v3.listDomains, page 5 1", "", ""),
    # A name that expires for lack of money.
    (f"{UNPAID}, wait P1D, balance", "auto_renewal_unpaid - r1", "15.00 USD are;14.99 USD;overdue"),
    (f"{UNPAID}, wait P100D, balance", "auto_renewal_unpaid - r1", "released"),
    (
        "have 20.00, balance, to_expiry active.com, wait P1Y6M, balance",
        "auto_renewal_unpaid - r1",
        "on 2027-;balance is 5.00 USD;released",
    ),
    ("have 1.00, post disableAutorenew/active.com, to_expiry active.com, balance", "", ""),
    ("have 0.00, add_overdue was-overdue.com, balance", "", ""),
)


def test_advice_finds_the_mistakes_of_a_client_with_the_wasted_amounts(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    for program, findings, words in ROWS:
        with subtests.test(program), sandbox.fork() as world:
            client = Client(world)
            client.do(program)
            assert "; ".join(findings_of(client)) == findings
            if words:
                only = finding(client)
                text = f"{only.summary} {' '.join(only.domains)}"
                assert [part for part in words.split(";") if part not in text] == []


def test_a_finding_of_advice_has_the_severity_of_its_rule(client: Client) -> None:
    client.do("page 5 1; 2 times: renew second.com; renew active.com year=1")
    severities = {finding.rule: finding.severity for finding in client.sandbox.advice.list().findings}
    assert severities == {"pages_not_followed": "data", "renewed_twice": "money", "keys_ignored": "risk"}


def test_credentials_in_query_strings_give_one_finding_without_the_secrets(client: Client) -> None:
    key = client.sandbox.accounts["main"].key
    client.do(f"2 times: send GET /v3/balance?X-SVC-APIKEY={key}&X-SVC-SIGNATURE=f00dfeed")
    assert findings_of(client) == ["credentials_in_query - r1 r2"]
    assert "f00dfeed" not in str(finding(client))
    client.send("GET", "/V2.0/domain/second.com?X-Auth-Token=a-token-nobody-has")
    assert "credentials_in_query - r1 r2 r3" in findings_of(client)
    assert "nobody-has" not in client.sandbox.journal["r3"].request.target
