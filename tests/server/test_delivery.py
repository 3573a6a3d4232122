"""What may happen to an answer on its way, as the client's socket sees it, and in process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.client import BadStatusLine
from queue import Queue
from typing import Any

import pytest
from flask import Flask, request
from flask.testing import FlaskClient

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.delivery import (
    CutShort,
    Delivery,
    Drops,
    RawBytes,
    Silence,
    TcpClose,
    TcpReset,
    delivering,
    pieces,
)
from reseller_sandbox.server.server import LoggedRequest
from tests.server.conftest import PATIENCE, Client, Dial, Environ, Serve, Toy

BODY = b"0123456789" * 10


@pytest.fixture(params=["tcp", "tls"])
def options(request: pytest.FixtureRequest, certfile: str) -> dict[str, Any]:
    """What a server is started with: each test is made over plain TCP and over TLS."""
    return {"certfile": certfile} if request.param == "tls" else {}


@pytest.fixture
def deliver(serve: Serve, dial: Dial, options: dict[str, Any]) -> Callable[..., Client]:
    """Asks a server for an answer that is delivered so, and hands over the connection."""

    def ask(delivery: Delivery, body: Any = BODY, **more: Any) -> Client:
        def answer(environ: Environ) -> tuple[str, bytes]:
            environ["sandbox.delivery"] = delivery
            return "200 OK", body

        server = serve(Toy(answer), **options, **more)
        client = dial(server)
        client.get()
        return client

    return ask


@pytest.fixture(autouse=True)
def nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_delay(deliver: Callable[..., Client]) -> None:
    began = stopwatch()
    client = deliver(Delivery(delay=0.1))
    assert client.read_answer()[2] == BODY
    assert stopwatch() - began >= 0.1
    client.get()  # The connection is as good as ever.
    assert client.read_answer()[2] == BODY


def test_drip(deliver: Callable[..., Client]) -> None:
    client = deliver(Delivery(drip=Drops(size=30, pause=10 * PATIENCE)))
    status, headers = client.read_head()
    assert (status, headers["content-length"]) == (200, "100")
    assert client.socket.recv(65536) == BODY[:30]
    began = stopwatch()
    client = deliver(Delivery(drip=Drops(size=30, pause=0.03)))
    assert client.read_answer()[2] == BODY
    assert stopwatch() - began >= 0.09
    client.get()
    assert client.read_answer()[2] == BODY


def test_reset(deliver: Callable[..., Client]) -> None:
    client = deliver(Delivery(cut=TcpReset())).beneath_tls()
    with pytest.raises(ConnectionResetError):
        client.read_all()
    client.socket.close()


def test_close(deliver: Callable[..., Client]) -> None:
    assert deliver(Delivery(cut=TcpClose())).read_all() == b""


def test_truncate(deliver: Callable[..., Client]) -> None:
    client = deliver(Delivery(cut=CutShort(keep=7)))
    status, headers = client.read_head()
    assert (status, headers["content-length"]) == (200, "100")
    assert client.read_all() == BODY[:7]


def test_truncate_within_a_drip(deliver: Callable[..., Client]) -> None:
    client = deliver(Delivery(drip=Drops(size=4, pause=0.001), cut=CutShort(keep=7)))
    assert client.read_head()[1]["content-length"] == "100"
    assert client.read_all() == BODY[:7]


@pytest.mark.parametrize("size", [100, 10_000_000])
def test_truncate_and_reset(deliver: Callable[..., Client], size: int) -> None:
    body = b"x" * size
    client = deliver(Delivery(cut=CutShort(keep=size // 2, reset=True)), body)
    assert client.read_head()[1]["content-length"] == str(size)
    seen = 0
    while seen < size // 2:
        piece = client.socket.recv(65536)
        assert piece
        seen += len(piece)
    assert seen == size // 2
    client = client.beneath_tls()
    with pytest.raises(ConnectionResetError):
        client.read_all()
    client.socket.close()


def test_garbage(deliver: Callable[..., Client]) -> None:
    assert deliver(Delivery(cut=RawBytes(b"\x00not HTTP\xff"))).read_all() == b"\x00not HTTP\xff"


def test_hang_for_a_time(deliver: Callable[..., Client]) -> None:
    began = stopwatch()
    assert deliver(Delivery(cut=Silence(seconds=0.1))).read_all() == b""
    assert stopwatch() - began >= 0.1


def test_a_cut_may_come_late(deliver: Callable[..., Client]) -> None:
    began = stopwatch()
    assert deliver(Delivery(delay=0.1, cut=TcpClose())).read_all() == b""
    assert stopwatch() - began >= 0.1


@pytest.mark.parametrize(
    "delivery", [Delivery(cut=Silence()), Delivery(delay=600), Delivery(drip=Drops(size=1, pause=600))]
)
def test_waiting_ends_when_the_client_leaves(deliver: Callable[..., Client], delivery: Delivery) -> None:
    lines: Queue[LoggedRequest] = Queue()
    client = deliver(delivery, log=lines.put)
    client.socket.close()
    assert lines.get(timeout=PATIENCE).status == 200


@pytest.mark.parametrize(
    "delivery", [Delivery(cut=Silence()), Delivery(delay=600), Delivery(drip=Drops(size=1, pause=600))]
)
def test_waiting_ends_when_the_server_stops(
    serve: Serve, dial: Dial, options: dict[str, Any], delivery: Delivery, at_once: Any
) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = delivery
        called.release()
        return "200 OK", BODY

    called = threading.Semaphore(0)
    server = serve(Toy(answer), **options)
    clients = [dial(server) for _ in range(20)]
    for client in clients:
        client.get()
        assert called.acquire(timeout=PATIENCE)
    with at_once():
        server.stop()
    assert all(BODY not in client.read_all() for client in clients)


def test_six_hundred_broken_connections_leave_the_log_empty(
    serve: Serve, dial: Dial, options: dict[str, Any]
) -> None:
    cuts: list[Any] = [
        TcpReset(),
        TcpClose(),
        CutShort(3),
        CutShort(3, reset=True),
        RawBytes(b"!"),
        Silence(0),
    ]

    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = Delivery(cut=cuts[int(environ["QUERY_STRING"])])
        return "200 OK", BODY

    server = serve(Toy(answer), **options)
    for number in range(600):
        client = dial(server)
        client.get(b"/?%d" % (number % len(cuts)))
        client.socket.close()


def test_the_next_request_on_the_connection_waits_for_a_delayed_answer(serve: Serve, dial: Dial) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = Delivery(delay=float(environ["QUERY_STRING"]))
        return "200 OK", environ["QUERY_STRING"].encode()

    client = dial(serve(Toy(answer)))
    client.send(b"GET /?0.05 HTTP/1.1\r\nHost: toy\r\n\r\nGET /?0 HTTP/1.1\r\nHost: toy\r\n\r\n")
    assert [client.read_answer()[2] for _ in range(2)] == [b"0.05", b"0"]


def test_a_body_that_is_too_large_is_refused_late_if_so_told(serve: Serve, dial: Dial) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = Delivery(delay=0.05)
        return "413 Too Large" if environ["sandbox.body_too_large"] else "200 OK", b""

    client = dial(serve(Toy(answer), max_body=10))
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nContent-Length: 100\r\n\r\n" + b"x" * 100)
    assert client.read_answer()[0] == 413
    assert client.read_all() == b""


# In process.


@pytest.fixture
def flask_client() -> FlaskClient:
    """Flask's own test client, for an application that delivers what the query says."""
    app = Flask("toy")
    deliveries = {
        "plain": None,
        "delay": Delivery(delay=0.05),
        "drip": Delivery(drip=Drops(size=30, pause=0.01)),
        "reset": Delivery(cut=TcpReset()),
        "close": Delivery(cut=TcpClose()),
        "hang": Delivery(cut=Silence()),
        "garbage": Delivery(cut=RawBytes(b"not HTTP")),
        "truncate": Delivery(cut=CutShort(keep=7)),
        "truncate-reset": Delivery(cut=CutShort(keep=7, reset=True)),
    }

    @app.get("/<name>")
    def view(name: str) -> bytes:
        request.environ["sandbox.delivery"] = deliveries[name]
        return BODY

    app.wsgi_app = delivering(app.wsgi_app)  # type: ignore[method-assign, assignment]
    return app.test_client()


@pytest.mark.parametrize(("name", "seconds"), [("plain", 0), ("delay", 0.05), ("drip", 0.03)])
def test_in_process_the_answer_comes_in_time(flask_client: FlaskClient, name: str, seconds: float) -> None:
    began = stopwatch()
    assert flask_client.get(f"/{name}").data == BODY
    assert stopwatch() - began >= seconds


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("reset", ConnectionResetError),
        ("close", ConnectionAbortedError),
        ("hang", TimeoutError),
        ("garbage", BadStatusLine),
        ("truncate-reset", ConnectionResetError),
    ],
)
def test_in_process_the_clients_exception_is_raised(
    flask_client: FlaskClient, name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        flask_client.get(f"/{name}").get_data()


def test_in_process_a_truncated_body_is_shorter_than_it_says(flask_client: FlaskClient) -> None:
    answer = flask_client.get("/truncate")
    assert (answer.data, answer.headers["Content-Length"]) == (BODY[:7], "100")


def test_under_the_server_a_delivery_strikes_once(serve: Serve, dial: Dial) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = Delivery(cut=CutShort(keep=7))
        return "200 OK", BODY

    client = dial(serve(delivering(Toy(answer))))
    client.get()
    assert client.read_head()[1]["content-length"] == "100"
    assert client.read_all() == BODY[:7]


# The description itself.


@pytest.mark.parametrize(
    ("delivery", "expected"),
    [
        (Delivery(), [b"abcde"]),
        (Delivery(drip=Drops(2, 0)), [b"ab", b"cd", b"e"]),
        (Delivery(cut=CutShort(3)), [b"abc"]),
        (Delivery(cut=CutShort(0)), [b""]),
        (Delivery(cut=CutShort(99)), [b"abcd"]),  # it always lacks something
        (Delivery(drip=Drops(2, 0), cut=CutShort(3)), [b"ab", b"c"]),
    ],
)
def test_pieces(delivery: Delivery, expected: list[bytes]) -> None:
    assert pieces(b"abcde", delivery) == expected
    assert pieces(b"", delivery) == [b""]


@pytest.mark.parametrize(
    "make", [lambda: Delivery(delay=-1), lambda: Drops(0, 1), lambda: Drops(1, -1), lambda: CutShort(-1)]
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError):
        make()
