"""Secrets that are none of the sandbox's: wherever a request carries one, nothing kept or told has it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import BadSetting, Sandbox, connect
from reseller_sandbox.server.requestlog import as_json, as_text
from reseller_sandbox.server.secrecy import target_masked, text_masked
from reseller_sandbox.server.server import LoggedRequest, Server
from reseller_sandbox.testing import aftermath
from reseller_sandbox.web.app import UNREAD
from reseller_sandbox.worlds import redact
from tests.registry import REGISTRY
from tests.worlds.control import control

#: What is looked for; each place has a number of its own behind it.
PLANTED = "tellnobody"

#: Names that a secret goes under, in headers, queries and bodies.
NAMES = (
    *(
        "password",
        "passwd",
        "user_password",
        "X-Password",
        "passphrase",
        "token",
        "access_token",
        "refreshToken",
    ),
    *("X-Auth-Token", "X-Sandbox-Token", "X-CSRF-Token", "X-Amz-Security-Token", "secret", "client_secret"),
    *("X-SVC-SIGNATURE", "sig", "signature", "api_key", "apiKey", "X-Api-Key", "private_key", "access-key"),
    *(
        "authCode",
        "auth_code",
        "transfer_code",
        "Authorization",
        "Proxy-Authorization",
        "X-Forwarded-Authorization",
    ),
    *("credentials", "session", "sessionid", "jwt", "bearer", "Cookie", "Set-Cookie"),
)

#: Values that hold a secret, whatever name they go under.
VALUES = (
    "https://user:{}@host.example/path",
    'for=192.0.2.1;auth={{"password": "{}"}}',
    "Bearer {}",
    "back=https%3A%2F%2Fuser%3A{}%40host.example",
    "https://host.example/?token={}&x=1",
)

#: Where requests go: one that is let in nowhere, one that matches nothing, control's, one for a world.
TARGETS = ("/v3/balance", "/V2.0/customer", "/nothing", "/_sandbox/nothing")


class Planter:
    """Makes secrets, and remembers where each was put."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self._coded: dict[str, str] = {}

    def __call__(self, place: str) -> str:
        self.places.append(place)
        return f"{PLANTED}{len(self.places) - 1}x"

    def coded(self, place: str) -> str:
        """A secret as a password in Base64."""
        coded = base64.b64encode(f"user:{self(place)}".encode()).decode()
        self._coded[coded] = place
        return coded

    def found(self, text: str) -> list[str]:
        """The places whose secrets are in a text."""
        seen = {int(number) for number in re.findall(rf"{PLANTED}(\d+)x", text, re.IGNORECASE)}
        coded = [place for one, place in self._coded.items() if one in text]
        return [*(self.places[number] for number in sorted(seen)), *coded]


def requests(plant: Planter) -> Iterator[bytes]:
    """Requests as they are sent, with a secret in each place that there is."""
    for target in TARGETS:
        yield from _with_headers(plant, target)
        yield from _with_queries(plant, target)
        yield from _with_bodies(plant, target)
    yield from _unreadable(plant)


def _raw(method: str, target: str, *headers: str, body: str = "", host: str = "Host: toy") -> bytes:
    size = [f"Content-Length: {len(body.encode())}"] if body else []
    head = "\r\n".join([f"{method} {target} HTTP/1.1", host, *headers, *size, "Connection: close"])
    return f"{head}\r\n\r\n{body}".encode()


def _with_headers(plant: Planter, target: str) -> Iterator[bytes]:
    for name in NAMES:
        if name.isidentifier() and "_" in name:
            continue  # an underscore in a header's name is a dash to WSGI, and the name is among the others
        yield _raw("GET", target, f"{name}: {plant(f'header {name}, {target}')}")
    for value in VALUES:
        yield _raw("GET", target, f"X-Note: {value.format(plant(f'header with {value}, {target}'))}")
        yield _raw("GET", target, f"Referer: {value.format(plant(f'Referer {value}, {target}'))}")
    yield _raw("GET", target, f"Origin: https://user:{plant(f'Origin, {target}')}@host.example")
    yield _raw("GET", target, host=f"Host: user:{plant(f'Host, {target}')}@toy.example")
    yield _raw("GET", target, f"X-Note: Basic {plant.coded(f'Basic, {target}')}")


def _with_queries(plant: Planter, target: str) -> Iterator[bytes]:
    for name in NAMES:
        yield _raw("GET", f"{target}?{name}={plant(f'query {name}, {target}')}&x=1")
    escaped = "".join(f"%{ord(one):02x}" for one in "token")
    yield _raw("GET", f"{target}?x=1&{escaped}={plant(f'query of escapes, {target}')}")
    for value in VALUES:
        whole = quote(value.format(plant(f"query with {value}, {target}")), safe="")
        yield _raw("GET", f"{target}?to={whole}")
    yield _raw("GET", f"http://user:{plant(f'absolute target, {target}')}@toy{target}")


def _with_bodies(plant: Planter, target: str) -> Iterator[bytes]:
    for name in NAMES:
        for body in (
            json.dumps({name: plant(f"body {name}, {target}")}),
            json.dumps({"customer": [{name: plant(f"body within {name}, {target}")}]}),
            f"{name}={plant(f'form {name}, {target}')}&x=1",
            f'{{"{name}": "{plant(f"half a body {name}, {target}")}',
        ):
            yield _raw("POST", target, "Content-Type: application/json", body=body)
    for value in VALUES:
        body = json.dumps({"note": value.format(plant(f"body with {value}, {target}"))})
        yield _raw("POST", target, "Content-Type: application/json", body=body)


def _unreadable(plant: Planter) -> Iterator[bytes]:
    bad = "HTTP/1.1\r\nbad header\r\n\r\n"
    for raw in (
        f"GET /?token={plant('unreadable query')} {bad}",
        f"GET / HTTP/1.1\r\nAuthorization: Bearer {plant('unreadable header')}\r\nbad header\r\n\r\n",
        f"GET / HTTP/1.1\r\nAuthorization {plant('header without a colon')}\r\n\r\n",
        f"GET / HTTP/1.1\r\nCookie: {plant('half a head')}",
        f"GET http://user:{plant('unreadable absolute target')}@toy/ {bad}",
    ):
        yield raw.encode()


def _send(server: Server, raw: bytes) -> str:
    with socket.create_connection((server.host, server.port), timeout=60) as client:
        client.sendall(raw)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode("utf-8", "replace")


def _pages(sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """Everything that can be looked at afterwards, with a name."""
    steer = control(sandbox)
    for path in (
        "journal?limit=500",
        "events?limit=500",
        "advice",
        "ledger",
        "worlds",
        "history/diff",
        "health",
    ):
        yield path, json.dumps(steer.get(path))
    for entry in list(sandbox.world.journal)[::20]:
        yield f"journal/{entry.id}", json.dumps(steer.get(f"journal/{entry.id}"))
    match: Any = {"match": {"operation": "v3.lockTransfer"}}
    yield "verify", json.dumps(steer.post("journal/verify", match))
    yield "repr", repr(sandbox.world.journal.entries)
    yield "export", sandbox.export()


def test_a_secret_in_a_request_is_nowhere_afterwards(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in the answer, the log, the journal, the events, an export, a failed test's report or its file."""
    plant, told = Planter(), list[tuple[str, str]]()
    sandbox = Sandbox(REGISTRY, journal=100_000)
    lines: Queue[LoggedRequest] = Queue()
    when_unread = sandbox.app.extensions[UNREAD]
    with Server(sandbox.app, port=0, log=lines.put, when_unread=when_unread) as server:
        for raw in requests(plant):
            told.append((f"answer to {raw[:60]!r}", _send(server, raw)))
        told.append(("report", aftermath.told(connect(server.url), tmp_path / "world.capsule")))
    logged = [lines.get_nowait() for _ in range(lines.qsize())]
    told += [("log", shown(line)) for line in logged for shown in (repr, as_text, as_json)]
    told += [
        *_pages(sandbox),
        ("file", gzip.decompress((tmp_path / "world.capsule").read_bytes()).decode()),
        ("logging", caplog.text),
    ]
    leaks = {place: where for where, text in told for place in plant.found(text)}
    assert len(plant.places) > 500
    assert leaks == {}


#: A name of a secret however it is spelt: with words before it, in any case, with any mark between words.
SPELT = st.builds(
    lambda before, words, mark, case: getattr(mark.join((*before, *words)), case)(),
    st.lists(st.sampled_from(["my", "X", "user", "old", "partner"]), max_size=2),
    st.sampled_from(
        [("api", "key"), ("auth", "code"), ("pass", "word"), ("private", "key"), ("token",), ("jwt",)]
    ),
    st.sampled_from(["", "-", "_"]),
    st.sampled_from(["lower", "upper", "title"]),
).filter(lambda name: not name.upper().endswith("-APIKEY"))


@given(name=SPELT, secret=st.from_regex(r"[A-Za-z0-9!$*+.~-]{8,40}", fullmatch=True))
def test_however_its_name_is_spelt_a_secret_is_masked(name: str, secret: str) -> None:
    """In a header, a query, a body and a text."""
    value = f"{PLANTED}{secret}"
    quoted = quote(value, safe="")
    assert PLANTED not in str(dict(redact.headers({name: value})))
    assert PLANTED not in target_masked(f"/v3/balance?{name}={quoted}&x=1")
    assert PLANTED not in str(redact.masked({"a": [{name: value}]}))
    assert PLANTED not in text_masked(f"to={quote(f'https://host.example/?{name}={quoted}', safe='')}")
    assert PLANTED not in text_masked(json.dumps({name: value}))
    assert PLANTED not in text_masked(f"https://{secret}:{value}@host.example/")


@pytest.mark.parametrize(
    "text",
    [
        "Basic hosting, Bearer bonds",
        "mail nora@example.com, see https://host.example/a@b",
        "X-SVC-APIKEY: sandbox-key",
        "100% of the design, 5 % off",
        "compass, configuration=1, signed=yes",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    """Words that look a little like one."""
    assert text_masked(text) == text


def test_a_target_without_secrets_stays_as_it_was_sent() -> None:
    """Its escapes too."""
    target = "/v3/domains?perPage=5&name=%C3%A9%20x&url=https%3A%2F%2Fhost.example"
    assert target_masked(target) == target


def test_an_address_with_a_password_is_refused_without_telling_it() -> None:
    """For a server to reach, and for the one that clients believe in."""
    url = f"http://user:{PLANTED}@127.0.0.1:1"
    for use in (connect, lambda url: Sandbox(public_urls=[url])):
        with pytest.raises(BadSetting, match="with a user in it") as refused:
            use(url)
        assert PLANTED not in str(refused.value)
