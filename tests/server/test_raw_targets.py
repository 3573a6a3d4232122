"""Bytes of 0x80 and above in a request target, as some clients send them, in whatever packets they come."""

from __future__ import annotations

import itertools
import json
import socket
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clients import Api, signature
from tests.server.conftest import Client, Dial, Environ, Serve, Toy
from tests.thorough import tries

RAW = "/новий.укр?q=ї&r=%D0%BD".encode()
LATIN = b"/caf\xe9"
ENDS = {"HTTP/1.0": b"\r\n", "HTTP/1.1": b"\r\nHost: toy\r\n"}


def request(target: bytes, version: str = "HTTP/1.1", body: bytes = b"", *, chunked: bool = False) -> bytes:
    """A request with a header that has such bytes too."""
    head = b"POST " + target + b" " + version.encode() + ENDS[version] + "X-Name: ї\r\n".encode()
    if not chunked:
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:3], body[3:]) if part)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def echo(environ: Environ) -> tuple[str, bytes]:
    """What the application was told, as bytes in Latin-1."""
    told = [environ[name] for name in ("PATH_INFO", "QUERY_STRING", "REQUEST_URI", "RAW_URI", "HTTP_X_NAME")]
    return "200 OK", json.dumps([*told, environ["toy.body"].decode("latin-1")]).encode()


def heard(answer: tuple[int, dict[str, str], bytes]) -> list[bytes]:
    """What ``echo`` answered."""
    assert answer[0] == 200, answer
    return [told.encode("latin-1") for told in json.loads(answer[2])]


def expected(target: bytes, body: bytes) -> list[bytes]:
    """What the application is to be told: all as it was sent, decoded where WSGI wants it so."""
    path, _, query = target.partition(b"?")
    safe = "".join(map(chr, range(128)))
    return [path, quote(query, safe).encode(), target, target, "ї".encode(), body]


@pytest.mark.parametrize("version", ENDS)
@pytest.mark.parametrize("target", [RAW, LATIN, b"http://toy" + RAW])
def test_they_are_taken_in_either_version_of_http(
    serve: Serve, dial: Dial, version: str, target: bytes
) -> None:
    server = serve(Toy(echo))
    for _ in range(2):
        client = dial(server)
        client.send(request(target, version, "тіло".encode()))
        told = expected(target.removeprefix(b"http://toy"), "тіло".encode())
        told[3] = target
        assert heard(client.read_answer()) == told


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("chunked", [False, True])
def test_they_are_taken_over_split_packets_and_of_pipelined_requests(
    serve: Serve, dial: Dial, size: int, chunked: bool
) -> None:
    """The same bytes in a body, in a header and between the chunks of a body stay as they are."""
    bodies = ["ї\r\nPOST /ї HTTP/1.1\r\n\r\n".encode(), b"", b"\xff\n\n\xfe"]
    whole = b"".join(request(RAW, body=body, chunked=chunked) for body in bodies)
    client = dial(serve(Toy(echo)))
    for at in range(0, len(whole), size):
        client.send(whole[at : at + size])
    assert [heard(client.read_answer()) for _ in bodies] == [expected(RAW, body) for body in bodies]


PIECES = st.lists(
    st.tuples(st.sampled_from([RAW, LATIN, b"/"]), st.binary(max_size=60), st.booleans()), max_size=4
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=tries(40)
)
@given(asked=PIECES, cuts=st.lists(st.integers(1, 400), max_size=6))
def test_where_packets_end_makes_no_difference(serve: Serve, dial: Dial, asked: Any, cuts: Any) -> None:
    """Any requests one after another, cut anywhere, are the requests that were sent."""
    whole = b"\r\n".join(request(target, body=body, chunked=chunked) for target, body, chunked in asked)
    client = dial(serve(Toy(echo)))
    places = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
    for start, end in itertools.pairwise(places):
        client.send(whole[start:end])
    assert [heard(client.read_answer()) for _ in asked] == [
        expected(target, body) for target, body, _ in asked
    ]


@pytest.mark.parametrize("version", ENDS)
@pytest.mark.parametrize("split", [False, True])
def test_a_name_sent_as_it_is_is_found_and_what_was_sent_is_what_is_signed(
    default_wire: Api, version: str, split: bool
) -> None:
    """Not the percent-encoded form of it, which nobody has sent."""

    host, port = default_wire.base.removeprefix("http://").split(":")
    target = "/v3/domains/getDomain/приклад.укр"
    signed = signature(default_wire.secret, default_wire.key, default_wire.base + target, b"")
    lines = [f"GET {target} {version}", f"Host: {host}:{port}", f"X-SVC-APIKEY: {default_wire.key}"]
    sent = "\r\n".join([*lines, f"X-SVC-SIGNATURE: {signed}", "", ""]).encode()
    client = Client(socket.create_connection((host, int(port)), timeout=60))
    for piece in (sent[:30], sent[30:]) if split else (sent,):
        client.send(piece)
    status, headers, body = client.read_answer()
    client.socket.close()
    assert status == 200, body
    assert json.loads(body)["domain"]["domainName"] == "приклад.укр"
    assert headers["x-sandbox-signature"].startswith("v3.signature.endpoint=url")


def test_what_is_no_utf_8_is_refused_as_a_name(default_wire: Api) -> None:
    """In words, as any name that is none."""
    host, port = default_wire.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as raw:
        raw.sendall(
            b"GET /V2.0/domain/caf\xe9.com/check HTTP/1.1\r\nHost: x\r\nX-Auth-Token: sandbox-token\r\n"
            b"Connection: close\r\n\r\n"
        )
        assert b"Not the correct domain name" in b"".join(iter(lambda: raw.recv(4096), b""))
