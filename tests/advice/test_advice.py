"""Advice as a whole: what it looks for, what it says, and that it has nothing to say of a good client."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.advice.rules import RULES
from tests import tour
from tests.advice.conftest import Advice
from tests.clients import Api, Socket

DOMAINS = "/v3/domains"


def test_the_answer_lists_what_is_looked_for(wire: Api) -> None:
    """Every rule says what it is and what to do instead, also where nothing was found."""
    answer = wire.send("GET", "/_sandbox/advice", []).json
    assert answer["findings"] == []
    assert (answer["requests"], answer["dropped"]) == (0, 0)
    assert [one["rule"] for one in answer["looked_for"]] == [rule.name for rule in RULES]
    assert len({one["rule"] for one in answer["looked_for"]}) >= 6
    assert all(one["about"] and one["instead"] for one in answer["looked_for"])
    assert {one["severity"] for one in answer["looked_for"]} == {"money", "data", "risk"}


def test_a_finding_says_what_happened_and_what_to_do(wire: Api, advice: Advice) -> None:
    """It names the rule, the account, the name, the money and the requests, and the journal has these."""
    first, second = (wire.post(f"{DOMAINS}/renewDomain/second.com") for _ in range(2))
    (found,) = advice()
    assert found["rule"] == "renewed_twice"
    assert found["severity"] == "money"
    assert (found["account"], found["domains"]) == ("main", ["second.com"])
    assert (found["amount"], found["currency"]) == ("12.00", "USD")
    assert found["entries"] == [answer.headers["x-sandbox-request"] for answer in (first, second)]
    assert "second.com" in found["summary"]
    assert "12.00 USD" in found["summary"]
    assert "current_expiry_date" in found["instead"]


def test_names_are_written_in_unicode(wire: Api, advice: Advice) -> None:
    """As people write them."""
    for _ in range(2):
        assert wire.post(f"{DOMAINS}/renewDomain/espa%C3%B1a.com").status == 200
    (found,) = advice("renewed_twice")
    assert found["domains"] == ["españa.com"]
    assert "españa.com" in found["summary"]


def test_asking_changes_nothing_and_says_the_same_again(served: Sandbox, wire: Api, advice: Advice) -> None:
    """Advice is no request of the world's: it is not in the journal, and the state stays as it is."""
    for _ in range(2):
        wire.post(f"{DOMAINS}/renewDomain/second.com")
    before, entries = served.world.state, len(served.world.journal)
    assert advice() == advice()
    assert served.world.state is before
    assert len(served.world.journal) == entries


def test_findings_come_in_the_order_of_the_requests(served: Sandbox, wire: Api, advice: Advice) -> None:
    """Whichever rule found them."""
    served.clock.run()
    for _ in range(5):
        wire.get("/v3/balance")
    for name in ("second.com", "held.com.ua"):
        for _ in range(2):
            wire.post(f"{DOMAINS}/renewDomain/{name}")
    found = [(one["rule"], *one["domains"]) for one in advice()]
    assert found == [
        ("polled_without_pause",),
        ("renewed_twice", "second.com"),
        ("renewed_twice", "held.com.ua"),
    ]


def test_a_rewind_takes_the_advice_with_it(served: Sandbox, wire: Api, advice: Advice) -> None:
    """What was undone has cost nothing."""
    for _ in range(2):
        wire.post(f"{DOMAINS}/renewDomain/second.com")
    assert advice()
    served.reset()
    assert advice() == []


def test_the_same_from_python(sandbox: Sandbox) -> None:
    """``Sandbox.advice.list().findings`` finds what the interface shows, with amounts as decimals."""
    client = sandbox.client("main")
    for _ in range(2):
        client.post(f"{DOMAINS}/renewDomain/second.com")
    (found,) = sandbox.advice.list().findings
    (shown,) = client.get("/_sandbox/advice").json["findings"]
    assert (found.rule, str(found.amount), list(found.entries)) == (
        shown["rule"],
        shown["amount"],
        shown["entries"],
    )


def test_a_good_client_gets_no_advice(served: Sandbox, wire: Api, other_wire: Api, advice: Advice) -> None:
    """A tour of the whole interface, with refusals met once and waits that move the clock."""
    wire.get("/v3/balance")
    wire.post(f"{DOMAINS}/checkAvailability", {"domainNames": ["tour.com", "gold.com", "second.com"]})
    wire.post(f"{DOMAINS}/createDomain", {"domain": {"domainName": "tour.com"}, "years": 2})
    assert wire.post(f"{DOMAINS}/createDomain", {"domain": {"domainName": "tour.com"}}).error == "name_taken"
    silver = {"domainName": "nic.com"}
    wire.post(f"{DOMAINS}/createDomain", {"domain": silver})
    wire.post(f"{DOMAINS}/renewDomain", {"domain": {"domainName": "tour.com"}})
    wire.post(f"{DOMAINS}/renewDomain", {"domain": {"domainName": "second.com"}})
    for switch in ("lock", "unlock", "lockTransfer", "unlockTransfer", "enableAutorenew"):
        wire.post(f"{DOMAINS}/{switch}/tour.com")
    wire.post(f"{DOMAINS}/glueRecords/tour.com", {"hostname": "ns1", "ips": ["192.0.2.1"]})
    wire.post(f"{DOMAINS}/setNameservers/tour.com", {"nameservers": ["ns1.tour.com", "ns2.home.net"]})
    page = 1
    while page:
        page = wire.get(f"{DOMAINS}?perPage=5&page={page}").json.get("nextPage")
    wanted = {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"}
    assert wire.post(f"{DOMAINS}/requestTransfer", wanted).status == 200
    for _ in range(6):
        wire.get(f"{DOMAINS}/getDomain/theirs.com")
        served.clock.advance("P1D")
    other_wire.get(f"{DOMAINS}/getDomain/theirs.com")
    served.clock.advance("P3Y")
    wire.get(f"{DOMAINS}/getDomain/tour.com")
    assert advice() == []


def test_the_tour_gets_no_advice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Three years in the life of a name, in the packaged fixture."""
    with Sandbox().serve() as server:
        monkeypatch.setattr(tour, "URL", server.url)
        tour.main()
        socket = Socket(server.url)
        answer = socket("GET", "/_sandbox/advice", [], b"").json
        socket.close()
    assert answer["requests"] > 10
    assert answer["findings"] == []


ODD = [
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


@pytest.mark.parametrize("fault", [None, {"status": 200}, {"error": "internal_error"}], ids=str)
def test_nothing_in_the_journal_makes_it_fail(sandbox: Sandbox, fault: dict[str, Any] | None) -> None:
    """However odd a request, and whatever it was answered."""
    client = sandbox.client()
    if fault is not None:
        sandbox.faults.add("error", when={"phase": "before"}, **fault)
    for method, target, body in ODD:
        client.open(target, method=method, data=body)
    assert client.get("/_sandbox/advice").status_code == 200
    assert {one.rule for one in sandbox.advice.list().findings} <= {"renewed_without_guard", "keys_ignored"}
