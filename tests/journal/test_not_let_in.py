"""Requests that match nothing, are not let in, or cannot be read: each has its entry, and no secret in it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.server.problem import MAX_HEAD, MAX_TARGET
from reseller_sandbox.server.server import LoggedRequest, Server
from reseller_sandbox.web.app import UNREAD
from tests.clients import JSON, Api
from tests.worlds.control import Control, control

SECRETS = {
    "Authorization": "Bearer tell-nobody-1",
    "Proxy-Authorization": "Basic tell-nobody-2",
    "Cookie": "session=tell-nobody-3",
    "X-Token": "tell-nobody-4",
    "X-ACME-SIGNATURE": "tell-nobody-5",
    "X-Password": "tell-nobody-6",
    "X-Note": '{"secret": "tell-nobody-7"}',
}


@pytest.mark.parametrize(
    ("method", "target", "sent", "operation", "outcome"),
    [
        ("GET", "/v3/balanse", {}, "-", "unknown_path"),
        ("POST", "/v3/balance", {}, "-", "method_not_allowed"),
        ("GET", "/robots.txt", {}, "-", "unknown_path"),
        ("GET", "/_worlds/nowhere/v3/balance", {}, "v3.balance", "unknown_world"),
        ("GET", "/v3/balance", {}, "v3.balance", "credentials_missing"),
        ("GET", "/v3/balance", {"X-SVC-APIKEY": "no", "X-SVC-SIGNATURE": "0"}, "v3.balance", "unknown_key"),
        (
            "GET",
            "/v3/balance",
            {"X-SVC-APIKEY": "main-key", "X-SVC-SIGNATURE": "0"},
            "v3.balance",
            "signature_mismatch",
        ),
        ("GET", "/V2.0/customer/1", {}, "v2.customer.info", "token_missing"),
        ("GET", "/V2.0/customer/1", {"X-Auth-Token": "no"}, "v2.customer.info", "unknown_token"),
        ("GET", "/V9.0/customer/1", {"X-Auth-Token": "no"}, "v2.customer.info", "version_not_served"),
        ("GET", "/V2.0/customers", {}, "-", "unknown_path"),
    ],
)
def test_a_request_that_was_not_let_in_has_its_entry_with_its_headers(
    main: Api, steer: Control, method: str, target: str, sent: dict[str, str], operation: str, outcome: str
) -> None:
    """In the default world's journal where no other is known; the secrets in its headers are masked."""
    answer = main.send(method, target, [*(SECRETS | sent).items()])
    (entry,) = steer.get("journal")["requests"]
    assert entry["id"] == answer.headers["x-sandbox-request"]
    assert (entry["operation"], entry["outcome"], entry["status"]) == (operation, outcome, answer.status)
    assert (entry["request"]["method"], entry["request"]["target"]) == (method, target)
    headers = {name.lower(): value for name, value in entry["request"]["headers"].items()}
    assert {name.lower() for name in SECRETS | sent} <= set(headers)
    assert "tell-nobody" not in str(entry)
    assert entry["refusal"]["rule"] == outcome


def test_a_request_that_was_let_in_keeps_its_headers_too(main: Api, steer: Control, sandbox: Sandbox) -> None:
    """They can be matched, and hold no secret."""
    main.get("/v3/balance")
    (entry,) = steer.get("journal")["requests"]
    assert entry["request"]["headers"]["X-Svc-Apikey"] == "ma***ey"
    assert entry["request"]["headers"]["X-Svc-Signature"] == "***"


def test_headers_are_kept_within_bounds(main: Api, sandbox: Sandbox) -> None:
    """However many there are and however long."""
    main.send("GET", "/nowhere", [(f"X-Many-{number}", "a" * 5000) for number in range(300)])
    (entry,) = sandbox.world.journal.entries
    assert 0 < sum(len(name) + len(value) for name, value in entry.headers) < 16_000


def test_a_request_of_a_known_world_stands_in_its_journal_alone(main: Api, sandbox: Sandbox) -> None:
    """Be it known by the path or by the credentials."""
    with sandbox.fork(name="mine") as fork:
        key = fork.account().key
        main.send("GET", "/_worlds/mine/v3/nothing", [])
        main.send("GET", "/v3/balance", [("X-SVC-APIKEY", key), ("X-SVC-SIGNATURE", "0")])
        assert [entry.outcome for entry in fork.world.journal] == ["unknown_path", "signature_mismatch"]
        assert not sandbox.world.journal.entries


def test_control_is_not_in_the_journal(steer: Control, sandbox: Sandbox) -> None:
    """Neither what it does nor what it does not know."""
    steer.get("health")
    assert steer.call("GET", "nothing").status == 404
    assert not sandbox.world.journal.entries


def test_such_requests_can_be_looked_for(main: Api, steer: Control) -> None:
    """By their outcome, and by a dash for the operation of those that match nothing."""
    main.send("GET", "/v3/balanse", [])
    main.send("GET", "/v3/balance", [])
    assert steer.get("journal", operation="-")["matching"] == 1
    assert steer.get("journal", outcome="credentials_missing")["matching"] == 1


# What the server cannot read

HOST = b"Host: toy\r\n"
UNREADABLE = {
    "no http": (b"nonsense\r\n\r\n", 400, "nonsense", ""),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "", ""),
    "a space in the target": (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "GET", "/a b"),
    "a control character": (b"GET /a\x01b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "GET", "/a%01b"),
    "a header without a colon": (b"GET /a HTTP/1.1\r\nX-Token tell-nobody\r\n\r\n", 400, "GET", "/a"),
    "a header with a space": (b"GET /a HTTP/1.1\r\nX-Token : tell-nobody\r\n\r\n", 400, "GET", "/a"),
    "a bad length": (b"POST /a HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n", 400, "POST", "/a"),
    "a bad chunk": (
        b"POST /a HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nno",
        400,
        "POST",
        "/a",
    ),
    "a long target": (
        b"GET /" + b"a" * MAX_TARGET + b" HTTP/1.1\r\n\r\n",
        414,
        "GET",
        "/" + "a" * MAX_TARGET,
    ),
    "a long head": (b"GET /a HTTP/1.1\r\nX-Long: " + b"a" * (MAX_HEAD + 1), 431, "GET", "/a"),
    "half a head": (b"GET /a HTTP/1.1\r\nHost", 0, "GET", "/a"),
    "half a body": (b"POST /a HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nhalf", 0, "POST", "/a"),
    "too many": (b"GET /a HTTP/1.1\r\n" + HOST + b"\r\n", 503, "GET", "/a"),
}


@contextmanager
def listening(sandbox: Sandbox, **options: Any) -> Iterator[tuple[Server, Queue[LoggedRequest]]]:
    """The sandbox on a port, and the lines of its log."""
    lines: Queue[LoggedRequest] = Queue()
    when_unread = sandbox.app.extensions[UNREAD]
    with Server(sandbox.app, port=0, log=lines.put, when_unread=when_unread, **options) as server:
        yield server, lines


@pytest.mark.parametrize(("sent", "status", "method", "target"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_has_its_line_in_the_log_and_its_entry_in_the_journal(
    sandbox: Sandbox, sent: bytes, status: int, method: str, target: str
) -> None:
    """With as much of it as can be told, and no secret."""
    limit = {"limit_connections": 1} if status == 503 else {}
    with listening(sandbox, **limit) as (server, lines):
        held = [socket.create_connection((server.host, server.port), timeout=60)] if limit else []
        with socket.create_connection((server.host, server.port), timeout=60) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            if status:
                assert client.recv(65536).startswith(b"HTTP/1.1 %d " % status)
        line = lines.get(timeout=60)
        for one in held:
            one.close()
    assert lines.empty()
    (entry,) = sandbox.world.journal.entries
    assert (entry.status, entry.method, entry.target) == (status, method, target)
    assert (line.status, line.method, line.target) == (status, method or "-", target or "-")
    shown = control(sandbox).get(f"journal/{entry.id}")
    answered = shown["answer"]["body"]["error"] if status else "incomplete_request"
    assert (entry.operation, entry.outcome) == ("-", answered), "journal and client are told one word"
    found = control(sandbox).get(f"journal?outcome={answered}")["requests"]
    assert [one["id"] for one in found] == [entry.id]
    assert "tell-nobody" not in str((shown, line))
    assert not status or shown["answer"]["body"]["message"] in shown["refusal"]["message"]


def test_what_cannot_be_read_follows_what_could(sandbox: Sandbox) -> None:
    """In the journal as on the connection, and with its own headers."""
    with listening(sandbox) as (server, lines):
        with socket.create_connection((server.host, server.port), timeout=60) as client:
            client.sendall(
                b"GET /v3/balance HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nX-Own: 1\r\nbad\r\n\r\n"
            )
            while client.recv(65536):
                pass
        assert {lines.get(timeout=60).target for _ in range(2)} == {"/v3/balance", "/b"}
    first, second = sandbox.world.journal.entries
    assert (first.operation, second.operation) == ("v3.balance", "-")
    assert second.headers == (("X-Own", "1"), ("bad", ""))


def test_a_connection_that_says_nothing_is_no_request(sandbox: Sandbox) -> None:
    """Nor is one that is kept after its answer."""
    with listening(sandbox) as (server, lines):
        socket.create_connection((server.host, server.port), timeout=60).close()
        with socket.create_connection((server.host, server.port), timeout=60) as client:
            client.sendall(b"GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            client.recv(65536)
        assert lines.get(timeout=60).target == "/_sandbox/health"
    assert lines.empty()
    assert not sandbox.world.journal.entries


def test_who_speaks_tls_to_plain_http_is_told_so(sandbox: Sandbox) -> None:
    """In words that a wire's observer can read."""
    with listening(sandbox) as (server, _), socket.create_connection((server.host, server.port)) as client:
        client.sendall(UNREADABLE["tls"][0])
        assert b"use http://" in client.recv(65536)


def test_the_body_of_an_unmatched_request_is_there_too(main: Api, steer: Control) -> None:
    """As of any other."""
    main.send("POST", "/v3/domains/createDomains", [JSON], b'{"years": 1}')
    (entry,) = steer.get("journal")["requests"]
    assert entry["request"]["body"] == {"years": 1}
