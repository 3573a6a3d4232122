"""What a client's socket receives, in either phase, and whether the operation took effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.faults.conftest import Dialler, charges, register

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"

#: Seconds for which a request waits while the test does something else.
WHILE = 1.0


@pytest.fixture(params=["http", "https"])
def dial(request: pytest.FixtureRequest, served: Sandbox) -> Iterator[Dialler]:
    """The account ``main`` over real sockets, with TLS and without."""
    with served.serve(tls=request.param == "https") as server:
        dialler = Dialler(served, server.tls_url or server.url, authority=server.authority)
        yield dialler
        dialler.close()


def waits(sandbox: Sandbox, dial: Dialler, phase: str = "before") -> Any:
    """Send a registration that is delayed for a second, and wait until the server has it."""
    when = {"phase": phase}
    match = {"operation": "v3.createDomain"}
    placed = sandbox.faults.add("latency", seconds=WHILE, when=when, match=match)
    connection = dial.send("POST", CREATE, register("new.com"))
    while not placed.matched:
        sleep(0.001)
    return connection


def test_a_broken_connection_and_its_effect(dial: Dialler, served: Sandbox, subtests) -> None:
    """The registration takes effect in phase ``after`` alone, and the server goes on."""
    garbage = b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"
    rules: list[tuple[dict[str, Any], Any]] = [
        ({"kind": "reset"}, None),
        ({"kind": "close"}, b""),
        ({"kind": "hang", "seconds": 0.1}, b""),
        ({"kind": "garbage"}, garbage),
        ({"kind": "garbage", "text": "SSH-2.0-elsewhere\r\n"}, b"SSH-2.0-elsewhere\r\n"),
        ({"kind": "garbage", "hex": "00ff00"}, b"\x00\xff\x00"),
        ({"kind": "hang"}, TimeoutError),
    ]
    for rule, received in rules:
        for phase in ("before", "after"):
            with subtests.test(rule=rule, phase=phase):
                served.reset()
                served.faults.add(**rule, when={"phase": phase}, match={"operation": "v3.createDomain"})
                began = monotonic()
                connection = dial.send("POST", CREATE, register("new.com"))
                if received is TimeoutError:
                    assert connection.silent(0.2)
                elif received is None:
                    with pytest.raises(ConnectionResetError):
                        connection.rest()
                else:
                    assert connection.rest() == received
                assert monotonic() - began >= rule.get("seconds", 0)
                assert charges(served, "new.com") == ([("r1", "-10.00")] if phase == "after" else [])
                assert dial.get(BALANCE).status == 200


@pytest.mark.parametrize("phase", ["before", "after"])
def test_latency(dial: Dialler, served: Sandbox, phase: str) -> None:
    connection = waits(served, dial, phase)
    assert connection.silent(0.05)
    assert ("new.com" in served.names) is (phase == "after")
    answer = connection.answer()
    assert (answer.status, answer.headers["x-sandbox-fault"]) == (200, "latency")
    assert answer.json["totalPaid"] == "10.00"
    assert charges(served, "new.com") == [("r1", "-10.00")]


def test_a_delayed_operation_takes_effect_after_its_client_has_left(dial: Dialler, served: Sandbox) -> None:
    waits(served, dial).socket.close()
    assert dial.get(BALANCE).status == 200
    assert charges(served, "new.com") == []
    while not charges(served, "new.com"):
        sleep(0.01)
    assert [amount for _, amount in charges(served, "new.com")] == ["-10.00"]


@pytest.mark.parametrize(
    "undo", [lambda world: world.reset(), lambda world: world.restore("clean")], ids=["reset", "restore"]
)
def test_a_delayed_operation_never_happens_in_a_world_that_was_taken_back(
    served: Sandbox, url: str, undo: Callable[[Sandbox], Any]
) -> None:
    dial = Dialler(served, url)
    served.snapshot("clean")
    connection = waits(served, dial)
    undo(served)
    assert connection.rest() == b""
    assert charges(served, "new.com") == []
    assert served.journal.find().matching == 0
    dial.close()


def test_a_delayed_request_is_numbered_when_it_takes_effect(dial: Dialler, served: Sandbox) -> None:
    """After the requests that came while it waited, and although its rule is removed."""
    connection = waits(served, dial)
    served.faults.clear()
    assert dial.get(BALANCE).headers["x-sandbox-request"] == "r1"
    answer = connection.answer()
    assert (answer.status, answer.headers["x-sandbox-fault"]) == (200, "latency")
    assert answer.headers["x-sandbox-request"] == "r2"
    assert [entry.id for entry in served.journal.find().requests] == ["r1", "r2"]
    assert charges(served, "new.com") == [("r2", "-10.00")]


def test_delays_add_up_and_an_error_may_follow(dial: Dialler, served: Sandbox) -> None:
    served.faults.replace(
        [
            {"kind": "latency", "seconds": 0.1},
            {"kind": "latency", "seconds": 0.1, "name": "more"},
            {"kind": "error", "error": "service_unavailable", "retry_after": 7},
            {"kind": "latency", "seconds": 0.1, "name": "late", "when": {"phase": "after"}},
        ]
    )
    began = monotonic()
    answer = dial.get(BALANCE)
    assert monotonic() - began >= 0.2
    assert (answer.status, answer.headers["retry-after"]) == (503, "7")
    assert answer.headers["x-sandbox-fault"] == "latency, more, error"
    assert [rule.struck for rule in served.faults.list()] == [1, 1, 1, 0]


def test_drip_and_bandwidth(dial: Dialler, served: Sandbox, subtests) -> None:
    """Pieces of the declared size, and not faster than declared."""
    for rule, size, length, seconds in (
        ({"kind": "drip", "size": 30, "pause": 0.05}, 30, 90, 0.1),
        ({"kind": "bandwidth", "rate": 400}, 20, 80, 0.15),
        ({"kind": "bandwidth", "rate": 10}, 1, 4, 0.27),
        ({"kind": "drip"}, 1, 4, 0.3),
    ):
        with subtests.test(rule=rule), served.faults.add(**rule, match={"path": BALANCE}):
            began = monotonic()
            connection = dial.send("GET", BALANCE)
            assert connection.head()[0] == 200
            came = 0
            while came < length:
                piece = len(connection.piece())
                assert piece % size == 0
                came += piece
            assert monotonic() - began >= seconds
    served.faults.add("drip", size=30, pause=600)
    connection = dial.send("GET", BALANCE)
    connection.head()
    assert len(connection.piece()) == 30
    assert connection.silent(0.1)


def test_truncate(dial: Dialler, served: Sandbox, subtests) -> None:
    whole = dial.get(BALANCE).raw
    for parameters, kept in (
        ({}, len(whole) // 2),
        ({"keep": 5}, 5),
        ({"keep": 0}, 0),
        ({"keep": 10**6}, len(whole) - 1),
        ({"keep": 5, "reset": True}, 5),
    ):
        with subtests.test(parameters=parameters), served.faults.add("truncate", **parameters):
            connection = dial.send("GET", BALANCE)
            status, headers = connection.head()
            assert (status, int(headers["content-length"])) == (200, len(whole))
            seen = b""
            try:
                while len(seen) < kept:
                    seen += connection.piece()
                seen += connection.rest()
            except ConnectionResetError:
                assert "reset" in parameters
            else:
                assert "reset" not in parameters
            assert seen == whole[:kept]
