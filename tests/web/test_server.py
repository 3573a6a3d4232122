"""The server on real sockets: its port, what the application is given, what is refused, how it stops."""

from __future__ import annotations

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
from queue import Queue
from wsgiref.validate import validator

import pytest

from sandbox.core.clock import stopwatch
from sandbox.web.listener import MAX_HEAD, MAX_TARGET
from sandbox.web.server import CannotListen, PortInUse, RequestLine, Server, bound

from .conftest import PATIENCE, Client, Toy


def test_port_0_takes_a_free_port_and_names_it(serve, dial):
    first, second = serve(Toy()), serve(Toy())
    assert first.port != second.port
    assert first.url == f"http://127.0.0.1:{first.port}"
    dial(first).get()


def test_a_busy_port_is_known_at_once():
    with bound("127.0.0.1", 0) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            Server(Toy(), port=port)
    message = str(caught.value)
    assert message.startswith(f"127.0.0.1:{port} is in use")
    assert "\n" not in message


def test_two_servers_do_not_share_a_port_before_they_run():
    first = Server(Toy(), port=0)
    with pytest.raises(PortInUse):
        Server(Toy(), port=first.port)
    first.stop()
    Server(Toy(), port=first.port).stop()


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 0), ("192.0.2.1", 0), ("127.0.0.1", 70000)])
def test_an_address_that_cannot_be_had(host, port):
    with pytest.raises(CannotListen, match=host):
        Server(Toy(), host, port)


def has_ipv6() -> bool:
    try:
        bound("::1", 0).close()
    except CannotListen:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_ipv6(serve, dial):
    server = serve(Toy(), host="::1")
    assert server.url == f"http://[::1]:{server.port}"
    client = dial(server)
    client.get()
    assert client.read_answer()[0] == 200


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("localhost", "localhost")])
def test_the_url_is_one_that_a_client_can_use(host, reached):
    server = Server(Toy(), host, 0)
    assert server.url == f"http://{reached}:{server.port}"
    server.stop()


def test_who_connects_before_it_runs_is_served_when_it_does(dial):
    server = Server(Toy(), port=0)
    client = dial(server)
    client.get()
    with server:
        assert client.read_answer()[0] == 200


def test_what_keeps_it_from_starting_is_raised():
    server = Server(Toy(), port=0, certfile="/nowhere.pem")
    with pytest.raises(FileNotFoundError):
        server.start()
    server.stop()


def test_stop_may_be_called_twice(serve):
    server = serve(Toy())
    server.stop()
    server.stop()
    assert threading.active_count() == 1


def test_stop_takes_no_time(serve, dial):
    server = serve(Toy())
    idle, used = dial(server), dial(server)
    used.get()
    used.read_answer()
    began = stopwatch()
    server.stop()
    assert stopwatch() - began < 0.09  # uvicorn alone takes 0.1 and more.
    assert idle.read_all() == used.read_all() == b""


def test_over_tls(serve, dial, certfile):
    server = serve(Toy(), certfile=certfile)
    assert server.url == f"https://127.0.0.1:{server.port}"
    client = dial(server)
    client.get()
    assert client.read_answer()[2] == b"fine"


def test_stop_takes_no_time_over_tls(serve, dial, certfile):
    server = serve(Toy(), certfile=certfile)
    clients = [dial(server) for _ in range(5)]
    for client in clients:
        client.get()
        client.read_answer()
    began = stopwatch()
    server.stop()
    assert stopwatch() - began < 0.5
    assert [client.read_all() for client in clients] == [b""] * 5


def test_importing_the_server_does_not_import_uvicorn():
    code = "import sys, sandbox.web.server, sandbox.web.transport; print('uvicorn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


# What the application is given.


def test_a_connection_serves_many_requests_and_many_connections_take_turns(serve):
    server = serve(Toy(lambda environ: ("200 OK", environ["QUERY_STRING"].encode())))
    connections = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(40)]
    for turn in range(5):
        for number, connection in enumerate(connections):
            connection.request("GET", f"/?{turn}.{number}")
        for number, connection in enumerate(connections):
            assert connection.getresponse().read() == f"{turn}.{number}".encode()
    for connection in connections:
        connection.close()


def test_pipelined_requests_are_answered_in_order(serve, dial):
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
def test_the_target_comes_as_it_was_sent(serve, dial, sent, raw, path, query):
    toy = Toy()
    client = dial(serve(toy))
    client.get(sent.encode())
    assert client.read_answer()[0] == 200
    environ = toy.asked[0]
    assert environ["RAW_URI"] == sent
    assert environ["REQUEST_URI"] == (raw or sent)
    expected = path if isinstance(path, bytes) else path.encode()
    assert environ["PATH_INFO"].encode("latin-1") == expected
    assert environ["QUERY_STRING"] == query
    assert environ["HTTP_HOST"] == ("example.test" if "example" in sent else "toy")


def test_headers(serve, dial):
    toy = Toy()
    client = dial(serve(toy))
    client.send(
        b"GET / HTTP/1.1\r\nHost: toy\r\nX-Twice: 1\r\nx-twice: 2\r\nCookie: a=1\r\nCookie: b=2\r\n"
        b"X_SVC_KEY: no\r\nX-Latin:  \xe9 \r\n\r\n"
    )
    client.read_answer()
    environ = toy.asked[0]
    assert environ["HTTP_X_TWICE"] == "1,2"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"
    assert environ["HTTP_X_LATIN"] == "\xe9"
    assert "HTTP_X_SVC_KEY" not in environ
    assert "CONTENT_LENGTH" not in environ


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_the_environment_is_what_wsgi_asks_for(serve, caplog, method):
    def strict(environ, start_response):
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
def test_bodies(serve, size, chunked):
    toy = Toy()
    connection = http.client.HTTPConnection("127.0.0.1", serve(toy).port)
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    sent = (body[start : start + 10_000] for start in range(0, size, 10_000)) if chunked else body
    connection.request("POST", "/", body=sent, encode_chunked=chunked)
    assert connection.getresponse().read() == b"fine"
    assert toy.asked[0]["toy.body"] == body
    assert toy.asked[0]["CONTENT_LENGTH"] == str(size)
    connection.close()


def test_what_trails_a_chunked_body_is_no_header(serve, dial):
    toy = Toy()
    client = dial(serve(toy))
    client.send(b"POST / HTTP/1.1\r\nHost: toy\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Late: 1\r\n\r\n")
    client.read_answer()
    assert toy.asked[0]["toy.body"] == b"x"
    assert "HTTP_X_LATE" not in toy.asked[0]


# What the application answers.


def test_head_and_204_have_no_body(serve, dial):
    client = dial(serve(Toy(lambda environ: (environ["QUERY_STRING"] + " X", b"four"))))
    client.send(b"HEAD /?200 HTTP/1.1\r\nHost: toy\r\n\r\n")
    status, headers, _ = 0, *client.read_head() if hasattr(client, "read_head") else (None, None)
