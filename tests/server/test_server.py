"""The server on real sockets: its port, what the application is given, what is refused, how it stops."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from queue import Queue
from typing import Any
from weakref import ref
from wsgiref.validate import validator

import pytest

from reseller_sandbox.server.delivery import ENV_SAID, Again, Delivery
from reseller_sandbox.server.problem import MAX_HEAD, MAX_TARGET
from reseller_sandbox.server.requestlog import Words
from reseller_sandbox.server.server import (
    CannotListen,
    LoggedRequest,
    PortInUse,
    Server,
    bound,
    handling_signals,
)
from reseller_sandbox.server.tls import BadCertificate
from tests.server.conftest import PATIENCE, Client, Dial, Environ, Serve, Toy


def test_port_0_takes_a_free_port_and_names_it(serve: Serve, dial: Dial) -> None:
    first, second = serve(Toy()), serve(Toy())
    assert first.port != second.port
    assert first.url == f"http://127.0.0.1:{first.port}"
    dial(first).get()


def test_a_busy_port_is_known_at_once() -> None:
    with bound("127.0.0.1", 0) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            Server(Toy(), port=port)
    message = str(caught.value)
    assert message.startswith(f"127.0.0.1:{port} is in use")
    assert "\n" not in message


def test_two_servers_do_not_share_a_port_before_they_run() -> None:
    first = Server(Toy(), port=0)
    with pytest.raises(PortInUse):
        Server(Toy(), port=first.port)
    first.stop()
    Server(Toy(), port=first.port).stop()


@pytest.mark.parametrize(
    ("host", "port"), [("no.such.host.invalid", 0), ("192.0.2.1", 0), ("127.0.0.1", 70000)]
)
def test_an_address_that_cannot_be_had(host: str, port: int) -> None:
    with pytest.raises(CannotListen, match=host):
        Server(Toy(), host, port)


def has_ipv6() -> bool:
    try:
        bound("::1", 0).close()
    except CannotListen:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_ipv6(serve: Serve, dial: Dial) -> None:
    server = serve(Toy(), host="::1")
    assert server.url == f"http://[::1]:{server.port}"
    client = dial(server)
    client.get()
    assert client.read_answer()[0] == 200


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("localhost", "localhost")])
def test_the_url_is_one_that_a_client_can_use(host: str, reached: str) -> None:
    server = Server(Toy(), host, 0)
    assert server.url == f"http://{reached}:{server.port}"
    server.stop()


def test_who_connects_before_it_runs_is_served_when_it_does(dial: Dial) -> None:
    server = Server(Toy(), port=0)
    client = dial(server)
    client.get()
    with server:
        assert client.read_answer()[0] == 200


def test_what_keeps_it_from_starting_is_raised() -> None:
    server = Server(Toy(), port=0, certfile="/nowhere.pem")
    with pytest.raises(BadCertificate, match=r"nowhere\.pem: No such file"):
        server.start()
    server.stop()


def test_stop_may_be_called_twice(serve: Serve) -> None:
    server = serve(Toy())
    server.stop()
    server.stop()
    assert f"sandbox:{server.port}" not in {thread.name for thread in threading.enumerate()}


def test_stop_takes_no_time(serve: Serve, dial: Dial, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks all the time whether it is done; uvicorn by itself does so ten times a second."""
    rests, sleep = [0.0], asyncio.sleep

    async def counted(seconds: float) -> None:
        rests.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr("asyncio.sleep", counted)
    server = serve(Toy())
    idle, used = dial(server), dial(server)
    used.get()
    used.read_answer()
    server.stop()
    assert idle.read_all() == used.read_all() == b""
    assert max(rests) <= 0.001


def test_over_tls(serve: Serve, dial: Dial, certfile: str) -> None:
    server = serve(Toy(), certfile=certfile)
    assert server.url == f"https://127.0.0.1:{server.port}"
    client = dial(server)
    client.get()
    assert client.read_answer()[2] == b"fine"


def test_stop_takes_no_time_over_tls(serve: Serve, dial: Dial, certfile: str, at_once: Any) -> None:
    server = serve(Toy(), certfile=certfile)
    clients = [dial(server) for _ in range(5)]
    for client in clients:
        client.get()
        client.read_answer()
    with at_once():
        server.stop()
    assert [client.read_all() for client in clients] == [b""] * 5


def test_stop_does_not_wait_for_clients_that_do_not_answer_tls_goodbyes(
    serve: Serve, dial: Dial, certfile: str, at_once: Any
) -> None:
    server = serve(Toy(), certfile=certfile)
    client = dial(server)
    client.send(b"GET / HTTP/1.1\r\nHost: toy\r\nConnection: close\r\n\r\n")
    client.read_answer()
    with at_once():
        server.stop()


def test_stop_ends_connections_that_have_not_shaken_hands(serve: Serve, certfile: str) -> None:
    server = serve(Toy(), certfile=certfile)
    with socket.create_connection((server.host, server.port), timeout=PATIENCE) as silent:
        server.stop()
        assert silent.recv(1) == b""


def test_importing_the_server_does_not_import_uvicorn() -> None:
    modules = "reseller_sandbox.server.server, reseller_sandbox.server.delivery"
    code = f"import sys, {modules}; print('uvicorn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


# What the application is given.


def test_a_connection_serves_many_requests_and_many_connections_take_turns(serve: Serve) -> None:
    server = serve(Toy(lambda environ: ("200 OK", environ["QUERY_STRING"].encode())))
    connections = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(40)]
    for turn in range(5):
        for number, connection in enumerate(connections):
            connection.request("GET", f"/?{turn}.{number}")
        for number, connection in enumerate(connections):
            assert connection.getresponse().read() == f"{turn}.{number}".encode()
    for connection in connections:
        connection.close()


def test_pipelined_requests_are_answered_in_order(serve: Serve, dial: Dial) -> None:
    client = dial(serve(Toy(lambda environ: ("200 OK", environ["PATH_INFO"].encode()))))
    client.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: toy\r\n\r\n" % number for number in range(20)))
    assert [client.read_answer()[2] for _ in range(20)] == [b"/%d" % number for number in range(20)]


@pytest.mark.parametrize(
    ("sent", "raw", "path", "query"),
    [
        ("/v3/domains?page=1&perPage=2", None, "/v3/domains", "page=1&perPage=2"),
        ("/a%2Fb%20c/%c3%a9?x=%41+%20", None, "/a/b c/é", "x=%41+%20"),
        ("/%FF%zz?%FF", None, b"/\xff%zz", "%FF"),
        ("//a//b/../c?", None, "//a//b/../c", ""),
        ("/a?b?c", None, "/a", "b?c"),
        ("*", None, "*", ""),
        ("http://example.test/a%20b?c=%20", "/a%20b?c=%20", "/a b", "c=%20"),
        ("HTTP://example.test?c", "/?c", "/", "c"),
        ("http://example.test", "/", "/", ""),
    ],
)
def test_the_target_comes_as_it_was_sent(
    serve: Serve, dial: Dial, sent: Any, raw: str | None, path: str, query: Any
) -> None:
    app = Toy()
    client = dial(serve(app))
    client.get(sent.encode())
    assert client.read_answer()[0] == 200
    environ = app.asked[0]
    assert environ["RAW_URI"] == sent
    assert environ["REQUEST_URI"] == (raw or sent)
    expected = path if isinstance(path, bytes) else path.encode()
    assert environ["PATH_INFO"].encode("latin-1") == expected
    assert environ["QUERY_STRING"] == query
    assert environ["HTTP_HOST"] == ("example.test" if "example" in sent else "toy")


def test_headers(serve: Serve, dial: Dial) -> None:
    app = Toy()
    client = dial(serve(app))
    client.send(
        b"GET / HTTP/1.1\r\nHost: toy\r\nX-Twice: 1\r\nx-twice: 2\r\nCookie: a=1\r\nCookie: b=2\r\n"
        b"X_SVC_KEY: no\r\nX-Latin:  \xe9 \r\n\r\n"
    )
    client.read_answer()
    environ = app.asked[0]
    assert environ["HTTP_X_TWICE"] == "1,2"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"
    assert environ["HTTP_X_LATIN"] == "\xe9"
    assert "HTTP_X_SVC_KEY" not in environ
    assert "CONTENT_LENGTH" not in environ


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_the_environment_is_what_wsgi_asks_for(
    serve: Serve, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    def strict(environ: Environ, start_response: Any) -> list[bytes]:
        environ.pop("wsgi.errors")
        environ["wsgi.errors"] = sys.__stderr__
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["wsgi.input"].read(100)]

    connection = http.client.HTTPConnection("127.0.0.1", serve(validator(strict)).port)
    connection.request(method, "/a?b", body=b"body" if method == "POST" else None)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"body" if method == "POST" else b"")
    assert not caplog.records
    connection.close()


@pytest.mark.parametrize("size", [0, 1, 70_000, 1 << 20])
@pytest.mark.parametrize("chunked", [False, True])
def test_bodies(serve: Serve, size: int, chunked: bool) -> None:
    app = Toy()
    connection = http.client.HTTPConnection("127.0.0.1", serve(app).port)
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    sent = (body[start : start + 10_000] for start in range(0, size, 10_000)) if chunked else body
    connection.request("POST", "/", body=sent, encode_chunked=chunked)
    assert connection.getresponse().read() == b"fine"
    assert app.asked[0]["toy.body"] == body
    assert app.asked[0]["CONTENT_LENGTH"] == str(size)
    connection.close()


def test_what_trails_a_chunked_body_is_no_header(serve: Serve, dial: Dial) -> None:
    app = Toy()
    client = dial(serve(app))
    client.send(
        b"POST / HTTP/1.1\r\nHost: toy\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Late: 1\r\n\r\n"
    )
    client.read_answer()
    assert app.asked[0]["toy.body"] == b"x"
    assert "HTTP_X_LATE" not in app.asked[0]


# What the application answers.


def test_head_has_the_headers_of_get_and_no_body(serve: Serve, dial: Dial) -> None:
    client = dial(serve(Toy()))
    client.send(b"HEAD / HTTP/1.1\r\nHost: toy\r\n\r\n")
    status, headers = client.read_head()
    assert (status, headers["content-length"]) == (200, "4")
    client.get()
    assert client.read_answer()[2] == b"fine"


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_without_a_body(serve: Serve, dial: Dial, status: str) -> None:
    client = dial(serve(Toy(lambda environ: (status, b""))))
    client.get()
    assert client.read_head() == (int(status[:3]), {"content-type": "text/plain"})
    client.get()
    assert client.read_head()[0] == int(status[:3])


def test_a_body_that_is_written_iterated_and_closed(serve: Serve, dial: Dial) -> None:
    closed = threading.Event()

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            return iter([b"iterated ", b"on"])

        def close(self) -> None:
            closed.set()

    def app(environ: Environ, start_response: Any) -> Any:
        start_response("200 OK", [("Content-Length", "wrong")])(b"written, ")
        return Body()

    client = dial(serve(app))
    client.get()
    assert client.read_answer()[1:] == ({"content-length": "20"}, b"written, iterated on")
    assert closed.is_set()


def test_http_1_0_and_connection_close(serve: Serve, dial: Dial) -> None:
    server = serve(Toy())
    for request in (b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: toy\r\nConnection: close\r\n\r\n"):
        client = dial(server)
        client.send(request)
        assert client.read_all().endswith(b"fine")


@pytest.mark.parametrize("wanted", ["Upgrade: h2c", "upgrade:websocket", "UPGRADE: HTTP/2.0, h2c", "Up: 1"])
@pytest.mark.parametrize("cut", [0, 1, 7, 8])
@pytest.mark.parametrize("form", ["none", "length", "chunks"])
def test_an_upgrade_is_not_made(
    serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture, wanted: str, cut: int, form: str
) -> None:
    """The request is answered as if it had not asked, with its body, and so are those after it.

    ``cut`` is where in the header's line the packet ends: clients for Java ask with every request.
    """
    app = Toy()
    client = dial(serve(app))
    sent = {"none": "", "length": "body", "chunks": "4\r\nbody\r\n0\r\n\r\n"}[form]
    length = {"none": "", "length": "Content-Length: 4\r\n", "chunks": "Transfer-Encoding: chunked\r\n"}[form]
    begin = f"POST / HTTP/1.1\r\nHost: toy\r\nConnection: Upgrade, HTTP2-Settings\r\n{length}{wanted[:cut]}"
    for number in range(2):
        client.send(begin.encode())
        if cut:
            time.sleep(0.01)
        client.send(f"{wanted[cut:]}\r\nHTTP2-Settings: AAEAAE\r\n\r\n{sent}".encode())
        assert client.read_answer()[0] == 200
        assert "HTTP_UPGRADE" not in app.asked[number]  # Werkzeug refuses who asks for a websocket.
        assert app.asked[number]["toy.body"] == (b"body" if sent else b"")
    assert not caplog.records


@pytest.mark.parametrize(
    "fail",
    [
        lambda environ: 1 / 0,
        lambda environ: sys.exit("no"),
        lambda environ: ("799 Strange", b""),
        lambda environ: ("200 OK", "not bytes"),
    ],
)
def test_an_application_that_fails(
    serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture, fail: Any
) -> None:
    lines: Queue[LoggedRequest] = Queue()
    client = dial(serve(Toy(fail), log=lines.put))
    client.get(b"/?SIGNATURE=secret")
    status, headers, body = client.read_answer()
    assert (status, headers["content-type"]) == (500, "application/json")
    assert json.loads(body)["error"] == "internal_error"
    assert lines.get(timeout=PATIENCE).status == 500
    (record,) = caplog.records
    message = record.getMessage()
    assert (record.name, record.exc_info) == ("reseller_sandbox", None)
    assert message.startswith("GET /?SIGNATURE=*** failed: ")
    assert "\n" not in message
    client.get()
    assert client.read_answer()[0] == 500


def test_an_application_that_starts_no_response(
    serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    client = dial(serve(lambda environ, start_response: []))
    client.get()
    assert client.read_answer()[0] == 500


def broken(environ: Environ) -> tuple[str, bytes]:
    raise ZeroDivisionError


def test_on_debug_level_a_failure_is_logged_with_its_traceback(
    serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "reseller_sandbox")
    client = dial(serve(Toy(broken)))
    client.get()
    client.read_answer()
    assert "Traceback" in caplog.text


def test_the_request_log(serve: Serve, dial: Dial) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.said"] = Words("toy.answer ok")
        return "201 Created", b"12345"

    lines: Queue[LoggedRequest] = Queue()
    client = dial(serve(Toy(answer), log=lines.put))
    client.get(b"/a%20b?X-SVC-KEY=key&X-SVC-SIGNATURE=secret&x=1&x-svc-signatur%65=secret&SIGNATURE&=")
    client.read_answer()
    line = lines.get(timeout=PATIENCE)
    assert line.target == "/a%20b?X-SVC-KEY=key&X-SVC-SIGNATURE=***&x=1&x-svc-signatur%65=***&SIGNATURE&="
    assert (line.method, line.status, line.size, line.note) == ("GET", 201, 5, "toy.answer ok")
    assert 0 < line.duration_seconds < PATIENCE


def test_a_request_log_that_fails_is_said_so(
    serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    client = dial(serve(Toy(), log=lambda line: 1 / 0))
    client.get()
    assert client.read_all().endswith(b"fine")
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("log", [None, lambda _: None])
def test_what_an_application_says_of_a_request_goes_with_it(serve: Serve, dial: Dial, log: Any) -> None:
    """It need not wait for the collector of garbage, though it holds the request that it is about."""
    said: list[ref[Any]] = []

    class Said:
        note, facts, is_look, is_unanswered = "", dict[str, Any](), False, False

        def __init__(self, environ: Environ) -> None:
            self.environ = environ

    def app(environ: Environ, start_response: Any) -> list[bytes]:
        environ[ENV_SAID] = words = Said(environ)
        said.append(ref(words))
        start_response("200 OK", [])
        return [b""]

    client = dial(serve(app, log=log))
    gc.disable()
    try:
        for _ in range(3):
            client.get()
            client.read_answer()
        assert [one() for one in said[:2]] == [None, None]
    finally:
        gc.enable()


# What is not taken.


def too_large(environ: Environ) -> tuple[str, bytes]:
    if environ.get("sandbox.body_too_large"):
        return "413 Too Large", b"too large"
    return "200 OK", b"fine"


@pytest.mark.parametrize("size", [101, 5 << 20])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large(serve: Serve, size: int, chunked: bool) -> None:
    app = Toy(too_large)
    connection = http.client.HTTPConnection("127.0.0.1", serve(app, max_body=100).port, timeout=PATIENCE)
    connection.request("POST", "/", body=iter([b"x" * size]) if chunked else b"x" * size)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (413, b"too large")
    assert answer.headers["connection"] == "close"
    assert (app.asked[0]["toy.body"], app.asked[0]["CONTENT_LENGTH"]) == (b"", "0")
    connection.close()


def test_a_body_as_large_as_may_be(serve: Serve, dial: Dial) -> None:
    client = dial(serve(Toy(too_large), max_body=100))
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nContent-Length: 100\r\n\r\n" + b"x" * 100)
    assert client.read_answer()[0] == 200


def send_for_ever(client: Client) -> None:
    while True:
        client.send(b"x" * 65536)


def test_a_body_announced_as_too_large_is_not_waited_for(serve: Serve, dial: Dial) -> None:
    client = dial(serve(Toy(too_large)))
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nContent-Length: 99999999999\r\n\r\n")
    assert client.read_answer()[0] == 413
    with pytest.raises(OSError):  # It goes on sending, and is cut off.
        send_for_ever(client)


def test_expect_100_continue(serve: Serve, dial: Dial) -> None:
    app = Toy(too_large)
    client = dial(serve(app))
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    assert client.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send(b"body")
    assert client.read_answer()[0] == 200
    assert app.asked[0]["toy.body"] == b"body"


def test_a_body_that_is_too_large_is_not_asked_for(serve: Serve, dial: Dial) -> None:
    client = dial(serve(Toy(too_large), max_body=3))
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    assert client.read_answer()[0] == 413


def refusal(client: Client) -> tuple[int, str]:
    status, headers, body = client.read_answer()
    assert headers["content-type"] == "application/json"
    assert headers["connection"] == "close"
    assert client.read_all() == b""
    said = json.loads(body)
    assert set(said) == {"error", "message"}
    return status, said["error"]


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"BREW /pot HTTP/1.1\r\nHost: toy\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost toy\r\n\r\n",
        b"CONNECT toy:80 HTTP/1.1\r\nHost: toy\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: toy\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: toy\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk",
    ],
)
def test_what_is_no_http(serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture, sent: Any) -> None:
    app = Toy()
    client = dial(serve(app))
    client.send(sent)
    assert refusal(client) == (400, "malformed_request")
    assert not app.asked
    assert not caplog.records


def test_no_http_over_tls(serve: Serve, dial: Dial, certfile: str) -> None:
    client = dial(serve(Toy(), certfile=certfile))
    client.send(b"nonsense\r\n\r\n")
    assert refusal(client) == (400, "malformed_request")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /" + b"a" * MAX_TARGET, 414),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * (MAX_HEAD + 1), 431),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * (5 << 20), 431),
        (b"GET / HTTP/1.1\r\n" + b"X-Many: 1234567890\r\n" * 5000, 431),
    ],
)
@pytest.mark.parametrize("ended", [False, True])
def test_a_head_that_is_too_long(serve: Serve, dial: Dial, head: bytes, status: int, ended: bool) -> None:
    client = dial(serve(Toy()))
    client.send(head[:20])
    client.send(head[20:] + (b"\r\n\r\n" if ended else b""))
    assert refusal(client)[0] == status


CHUNKED = b"POST / HTTP/1.1\r\nHost: toy\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"


@pytest.mark.parametrize(
    "endless",
    [
        b"0\r\nX-Long: " + b"a" * (MAX_HEAD + 1) + b"\r\n\r\n",
        b"0\r\nX-Long: " + b"a" * (5 << 20),
        b"0\r\n" + b"X-Many: 1234567890\r\n" * 5000,
        b"0\r\n" + b"a" * (5 << 20),
        b"3;extension=" + b"a" * (5 << 20),
        b"0;extension=" + b"a" * (5 << 20),
    ],
    ids=[
        "a trailer",
        "a trailer without an end",
        "many trailers",
        "a trailer's name",
        "a chunk's extension",
        "the last one's",
    ],
)
def test_what_stands_around_the_chunks_of_a_body_is_limited_as_the_head_is(
    serve: Serve, dial: Dial, endless: bytes
) -> None:
    """Trailers and extensions are nothing to anybody, and cost the server no memory."""
    app = Toy()
    client = dial(serve(app))
    client.send(CHUNKED)
    client.send(endless)
    assert refusal(client)[0] == 431
    assert not app.asked


def test_trailers_as_long_as_may_be(serve: Serve, dial: Dial) -> None:
    """Chunks of a byte each, a header and a trailer in pieces are no more than they are."""
    client = dial(serve(Toy(lambda environ: ("200 OK", environ["toy.body"]))))
    for _ in range(2):
        client.send(CHUNKED)
        for _ in range(MAX_HEAD // 8):
            client.send(b"1\r\nx\r\n")
        client.send(b"0\r\n" + b"X-Late: 1\r\n" * 100 + b"X-Long: ")
        for _ in range(10):
            client.send(b"a" * (MAX_HEAD // 11))
        client.send(b"\r\n\r\n")
        assert client.read_answer()[2] == b"abc" + b"x" * (MAX_HEAD // 8)


def test_a_head_as_long_as_may_be(serve: Serve, dial: Dial) -> None:
    client = dial(serve(Toy()))
    client.get(b"/" + b"a" * (MAX_TARGET - 1))
    assert client.read_answer()[0] == 200
    client.send(b"GET / HTTP/1.1\r\nHost: toy\r\nX-Long: " + b"a" * (MAX_HEAD - 100) + b"\r\n\r\n")
    assert client.read_answer()[0] == 200


@pytest.mark.parametrize("delay", [0, 0.05])
def test_what_was_right_before_the_nonsense_is_answered_first(serve: Serve, dial: Dial, delay: float) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = Delivery(delay=delay)
        return "200 OK", environ["PATH_INFO"].encode()

    client = dial(serve(Toy(answer)))
    client.send(b"GET /1 HTTP/1.1\r\nHost: toy\r\n\r\nGET /2 HTTP/1.1\r\nHost: toy\r\n\r\nnonsense\r\n\r\n")
    assert client.read_answer()[2] == b"/1"
    assert client.read_answer()[2] == b"/2"
    assert refusal(client) == (400, "malformed_request")


def test_nonsense_in_a_body_behind_an_answer_that_is_delayed(serve: Serve, dial: Dial) -> None:
    def answer(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.delivery"] = Delivery(delay=0.05)
        return "200 OK", b"fine"

    client = dial(serve(Toy(answer)))
    client.send(b"GET / HTTP/1.1\r\nHost: toy\r\n\r\n")
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nTransfer-Encoding: chunked\r\n\r\nnonsense")
    assert client.read_answer()[0] == 200
    assert refusal(client) == (400, "malformed_request")


def test_more_connections_than_are_taken(serve: Serve, dial: Dial) -> None:
    server = serve(Toy(), limit_connections=2)
    clients = [dial(server) for _ in range(3)]
    for client in clients[:2]:
        client.get()
        assert client.read_answer()[0] == 200
    clients[2].get()
    assert refusal(clients[2]) == (503, "too_many_connections")


def test_a_client_that_leaves_while_it_sends_its_body(
    serve: Serve, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    lines: Queue[LoggedRequest] = Queue()
    app = Toy()
    server = serve(app, log=lines.put)
    for _ in range(50):
        client = dial(server)
        client.send(b"POST /left HTTP/1.1\r\nHost: toy\r\nContent-Length: 100\r\n\r\nhalf of it")
        client.socket.close()
    client = dial(server)
    client.get(b"/stayed")
    client.read_answer()
    told = [lines.get(timeout=PATIENCE) for _ in range(51)]
    assert sorted({(line.status, line.target, line.note) for line in told}) == [
        (0, "/left", "incomplete_request: The connection ended before the request did."),
        (200, "/stayed", ""),
    ]
    server.stop()
    assert lines.empty()
    assert len(app.asked) == 1
    assert [environ["PATH_INFO"] for environ in app.asked] == ["/stayed"]
    assert not caplog.records


def test_a_request_that_was_put_off_when_the_server_stops_has_its_line(serve: Serve, dial: Dial) -> None:
    def put_off(environ: Environ) -> tuple[str, bytes]:
        environ["sandbox.again"] = Again(after=PATIENCE)
        return "204 No Content", b""

    lines: Queue[LoggedRequest] = Queue()
    app = Toy(put_off)
    server = serve(app, log=lines.put)
    client = dial(server)
    client.get(b"/put-off")
    while not app.asked:
        time.sleep(0.001)
    server.stop()
    line = lines.get(timeout=PATIENCE)
    assert (line.status, line.target, line.note) == (0, "/put-off", "stopped")


def test_stopping_does_not_wait_for_half_a_request(serve: Serve, dial: Dial, at_once: Any) -> None:
    server = serve(Toy())
    half_head, half_body, other = dial(server), dial(server), dial(server)
    half_head.send(b"GET / HTTP/1.1\r\nHo")
    half_body.send(b"POST / HTTP/1.1\r\nHost: toy\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
    half_body.read_until(b"Continue\r\n\r\n")
    other.get()
    other.read_answer()
    with at_once():
        server.stop()
    assert half_head.read_all() == half_body.read_all() == b""


# Signals.

PROGRAM = """
    import signal, sys
    from reseller_sandbox.server.server import Server
    from reseller_sandbox.server.delivery import Again, Delivery

    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may run under nohup

    def app(environ, start_response):
        print("asked", flush=True)
        environ["sandbox.delivery"] = Delivery(delay=float(environ["QUERY_STRING"] or 0))
        start_response("200 OK", [])
        return [b"late but fine"]

    server = Server(app, port=0, grace=float(sys.argv[1]))
    print(server.port, flush=True)
    server.run()
    print("stopped in good order", flush=True)
"""


class Program:
    """A server in a process of its own."""

    host, certfile, tls_port = "127.0.0.1", None, None

    def __init__(self, grace: float) -> None:
        code = textwrap.dedent(PROGRAM)
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", code, str(grace)]
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
        self.port = int(self.line())

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout
        return self.process.stdout.readline()

    def ask(self, client: Client, delay: float) -> None:
        """Send a request, and wait until the application has been called."""
        client.get(f"/?{delay}".encode())
        assert self.line() == "asked\n"


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    program = Program(getattr(request, "param", float(PATIENCE)))
    with program.process:
        yield program
        program.process.kill()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_lets_what_is_in_flight_finish(program: Program, dial: Dial, name: str) -> None:
    idle, client = dial(program), dial(program)
    program.ask(client, delay=0.3)
    program.process.send_signal(getattr(signal, name))
    assert idle.read_all() == b""
    assert client.read_answer()[2] == b"late but fine"
    assert client.read_all() == b""
    out, err = program.process.communicate(timeout=PATIENCE)
    assert (program.process.returncode, out, err) == (0, "stopped in good order\n", "")


@pytest.mark.parametrize("program", [1.0], indirect=True)
def test_a_signal_waits_for_no_answer_that_would_come_too_late(program: Program, dial: Dial) -> None:
    client = dial(program)
    program.ask(client, delay=10 * PATIENCE)
    program.process.send_signal(signal.SIGTERM)
    assert client.read_all() == b""
    out, err = program.process.communicate(timeout=PATIENCE)
    assert (program.process.returncode, out, err) == (0, "stopped in good order\n", "")


@pytest.mark.parametrize("program", [10.0 * PATIENCE], indirect=True)
def test_a_second_signal_waits_for_nothing(program: Program, dial: Dial) -> None:
    idle, client = dial(program), dial(program)
    program.ask(client, delay=5 * PATIENCE)
    program.process.send_signal(signal.SIGINT)
    assert idle.read_all() == b""  # So the first has been heeded.
    program.process.send_signal(signal.SIGTERM)
    out, err = program.process.communicate(timeout=PATIENCE)
    assert (program.process.returncode, out, err) == (0, "stopped in good order\n", "")
    assert client.read_all() == b""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")
def test_under_nohup_a_closed_terminal_is_nothing() -> None:
    """A signal that whoever started the server has it ignore stays ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handling_signals(lambda: None):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not before
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_run_on_another_thread_ends_with_stop(dial: Dial) -> None:
    server = Server(Toy(), port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    client = dial(server)
    client.get()
    assert client.read_answer()[0] == 200
    server.stop()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_run_leaves_the_signal_handlers_as_they_were() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    lines: Queue[LoggedRequest] = Queue()
    server = Server(Toy(), port=0, log=lines.put)

    def ask_and_stop() -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: toy\r\n\r\n")
            lines.get(timeout=PATIENCE)
        os.kill(os.getpid(), signal.SIGTERM)

    helper = threading.Thread(target=ask_and_stop)
    helper.start()
    server.run()
    helper.join()
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
