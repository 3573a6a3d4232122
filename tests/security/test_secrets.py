"""Secrets of third parties: no record and no output has a secret that a request carried."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import BadSetting, Sandbox, connect
from tests.command import PROGRAM
from tests.connection import Connection
from tests.registry import REGISTRY

#: What is looked for; each place has a number of its own behind it.
PLANTED = "tellnobody"

#: Names of secrets that the setting ``secret_names`` adds.
ADDED = ("customerNo", "ref")

#: Names that a secret goes under, in headers, queries and bodies. The last ones are spellings of ``ADDED``.
NAMES = (
    *("password", "passwd", "user_password", "X-Password", "passphrase", "token", "access_token"),
    *("refreshToken",),
    *("X-Auth-Token", "X-Sandbox-Token", "X-CSRF-Token", "X-Amz-Security-Token", "secret", "client_secret"),
    *("X-SVC-SIGNATURE", "sig", "signature", "api_key", "apiKey", "X-Api-Key", "private_key", "access-key"),
    *("authCode", "auth_code", "transfer_code", "Authorization", "Proxy-Authorization"),
    *("X-Forwarded-Authorization",),
    *("MY-API-KEY", "oldPrivateKey", "Partner-Auth-Code", "USERTOKEN", "myjwt", "x-user-pass-word"),
    *("credentials", "session", "sessionid", "jwt", "bearer", "Cookie", "Set-Cookie"),
    *("auth", "X-Epp", "domain_auth", "transfer_auth", "authorizationCode", "authCodes", "passcode", "EPP"),
    *("pin_code",),
    *("customer_no", "X-Customer-No", "CUSTOMERNO", "theCustomerNo", "ref", "X-Ref", "orderRef", "REF"),
)

#: Values that hold a secret, whatever name they go under.
VALUES = (
    "https://user:{}@host.example/path",
    'for=192.0.2.1;auth={{"password": "{}"}}',
    "Bearer {}",
    "back=https%3A%2F%2Fuser%3A{}%40host.example",
    "https://host.example/?token={}&x=1",
)

#: A target of each interface; the last is no operation.
TARGETS = ("/v3/balance", "/V2.0/customer", "/_sandbox/nothing")


#: Bodies with a secret under a name; the last breaks off.
BODIES = (
    '{{"{0}": "{1}"}}',
    '{{"customer": [{{"{0}": "{1}"}}]}}',
    "{0}={1}&x=1",
    "<epp><{0}>{1}</{0}></epp>",
    '{{"{0}": "{1}',
)

#: Requests that the server cannot read.
UNREADABLE = (
    "GET /?token={} HTTP/1.1\r\nbad header\r\n\r\n",
    "GET / HTTP/1.1\r\nAuthorization: Bearer {}\r\nbad header\r\n\r\n",
    "GET / HTTP/1.1\r\nAuthorization {}\r\n\r\n",
    "GET / HTTP/1.1\r\nCookie: {}",
    "GET http://user:{}@toy/ HTTP/1.1\r\nbad header\r\n\r\n",
)


class Planter:
    """Makes requests with a new secret in each, and remembers where each is."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self._coded = base64.b64encode(f"user:{PLANTED}".encode()).decode()

    def _secret(self, place: str) -> str:
        self.places.append(place)
        return f"{PLANTED}{len(self.places) - 1}x"

    def found(self, text: str) -> list[str]:
        """The places whose secrets are in a text."""
        seen = {int(number) for number in re.findall(rf"{PLANTED}(\d+)x", text, re.IGNORECASE)}
        return [
            *(self.places[number] for number in sorted(seen)),
            *(["Basic"] if self._coded in text else []),
        ]

    def requests(self) -> Iterator[bytes]:
        """Requests as they are sent, with a secret in each place that there is."""
        for target in TARGETS:
            yield from self._named(target)
            for value in VALUES:
                for name in ("X-Note", "Referer"):
                    yield _raw(target, f"{name}: {value.format(self._secret(f'{name} {value}, {target}'))}")
                held = value.format(self._secret(f"query with {value}, {target}"))
                yield _raw(f"{target}?to={quote(held, safe='')}")
                held = value.format(self._secret(f"body with {value}, {target}"))
                yield _raw(target, body=json.dumps({"note": held}))
            yield _raw(target, f"Origin: https://user:{self._secret(f'Origin, {target}')}@host.example")
            yield _raw(target, host=f"user:{self._secret(f'Host, {target}')}@toy.example")
            yield _raw(target, f"X-Note: Basic {self._coded}")
            yield _raw(target, f"X-SVC-APIKEY: {self._secret(f'API key, {target}')}")
            for name in ("X-SVC-APIKEY", "x-svc-apikey", "X-Svc-%41piKey"):
                yield _raw(f"{target}?{name}={self._secret(f'query {name}, {target}')}")
            yield _raw(f"{target}?x=1&%74%6f%6b%65%6e={self._secret(f'query of escapes, {target}')}")
            yield _raw(f"http://user:{self._secret(f'absolute target, {target}')}@toy{target}")
        for form in UNREADABLE:
            yield form.format(self._secret(form)).encode()

    def _named(self, target: str) -> Iterator[bytes]:
        for name in NAMES[TARGETS.index(target) :: len(TARGETS)]:
            if "_" not in name:  # that is a dash to WSGI, and the name with a dash is there too
                yield _raw(target, f"{name}: {self._secret(f'header {name}, {target}')}")
            yield _raw(f"{target}?{name}={self._secret(f'query {name}, {target}')}&x=1")
            for form in BODIES:
                body = form.format(name, self._secret(f"{form} with {name}, {target}"))
                yield _raw(target, "Content-Type: application/json", body=body)


def _raw(target: str, *headers: str, body: str = "", host: str = "toy") -> bytes:
    lines = [f"{'POST' if body else 'GET'} {target} HTTP/1.1", f"Host: {host}", *headers]
    size = [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, *size, "Connection: close", "", body]).encode()


def _send(url: str, raw: bytes) -> str:
    with Connection.to(url) as client:
        client.send(raw)
        client.end()
        return client.rest().decode("utf-8", "replace")


def _records(sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """Everything that can be read afterwards, with its name."""
    client = sandbox.client()
    reads = ("events?limit=500", "advice", "ledger", "worlds", "history/diff", "journal?limit=10000")
    for path in (*reads, *(f"journal/r{number}" for number in range(1, 600, 20))):
        yield path, client.get(f"/_sandbox/{path}").text
    match: Any = {"match": {"operation": "v3.lockTransfer"}}
    yield "verify", client.post("/_sandbox/journal/verify", json=match).text
    yield "export", sandbox.export()


def test_no_record_and_no_output_contains_a_secret_from_a_request() -> None:
    plant, texts, lines = Planter(), list[tuple[str, str]](), list[str]()
    command = [PROGRAM, "serve", "--port", "0", "--journal", "100000", "--log", "json"]
    command += [word for name in ADDED for word in ("--secret-name", name)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        reader = Thread(target=lambda: lines.extend(process.stdout))
        reader.start()
        for raw in plant.requests():
            texts.append((f"answer to {raw[:60]!r}", _send(url, raw)))
        with connect(url) as there:
            texts += _records(there)
            texts.append(("recording", gzip.decompress(there.recording.get().content).decode()))
        process.terminate()
        reader.join()
    logged = "".join(lines)
    assert logged.count("/V2.0/customer") > 80
    texts.append(("log", logged))
    leaks = {place: where for where, text in texts for place in plant.found(text)}
    assert len(plant.places) > 250
    assert leaks == {}


def test_the_report_of_a_failed_test_has_no_secrets() -> None:
    plant, sandbox = Planter(), Sandbox(REGISTRY, secret_names=ADDED)
    sample = list(plant.requests())[::12]
    with sandbox.serve() as server:
        for start in range(0, len(sample), 10):  # the report is about the last requests
            for raw in sample[start : start + 10]:
                _send(server.url, raw)
            with pytest.raises(KeyError) as failed, sandbox:
                raise KeyError
            (report,) = failed.value.__notes__
            assert "requests  " in report
            assert plant.found(report) == []


def test_masking_does_not_change_a_text_without_secrets() -> None:
    sandbox = Sandbox(secret_names=ADDED)
    client, target = (
        sandbox.app.test_client(),
        "/v3/domains?perPage=5&name=%C3%A9%20x&url=https%3A%2F%2Fhost.example",
    )
    texts = (
        "Basic hosting, Bearer bonds",
        "mail nora@example.com, see https://host.example/a@b",
        "X-SVC-APIKEY: sandbox-key",
        "100% of the design, 5 % off",
        "compass, configuration=1, signed=yes",
        "href=1, preference=2, refs=3, customer=4, no=5, customerNote=6",
    )
    for text in texts:
        client.get(target, headers={"X-Note": text})
    for text, entry in zip(texts, sandbox.journal, strict=True):
        assert (entry.request.headers["X-Note"], entry.request.target) == (text, target)


def test_an_added_name_masks_a_field_of_a_record() -> None:
    number = "+380501234567"
    customer = {"name": "N", "mail": "n@example.com", "password": "a-password", "phone": number}
    for names, is_shown in (((), True), (("phone",), False)):
        sandbox = Sandbox(REGISTRY, secret_names=names)
        assert sandbox.client().post("/V2.0/customer", json=customer).status_code == 200
        shown = sandbox.journal.list(), sandbox.events.list(), sandbox.history.diff()
        assert (number in str(shown)) is is_shown


def test_a_url_with_a_password_is_refused_and_the_error_hides_the_password() -> None:
    """The address of a server, and the public address."""
    url = f"http://user:{PLANTED}@127.0.0.1:1"
    for use in (connect, lambda url: Sandbox(public_urls=[url])):
        with pytest.raises(BadSetting, match="is a URL with a user") as refused:
            use(url)
        assert PLANTED not in str(refused.value)
