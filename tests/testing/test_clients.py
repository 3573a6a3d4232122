"""The same HTTP clients as in production, without a socket: what they can carry, and how long they wait."""

from __future__ import annotations

import asyncio
import gc
import io
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
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.problem import MAX_HEAD, MAX_TARGET
from reseller_sandbox.testing import EndlessWait, SandboxAdapter, SandboxTransport
from tests.clients import signature
from tests.registry import BASE, REGISTRY
from tests.testing.callers import ALL_CALLERS, CALLERS, Got

HTTPS = "https://api.example.test"
TOKEN = {"X-Auth-Token": "main-token"}


@pytest.fixture(params=CALLERS)
def ask(request, sandbox) -> Iterator[Any]:
    """Makes signed requests with each of the clients, in process."""
    with closing(CALLERS[request.param](sandbox, 5)) as client:
        yield lambda method, path, body=b"", **more: _asked(client, sandbox, method, path, body, **more)


def _asked(
    client: Any, sandbox: Sandbox, method: str, path: str, body: Any, base: str = HTTPS, signed: bytes = b""
) -> Got:
    account = sandbox.account()
    whole = signed if signed else (body if isinstance(body, bytes) else b"")
    sent = signature(account.secret, account.key, base + path, whole)
    headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": sent, "Content-Type": "application/json"}
    got: Got = client.call(method, base + path, headers, body, streamed=True)
    return got


# What they carry.


def test_an_answer_is_as_over_a_socket(ask, sandbox, served, url):
    """Status, words, headers in their order and spelling, and body."""
    with closing(CALLERS["httpx"](None, 5)) as client:
        there = _asked(client, served, "GET", "/v3/balance", b"", base=url)
    here = ask("GET", "/v3/balance", base=url)
    assert here.raised is None
    assert (here.status, here.reason, here.headers, here.body) == (
        there.status,
        there.reason,
        there.headers,
        there.body,
    )


@pytest.mark.parametrize("base", [HTTPS, "https://api.example.test:8443", "http://api.example.test", BASE])
def test_the_host_that_is_signed_is_the_one_of_the_url(ask, base):
    """With its scheme, and with its port where that is not the usual one."""
    assert ask("GET", "/v3/balance", base=base).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v3/domains/getDomain/%D0%B1%D1%96%D0%B1%D0%BB.укр",
        "/v3/domains/getDomain/%ff%FE%00",
        "/v3/domains/getDomain/a%2Fb%3Fc.com",
        "/v3/domains/getDomain/a.com?x=%ff&y=ä&z",
        "/v3/domains/getDomain/a.com?",
        "/v3//domains/../getDomain/;x=1/a'b(c)!*.com",
        "/",
    ],
)
@pytest.mark.parametrize("client", CALLERS)
def test_a_path_arrives_as_over_a_socket(served, url, client, path):
    """International letters, any byte that is percent-encoded, and what clients do to a path themselves."""
    here = Sandbox(REGISTRY)
    seen = []
    for sandbox in (None, here):
        with closing(CALLERS[client](sandbox, 5)) as made:
            got = made.call("GET", url + path, {"X-SVC-APIKEY": "main-key"}, b"", streamed=False)
        seen.append((got.status, got.body))
    targets = [one.world.journal.entries[-1].target for one in (served, here)]
    assert seen[0] == seen[1]
    assert targets[0] == targets[1]


def test_an_internationalised_name_is_found(ask):
    answer = ask("GET", "/v3/domains/getDomain/espa%C3%B1a.com")
    assert answer.status == 200
    assert "españa.com".encode() in answer.body


@pytest.mark.parametrize("written", ["españa.com", "espa%C3%B1a.com", "ESPAÑA.com"])
def test_the_signed_client_takes_a_name_as_people_write_it(sandbox, written):
    """In the path and in the query, signed as it is written."""
    answer = sandbox.client().get(f"/v3/domains/getDomain/{written}?ü=ñ")
    assert answer.status_code == 200, answer.json
    assert answer.json["domain"]["domainName"] == "españa.com"


@pytest.mark.parametrize(
    "form", [lambda one: one, lambda one: one.get_environ(), lambda one: one.get_request()]
)
def test_the_signed_client_takes_what_flasks_own_takes(sandbox, form):
    """A builder, an environment or a request, made before; each with its body."""
    target = "/v3/domains/checkAvailability?x=ñ"
    wanted = EnvironBuilder(target, method="POST", data='{"domainNames": ["españa.com"]}')
    answer = sandbox.client().open(form(wanted))
    assert answer.json["results"][0]["domainName"] == "españa.com", answer.json


def _pieces() -> Iterator[bytes]:
    yield b'{"domainNames":'
    yield b'["free.com"]}'


async def _later() -> Any:
    for piece in _pieces():
        yield piece


@pytest.mark.parametrize(
    "make", [lambda: b"".join(_pieces()), _pieces, lambda: io.BytesIO(b"".join(_pieces()))]
)
@pytest.mark.parametrize("client", CALLERS)
def test_a_body_may_come_in_pieces(sandbox, client, make):
    """Bytes, a generator of them, or a file."""
    body = make()
    if client == "httpx, asynchronous" and not isinstance(body, bytes):
        body = _later()
    with closing(CALLERS[client](sandbox, 5)) as made:
        whole = b"".join(_pieces())
        got = _asked(made, sandbox, "POST", "/v3/domains/checkAvailability", body, signed=whole)
    assert b'"available"' in got.body
    assert sandbox.world.journal.entries[-1].body == whole


def test_a_request_without_an_account_is_refused(ask, sandbox):
    """A refusal is an answer like any other."""
    sandbox.account()
    with closing(CALLERS["requests"](sandbox, 5)) as client:
        got = client.call("GET", f"{HTTPS}/v3/balance", {}, b"", streamed=False)
    assert (got.status, got.reason) == (401, "Unauthorized")
    assert b"credentials_missing" in got.body


def test_a_body_beyond_the_limit_is_refused(make):
    sandbox = make(max_body=100)
    for caller in CALLERS.values():
        with closing(caller(sandbox, 5)) as client:
            got = client.call("POST", f"{HTTPS}/v3/balance", {}, b"x" * 101, streamed=False)
        assert got.status == 413
        assert ("connection", "close") in got.headers


def test_a_head_request_has_no_body(ask):
    got = ask("HEAD", "/v3/balance")
    assert got.body == b""
    assert dict(got.headers)["content-length"] != "0"


@pytest.mark.parametrize(
    "headers", [{"X-Bad": "a\r\nb"}, {"Bad Name": "x"}, {"Content-Length": "7"}, {"X-Fine": "ä"}]
)
@pytest.mark.parametrize("client", CALLERS)
def test_what_a_client_refuses_to_send_it_refuses_here(served, url, client, headers):
    """A mistake that would show over a socket does not pass in process."""
    here = Sandbox(REGISTRY)
    got = []
    for sandbox in (None, here):
        # A server waits for the body that is told of; whatever else it is, it answers.
        with closing(CALLERS[client](sandbox, 0.2 if "Content-Length" in headers else 60)) as made:
            try:
                got.append(made.call("GET", f"{url}/v3/balance", headers, b"", streamed=False))
            except Exception as error:
                got.append(type(error))
    assert got[0] == got[1]
    until = stopwatch() + 60
    while len(served.world.journal) < len(here.world.journal):
        assert stopwatch() < until
    assert _outcomes(here) == _outcomes(served)


def _outcomes(sandbox: Sandbox) -> list[tuple[str, str, int]]:
    return [(entry.outcome, entry.target, entry.status) for entry in sandbox.world.journal]


@pytest.mark.parametrize("client", CALLERS)
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [("/" + "x" * MAX_TARGET, {}, 414), ("/v3/balance", {"X-Long": "x" * MAX_HEAD}, 431)],
    ids=["target", "headers"],
)
def test_what_a_server_does_not_read_is_refused_here_too(served, url, client, path, headers, status):
    """A path or headers that are too long are answered alike, and told in the journal."""
    here = Sandbox(REGISTRY)
    got = []
    for sandbox in (None, here):
        with closing(CALLERS[client](sandbox, 5)) as made:
            got.append(made.call("GET", url + path, headers, b"", streamed=False))
    assert got[0] == got[1]
    assert got[1].status == status
    assert [entry.outcome for entry in here.world.journal] == [
        entry.outcome for entry in served.world.journal
    ]


@pytest.mark.parametrize("client", CALLERS)
def test_cookies_and_redirects_are_as_over_a_socket(served, url, client):
    """Each library does with them what it does anywhere."""
    here = Sandbox(REGISTRY)
    headers = {"Location": "/V2.0/domain/zones", "Set-Cookie": "seen=1; Path=/"}
    told = []
    for sandbox, reached in ((served, None), (here, here)):
        sandbox.faults.replace([{"kind": "error", "status": 302, "headers": headers, "when": {"times": 1}}])
        with closing(CALLERS[client](reached, 5)) as made:
            got = [made.call("GET", f"{url}/v3/balance", TOKEN, b"", streamed=False) for _ in range(2)]
        sent = [(entry.method, entry.target, [*entry.sent.items()]) for entry in sandbox.world.journal]
        told.append((got, sent))
    assert told[0] == told[1]
    assert "seen=1" in str(told[0][1])


def test_a_connection_is_kept_and_closed_as_over_a_socket(sandbox, caplog):
    """Many requests on one session, and one that asks to be the last."""
    session = requests.Session()
    session.mount(HTTPS, SandboxAdapter(sandbox))
    with caplog.at_level("DEBUG", "urllib3"):
        for headers in ({}, {}, {"Connection": "close"}, {}):
            answer = session.get(f"{HTTPS}/V2.0/domain/zones", headers={**TOKEN, **headers})
            assert answer.status_code == 200
            assert answer.headers.get("Connection") == headers.get("Connection")
    said = [record.message for record in caplog.records if "connection" in record.message]
    assert len(said) == 2, said
    session.close()


def test_requests_retries_as_it_was_told(sandbox):
    """Its retries are urllib3's own: on a status, and on a connection that breaks."""
    session = requests.Session()
    often = Retry(3, backoff_factor=0, status_forcelist=[503], allowed_methods=None)
    session.mount(HTTPS, SandboxAdapter(sandbox, max_retries=often))
    for rule in ({"kind": "error", "status": 503}, {"kind": "reset"}, {"kind": "hang"}):
        sandbox.faults.replace([{**rule, "when": {"times": 2}}])
        seen = len(sandbox.world.journal)
        assert session.get(f"{HTTPS}/V2.0/domain/zones", headers=TOKEN, timeout=5).status_code == 200
        assert len(sandbox.world.journal) == seen + 3


def test_httpx_follows_its_own_manners(sandbox):
    """Event hooks, parameters, the base URL, cookies and redirects are the client's own business."""
    seen = []
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


def test_httpx_traces_what_it_does(sandbox):
    """Whoever asks httpx to tell what happens on the connection is told."""
    told = []
    with httpx.Client(transport=SandboxTransport(sandbox)) as client:
        client.get(HTTPS, extensions={"trace": lambda name, _: told.append(name)})
    assert "http11.receive_response_headers.complete" in told


def test_what_goes_on_is_read_as_it_comes(sandbox):
    """Followers of the journal get what happens, and the end."""
    with (
        httpx.Client(transport=SandboxTransport(sandbox), headers=TOKEN) as client,
        client.stream("GET", f"{BASE}/_sandbox/journal/follow") as answer,
    ):
        assert answer.headers["transfer-encoding"] == "chunked"
        lines = answer.iter_lines()
        client.get(f"{BASE}/V2.0/domain/zones")
        assert any("v2.domain.zones" in line.lower() for line in (next(lines) for _ in range(4)))


# Worlds.


@pytest.mark.parametrize("client", CALLERS)
def test_a_fork_is_reached_with_what_it_inherited_and_with_its_own(sandbox, client):
    """The credentials that the client knows from the fixture do, and so do those of the fork."""
    with sandbox.fork() as fork, closing(CALLERS[client](fork, 5)) as made:
        for account in (sandbox.account(), fork.account()):
            signed = signature(account.secret, account.key, f"{HTTPS}/v3/balance", b"")
            headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed}
            got = made.call("GET", f"{HTTPS}/v3/balance", headers, b"", streamed=False)
            assert dict(got.headers)["x-sandbox-world"] == fork.world.name
        assert (len(fork.world.journal), len(sandbox.world.journal)) == (2, 0)


# Time.


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize("rule", [{"kind": "latency", "seconds": 600}, {"kind": "hang"}])
def test_a_timeout_is_raised_at_once(ask, sandbox, rule, phase):
    """Nobody waits for minutes, or for ever, to see what a client does then."""
    sandbox.faults.replace([{**rule, "when": {"phase": phase}}])
    began = stopwatch()
    assert ask("GET", "/v3/balance").raised in (httpx.ReadTimeout, requests.ReadTimeout)
    assert stopwatch() - began < 60


def test_a_delay_that_the_client_bears_takes_no_time(ask, sandbox):
    """Drops count one by one, as a socket's timeout does."""
    sandbox.faults.replace([{"kind": "latency", "seconds": 4}, {"kind": "drip", "size": 1, "pause": 4}])
    began = stopwatch()
    assert ask("GET", "/v3/balance").status == 200
    assert stopwatch() - began < 60  # it would be minutes


@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_request_whose_client_has_left_takes_effect(ask, sandbox, phase):
    sandbox.faults.replace([{"kind": "latency", "seconds": 30, "when": {"phase": phase}}])
    body = b'{"domain": {"domainName": "late-example.com"}}'
    assert ask("POST", "/v3/domains/createDomain", body).raised is not None
    assert sandbox.names.get("late-example.com").account == "main"


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [
        ([], 0),
        ([{"kind": "latency", "seconds": 30, "when": {"phase": "before"}}], 30),
        ([{"kind": "latency", "seconds": 30, "when": {"phase": "after"}}], 30),
        (
            [{"kind": "latency", "seconds": 1, "when": {"phase": "before"}}, {"kind": "drip", "pause": 0.5}],
            None,
        ),
        ([{"kind": "latency", "seconds": 2}, {"kind": "hang", "seconds": 20}], 22),
        ([{"kind": "latency", "seconds": 2}, {"kind": "hang"}], 2),
        ([{"kind": "latency", "seconds": 2}, {"kind": "reset", "when": {"phase": "after"}}], 2),
        ([{"kind": "drip", "pause": 2, "size": 10}, {"kind": "truncate", "keep": 35}], 6),
    ],
)
def test_the_journal_tells_for_how_long_an_answer_was_held_up(ask, sandbox, rules, seconds):
    """Whether the client has waited for it or not."""
    sandbox.faults.replace(rules)
    ask("GET", "/v3/balance")
    record = sandbox.journal.get("r1")
    if seconds is None:
        seconds = 1 + 0.5 * (len(sandbox.world.journal.entries[0].answer) - 1)
    assert record.held_up_seconds == seconds
    assert (f", held up {seconds:g} s)" in str(record)) == bool(seconds)


@pytest.mark.parametrize("client", CALLERS)
def test_a_client_without_a_timeout_is_told_that_it_would_wait_for_ever(sandbox, client):
    """It is no exception of the client's own, which its code might handle."""
    sandbox.faults.replace([{"kind": "hang"}])
    with closing(CALLERS[client](sandbox, None)) as made:
        got = made.call("GET", f"{HTTPS}/v3/balance?key=secret", {}, b"", streamed=False)
    assert got.raised is EndlessWait
    with pytest.raises(
        EndlessWait, match=r"^GET /v3/balance is never answered, and its client waits without"
    ):
        httpx.Client(transport=SandboxTransport(sandbox), timeout=None).get(f"{HTTPS}/v3/balance?key=secret")


@pytest.mark.parametrize("client", CALLERS)
def test_in_real_time_delays_are_waited_for(sandbox, client):
    """As long as the client does, and no longer."""
    for seconds, timeout, waited in ((0.2, 60, 0.2), (60, 0.05, 0.05)):
        sandbox.faults.replace([{"kind": "latency", "seconds": seconds, "when": {"phase": "before"}}])
        with closing(CALLERS[client](sandbox, timeout, real_time=True)) as made:
            began = stopwatch()
            got = made.call("GET", f"{HTTPS}/v3/balance", {}, b"", streamed=False)
            assert (got.raised is None) == (timeout > seconds)
            assert waited <= stopwatch() - began < 30


def test_in_real_time_others_have_their_turn(sandbox):
    """An asynchronous client that waits holds nobody up, and one that is called off leaves at once."""
    sandbox.faults.replace([{"kind": "latency", "seconds": 0.3, "when": {"phase": "before"}}])

    seen: list[str] = []

    async def counted(client: httpx.AsyncClient) -> httpx.Response:
        seen.append("asked")
        answer = await client.get("/V2.0/domain/zones")
        seen.append("answered")
        return answer

    async def asked() -> list[Any]:
        transport = SandboxTransport(sandbox, real_time=True)
        async with httpx.AsyncClient(transport=transport, headers=TOKEN, base_url=HTTPS) as client:
            several = [counted(client) for _ in range(5)]
            called_off = asyncio.wait_for(client.get("/V2.0/domain/zones"), 0.01)
            return await asyncio.gather(*several, called_off, return_exceptions=True)

    *answers, called_off = asyncio.run(asked())
    assert seen == ["asked"] * 5 + ["answered"] * 5
    assert [answer.status_code for answer in answers] == [200] * 5
    assert isinstance(called_off, TimeoutError)
    assert len(sandbox.world.journal) == 6


@pytest.mark.parametrize("client", ALL_CALLERS)
def test_a_world_that_has_ended_takes_no_memory(sandbox: Sandbox, client: str) -> None:
    """Whoever has asked it: it does not wait for the collector of garbage."""
    gc.disable()
    try:
        with sandbox.fork() as fork, closing(ALL_CALLERS[client](fork, 5)) as made:
            asked = {"/v3/balance": 200, "/v3/domains": 200, "/v3/domains/getDomain/free-example.com": 404}
            for path, status in asked.items():
                assert _asked(made, fork, "GET", path, b"").status == status
            world = ref(fork.world)
        del fork, made
        assert world() is None
    finally:
        gc.enable()
