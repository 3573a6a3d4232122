"""A rule that looks at no more than what was sent strikes before anybody is let in, wherever it leads."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.faults import KINDS as FAULTS
from tests.faults.conftest import PATIENCE, Connection, Dialler, Held

BALANCE = "/v3/balance"

#: Requests that reach no operation: what is sent, and what they are answered without a fault.
LOST = {
    "no credentials": ("GET", BALANCE, [], 401),
    "a wrong key": ("GET", BALANCE, ["X-SVC-APIKEY: nobody", "X-SVC-SIGNATURE: " + "0" * 64], 401),
    "no token": ("GET", "/V2.0/domain/active.com", [], 403),
    "a wrong token": ("GET", "/V2.0/domain/active.com", ["X-Auth-Token: nobody"], 403),
    "an unknown path of v3": ("GET", "/v3/nonsense", [], 404),
    "an unknown path of v2.0": ("GET", "/V2.0/nonsense", [], 404),
    "a path of nobody's": ("GET", "/nonsense", [], 404),
    "the root": ("GET", "/", [], 404),
    "a wrong method": ("DELETE", BALANCE, [], 405),
    "a version that is not served": ("GET", "/V3.0/domain/active.com", [], 501),
    "a body that is too long": ("POST", BALANCE, ["Content-Length: 99999999"], 413),
}

#: Kinds that need no operation, with what makes them strike, and what a client's socket sees of it.
KINDS: dict[str, dict[str, Any]] = {
    "error": {"status": 502, "body": "no"},
    "rate_limit": {"limit": 0, "per": "rule"},
    "close": {},
    "reset": {},
    "garbage": {"text": "SSH-2.0-elsewhere\r\n"},
}

Ask = Callable[[str], Connection]


@pytest.fixture
def ask(served: Sandbox, url: str) -> Iterator[Ask]:
    """Sends one of ``LOST`` on a connection of its own."""
    opened: list[socket.socket] = []

    def send(what: str) -> Connection:
        method, target, headers, _ = LOST[what]
        parts = urlsplit(url)
        sock = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        opened.append(sock)
        lines = [f"{method} {target} HTTP/1.1", f"Host: {parts.netloc}", *headers, "", ""]
        sock.sendall("\r\n".join(lines).encode())
        return Connection(sock)

    yield send
    for sock in opened:
        sock.close()


@pytest.mark.parametrize("what", LOST)
def test_without_a_fault_it_is_refused(ask: Ask, what: str) -> None:
    """So that the tests below are about what they say."""
    assert ask(what).head()[0] == LOST[what][3]


@pytest.mark.parametrize("what", LOST)
def test_an_outage_lets_nothing_through(served: Sandbox, ask: Ask, what: str) -> None:
    """Not even the word that it would not have been let in."""
    placed = served.faults.preset("outage")
    assert ask(what).rest() == b""
    assert (placed.matched, placed.struck) == (1, 1)


@pytest.mark.parametrize("what", LOST)
def test_maintenance_answers_everything(served: Sandbox, ask: Ask, what: str) -> None:
    """In the shape of the interface that the request looks like."""
    served.faults.preset("maintenance")
    status, headers = ask(what).head()
    assert (status, headers["retry-after"]) == (503, "1800")
    (entry,) = served.world.journal
    assert (entry.carried_out, entry.outcome, entry.fault) == (False, "maintenance", "maintenance")


@pytest.mark.parametrize(
    ("kind", "phase"), [(name, phase) for name in KINDS for phase in FAULTS[name].phases]
)
@pytest.mark.parametrize("what", ["a wrong key", "an unknown path of v2.0", "a path of nobody's"])
def test_every_kind_that_needs_no_operation_strikes(
    served: Sandbox, ask: Ask, kind: str, what: str, phase: str
) -> None:
    """Before and after, with what the client's socket is to see of it."""
    served.faults.add(kind, **KINDS[kind], when={"phase": phase})
    connection = ask(what)
    if kind == "reset":
        with pytest.raises(ConnectionResetError):
            connection.rest()
    elif kind in ("close", "garbage"):
        assert connection.rest() == KINDS[kind].get("text", "").encode()
    else:
        assert connection.head()[0] == (502 if kind == "error" else 429)


@pytest.mark.parametrize(
    "match",
    [
        {"method": "get"},
        {"path": "/v3/*"},
        {"headers": {"host": "*"}},
        {"headers": {"X-Absent": None}},
        {"path": "/v3/nonsense", "method": ["GET", "HEAD"]},
    ],
)
def test_what_was_sent_is_enough_to_match(served: Sandbox, ask: Ask, match: dict[str, Any]) -> None:
    """Method, path, headers and query, alone or together."""
    served.faults.add("close", match=match)
    assert ask("an unknown path of v3").rest() == b""


@pytest.mark.parametrize(
    "match", [{"operation": "*"}, {"account": "*"}, {"domain": "*"}, {"path": "*", "operation": "v3.*"}]
)
def test_what_asks_for_more_strikes_only_what_was_let_in(
    served: Sandbox, ask: Ask, match: dict[str, Any]
) -> None:
    """Who asks for an operation or an account means requests that have one."""
    placed = served.faults.add("close", match=match)
    for what in LOST:
        assert ask(what).head()[0] == LOST[what][3]
    assert placed.matched == 0


def test_a_delay_holds_up_what_is_refused_too(served: Sandbox, ask: Ask, held: Held) -> None:
    """And it is refused when the delay is over."""
    served.faults.add("latency", seconds=600)
    connection = ask("a wrong key")
    held.begun()
    assert connection.silent(0.05)
    held.over(600)
    assert connection.head()[0] == 401


def test_control_is_never_struck(served: Sandbox, dial: Dialler) -> None:
    """Nor what is unknown below it: a world can always be mended."""
    placed = served.faults.preset("outage")
    assert dial.get("/_sandbox/health").status == 200
    assert dial.get("/_sandbox/nonsense").status == 404
    assert dial.control("DELETE", "/faults") == {"faults": []}
    assert placed.struck == 0


def test_a_world_is_struck_by_its_own_rules(served: Sandbox, dial: Dialler) -> None:
    """Be it known by the path or by the credentials; nobody's requests are the default world's."""
    with served.fork(name="calm") as calm:
        served.faults.preset("outage")
        assert dial.get("/_worlds/calm/v3/nonsense").status == 404
        with closing(Dialler(calm, dial.url)) as other:
            assert other.get(BALANCE).status == 200
        assert dial.get("/_worlds/nowhere/v3/balance").status == 404
        assert dial.send("GET", "/v3/nonsense").rest() == b""
