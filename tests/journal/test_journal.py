"""The journal has every request with its result, in parts that can be searched."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.clients import Api
from tests.command import run
from tests.connection import Connection
from tests.registry import REGISTRY
from tests.waiting import wait_until
from tests.worlds.control import Control, control, inside, money_of, over_socket, register, renew


def ids(sandbox: Sandbox, **sought: Any) -> str:
    return " ".join(entry.id for entry in sandbox.journal.list(**sought).requests)


@pytest.fixture
def lived(sandbox: Sandbox) -> Sandbox:
    """A world with eight requests of two accounts, a day apart after the third."""
    main, other = inside(sandbox), inside(sandbox, "other")
    money_of(main)
    register(main, "a.com")
    register(main, "a.com")
    sandbox.clock.advance("1d")
    money_of(other)
    other.get("/v3/domains/getDomain/active.com")
    renew(main, "xn--espaa-rta.com")
    main.get("/v3/nowhere")
    main.post("/v3/domains/createDomain", b"{")
    return sandbox


def test_each_filter_finds_exactly_its_requests(lived: Sandbox) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "r1 r2 r3 r4 r5 r6 r7 r8"),
        ({"operation": "v3.createDomain"}, "r2 r3 r8"),
        ({"operation": "-"}, "r7"),
        ({"domain": "españa.com"}, "r6"),
        ({"outcome": "ok"}, "r1 r2 r4 r6"),
        ({"outcome": "refused"}, "r3 r5 r7 r8"),
        ({"outcome": "404"}, "r5 r7"),
        ({"outcome": "4xx"}, "r3 r5 r7 r8"),
        ({"since": "r4"}, "r5 r6 r7 r8"),
        ({"since": "2026-03-02T12:00:00Z"}, "r4 r5 r6 r7 r8"),
        ({"since": "2026-03-02T12:00:01Z"}, ""),
        ({"until": "2026-03-01T12:00:00Z"}, "r1 r2 r3"),
        ({"text": "España"}, "r6"),
        ({"text": "/v3/NOWHERE"}, "r7"),
        ({"text": "is already registered"}, "r3"),
        ({"text": '"domainName": "a.com"'}, "r2 r3"),
        ({"text": "totalpaid", "account": "main"}, "r2 r6"),
        ({"text": "main-secret"}, ""),
        ({"before": lived.journal["r3"].number}, "r1 r2"),
        ({"limit": 2}, "r7 r8"),
        ({"account": "main", "outcome": "ok", "limit": 1}, "r6"),
    ]
    assert [(sought, ids(lived, **sought)) for sought, _ in cases] == cases
    answer = control(lived).get("journal", outcome="404", limit=1)
    assert ([row["id"] for row in answer["requests"]], answer["matching"], answer["kept"]) == (["r7"], 2, 8)
    assert (answer["first"], answer["last"]) == ("r5", "r7")
    older = control(lived).get("journal", outcome="404", before=answer["requests"][0]["number"])
    assert ([row["id"] for row in older["requests"]], older["matching"]) == (["r5"], 2)
    with lived.journal.follow(text="active.com", since="r0") as following:
        assert next(following).id == "r5"
    words = "outcome=nam_taken outcome=99 since=yesterday since=r limit=-1 limit=x colour=red carried_out=yes"
    for query in words.split():
        assert control(lived).refused("GET", f"journal?{query}")[:2] == (400, "invalid_parameter"), query


def test_the_journal_is_bounded_and_can_be_cleared() -> None:
    """The oldest requests are dropped and counted. Clearing changes nothing else."""
    sandbox = Sandbox(REGISTRY, journal=3)
    steer, api = control(sandbox), inside(sandbox)
    for number in range(5):
        register(api, f"n{number}.com")
    answer = steer.get("journal")
    assert ([row["id"] for row in answer["requests"]], answer["dropped"]) == (["r3", "r4", "r5"], 2)
    verdict = steer.post("journal/verify", {"match": {"operation": "v3.renewDomain"}})
    assert "dropped 2 older" in verdict["message"]
    code, message = steer.refused("GET", "journal/r2")[1:]
    assert (code, "keeps the latest 3 requests" in message) == ("unknown_request", True)
    assert steer.delete("journal") == {"cleared": 3}
    assert steer.get("journal")["requests"] == []
    assert steer.refused("GET", "journal/r5")[:2] == (404, "unknown_request")
    assert money_of(api) == "9950.00"


def test_the_journal_of_a_world_has_only_api_requests_to_the_world(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    """A prefix or credentials select the world, even if the request is refused."""
    steer.post("clock/advance", {"by": "1d"})
    assert steer.call("GET", "nothing").status == 404
    with sandbox.fork(name="mine") as fork:
        money_of(inside(fork))
        main.send("GET", "/_worlds/mine/v3/nothing", [])
        main.send(
            "GET", "/v3/balance", [("X-SVC-APIKEY", fork.accounts["main"].key), ("X-SVC-SIGNATURE", "0")]
        )
        rows = control(sandbox, "mine").get("journal")["requests"]
        assert [row["outcome"] for row in rows] == ["ok", "unknown_path", "signature_mismatch"]
    assert steer.get("journal")["kept"] == 0


def test_the_journal_is_exported_as_har_and_as_ndjson(lived: Sandbox, tmp_path: Path) -> None:
    lines = lived.journal.export(format="ndjson", account="main").text.splitlines()
    whole = control(lived).get("journal", account="main")["requests"]
    assert [json.loads(line) for line in lines] == whole
    archive = json.loads(lived.journal.export(text="a.com", until="2026-03-01T12:00:00Z").text)
    first, second = archive["log"]["entries"]
    assert (first["request"]["method"], second["response"]["status"], second["_request"]) == (
        "POST",
        409,
        "r3",
    )
    assert first["request"]["url"].endswith("/v3/domains/createDomain")
    assert json.loads(first["request"]["postData"]["text"])["domain"] == {"domainName": "a.com"}
    assert json.loads(second["response"]["content"]["text"])["error"] == "name_taken"
    with over_socket(lived) as (url, _):
        for form in ("har", "ndjson"):
            done = run("journal", "export", "--format", form, "--url", url)
            assert done.out == lived.journal.export(format=form).text


BEFORE: dict[str, Any] = {"phase": "before"}
AFTER: dict[str, Any] = {"phase": "after"}

#: A fault, whether a registration is carried out, and its outcome.
FAULTS: list[tuple[dict[str, Any], bool, str]] = [
    ({"kind": "error", "error": "insufficient_funds", "when": BEFORE}, False, "insufficient_funds"),
    ({"kind": "error", "error": "insufficient_funds", "when": AFTER}, True, "insufficient_funds"),
    ({"kind": "error", "status": 502, "when": BEFORE}, False, "fault"),
    ({"kind": "error", "status": 200, "body": {"result": "fine"}, "when": BEFORE}, False, "fault"),
    ({"kind": "error", "status": 502, "when": AFTER}, True, "fault"),
    ({"kind": "rate_limit", "limit": 0}, False, "rate_limited"),
    *(({"kind": kind, "when": BEFORE}, False, "fault") for kind in ("hang", "reset", "close", "garbage")),
    *(({"kind": kind, "when": AFTER}, True, "fault") for kind in ("hang", "reset", "close", "garbage")),
    ({"kind": "truncate"}, True, "fault"),
    ({"kind": "latency", "seconds": 0.01, "when": BEFORE}, True, "ok"),
    ({"kind": "latency", "seconds": 0.01, "when": AFTER}, True, "ok"),
    ({"kind": "drip", "size": 1000, "pause": 0}, True, "ok"),
    ({"kind": "bandwidth", "rate": 10**6}, True, "ok"),
    ({"kind": "mutate", "path": "totalPaid", "drop": True}, True, "ok"),
    ({"kind": "duplicate"}, True, "ok"),
    ({"kind": "duplicate", "answer": "second"}, True, "name_taken"),
]


#: The effects of kinds of faults on the response. All others alter it.
EFFECTS = {
    **dict.fromkeys(("error", "rate_limit"), "injected"),
    **dict.fromkeys(("hang", "reset", "close", "garbage", "truncate"), "lost"),
    **dict.fromkeys(("latency", "drip", "bandwidth"), "delayed"),
}


def attempt(sandbox: Sandbox, name: str) -> None:
    with suppress(OSError, HTTPException):
        register(inside(sandbox), name)


def test_only_a_request_with_effect_and_answer_has_the_outcome_ok(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    journal = sandbox.journal
    for number, (fault, carried_out, outcome) in enumerate(FAULTS):
        with subtests.test(**fault):
            name, kind = f"new{number}.com", str(fault["kind"])
            sandbox.faults.replace([fault])
            journal.clear()
            attempt(sandbox, name)
            sandbox.faults.clear()
            assert (name in {row.name for row in sandbox.names.list(limit=1000).names}) is carried_out
            (entry,) = journal.list().requests
            assert (entry.carried_out, entry.outcome, entry.fault) == (carried_out, outcome, kind)
            assert entry.fault_effects == (EFFECTS.get(kind, "altered"),)
            filters = ({"outcome": outcome}, {"carried_out": carried_out}, {"fault": f"{kind[:2]}*"})
            assert [journal.count(**query) for query in filters] == [1, 1, 1]
            assert journal.count(carried_out=not carried_out) == journal.count(fault="other") == 0
            is_refused = outcome not in ("ok", "fault")
            for key, value, expected in (
                ("outcome", "ok", outcome == "ok"),
                ("outcome", "refused", is_refused),
                ("carried_out", True, carried_out),
            ):
                assert journal.verify(match={key: value}).verified is expected


def test_a_journal_entry_has_the_result_and_the_fault_of_a_request(sandbox: Sandbox, main: Api) -> None:
    """A read with a stale answer was carried out. A refusal with a lost answer keeps its explanation."""
    register(main, "new.com")
    sandbox.faults.add("stale")
    assert main.get("/v3/domains/getDomain/new.com").error == "domain_not_found"
    assert main.get("/v3/balance").status == 200
    sandbox.faults.replace([{"kind": "reset", "when": AFTER}])
    attempt(sandbox, "active.com")
    entries = sandbox.journal.list().requests
    assert [(entry.carried_out, entry.outcome, entry.fault) for entry in entries] == [
        (True, "ok", None),
        (False, "domain_not_found", "stale"),
        (True, "ok", "stale"),
        (False, "fault", "reset"),
    ]
    assert entries[-1].refusal
    assert entries[-1].refusal.rule == "name_taken"


A, HOST = b"GET /a HTTP/1.1\r\n", b"Host: toy\r\n"
POST = b"POST /a HTTP/1.1\r\n" + HOST

#: The bytes of a request, and the status, the method and the target in its entry.
UNREADABLE = {
    "no http": (b"nonsense\r\n\r\n", 400, "nonsense", ""),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "", ""),
    "a space in the target": (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "GET", "/a b"),
    "a control character": (b"GET /a\x01b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "GET", "/a%01b"),
    "a header without a colon": (A + b"X-Token tell-nobody\r\n\r\n", 400, "GET", "/a"),
    "a header with a space": (A + b"X-Token : tell-nobody\r\n\r\n", 400, "GET", "/a"),
    "a bad length": (POST + b"Content-Length: x\r\n\r\n", 400, "POST", "/a"),
    "a bad chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\nno", 400, "POST", "/a"),
    "a long target": (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", 414, "GET", "/" + "a" * 20_000),
    "a long head": (A + b"X-Long: " + b"a" * 100_000, 431, "GET", "/a"),
    "half a head": (A + b"Host", 0, "GET", "/a"),
    "half a body": (POST + b"Content-Length: 9\r\n\r\nhalf", 0, "POST", "/a"),
}


def latest(sandbox: Sandbox, number: int) -> list[str]:
    """Wait until the journal has so many requests, and return the names of all."""
    wait_until(lambda: sandbox.journal.count() >= number)
    return [entry.id for entry in sandbox.journal.list().requests]


def test_an_unreadable_request_gets_an_answer_and_a_journal_entry(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    with sandbox.serve() as server:
        for number, (case, (sent, status, method, target)) in enumerate(UNREADABLE.items(), start=1):
            with subtests.test(case), Connection.to(server.url) as client:
                client.send(sent)
                client.end()
                answer = client.piece()
                assert not status or answer.startswith(b"HTTP/1.1 %d " % status)
                assert case != "tls" or b"use http://" in answer
                entry = sandbox.journal[latest(sandbox, number)[-1]]
                assert (entry.status, entry.request.method, entry.request.target) == (status, method, target)
                error = entry.answer.body["error"] if status else "incomplete_request"
                assert (entry.operation, entry.outcome) == ("-", error)
                assert sandbox.journal.list(outcome=error, limit=1).requests[0].id == entry.id
                assert "tell-nobody" not in str(entry)
                assert entry.refusal
                assert not status or entry.answer.body["message"] in entry.refusal.message


def test_a_request_over_the_connection_limit_gets_a_journal_entry() -> None:
    sandbox = Sandbox(REGISTRY, max_connections=1)
    with sandbox.serve() as server:
        with Connection.to(server.url), Connection.to(server.url) as client:
            client.send(A + HOST + b"\r\n")
            assert client.head()[0] == 503
        (name,) = latest(sandbox, 1)
    assert (sandbox.journal[name].status, sandbox.journal[name].request.target) == (503, "/a")


def test_an_unreadable_request_does_not_get_headers_of_the_previous_request(sandbox: Sandbox) -> None:
    """A connection without a request has no entry."""
    with sandbox.serve() as server:
        Connection.to(server.url).close()
        with Connection.to(server.url) as client:
            client.send(
                b"GET /v3/balance HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nX-Own: 1\r\nbad\r\n\r\n"
            )
            client.rest()
        latest(sandbox, 2)
    first, second = sandbox.journal.list().requests
    assert (first.operation, second.operation) == ("v3.balance", "-")
    assert dict(second.request.headers) == {"X-Own": "1", "bad": ""}


@pytest.mark.parametrize("way", ["in process", "over HTTP"])
def test_counts_include_dropped_requests_or_are_refused(way: str) -> None:
    """No count is confirmed that a dropped request could change."""
    with Sandbox(REGISTRY, journal=5) as local:
        api = inside(local)
        register(api, "one.com")
        register(api, "one.com")
        for _ in range(20):
            money_of(api)
        with ExitStack() as stack:
            sandbox = local if way == "in process" else stack.enter_context(connect(local.url))
            journal = sandbox.journal
            created = "v3.createDomain"
            assert journal.count(operation=created) == 2
            assert journal.count(operation=created, outcome="ok") == 1
            assert journal.count(operation=created, carried_out=False, changed=False, account="main") == 1
            assert journal.count() == 22
            assert journal.count(operation="v3.renewDomain", domain="one.com") == 0
            assert journal.count(domain="one.com", since="r20") == 0
            journal.expect(times=2, operation=created)
            journal.expect(times=20, operation="v3.balance", outcome="ok")
            for bounds in ({"times": 0}, {"times": 1}, {"at_most": 1}, {"at_least": 3}):
                with pytest.raises(AssertionError, match=r"2 came \(the journal has dropped 17"):
                    journal.expect(**bounds, operation=created)
            for bounds in ({"times": 0}, {"times": 1}, {"at_most": 1}, {"at_least": 1}):
                with pytest.raises(Refused, match=r"requests_dropped: .* latest 5 requests .* dropped 17"):
                    journal.expect(**bounds, operation=created, domain="one.com")
            with pytest.raises(AssertionError, match="at least 3 expected, 0 came"):
                journal.expect(at_least=3, operation=created, domain="one.com")
            with pytest.raises(Refused, match="requests_dropped"):
                journal.count(domain="one.com")
            with pytest.raises(Refused, match="requests_dropped: The order of these requests is unknown"):
                journal.expect_in_order({"operation": created}, {"operation": "v3.balance"})
            journal.expect_in_order({"operation": "v3.balance"}, {"operation": "v3.balance"})
            with pytest.raises(AssertionError, match="request number 1 did not come"):
                journal.expect_in_order({"operation": "v3.renewDomain"})
            assert journal.list(operation=created).dropped_matching == 2
            assert journal.list(text="one.com").dropped_matching is None
            refused = control(local).refused("POST", "journal/verify", {"match": {"domain": "*"}, "times": 0})
            assert refused[:2] == (409, "requests_dropped")
            point = journal.list(limit=1).requests[0].id
            sandbox.rewind(point)
            assert journal.count() == 21
            sandbox.journal.clear()
            assert journal.count() == 0


def test_a_path_that_no_request_can_have_is_refused(subtests: pytest.Subtests) -> None:
    """In an expectation of no request, in a fault and in a scheduled action, it would never match."""
    wrong = (
        ("v3/balance", "must begin with / or *"),
        ("https://api.example.test/v3/balance", "must begin with / or *"),
        ("/v3/domains?page=2", "must be without a query"),
    )
    with Sandbox() as sandbox:
        for path, problem in wrong:
            for use in (
                lambda path: sandbox.journal.expect(path=path, times=0),
                lambda path: sandbox.faults.add("reset", match={"path": path}),
                lambda path: sandbox.simulate.when(after={"path": path}).drop("active-example.com"),
            ):
                with subtests.test(path=path), pytest.raises(Refused, match=re.escape(problem)):
                    use(path)
        sandbox.client().get("/v3/balance")
        for path in ("/v3/balance", "*balance", "?v3?balance"):
            sandbox.journal.expect(path=path, times=1)


def test_a_failed_expectation_says_that_the_journal_of_its_world_is_empty() -> None:
    with Sandbox() as sandbox, sandbox.fork() as other:
        other.client().get("/v3/balance")
        with pytest.raises(AssertionError, match="1 expected, 0 came; the journal of this world is empty"):
            sandbox.journal.expect(operation="v3.balance", times=1)
        with pytest.raises(AssertionError, match="exactly 2 expected, 1 came\n"):
            other.journal.expect(operation="v3.balance", times=2)
