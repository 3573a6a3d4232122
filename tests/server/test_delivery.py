"""HTTPS, damaged answers, and turns of clients."""

from __future__ import annotations

import re
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import BadStatusLine
from time import monotonic
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.server.conftest import GET, HOST, Served
from tests.waiting import wait_until

CUTS: list[dict[str, Any]] = [
    {"kind": "reset"},
    {"kind": "close"},
    {"kind": "truncate", "keep": 3},
    {"kind": "truncate", "keep": 3, "reset": True},
    {"kind": "garbage", "text": "!"},
    {"kind": "hang", "seconds": 0},
]


#: A response that no buffer holds.
LARGE = {"kind": "mutate", "path": "[0].balance", "value": "x" * 10_000_000}


@pytest.mark.parametrize("tls", [False, True])
def test_a_client_that_leaves_before_a_large_or_damaged_response_is_not_logged(
    served: Served, tls: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    latency = {"kind": "latency", "seconds": 0.05, "when": {"phase": "before"}}
    delayed = [[latency, rule] for rule in CUTS]
    for number, rules in enumerate([[LARGE], *[[rule] for rule in CUTS], *delayed], start=1):
        served.sandbox.faults.replace(rules)
        for _ in range(8):
            client = served.dial(tls=tls)
            client.send(served.signed("GET", "/v3/balance"))
            client.close()
        wait_until(lambda: served.sandbox.journal.count() == 8 * number)
    assert served.dial(tls=tls).ask().status == 200
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("tls", [False, True])
def test_a_client_that_leaves_ends_all_its_pipelined_requests(
    served: Served, tls: bool, at_once: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    served.sandbox.faults.add("drip", size=1, pause=0.01)
    served.sandbox.faults.add("latency", seconds=4, when={"phase": "after"}, match={"path": "/v3/marker"})
    for number, target in enumerate(("/v3/balance", "/v3/marker"), start=1):
        client = served.dial(tls=tls)
        client.send(served.signed("GET", target) * 2)
        wait_until(lambda: served.sandbox.journal.count() == number)
        client.close()
    with at_once():
        served.server.stop()
    assert not caplog.records


@pytest.mark.parametrize(
    "rule",
    [
        None,
        {"kind": "latency", "seconds": 0.1, "when": {"phase": "before"}},
        {"kind": "latency", "seconds": 0.1, "when": {"phase": "after"}},
        {"kind": "drip", "size": 20, "pause": 0.01},
        {"kind": "bandwidth", "rate": 5000},
    ],
)
def test_a_half_closed_client_gets_its_responses(served: Served, rule: dict[str, Any] | None) -> None:
    if rule is not None:
        served.sandbox.faults.add(**rule)
    client = served.dial()
    client.send(served.signed("GET", "/v3/balance") * 2)
    client.end()
    assert [client.answer().status, client.answer().status] == [200, 200]
    assert client.rest() == b""


def test_a_hang_ends_when_the_client_ends_its_side(served: Served) -> None:
    served.sandbox.faults.add("hang")
    client = served.dial()
    client.send(served.signed("GET", "/v3/balance"))
    client.end()
    assert client.rest() == b""


@pytest.mark.parametrize("tls", [False, True])
def test_a_reset_is_sent_after_half_of_a_large_response(served: Served, tls: bool) -> None:
    """It overtakes no byte, and takes the place of the farewell under TLS."""
    served.sandbox.faults.replace([LARGE, {"kind": "truncate", "reset": True}])
    client = served.dial(tls=tls)
    client.send(served.signed("GET", "/v3/balance"))
    half = int(client.head()[1]["content-length"]) // 2
    assert half >= 5_000_000
    while half > 0:
        half -= len(client.piece())
    assert half == 0
    with pytest.raises(ConnectionResetError):
        client.rest()


def test_a_plain_wsgi_server_gets_an_exception_or_a_cut_body_for_a_damaged_response(
    sandbox: Sandbox, subtests
) -> None:
    """The application of a sandbox can run under another WSGI server."""
    token = {"X-Auth-Token": sandbox.accounts["main"].token}

    def ask() -> Any:
        return sandbox.app.test_client().get("/V2.0/domain/active.com", headers=token)

    whole = ask().data
    for rule, error in (
        ({"kind": "reset"}, ConnectionResetError),
        ({"kind": "close"}, ConnectionAbortedError),
        ({"kind": "truncate", "reset": True}, ConnectionResetError),
        ({"kind": "garbage"}, BadStatusLine),
        ({"kind": "hang"}, TimeoutError),
    ):
        with subtests.test(rule=rule), sandbox.faults.add(**rule), pytest.raises(error):
            ask().get_data()
    with sandbox.faults.add("truncate", keep=3):
        cut = ask()
        assert (cut.data, cut.headers["Content-Length"]) == (whole[:3], str(len(whole)))
    began = monotonic()
    sandbox.faults.add("latency", seconds=0.02)
    sandbox.faults.add("drip", size=len(whole) // 2, pause=0.02)
    assert ask().data == whole
    assert monotonic() - began >= 0.04


HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


def test_the_http_and_https_ports_serve_the_same_worlds(served: Served) -> None:
    host, server = "127.0.0.1", served.server
    assert (server.url, server.tls_url) == (
        f"http://{host}:{server.port}",
        f"https://{host}:{server.tls_port}",
    )
    for tls in (False, True):
        answer = served.dial(tls=tls).ask(served.signed("GET", "/v3/balance"))
        assert answer.status == 200
        assert answer.headers["x-sandbox-request"] == f"r{tls + 1}"


def test_plain_http_on_the_tls_port_is_answered_and_journaled(served: Served, subtests) -> None:
    for method in ("GET", "POST", "HEAD", "OPTIONS"):
        with subtests.test(method):
            client = served.client(served.connected(served.server.tls_port))
            client.send(f"{method} /path HTTP/1.1\r\nHost: toy\r\nContent-Length: 3\r\n\r\nabc".encode())
            answer = client.answer()
            assert (answer.status, answer.headers["connection"]) == (400, "close")
            assert "use https://" in answer.message
            client.send(b"and more")
            (*_, entry) = served.sandbox.journal
            assert (entry.request.method, entry.request.target, entry.status) == (method, "/path", 400)
            assert "use https://" in str(entry.refusal)
    for sent in (b"G", b"\r\n\r\n", b"\x80\x2e\x01", b"nonsense", b"\x00"):
        with subtests.test(sent=sent):
            client = served.client(served.connected(served.server.tls_port))
            client.send(sent)
            assert client.answer().status == 400


def test_a_slow_tls_handshake_does_not_delay_other_clients(served: Served) -> None:
    slow = served.connected(served.server.tls_port)
    for number in range(len(HELLO)):
        slow.sendall(HELLO[number : number + 1])
    assert served.dial(tls=True).ask().status == 200
    slow.settimeout(0.05)
    with closing(slow), pytest.raises(TimeoutError):
        slow.recv(1)


def test_a_client_that_distrusts_the_certificate_authority_is_logged(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """The client itself may show nothing but a failed handshake."""
    with served.connected(served.server.tls_port) as sock, pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(sock, server_hostname="127.0.0.1")
    served.server.stop()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "A client disconnected: it does not trust the authority of the certificate.")
    ]


CONNECTIONS, PIPELINED = 20, 45


@pytest.mark.parametrize("line", [b"\n", b"\r\n"])
def test_empty_lines_before_a_request_are_limited(served: Served, line: bytes) -> None:
    """A few before each request are ignored."""
    few, client = line * (1024 // len(line)), served.dial()
    client.send((few + GET) * 2 + line * 1025 + GET)
    assert client.answer().status == client.answer().status == 200
    refused = client.answer()
    assert (refused.status, refused.headers["connection"]) == (400, "close")
    assert "more than 1024 bytes of empty lines come before the request line" in refused.message
    assert [entry.status for entry in served.entries(1)] == [400]


def test_pipelined_requests_take_turns_with_requests_of_other_clients(served: Served) -> None:
    many, other = [served.dial() for _ in range(CONNECTIONS)], served.dial()
    request = served.signed("GET", "/v3/domains?perPage=100")
    for client in many:
        client.send(request * PIPELINED)
    wait_until(lambda: served.sandbox.journal.count() >= CONNECTIONS)
    before = served.sandbox.journal.count()
    for _ in range(10):
        assert other.ask().status == 200
    assert served.sandbox.journal.count() - before < 12 * CONNECTIONS
    for client in many:
        assert [client.answer().status for _ in range(PIPELINED)] == [200] * PIPELINED


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Let the threads of the client and of the server take turns more often than every 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_a_body_in_small_chunks_does_not_delay_other_clients(served: Served, quick_switches: None) -> None:
    """The event loop reads 16 KiB a round, of 1.8 MB."""
    client, other, is_answered = served.dial(), served.dial(), threading.Event()
    head = b"POST /_sandbox/history/load HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"

    def send() -> None:
        client.send(head + b"1\r\n \r\n" * 300_000 + b"0\r\n\r\n")
        client.answer()
        is_answered.set()

    thread = threading.Thread(target=send)
    thread.start()
    answers = 0
    while not is_answered.is_set():
        assert other.ask().status == 200
        answers += 1
    thread.join()
    assert answers > 15


def test_a_slow_journal_follower_gets_the_latest_entries_and_a_missed_count(served: Served) -> None:
    client, path = served.sandbox.client(), f"/V3.0/customer/{'1' * 15_000}"
    follower = served.dial()
    follower.send(b"GET /_sandbox/journal/follow HTTP/1.1\r\n" + HOST + b"\r\n")
    assert follower.head()[0] == 200
    for _ in range(1400):
        client.get(path)
    pieces = [b"", follower.piece()]
    while b'"id":"r1400"' not in pieces[-2] + pieces[-1]:
        pieces.append(follower.socket.recv(1 << 20))
    came = b"".join(pieces)
    missed = [int(count) for count in re.findall(rb'event: missed\r?\ndata: {"missed":(\d+)}', came)]
    received = len(set(re.findall(rb"\bid: (\S+)", came)))
    assert missed
    assert received + missed[-1] == 1400
    assert received >= 1000


def test_a_journal_follower_gets_its_backlog_in_pieces_of_64_kib(served: Served) -> None:
    client = served.sandbox.client()
    for number in range(300):
        client.get(f"/V3.0/customer/{'1' * 1_000}?number={number}")
    follower, received, sizes = served.dial(), b"", list[int]()
    follower.send(b"GET /_sandbox/journal/follow?since=r1 HTTP/1.1\r\n" + HOST + b"\r\n")
    assert follower.head()[0] == 200
    while b'"id":"r300"' not in received[-4000:]:
        received += follower.piece()
    while b"\r\n" in received:
        size, _, rest = received.partition(b"\r\n")
        sizes.append(int(size, 16))
        received = rest[sizes[-1] + 2 :]
    assert 4 <= len(sizes) <= 12, sizes
    assert max(sizes) < 70_000, sizes
