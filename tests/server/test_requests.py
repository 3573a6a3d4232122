"""Requests on real sockets: however they are written and cut into packets, they are the requests as sent."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.clients import Answer, signature
from tests.registry import REGISTRY
from tests.server.conftest import GET, HOST, Served
from tests.thorough import tries

READ = "/v3/domains/getDomain/приклад.укр"
CHECK = "/v3/domains/checkAvailability?q=ї&r=%D0%BD"
CREATE = "/v3/domains/createDomain"

MAX_TARGET, MAX_HEAD = 16 << 10, 64 << 10


@pytest.fixture(scope="module")
def lasting() -> Iterator[Served]:
    """A server for all examples of a property."""
    sandbox = Sandbox(REGISTRY)
    with ExitStack() as stack:
        yield Served(sandbox, stack.enter_context(sandbox.serve()), stack)


def numbered(number: int) -> bytes:
    return b"GET /number/%d HTTP/1.1\r\n%s\r\n" % (number, HOST)


def test_each_server_has_its_own_port_and_a_usable_url(serve: Callable[..., Served]) -> None:
    hosts = {"127.0.0.1": "127.0.0.1", "localhost": "localhost", "0.0.0.0": "127.0.0.1"}
    if socket.has_dualstack_ipv6():
        hosts["::1"] = "[::1]"
    started = {host: serve(host=host, control_open=True) for host in hosts}
    for host, at in started.items():
        assert at.server.url == f"http://{hosts[host]}:{at.server.port}"
        assert at.dial().ask().status == 200
    assert len({at.server.port for at in started.values()}) == len(hosts)


def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    """A delayed answer holds up those behind it."""
    served.sandbox.faults.add("latency", seconds=0.05, match={"path": "/v3/marker"})
    client = served.dial()
    client.send(served.signed("GET", "/v3/marker"))
    client.send(b"".join(map(numbered, range(20))))
    assert client.answer().headers["x-sandbox-fault"] == "latency"
    for number in range(20):
        assert f"GET /number/{number} " in client.answer().message


def test_the_journal_has_the_target_and_headers_as_the_client_sent_them(served: Served) -> None:
    targets = {
        "/a%2Fb%20c/%c3%a9?x=%41+%20": "",
        "/%FF%zz?%FF": "",
        "//a//b/../c?": "",
        "*": "",
        "http://example.test/a%20b?c=%20": "/a%20b?c=%20",
        "HTTP://example.test?c": "/?c",
        "http://example.test": "/",
        "/новий?q=ї": "/%D0%BD%D0%BE%D0%B2%D0%B8%D0%B9?q=%D1%97",
    }
    client = served.dial()
    for target in targets:
        own = b"X-Twice: 1\r\nx-twice: 2\r\nX_Svc_Note: no\r\nX-Latin:  \xe9 \r\n\r\n"
        # The sandbox itself answers a GET of its root.
        assert client.ask(b"DELETE " + target.encode() + b" HTTP/1.1\r\n" + HOST + own).status == 404
    for target, entry in zip(targets, served.entries(len(targets)), strict=True):
        assert entry.request.target == (targets[target] or target)
        host = "example.test" if "example" in target else "localhost"
        assert dict(entry.request.headers) == {"Host": host, "X-Twice": "1,2", "X-Latin": "é"}


@pytest.mark.parametrize("tls", [False, True])
def test_a_body_of_any_size_and_encoding_arrives_complete(served: Served, tls: bool) -> None:
    client = served.dial(tls=tls)
    for size in (1, 70_000, 1 << 20):
        for chunks in (0, 10_000):
            client.ask(served.signed("POST", CHECK, b"x" * size, chunks=chunks))
    assert [entry.outcome for entry in served.entries(6)] == ["malformed_body"] * 6
    client.send(served.signed("POST", CREATE, b"x", chunks=1)[:-2] + b"X-Late: 1\r\n\r\n")
    assert client.answer().error == "malformed_body"
    assert "X-Late" not in served.entries(7)[-1].request.headers
    client.send(b"POST /a HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    assert client.head() == (100, {})
    assert client.ask(b"body").status == 404
    assert served.entries(8)[-1].request.body == "body"


def test_heads_and_trailers_up_to_the_limit_are_accepted(served: Served) -> None:
    """Chunks of a byte each, and a trailer in pieces, add nothing."""
    client = served.dial()
    assert client.ask(b"GET /" + b"a" * (MAX_TARGET - 1) + b" HTTP/1.1\r\n" + HOST + b"\r\n").status == 404
    long = b"GET /v3/balance HTTP/1.1\r\n" + HOST + b"X-Long: " + b"a" * (MAX_HEAD - 100) + b"\r\n\r\n"
    assert client.ask(long).status == 401
    for _ in range(2):
        client.send(b"POST /a HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
        client.send(b"1\r\nx\r\n" * (MAX_HEAD // 8))
        client.send(b"0\r\n" + b"X-Late: 1\r\n" * 100 + b"X-Long: ")
        for _ in range(10):
            client.send(b"a" * (MAX_HEAD // 11))
        assert client.ask(b"\r\n\r\n").status == 404
    assert served.entries(4)[-1].request.body == "x" * (MAX_HEAD // 8)


def test_an_upgrade_header_is_ignored(served: Served) -> None:
    """The request and its body are answered as without it, and so is the next request.

    The packet may end within the header's name: clients for Java ask with every request.
    """
    client, barrier = served.dial(), served.dial()
    for wanted in (b"Upgrade: h2c", b"upgrade:websocket", b"UPGRADE: HTTP/2.0, h2c", b"Up: 1"):
        for cut in (0, 1, 7, 8):
            for chunks in (0, 3):
                request = served.signed("POST", CREATE, b"body", chunks=chunks)
                start = request.index(HOST) + len(HOST)
                client.send(request[:start] + b"Connection: Upgrade, HTTP2-Settings\r\n" + wanted[:cut])
                barrier.ask()  # when this is answered, the server has read the piece
                rest = wanted[cut:] + b"\r\nHTTP2-Settings: AAEAAE\r\n" + request[start:]
                assert client.ask(rest).error == "malformed_body"
    entries = served.entries(32)
    assert [entry.request.body for entry in entries] == ["body"] * 32
    assert not [entry for entry in entries if "Upgrade" in entry.request.headers]


def test_a_head_response_has_the_headers_of_get_and_no_body(served: Served) -> None:
    client = served.dial()
    wanted = client.ask().headers["content-length"]
    client.send(GET.replace(b"GET", b"HEAD"))
    assert client.head() == (200, client.ask().headers)
    assert wanted != "0"
    for status in (204, 304):
        with served.sandbox.faults.add("error", status=status):
            client.send(served.signed("GET", "/v3/balance"))
            assert client.head()[0] == status
    assert client.ask().status == 200, "no body was sent"


@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1"])
def test_a_domain_name_in_raw_bytes_is_signed_as_sent(served: Served, version: bytes) -> None:
    """The percent-encoded form was never sent. Both are the same in a target in absolute form."""
    for target in (READ, f"http://localhost{READ}"):
        request = served.signed("GET", READ).replace(READ.encode(), target.encode())
        answer = served.dial().ask(request.replace(b"HTTP/1.1", version))
        assert answer.message == "приклад.укр is not in this account."
    client = served.dial()
    client.send(b"GET /V2.0/domain/caf\xe9.com/check HTTP/1.1\r\n" + HOST)
    answer = client.ask(f"X-Auth-Token: {served.sandbox.accounts['main'].token}\r\n\r\n".encode())
    assert answer.json["msg"] == "Not the correct domain name"


SIGNED = st.tuples(
    st.sampled_from([CHECK, READ, b"/v3/caf\xe9", "/v3/balance"]),
    st.sampled_from(["ї\r\nPOST /ї HTTP/1.1\r\n\r\n".encode(), b"\xff\n\n\xfe", b""]),
    st.integers(0, 5),
)
FIRST = st.sampled_from(
    (
        *(
            b"GET /a?b=c HTTP/1.1",
            b"POST http://toy/a HTTP/1.1",
            b"CONNECT toy:80 HTTP/1.1",
            b"nonsense",
            b"",
        ),
        *(b"GET /caf\xc3\xa9 HTTP/1.1", b"GET /" + b"x" * MAX_TARGET + b" HTTP/1.1"),
    )
)
LINES = st.sampled_from(
    (
        *(b"Host: toy", b"Connection: upgrade", b"UPGRADE: websocket", b"Content-Length: 3", b"no header"),
        *(b"Transfer-Encoding: chunked", b"X-Name: caf\xc3\xa9", b"a b: c", b" folded", b"X-Empty:"),
        b"X-Long: " + b"y" * (MAX_HEAD // 2),
    )
)
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n"])


@st.composite
def odd(draw: st.DrawFn) -> bytes:
    """A request that may be malformed."""
    lines = [draw(FIRST), *draw(st.lists(LINES, max_size=4)), b""]
    body = draw(st.sampled_from([b"", b"abc", b"0\r\n\r\n"]))
    return b"".join(line + draw(ENDS) for line in lines) + body


def exchange(served: Served, pieces: Sequence[bytes]) -> tuple[bytes, list[Any]]:
    """The bytes that a server answers, and its journal, if it reads the requests in these pieces."""
    served.sandbox.reset()
    with closing(served.dial()) as client, closing(served.dial()) as barrier:
        with suppress(OSError):  # the server may have ended the connection
            for piece in pieces:
                client.send(piece)
                barrier.ask()  # when this is answered, the server has read the piece
            for _ in range(10):  # and when these are, it has answered the requests
                barrier.ask()
            client.end()
        received = client.rest()
        barrier.ask()
    entries = [
        (entry.outcome, entry.status, entry.refusal, entry.request) for entry in served.sandbox.journal
    ]
    # Of a malformed request, the journal has what the server has read.
    return received, [entry[:3] if entry[0] == "malformed_request" else entry for entry in entries]


@settings(max_examples=tries(25))
@example([b"GET / HTTP/1.1\r\nHost: toy\r\nno header\r\nX-Later: 1\r\n\r\n"], [16, 27])
@example([b"CONNECT toy:80 HTTP/1.1\r\nHost: toy\r\n\r\n"], [25, 36])
@given(st.lists(st.one_of(SIGNED, odd()), min_size=1, max_size=3), st.lists(st.integers(1, 600), max_size=6))
def test_responses_do_not_depend_on_where_packets_end(
    lasting: Served, parts: list[Any], cuts: list[int]
) -> None:
    """A head that comes whole is read in another way than its lines."""
    requests = [
        part if isinstance(part, bytes) else lasting.signed("POST", part[0], part[1], chunks=part[2])
        for part in parts
    ]
    whole = b"".join(requests)
    places = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
    at_once = exchange(lasting, [whole])
    assert exchange(lasting, [whole[start:end] for start, end in pairwise(places)]) == at_once
    if all(isinstance(part, tuple) for part in parts):
        assert len(at_once[1]) == len(parts)
        assert "signature_mismatch" not in [outcome for outcome, *_ in at_once[1]]


#: A path of each interface, and of none.
V3, V2, CONTROL, NOWHERE = "/v3/balance", "/V2.0/customer/1", "/_sandbox/health", "/nowhere"

WRONG = {
    "none": [],
    "two": ["127.0.0.1", "127.0.0.1"],
    "two that differ": ["127.0.0.1", "evil.example"],
    "a space": ["a b"],
    "a path": ["127.0.0.1/x"],
    "two in one": ["127.0.0.1, evil.example"],
    "a user": ["user@127.0.0.1"],
    "a port that is no number": ["127.0.0.1:http"],
    "two ports": ["127.0.0.1:80:80"],
    "half an address": ["[::1"],
    "raw bytes": ["\xe9.example"],
}


def get(served: Served, target: str, hosts: list[str], *more: str, version: str = "1.1") -> Answer:
    lines = [f"GET {target} HTTP/{version}", *(f"Host: {host}" for host in hosts), *more, "", ""]
    return served.dial().ask("\r\n".join(lines).encode("latin-1"))


def signed(served: Served, url: str) -> tuple[str, str]:
    account = served.sandbox.accounts["main"]
    words = signature(account.secret, account.key, url, b"")
    return f"X-SVC-APIKEY: {account.key}", f"X-SVC-SIGNATURE: {words}"


def test_a_wrong_host_is_refused_and_journaled_by_each_interface(served: Served, subtests) -> None:
    for case, hosts in WRONG.items():
        for target in (V3, V2, CONTROL, NOWHERE, f"http://127.0.0.1{V3}"):
            with subtests.test(case, target=target):
                answer = get(served, target, hosts)
                assert answer.status == 400
                if target == V2:
                    assert (answer.json["code"], answer.json["status"]) == (400, False)
                    assert answer.json["msg"].startswith("The request has ")
                else:
                    assert answer.error == "invalid_host"
                    assert answer.message.startswith("The request has ")
    assert {entry.outcome for entry in served.sandbox.journal} == {"invalid_host"}


def test_the_host_of_an_absolute_target_overrides_the_host_header(served: Served) -> None:
    for named, header, status, error in (
        ("localhost", "evil.example.com", 200, None),
        ("LOCALHOST:80", "evil.example.com", 200, None),
        ("evil.example.com", "localhost", 403, "foreign_host"),
        ("evil.example.com:80", "localhost", 403, "foreign_host"),
        ("", "localhost", 400, "invalid_host"),
        ("user@evil.example.com", "localhost", 400, "invalid_host"),
        ("localhost:80@evil.example.com", "localhost", 400, "invalid_host"),
        ("localhost,evil.example.com", "localhost", 400, "invalid_host"),
    ):
        answer = get(served, f"http://{named}/_sandbox/clock", [header])
        assert (answer.status, answer.error) == (status, error), named
    headers = signed(served, f"http://shop.example{V3}")
    for named, status in (("shop.example", 200), ("else.example", 401)):
        assert get(served, f"http://{named}{V3}", ["else.example"], *headers).status == status


def test_http_1_0_requests_may_lack_a_host_header_but_may_not_have_two(served: Served) -> None:
    for target in (CONTROL, NOWHERE):
        client = served.dial()
        assert client.ask(f"GET {target} HTTP/1.0\r\n\r\n".encode()).error != "invalid_host"
        assert client.rest() == b""
        assert get(served, target, ["a", "b"], version="1.0").error == "invalid_host"


def test_every_valid_host_header_is_accepted_and_signed_as_sent(served: Served) -> None:
    for host in (
        *("", "127.0.0.1", "127.0.0.1:8053", "[::1]:8053", "a_b.example.", "xn--e1afmkfd.test:", "LOCALHOST"),
    ):
        assert get(served, V3, [host], *signed(served, f"http://{host}{V3}")).status == 200, host
