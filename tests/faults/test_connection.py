"""What a client's socket receives, in either phase, and whether the operation took effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.connection import Connection
from tests.faults.conftest import Dialler, charges, register
from tests.waiting import wait_until

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"


@pytest.fixture
def secure_dial(served: Sandbox) -> Iterator[Dialler]:
    """The account ``main`` of ``served`` by TLS."""
    with served.serve(tls=True) as server:
        with closing(Dialler(served, str(server.tls_url), server.authority)) as dialler:
            yield dialler


def send_delayed(sandbox: Sandbox, dial: Dialler, phase: str = "before", seconds: float = 0.6) -> Connection:
    """Send a registration that is delayed, and wait until the delay begins."""
    match, when = {"operation": "v3.createDomain"}, {"phase": phase}
    placed = sandbox.faults.add("latency", seconds=seconds, when=when, match=match)
    connection = dial.send("POST", CREATE, register("new.com"))
    wait_until(lambda: placed.matched)
    wait_until(lambda: phase == "before" or "new.com" in sandbox.names)
    return connection


def test_a_fault_can_break_the_connection_before_or_after_the_effect(
    dial: Dialler, secure_dial: Dialler, served: Sandbox, subtests
) -> None:
    """The registration takes effect in phase ``after`` alone, and the server goes on."""
    garbage = b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"
    rules: list[tuple[dict[str, Any], Any]] = [
        ({"kind": "reset"}, ConnectionResetError),
        ({"kind": "close"}, b""),
        ({"kind": "hang", "seconds": 0.05}, b""),
        ({"kind": "garbage"}, garbage),
        ({"kind": "garbage", "text": "SSH-2.0-elsewhere\r\n"}, b"SSH-2.0-elsewhere\r\n"),
        ({"kind": "garbage", "hex": "00ff00"}, b"\x00\xff\x00"),
        ({"kind": "hang"}, TimeoutError),
    ]
    for rule, received in rules:
        for phase, way in (("before", dial), ("after", dial), ("after", secure_dial)):
            with subtests.test(rule=rule, phase=phase, url=way.url):
                served.reset()
                served.faults.add(**rule, when={"phase": phase}, match={"operation": "v3.createDomain"})
                paid = [("r1", "-10.00")] if phase == "after" else []
                began = monotonic()
                connection = way.send("POST", CREATE, register("new.com"))
                if received is TimeoutError:
                    wait_until(lambda: charges(served, "new.com") == paid)
                    assert connection.silent(0.1)
                elif received is ConnectionResetError:
                    with pytest.raises(ConnectionResetError):
                        connection.rest()
                else:
                    assert connection.rest() == received
                assert monotonic() - began >= rule.get("seconds", 0)
                assert charges(served, "new.com") == paid
                assert way.get(BALANCE).status == 200


def test_a_latency_fault_can_delay_before_or_after_the_effect(
    dial: Dialler, secure_dial: Dialler, served: Sandbox, subtests
) -> None:
    for phase, way in (("before", dial), ("after", secure_dial)):
        with subtests.test(phase):
            served.reset()
            connection = send_delayed(served, way, phase)
            assert connection.silent(0.05)
            assert ("new.com" in served.names) is (phase == "after")
            answer = connection.answer()
            assert (answer.status, answer.headers["x-sandbox-fault"]) == (200, "latency")
            assert answer.json["totalPaid"] == "10.00"
            assert charges(served, "new.com") == [("r1", "-10.00")]


def test_a_delayed_request_gets_its_id_at_the_time_of_its_effect(dial: Dialler, served: Sandbox) -> None:
    send_delayed(served, dial).socket.close()
    served.faults.clear()
    assert dial.get(BALANCE).headers["x-sandbox-request"] == "r1"
    assert charges(served, "new.com") == []
    wait_until(lambda: charges(served, "new.com"))
    assert charges(served, "new.com") == [("r2", "-10.00")]
    assert [(entry.id, entry.fault) for entry in served.journal] == [("r1", None), ("r2", "latency")]


def test_a_reset_or_restore_of_the_world_cancels_a_delayed_request(served: Sandbox, dial: Dialler) -> None:
    for undo in (lambda: served.reset(), lambda: served.restore("clean")):
        served.snapshot("clean")
        connection = send_delayed(served, dial)
        undo()
        assert connection.rest() == b""
        assert charges(served, "new.com") == []
        assert served.journal.list().matching == 0


def test_drip_and_bandwidth_faults_send_no_faster_than_declared(
    dial: Dialler, secure_dial: Dialler, served: Sandbox, subtests
) -> None:
    for rule, way, size, length, seconds in (
        ({"kind": "drip", "size": 30, "pause": 0.05}, secure_dial, 30, 90, 0.1),
        ({"kind": "bandwidth", "rate": 400}, dial, 20, 60, 0.1),
        ({"kind": "bandwidth", "rate": 20}, secure_dial, 1, 3, 0.09),
        ({"kind": "drip"}, dial, 1, 3, 0.2),
    ):
        with subtests.test(rule=rule), served.faults.add(**rule, match={"path": BALANCE}):
            began = monotonic()
            connection = way.send("GET", BALANCE)
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
    assert connection.silent(0.05)


def test_a_truncated_response_is_shorter_than_its_content_length(
    dial: Dialler, secure_dial: Dialler, served: Sandbox, subtests
) -> None:
    whole = dial.get(BALANCE).raw
    for parameters, kept in (
        ({}, len(whole) // 2),
        ({"keep": 0}, 0),
        ({"keep": 10**6}, len(whole) - 1),
        ({"keep": 5, "reset": True}, 5),
    ):
        for way in (dial, secure_dial):
            with subtests.test(url=way.url, **parameters), served.faults.add("truncate", **parameters):
                connection = way.send("GET", BALANCE)
                status, headers = connection.head()
                assert (status, int(headers["content-length"])) == (200, len(whole))
                seen, ended = b"", "closed"
                try:
                    while len(seen) < kept:
                        seen += connection.piece()
                    seen += connection.rest()
                except ConnectionResetError:
                    ended = "reset"
                assert (seen, ended) == (whole[:kept], "reset" if "reset" in parameters else "closed")
