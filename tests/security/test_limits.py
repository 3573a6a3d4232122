"""How much a server takes and keeps: each limit is a setting, and past it there is an error that says so."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from reseller_sandbox.cli import main
from tests.clients import Socket
from tests.security.conftest import Guarded

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
    kept = {"journal": 3, "journal_body": 200, "max_branches": 1, "max_snapshots": 1}
    return guarded(max_body=1000, max_control_body=1000, max_worlds=2, max_faults=1, **kept)


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


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        (("--public-url", "api.example.test"), "--public-url must be a URL"),
        (("--header-prefix", "X Key:"), "--header-prefix must be the beginning of a header's name"),
        (("--header-prefix", "X_KEY_"), "--header-prefix must be the beginning of a header's name"),
    ],
)
def test_what_cannot_have_been_meant(told: tuple[str, ...], complaint: str) -> None:
    """One line, and exit status 2."""
    result = CliRunner().invoke(main, ["serve", "--port", "0", *told])
    assert result.exit_code == 2
    assert result.output.startswith(f"reseller-sandbox: {complaint}")
    assert result.output.count("\n") == 1


def test_the_journal(small: Guarded) -> None:
    """It keeps the latest requests and counts the others; of long bodies it keeps the beginning."""
    client = small.sandbox.client()
    small.sandbox.world.journal.clear()
    for _ in range(5):
        client.get("/v3/domains")
    advice = small.send("GET", "/_sandbox/advice").json
    assert (advice["requests"], advice["dropped"]) == (3, 2)
    assert max(len(entry.answer) for entry in small.sandbox.world.journal) <= 200


def test_snapshots(small: Guarded) -> None:
    """As many as there may be."""
    assert small.sandbox.snapshot("one")
    answer = small.send("POST", "/_sandbox/snapshots", b'{"name": "two"}')
    assert (answer.status, answer.error) == (429, "too_many_snapshots")


def test_faults(small: Guarded) -> None:
    """As many as there may be, and a list that is too long changes nothing."""
    rule = b'{"kind": "error", "status": 500}'
    assert small.send("POST", "/_sandbox/faults", rule).status < 300
    answer = small.send("POST", "/_sandbox/faults", rule)
    assert (answer.status, answer.error) == (429, "too_many_faults")


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


@pytest.mark.parametrize("option", OPTIONS)
class TestOnTheCommandLine:
    """Each limit is an option of ``serve``."""

    def test_it_is_listed_with_its_variable(self, option: str) -> None:
        """In the help."""
        listed = re.sub(r"\s+", "", CliRunner().invoke(main, ["serve", "--help"]).output)
        variable = "RESELLER_SANDBOX_" + option.removeprefix("--").replace("-", "_").upper()
        assert f"{option}" in listed
        assert f"envvar:{variable};" in listed or f"envvar:{variable}]" in listed

    @pytest.mark.parametrize("value", ["-1", "many", "", "1" + "0" * 400 + "x"])
    def test_it_takes_a_number(self, option: str, value: str) -> None:
        """And says so."""
        result = CliRunner().invoke(main, ["serve", "--port", "0", option, value])
        assert result.exit_code == 2
        assert option in result.stderr
