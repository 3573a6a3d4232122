"""Secrets of third parties: no record and no output has a secret that a request carried."""

from __future__ import annotations

import base64
import gzip
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import BadSetting, Sandbox, connect
from tests.registry import REGISTRY

#: What is looked for; each place has a number of its own behind it.
PLANTED = "tellnobody"

#: Names that a secret goes under, in headers, queries and bodies.
NAMES = (
    *("password", "passwd", "user_password", "X-Password", "passphrase", "token", "access_token"),
    *("refreshToken",),
    *("X-Auth-Token", "X-Sandbox-Token", "X-CSRF-Token", "X-Amz-Security-Token", "secret", "client_secret"),
    *("X-SVC-SIGNATURE", "sig", "signature", "api_key", "apiKey", "X-Api-Key", "private_key", "access-key"),
    *("authCode", "auth_code", "transfer_code", "Authorization", "Proxy-Authorization"),
    *("X-Forwarded-Authorization",),
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


def _send(url: str, raw: bytes) -> str:
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as client:
        client.sendall(raw)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode("utf-8", "replace")


def _records(sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """Everything that can be read afterwards, with its name."""
    client = sandbox.client()
    for path in ("events?limit=500", "advice", "ledger", "worlds", "history/diff", "health"):
        yield path, client.get(f"/_sandbox/{path}").text
    entries = sandbox.journal.find(limit=10_000).requests
    yield "journal", repr(entries)
    for entry in entries[::20]:
        yield f"journal/{entry.id}", client.get(f"/_sandbox/journal/{entry.id}").text
    match: Any = {"match": {"operation": "v3.lockTransfer"}}
    yield "verify", client.post("/_sandbox/journal/verify", json=match).text
    yield "export", sandbox.export()


@contextmanager
def _serving(lines: list[str], *options: str) -> Iterator[str]:
    """Serve in a separate process; yield its address, and add what it prints to ``lines``."""
    words = [sys.executable, "-m", "reseller_sandbox", "serve", "--port", "0", "--journal", "100000"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([*words, *options], **pipes) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        reader = Thread(target=lambda: lines.extend(process.stdout))
        reader.start()
        try:
            yield url
        finally:
            process.terminate()
            reader.join()


@pytest.mark.parametrize("log", ["text", "json"])
def test_a_secret_in_a_request_is_nowhere_afterwards(log: str) -> None:
    """Not in the answer, the log, the journal, the events, an export or a recording."""
    plant, texts, lines = Planter(), list[tuple[str, str]](), list[str]()
    with _serving(lines, "--log", log) as url:
        for raw in requests(plant):
            texts.append((f"answer to {raw[:60]!r}", _send(url, raw)))
        with connect(url) as there:
            if log == "json":
                texts += _records(there)
            texts.append(("recording", gzip.decompress(there.capsule.get().content).decode()))
    logged = "".join(lines)
    assert logged.count("/V2.0/customer") > 100
    texts.append(("log", logged))
    leaks = {place: where for where, text in texts for place in plant.found(text)}
    assert len(plant.places) > 500
    assert leaks == {}


def test_the_report_of_a_failure_has_no_secrets() -> None:
    plant, sandbox = Planter(), Sandbox(REGISTRY)
    sample = list(requests(plant))[::7]
    with sandbox.serve() as server:
        for start in range(0, len(sample), 10):  # the report is about the last requests
            for raw in sample[start : start + 10]:
                _send(server.url, raw)
            with pytest.raises(KeyError) as failed, sandbox:
                raise KeyError
            (report,) = failed.value.__notes__
            assert "requests  " in report
            assert plant.found(report) == []


#: A name of a secret, however it is spelled: with words before it, in any case, with any separator.
SPELLED = st.builds(
    lambda before, words, mark, case: getattr(mark.join((*before, *words)), case)(),
    st.lists(st.sampled_from(["my", "X", "user", "old", "partner"]), max_size=2),
    st.sampled_from(
        [("api", "key"), ("auth", "code"), ("pass", "word"), ("private", "key"), ("token",), ("jwt",)]
    ),
    st.sampled_from(["", "-", "_"]),
    st.sampled_from(["lower", "upper", "title"]),
).filter(lambda name: not name.upper().endswith("-APIKEY"))


@pytest.fixture(scope="module")
def world() -> Sandbox:
    return Sandbox(REGISTRY)


def _recorded(sandbox: Sandbox, target: str, headers: Mapping[str, str], body: Any = None) -> str:
    """The journal's record of a request, and the recording."""
    sandbox.app.test_client().post(target, headers=dict(headers), json=body)
    entry = sandbox.journal.find(limit=1).requests[-1]
    return repr(sandbox.journal.get(entry.id).request)


@given(name=SPELLED, secret=st.from_regex(r"[A-Za-z0-9!$*+.~-]{8,40}", fullmatch=True))
def test_a_secret_is_masked_however_its_name_is_spelled(world: Sandbox, name: str, secret: str) -> None:
    """In a header, a query, a body and a text."""
    value = f"{PLANTED}{secret}"
    quoted = quote(value, safe="")
    within = quote(f"https://host.example/?{name}={quoted}", safe="")
    headers = {name.replace("_", "-"): value, "X-Note": f"https://{secret}:{value}@host.example/"}
    record = _recorded(world, f"/v3/balance?{name}={quoted}&to={within}", headers, {"a": [{name: value}]})
    assert PLANTED not in record
    assert PLANTED not in _recorded(world, "/v3/balance", {"X-Note": json.dumps({name: value})})


def test_texts_that_are_no_secrets_stay(world: Sandbox) -> None:
    for text in (
        "Basic hosting, Bearer bonds",
        "mail nora@example.com, see https://host.example/a@b",
        "X-SVC-APIKEY: sandbox-key",
        "100% of the design, 5 % off",
        "compass, configuration=1, signed=yes",
    ):
        assert text in _recorded(world, "/v3/balance", {"X-Note": text})
    target = "/v3/domains?perPage=5&name=%C3%A9%20x&url=https%3A%2F%2Fhost.example"
    assert target in _recorded(world, target, {})


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    """The address of a server, and the public address."""
    url = f"http://user:{PLANTED}@127.0.0.1:1"
    for use in (connect, lambda url: Sandbox(public_urls=[url])):
        with pytest.raises(BadSetting, match="with a user in it") as refused:
            use(url)
        assert PLANTED not in str(refused.value)
