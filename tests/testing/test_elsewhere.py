"""Clients reach the world of a server at their usual address, as they do a world in their own process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3

from reseller_sandbox import Refused, Sandbox, connect
from reseller_sandbox.testing import NetworkRefused
from tests.clients import signature
from tests.registry import REGISTRY
from tests.testing.callers import GETS, TOKEN

API = "https://api.example.test"

#: The errors of the libraries for a connection that is reset.
RESETS = (requests.ConnectionError, httpx.ReadError, urllib3.exceptions.ProtocolError, aiohttp.ClientError)

each_client = pytest.mark.parametrize("get", GETS)


@pytest.fixture(scope="module")
def remote() -> Iterator[Sandbox]:
    """A sandbox that a server holds; signatures are over the whole URL."""
    with (
        Sandbox(REGISTRY, assume={"v3.signature.endpoint": "url"}).serve() as server,
        connect(server.url) as sandbox,
    ):
        yield sandbox


def _signed(sandbox: Sandbox, target: str) -> tuple[str, dict[str, str]]:
    url = str(httpx.URL(API + target))
    account = sandbox.accounts["main"]
    return url, {
        "X-SVC-APIKEY": account.key,
        "X-SVC-SIGNATURE": signature(account.secret, account.key, url, b""),
    }


@each_client
def test_requests_of_each_library_reach_a_world_of_a_server(remote: Sandbox, get) -> None:
    with remote.fork(name="one") as fork:
        for owner in (fork, remote):
            for target, status in (("/v3/balance", 200), ("/v3/domains/getDomain/бібліотека.укр", 404)):
                url, headers = _signed(owner, target)
                with fork.intercept(API, others="refuse"):
                    answers = [get(url, headers), get(url, headers, fork)]
                for answer in answers:
                    assert (answer.status_code, answer.headers["X-Sandbox-World"]) == (status, "one")
        assert fork.journal.list().matching == 8
    url, headers = _signed(remote, "/v3/balance")
    with remote.intercept(API, others="refuse"):
        assert get(url, headers).headers["X-Sandbox-World"] == "default"
        for other in ("https://other.example.test/", "http://127.0.0.1:9/"):
            with pytest.raises(NetworkRefused):
                get(other, {})
        with remote.faults.add("reset"), pytest.raises(RESETS):
            get(url, headers)


FAULTS: list[dict[str, Any]] = [
    {"kind": "error", "status": 503, "body": "<h1>Busy</h1>"},
    {"kind": "reset", "when": {"phase": "after"}},
    {"kind": "truncate", "keep": 10},
    {"kind": "garbage"},
]


def test_the_flask_test_client_gives_the_same_answers_in_every_mode(remote: Sandbox, subtests) -> None:

    def story(sandbox: Sandbox, rules: list[dict[str, Any]]) -> list[Any]:
        client, results = sandbox.client(timeout=60), []
        sandbox.faults.replace(rules)
        for method, path, body in (
            ("POST", "/v3/domains/createDomain", {"domain": {"domainName": "equal-example.com"}}),
            ("GET", "/v3/domains/getDomain/бібліотека.укр?of=Їжак", None),
            ("GET", "/V2.0/domain/zones", None),
        ):
            try:
                answer = client.open(path, method=method, json=body)
                names = [name for name, _ in answer.headers if name not in ("X-Sandbox-World", "Date")]
                results += [answer.status, sorted(names), answer.get_data()]
            except Exception as error:
                results += [type(error), str(error)]
        operations = [entry.operation for entry in sandbox.journal.list().requests]
        return [*results, sandbox.accounts["main"].balance, operations]

    with Sandbox(REGISTRY, assume={"v3.signature.endpoint": "url"}) as local:
        for rules in ([], *([rule] for rule in FAULTS)):
            with subtests.test(rules=rules):
                with remote.fork(seed="one") as there, local.fork(seed="one") as here:
                    assert story(there, rules) == story(here, rules)


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_the_flask_test_client_of_a_server_times_out_and_closes_its_connections(remote: Sandbox) -> None:
    with remote.fork() as fork:
        with fork.faults.add("hang"), pytest.raises(TimeoutError):
            fork.client(timeout=0.2).get("/v3/balance")
        for rule in ({"kind": "truncate", "keep": 10}, {"kind": "reset"}):
            client = fork.client()
            client.get("/v3/balance")
            with fork.faults.add(**rule):
                try:
                    client.get("/v3/balance")
                except OSError:
                    assert rule["kind"] == "reset"
        del client
        gc.collect()


def test_a_client_of_a_server_signs_with_the_configured_headers() -> None:
    sandbox = Sandbox(REGISTRY, header_prefix="X-ABC-", assume={"v2.token_headers": ["X-Their-Token"]})
    with (
        sandbox.serve() as server,
        connect(server.url, header_prefix="X-ABC-") as there,
        there.fork() as fork,
    ):
        for path in ("/v3/balance", "/V2.0/domain/zones"):
            assert fork.client("other").get(path).status_code == 200
        assert fork.journal.list(account="other").matching == 2
        with pytest.raises(Refused, match="There is no account"):
            fork.client("mian")


@pytest.fixture(scope="module")
def over_tls() -> Iterator[tuple[str, str]]:
    """The address of a server that speaks TLS, and the file of the authority by which it is trusted."""
    with Sandbox(REGISTRY).serve(tls=True) as server:
        yield str(server.tls_url), str(server.authority)


@pytest.mark.parametrize("get", [GETS[0], *GETS[2:]])  # both clients of httpx trust alike
def test_intercepted_clients_trust_the_authority_of_the_connected_sandbox(get, over_tls, monkeypatch) -> None:
    url, authority = over_tls
    zones = f"{API}/V2.0/domain/zones"
    plain = zones.replace("https", "http")
    origins = (API, API.replace("https", "http"))
    for name in ("RESELLER_SANDBOX_CA", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    with connect(url) as there, there.intercept(*origins):
        for target in (zones, plain):
            with pytest.raises(Exception, match=r"(?i)certificate"):
                get(target, TOKEN)
    with connect(url, authority=authority) as there, there.intercept(*origins):
        assert [get(target, TOKEN).status_code for target in (zones, plain)] == [200, 200]
        assert there.client().get("/V2.0/domain/zones").status_code == 200
        there.reset()
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    with connect(url) as there, there.intercept(*origins):
        assert there.journal.list().matching == 0
        assert [get(target, TOKEN).status_code for target in (zones, plain)] == [200, 200]
        there.reset()
