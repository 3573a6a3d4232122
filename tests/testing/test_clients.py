"""The HTTP clients of production without a socket: the requests that reach the sandbox, and the timeouts."""

from __future__ import annotations

import asyncio
import gc
import io
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from weakref import ref

import httpx
import pytest
import requests
from requests.adapters import Retry
from werkzeug.test import EnvironBuilder

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import EndlessWait, SandboxAdapter, SandboxTransport
from tests.clients import signature
from tests.registry import BASE, REGISTRY
from tests.testing.callers import ALL_CALLERS, CALLERS, Got
from tests.waiting import wait_until

HTTPS = "https://api.example.test"
TOKEN = {"X-Auth-Token": "main-token"}
ZONES = f"{HTTPS}/V2.0/domain/zones"
PIECES = (b'{"domainNames":', b'["free.com"]}')

each_client = pytest.mark.parametrize("client", CALLERS)


@pytest.fixture(params=CALLERS)
def ask(request, sandbox) -> Iterator[Any]:
    """Makes signed requests with each of the clients, in process."""
    with closing(CALLERS[request.param](sandbox, 5)) as client:
        yield lambda method, path, body=b"", **more: _ask(client, sandbox, method, path, body, **more)


def _ask(
    client: Any,
    sandbox: Sandbox,
    method: str,
    path: str,
    body: Any = b"",
    base: str = HTTPS,
    raw: bytes = b"",
) -> Got:
    account = sandbox.accounts["main"]
    signed = signature(account.secret, account.key, base + path, raw or body)
    headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed, "Content-Type": "application/json"}
    got: Got = client.call(method, base + path, headers, body, streamed=True)
    return got


def _count(sandbox: Sandbox) -> int:
    return sandbox.journal.list(limit=1).matching


# Requests and answers.


@each_client
def test_a_too_long_or_incomplete_request_gets_the_same_refusal_in_process_and_on_a_server(
    served, url, client, subtests
):
    """A path or headers that are too long, and a body that is shorter than announced."""
    for path, headers, timeout in (
        ("/" + "x" * (16 << 10), {}, 60),
        ("/v3/balance", {"X-Long": "x" * (64 << 10)}, 60),
        ("/v3/balance", {"Content-Length": "7"}, 0.2),
    ):
        with subtests.test(headers=list(headers)):
            served.reset(original=True)
            local = Sandbox(REGISTRY)
            got = []
            for sandbox in (None, local):
                with closing(CALLERS[client](sandbox, timeout)) as made:
                    got.append(made.call("GET", url + path, headers, b"", streamed=False))
            assert got[0] == got[1]
            wait_until(lambda: _count(served) >= _count(local))
            there, within = (one.journal.list().requests for one in (served, local))
            assert [entry.outcome for entry in there] == [entry.outcome for entry in within]


def test_signatures_cover_the_host_of_the_requested_url(ask, sandbox):
    for base in (HTTPS, f"{HTTPS}:8443", "http://api.example.test", BASE):
        answer = ask("GET", "/v3/domains/getDomain/espa%C3%B1a.com", base=base)
        assert (answer.status, "españa.com".encode() in answer.body) == (200, True)
    for written in ("españa.com", "espa%C3%B1a.com", "ESPAÑA.com"):
        signed = sandbox.client().get(f"/v3/domains/getDomain/{written}?ü=ñ")
        assert signed.json["domain"]["domainName"] == "españa.com"


def test_the_signed_client_accepts_every_form_of_a_werkzeug_request(sandbox, subtests):
    target = "/v3/domains/checkAvailability?x=ñ"
    for form in (lambda one: one, lambda one: one.get_environ(), lambda one: one.get_request()):
        with subtests.test():
            wanted = EnvironBuilder(target, method="POST", data='{"domainNames": ["españa.com"]}')
            answer = sandbox.client().open(form(wanted))
            assert answer.json["results"][0]["domainName"] == "españa.com", answer.json


async def _later() -> Any:
    for piece in PIECES:
        yield piece


@each_client
def test_clients_can_send_a_body_in_pieces(sandbox, client, subtests):
    """Bytes, a generator of them, or a file."""
    whole = b"".join(PIECES)
    bodies = [whole, _later()] if "asynchronous" in client else [whole, iter(PIECES), io.BytesIO(whole)]
    for body in bodies:
        with subtests.test(type(body).__name__), closing(CALLERS[client](sandbox, 5)) as made:
            got = _ask(made, sandbox, "POST", "/v3/domains/checkAvailability", body, raw=whole)
            assert b'"available"' in got.body
            assert sandbox.journal.list(limit=1).requests[0].status == 200


@each_client
def test_cookies_and_redirects_work_the_same_in_process_and_over_a_socket(served, url, client):
    local = Sandbox(REGISTRY)
    headers = {"Location": "/V2.0/domain/zones", "Set-Cookie": "seen=1; Path=/"}
    results = []
    for sandbox, reached in ((served, None), (local, local)):
        sandbox.faults.replace([{"kind": "error", "status": 302, "headers": headers, "when": {"times": 1}}])
        with closing(CALLERS[client](reached, 5)) as made:
            got = [made.call("GET", f"{url}/v3/balance", TOKEN, b"", streamed=False) for _ in range(2)]
        entries = sandbox.journal.list().requests
        results.append((got, [sandbox.journal.get(entry.id).request for entry in entries]))
    assert results[0] == results[1]
    assert client == "urllib3" or "cookie" in {name.lower() for name in results[0][1][-1].headers}


def test_a_session_of_the_library_requests_retries_as_configured(sandbox):
    often = Retry(3, backoff_factor=0, status_forcelist=[503], allowed_methods=None)
    with requests.Session() as session:
        session.mount(HTTPS, SandboxAdapter(sandbox, max_retries=often))
        for rule in ({"kind": "error", "status": 503}, {"kind": "reset"}, {"kind": "hang"}):
            sandbox.faults.replace([{**rule, "when": {"times": 2}}])
            seen = _count(sandbox)
            assert session.get(ZONES, headers=TOKEN, timeout=5).status_code == 200
            assert _count(sandbox) == seen + 3


def test_features_of_httpx_work_with_the_sandbox_transport(sandbox):
    seen, events = [], []
    with httpx.Client(
        transport=SandboxTransport(sandbox),
        base_url=HTTPS,
        headers=TOKEN,
        event_hooks={"response": [lambda answer: seen.append(answer.status_code)]},
    ) as client:
        answer = client.get("/V2.0/domain/zones", params={"q": "ä"})
        assert (seen, dict(client.cookies), answer.history) == ([200], {}, [])
        assert answer.http_version == "HTTP/1.1"
        assert answer.elapsed.total_seconds() < 5
        client.get(HTTPS, extensions={"trace": lambda name, _: events.append(name)})
        assert "http11.receive_response_headers.complete" in events
        with client.stream("GET", f"{BASE}/_sandbox/journal/follow") as stream:
            assert stream.headers["transfer-encoding"] == "chunked"
            lines = stream.iter_lines()
            client.get("/V2.0/domain/zones")
            assert any("v2.domain.zones" in line.lower() for line in (next(lines) for _ in range(8)))


# Worlds.


@each_client
def test_clients_reach_a_fork_with_inherited_or_new_credentials(sandbox, client):
    with sandbox.fork() as fork, closing(CALLERS[client](fork, 5)) as made:
        for owner in (sandbox, fork):
            got = _ask(made, owner, "GET", "/v3/balance")
            assert dict(got.headers)["x-sandbox-world"] == fork.health.show().world
        assert (_count(fork), _count(sandbox)) == (2, 0)


@pytest.mark.parametrize("client", ALL_CALLERS)
def test_a_deleted_world_is_freed_from_memory(sandbox: Sandbox, client: str) -> None:
    gc.disable()
    try:
        with sandbox.fork() as fork, closing(ALL_CALLERS[client](fork, 5)) as made:
            for path, status in {"/v3/balance": 200, "/v3/domains/getDomain/free-example.com": 404}.items():
                assert _ask(made, fork, "GET", path).status == status
            world = ref(fork.world)
        del fork, made
        assert world() is None
    finally:
        gc.enable()


# Time.


def test_simulated_delays_take_no_real_time_and_are_in_the_journal(ask, sandbox, subtests):
    """A timeout counts from one drop to the next, as a socket's does."""
    before, after = {"phase": "before"}, {"phase": "after"}
    latency = {"kind": "latency", "seconds": 2}
    began = time.monotonic()
    for rules, status, seconds in (
        ([], 200, 0),
        ([{"kind": "latency", "seconds": 4}], 200, 4),
        ([{"kind": "latency", "seconds": 30, "when": before}], 0, 30),
        ([{"kind": "drip", "size": 20, "pause": 4}], 200, 16),
        ([latency, {"kind": "hang", "seconds": 20}], 0, 22),
        ([latency, {"kind": "reset", "when": after}], 0, 2),
        ([{"kind": "drip", "pause": 2, "size": 10}, {"kind": "truncate", "keep": 35}], 200, 6),
    ):
        with subtests.test(rules=rules):
            sandbox.reset(original=True)
            sandbox.faults.replace(rules)
            assert ask("GET", "/v3/balance").status == status
            record = sandbox.journal.get("r1")
            assert record.held_up_seconds == seconds
            assert (f", held up {seconds:g} s)" in str(record)) == bool(seconds)
    assert time.monotonic() - began < 60


@each_client
def test_a_client_without_a_timeout_does_not_wait_indefinitely(sandbox, client):
    """The exception is none of the client's own, which its code might handle."""
    sandbox.faults.replace([{"kind": "hang"}])
    with closing(CALLERS[client](sandbox, None)) as made:
        got = made.call("GET", f"{HTTPS}/v3/balance?key=secret", {}, b"", streamed=False)
    assert got.raised is EndlessWait
    with pytest.raises(EndlessWait, match=r"^GET /v3/balance gets no answer"):
        httpx.Client(transport=SandboxTransport(sandbox), timeout=None).get(f"{HTTPS}/v3/balance?key=secret")


@pytest.mark.parametrize("client", ALL_CALLERS)
def test_with_real_time_a_delay_lasts_until_its_end_or_the_timeout(sandbox, client):
    for seconds, timeout, waited in ((0.2, 60, 0.2), (60, 0.05, 0.05)):
        sandbox.faults.replace([{"kind": "latency", "seconds": seconds, "when": {"phase": "before"}}])
        with closing(ALL_CALLERS[client](sandbox, timeout, real_time=True)) as made:
            began = time.monotonic()
            got = made.call("GET", f"{HTTPS}/v3/balance", {}, b"", streamed=False)
            assert (got.raised is None) == (timeout > seconds)
            assert waited <= time.monotonic() - began < 30


def test_with_real_time_asynchronous_clients_wait_concurrently(sandbox):
    sandbox.faults.replace([{"kind": "latency", "seconds": 0.3, "when": {"phase": "before"}}])
    seen: list[str] = []

    async def get(client: httpx.AsyncClient) -> httpx.Response:
        seen.append("sent")
        answer = await client.get("/V2.0/domain/zones")
        seen.append("answered")
        return answer

    async def run() -> list[Any]:
        transport = SandboxTransport(sandbox, real_time=True)
        async with httpx.AsyncClient(transport=transport, headers=TOKEN, base_url=HTTPS) as client:
            cancelled = asyncio.wait_for(client.get("/V2.0/domain/zones"), 0.1)
            return await asyncio.gather(*(get(client) for _ in range(5)), cancelled, return_exceptions=True)

    *answers, cancelled = asyncio.run(run())
    assert seen == ["sent"] * 5 + ["answered"] * 5
    assert [answer.status_code for answer in answers] == [200] * 5
    assert isinstance(cancelled, TimeoutError)
    assert _count(sandbox) == 6
