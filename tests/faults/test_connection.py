"""What the client's socket meets, in either phase, and whether the operation took effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.server import Server
from tests.faults.conftest import Connection, Dialler, Held, Register, charges
from tests.registry import Make

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"


@pytest.fixture(params=["http", "https"])
def server(request: pytest.FixtureRequest, served: Sandbox) -> Iterator[Server]:
    """A server with TLS and without."""
    with served.serve(tls=request.param == "https") as server:
        yield server


@pytest.fixture
def held(server: Server) -> Held:
    """What it holds up."""
    return Held(server)


@pytest.fixture
def dial(server: Server, served: Sandbox) -> Iterator[Dialler]:
    """The account ``main`` over real sockets; all connections close at the end."""
    dialler = Dialler(served, server.tls_url or server.url, authority=server.authority)
    yield dialler
    dialler.close()


@pytest.fixture(params=["before", "after"])
def phase(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def strike(
    dial: Dialler, served: Sandbox, phase: str, register: Register
) -> Iterator[Callable[..., Connection]]:
    """Puts a rule in place and sends a registration into it, which takes effect in phase ``after`` alone."""

    def put(**rule: Any) -> Connection:
        served.faults.add(**rule, when={"phase": phase}, match={"operation": "v3.createDomain"})
        return dial.send("POST", CREATE, register("new.com"))

    yield put
    expected = [("r1", "-10.00")] if phase == "after" else []
    assert charges(served, "new.com") == expected
    assert dial.get(BALANCE).status == 200, "the server is as good as ever"


def test_reset(strike: Callable[..., Connection]) -> None:
    with pytest.raises(ConnectionResetError):
        strike(kind="reset").rest()


def test_close(strike: Callable[..., Connection]) -> None:
    assert strike(kind="close").rest() == b""


def test_hang(strike: Callable[..., Connection], held: Held) -> None:
    connection = strike(kind="hang")
    held.begun()
    assert connection.silent(0.1)


def test_hang_for_a_time(strike: Callable[..., Connection]) -> None:
    began = stopwatch()
    assert strike(kind="hang", seconds=0.1).rest() == b""
    assert stopwatch() - began >= 0.1


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"text": "SSH-2.0-elsewhere\r\n"}, b"SSH-2.0-elsewhere\r\n"),
        ({"hex": "00ff00"}, b"\x00\xff\x00"),
        ({}, b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"),
    ],
)
def test_garbage(strike: Callable[..., Connection], parameters: Any, sent: Any) -> None:
    assert strike(kind="garbage", **parameters).rest() == sent


def test_latency(dial: Dialler, served: Sandbox, register: Register, held: Held, phase: str) -> None:
    served.faults.add(kind="latency", seconds=600, when={"phase": phase})
    connection = dial.send("POST", CREATE, register("new.com"))
    held.begun()
    assert connection.silent(0.05)
    assert ("new.com" in served.world.state.holding_order) is (phase == "after")
    held.over(600)
    answer = connection.answer()
    assert answer.status == 200
    assert answer.headers["x-sandbox-fault"] == "latency"
    assert answer.json["totalPaid"] == "10.00"
    assert charges(served, "new.com") == [("r1", "-10.00")]


def test_an_operation_that_waits_takes_effect_though_the_client_has_left(
    dial: Dialler, served: Sandbox, register: Register, held: Held
) -> None:
    served.faults.add(kind="latency", seconds=600, match={"operation": "v3.createDomain"})
    dial.send("POST", CREATE, register("new.com")).socket.close()
    held.begun()
    assert dial.get(BALANCE).status == 200
    assert charges(served, "new.com") == []
    held.over(600)
    while not charges(served, "new.com"):
        dial.get(BALANCE)
    assert [amount for _, amount in charges(served, "new.com")] == ["-10.00"]


@pytest.mark.parametrize("undo", ["reset", "restore"])
def test_what_waits_never_happens_once_the_world_is_back_before_it(
    dial: Dialler, served: Sandbox, register: Register, held: Held, undo: str
) -> None:
    served.snapshot("clean")
    served.faults.add(kind="latency", seconds=600, match={"operation": "v3.createDomain"})
    connection = dial.send("POST", CREATE, register("new.com"))
    held.begun()
    served.reset() if undo == "reset" else served.restore("clean")
    held.over(600)
    assert connection.rest() == b""
    assert charges(served, "new.com") == []
    assert list(served.world.journal) == []


def test_what_waits_happens_though_its_rule_is_taken_away_and_is_numbered_then(
    dial: Dialler, served: Sandbox, register: Register, held: Held
) -> None:
    """After those that came while it waited."""
    served.faults.add(kind="latency", seconds=600, match={"operation": "v3.createDomain"})
    connection = dial.send("POST", CREATE, register("new.com"))
    held.begun()
    served.faults.clear()
    assert dial.get(BALANCE).headers["x-sandbox-request"] == "r1"
    held.over(600)
    answer = connection.answer()
    assert (answer.status, answer.headers["x-sandbox-fault"]) == (200, "latency")
    assert answer.headers["x-sandbox-request"] == "r2"
    assert [entry.id for entry in served.world.journal] == ["r1", "r2"]
    assert charges(served, "new.com") == [("r2", "-10.00")]


def test_latency_adds_up_and_what_comes_after_the_wait_may_be_an_error(
    dial: Dialler, served: Sandbox
) -> None:
    served.faults.replace(
        [
            {"kind": "latency", "seconds": 0.1},
            {"kind": "latency", "seconds": 0.1, "name": "more"},
            {"kind": "error", "error": "service_unavailable", "retry_after": 7},
            {"kind": "latency", "seconds": 0.1, "name": "late", "when": {"phase": "after"}},
        ]
    )
    began = stopwatch()
    answer = dial.get(BALANCE)
    assert stopwatch() - began >= 0.2
    assert (answer.status, answer.headers["retry-after"]) == (503, "7")
    assert answer.headers["x-sandbox-fault"] == "latency, more, error"
    assert [rule.struck for rule in served.faults.list()] == [1, 1, 1, 0]


def test_drip(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="drip", size=30, pause=0.05)
    began = stopwatch()
    connection = dial.send("GET", BALANCE)
    status, headers = connection.head()
    length, came = int(headers["content-length"]), 0
    while came < length:
        came += len(connection.piece())
    assert status == 200
    assert stopwatch() - began >= 0.05 * ((length - 1) // 30)
    served.faults.replace([{"kind": "drip", "size": 30, "pause": 600}])
    connection = dial.send("GET", BALANCE)
    connection.head()
    assert len(connection.piece()) == 30
    assert connection.silent(0.1)


def test_bandwidth(dial: Dialler, served: Sandbox) -> None:
    """So many bytes a second, be they many or few."""
    for rate, pieces in ((400, 20), (10, 1)):
        with served.faults.add("bandwidth", rate=rate, match={"path": BALANCE}):
            began = stopwatch()
            connection = dial.send("GET", BALANCE)
            _, headers = connection.head()
            length = int(headers["content-length"]) if rate > 100 else 4
            seen = 0
            while seen < length:
                piece = len(connection.piece())
                assert piece % pieces == 0 or seen + piece == length
                seen += piece
            assert stopwatch() - began >= (length - pieces) / rate * 0.9


@pytest.mark.parametrize(
    ("parameters", "kept"), [({}, None), ({"keep": 5}, 5), ({"keep": 0}, 0), ({"keep": 10**6}, -1)]
)
def test_truncate(dial: Dialler, served: Sandbox, parameters: Any, kept: Any) -> None:
    whole = dial.get(BALANCE).raw
    served.faults.add(kind="truncate", **parameters)
    connection = dial.send("GET", BALANCE)
    status, headers = connection.head()
    assert (status, int(headers["content-length"])) == (200, len(whole))
    assert connection.rest() == whole[: len(whole) // 2 if kept is None else kept]


def test_truncate_with_a_reset(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="truncate", keep=5, reset=True)
    connection = dial.send("GET", BALANCE)
    connection.head()
    assert connection.piece() == b'[{"cl'
    with pytest.raises(ConnectionResetError):
        connection.rest()


def test_a_stop_waits_for_nothing_that_is_held_up(make: Make, at_once: Any) -> None:
    sandbox = make()
    sandbox.faults.replace(
        [
            {"kind": "hang", "match": {"method": "POST"}},
            {"kind": "latency", "seconds": 600, "when": {"phase": "before", "every": 2}},
            {"kind": "latency", "name": "late", "seconds": 600, "when": {"phase": "after"}},
        ]
    )
    with ExitStack() as stopping, sandbox.serve() as server:
        dialler = Dialler(sandbox, server.url)
        connections = [dialler.send(method, BALANCE) for method in ("GET", "GET")]
        connections.append(dialler.send("POST", "/v3/domains/lock/active.com"))
        assert all(connection.silent(0.1) for connection in connections)
        stopping.enter_context(at_once())
    dialler.close()
