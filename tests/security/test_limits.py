"""How much a server takes and keeps: each limit is a setting, and past it there is an error that says so."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable

import pytest

from tests.clients import Socket
from tests.security.conftest import Guarded, command, refusal

OPTIONS = (
    "--max-body",
    "--max-connections",
    "--max-worlds",
    "--world-idle",
    "--journal",
    "--journal-body",
    "--max-branches",
    "--max-snapshots",
    "--max-faults",
)


@pytest.fixture(scope="module")
def small(guarded: Callable[..., Guarded]) -> Guarded:
    """A sandbox that takes and keeps very little."""
    bodies = {"max_body": 1000, "max_control_body": 1000}
    return guarded(**bodies, max_worlds=2, max_faults=1, max_branches=1, max_snapshots=1)


def test_bodies(small: Guarded) -> None:
    """One byte more than the limit is too much, for control and for the API; the number is named."""
    body = b'{"by": "P1D"' + b" " * 987 + b"}"
    assert len(body) == 1000
    assert small.send("POST", "/_sandbox/clock/advance", body).status == 200
    for path in ("/_sandbox/clock/advance", "/v3/domains/createDomain"):
        answer = small.send("POST", path, body + b" ")
        assert (answer.status, answer.error) == (413, "body_too_large")
        assert "1000 bytes" in answer.message


def test_a_body_without_an_end_is_not_read_to_it(small: Guarded) -> None:
    """What comes in chunks is refused once there is too much of it."""
    with socket.create_connection(("127.0.0.1", int(small.url.rpartition(":")[2])), timeout=60) as raw:
        raw.sendall(
            b"POST /_sandbox/history/reset HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(3):
            raw.sendall(b"200\r\n" + b" " * 0x200 + b"\r\n")
        assert b"413" in raw.recv(100)


def test_worlds(small: Guarded) -> None:
    """The default world counts; the setting that would allow more is named."""
    made = small.send("POST", "/_sandbox/worlds/fork")
    answer = small.send("POST", "/_sandbox/worlds/fork")
    assert (made.status < 300, answer.status, answer.error) == (True, 429, "too_many_worlds")
    assert "2" in answer.message
    small.send("DELETE", f"/_sandbox/worlds/{made.json['name']}")
    assert small.send("POST", "/_sandbox/worlds/fork").status < 300


def test_the_journal(guarded: Callable[..., Guarded]) -> None:
    """It keeps the latest requests and counts the others. Of long bodies it keeps the beginning."""
    at = guarded(journal=3, journal_body=200)
    for _ in range(5):
        at.sandbox.client().get("/v3/domains")
    advice = at.send("GET", "/_sandbox/advice").json
    assert (advice["requests"], advice["dropped"]) == (3, 2)
    kept = [at.sandbox.journal.get(entry.id).answer for entry in at.sandbox.journal.find().requests]
    assert len(kept) == 3
    assert all((answer.cut or 0) > 200 and len(str(answer.body)) <= 200 for answer in kept)


def test_snapshots_and_faults(small: Guarded) -> None:
    assert small.sandbox.snapshot("one")
    rule = b'{"kind": "error", "status": 500}'
    assert small.send("POST", "/_sandbox/faults", rule).status < 300
    for path, body, error in (
        ("snapshots", b'{"name": "two"}', "too_many_snapshots"),
        ("faults", rule, "too_many_faults"),
    ):
        answer = small.send("POST", f"/_sandbox/{path}", body)
        assert (answer.status, answer.error) == (429, error)


def test_connections(guarded: Callable[..., Guarded]) -> None:
    """One too many is answered 503, in JSON, and told the limit; those that are there go on."""
    few = guarded(max_connections=2)
    first, second, third = (Socket(few.url) for _ in range(3))
    try:
        assert first("GET", "/_sandbox/health", [], b"").status == 200
        assert second("GET", "/_sandbox/health", [], b"").status == 200
        answer = third("GET", "/_sandbox/health", [], b"")
        assert (answer.status, answer.error) == (503, "too_many_connections")
        assert "2 connections" in answer.message
        assert first("GET", "/_sandbox/health", [], b"").status == 200
    finally:
        for one in (first, second, third):
            one.close()


def test_each_limit_is_an_option_with_a_variable(subtests) -> None:
    listed = re.sub(r"\s+", "", command("serve", "--help").output)
    for option in OPTIONS:
        with subtests.test(option):
            variable = "RESELLER_SANDBOX_" + option.removeprefix("--").replace("-", "_").upper()
            assert option in listed
            assert f"envvar:{variable};" in listed or f"envvar:{variable}]" in listed
            for value in ("-1", "many", "", "1" + "0" * 400 + "x"):
                result = command("serve", "--port", "0", option, value)
                assert result.exit_code == 2
                assert option in result.stderr
    for option, value, complaint in (
        ("--public-url", "api.example.test", "must be a URL"),
        ("--header-prefix", "X Key:", "must be the beginning of a header's name"),
        ("--header-prefix", "X_KEY_", "must be the beginning of a header's name"),
    ):
        line = refusal("serve", "--port", "0", option, value)
        assert line.startswith(f"reseller-sandbox: {option} {complaint}")
