"""Clients reach the world of a server at their usual address, as they do one in their own process."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import requests
import trustme

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.server.server import Server
from reseller_sandbox.testing import NetworkRefused, SandboxAdapter, SandboxTransport
from reseller_sandbox.v3.signing import signed_headers
from tests.registry import REGISTRY

API = "https://api.example.test"

#: How each client gets a URL, by itself or through what is passed to it.
Get = Callable[..., Any]


def _httpx(url: str, headers: dict[str, str], sandbox: Sandbox | None = None) -> Any:
    transport = SandboxTransport(sandbox) if sandbox is not None else None
    with httpx.Client(transport=transport) as client:
        return client.get(url, headers=headers)


def _async_httpx(url: str, headers: dict[str, str], sandbox: Sandbox | None = None) -> Any:
    transport = SandboxTransport(sandbox) if sandbox is not None else None

    async def got() -> Any:
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.get(url, headers=headers)

    return asyncio.run(got())


def _requests(url: str, headers: dict[str, str], sandbox: Sandbox | None = None) -> Any:
    with requests.Session() as session:
        if sandbox is not None:
            session.mount(API, SandboxAdapter(sandbox))
        return session.get(url, headers=headers, timeout=60)


each_client = pytest.mark.parametrize("get", [_httpx, _async_httpx, _requests])


@pytest.fixture(scope="module")
def held() -> Iterator[Sandbox]:
    """A sandbox that a server holds; signatures are over the whole URL."""
    with (
        Sandbox(REGISTRY, assume={"v3.signature.endpoint": "url"}).serve() as server,
        connect(server.url) as there,
    ):
        yield there


def _signed(sandbox: Sandbox, target: str) -> tuple[str, dict[str, str]]:
    url = str(httpx.URL(API + target))
    account = sandbox.accounts["main"]
    return url, signed_headers(account.key, account.secret, "X-SVC-", url, b"")


@each_client
@pytest.mark.parametrize("passed", [False, True], ids=["intercepted", "passed in"])
def test_a_request_reaches_the_world(held: Sandbox, get: Get, passed: bool) -> None:
    """With what its client has signed, in ASCII or not; a fork takes the credentials of its origin too."""
    with held.fork() as fork:
        for owner in (fork, held):
            for target, status in (("/v3/balance", 200), ("/v3/domains/getDomain/бібліотека.укр", 404)):
                url, headers = _signed(owner, target)
                if passed:
                    answer = get(url, headers, fork)
                else:
                    with fork.intercept(API, others="refuse"):
                        answer = get(url, headers)
                assert (answer.status_code, answer.headers["X-Sandbox-World"]) == (status, fork.door.name)
        assert fork.journal.find().matching == 4


@each_client
def test_the_default_world_is_reached_too(held: Sandbox, get: Get) -> None:
    """It needs no prefix."""
    url, headers = _signed(held, "/v3/balance")
    with held.intercept(API):
        assert get(url, headers).headers["X-Sandbox-World"] == "default"


@each_client
def test_other_requests_can_be_refused(held: Sandbox, get: Get) -> None:
    """Those to the server's own address, too, which is no business of the clients."""
    with held.intercept(API, others="refuse"):
        for url in ("https://other.example.test/", "http://127.0.0.1:9/"):
            with pytest.raises(NetworkRefused):
                get(url, {})


@each_client
def test_faults_strike_on_the_way(held: Sandbox, get: Get) -> None:
    """They raise what they raise over any socket."""
    url, headers = _signed(held, "/v3/balance")
    raised = (requests.ConnectionError, httpx.ReadError)
    with held.intercept(API), held.faults.add("reset"), pytest.raises(raised):
        get(url, headers)


#: What may befall a request.
FAULTS: list[dict[str, Any]] = [
    {"kind": "error", "status": 503, "body": "<h1>Busy</h1>"},
    {"kind": "reset", "when": {"phase": "after"}},
    {"kind": "close"},
    {"kind": "hang", "seconds": 0.05},
    {"kind": "truncate", "keep": 10},
    {"kind": "garbage"},
]


@pytest.mark.parametrize("rule", [None, *FAULTS], ids=lambda rule: rule["kind"] if rule else "no fault")
def test_flasks_test_client_is_the_same_wherever_the_world_is(held: Sandbox, rule: dict[str, Any]) -> None:
    """What it is given, what it raises, and what has become of its world."""

    def story(sandbox: Sandbox) -> list[Any]:
        client, told = sandbox.client(timeout=60), []
        sandbox.faults.replace([rule] if rule else [])
        for method, path, body in (
            ("POST", "/v3/domains/createDomain", {"domain": {"domainName": "equal-example.com"}}),
            ("GET", "/v3/domains/getDomain/бібліотека.укр?of=Їжак", None),
            ("GET", "/V2.0/domain/zones", None),
        ):
            try:
                answer = client.open(path, method=method, json=body)
                answered = [name for name, _ in answer.headers if name not in ("X-Sandbox-World", "Date")]
                told += [answer.status, sorted(answered), answer.get_data()]
            except Exception as error:
                told += [type(error), str(error)]
        return [
            *told,
            sandbox.accounts["main"].balance,
            [one.operation for one in sandbox.journal.find().requests],
        ]

    with held.fork(seed="one") as there, held.fork() as second:
        with (
            Sandbox(REGISTRY, assume={"v3.signature.endpoint": "url"}) as begun,
            begun.fork(seed="one") as here,
        ):
            assert story(there) == story(here)
        assert second.client().get("/v3/balance").json[0]["balance"] == "10000.00"
        assert second.journal.find().matching == 1


def test_the_timeout_of_flasks_test_client_counts_on_the_way_to_a_server(held: Sandbox) -> None:
    """It raises what it raises in process."""
    with held.fork() as fork, fork.faults.add("hang"), pytest.raises(TimeoutError):
        fork.client(timeout=0.2).get("/v3/balance")


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_flasks_test_client_of_a_server_leaves_nothing_open(held: Sandbox) -> None:
    """Whoever does not read an answer has no connection to close."""
    with held.fork() as fork:
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


def test_a_client_of_a_server_signs_as_that_was_told() -> None:
    """With its headers' names, in its forks too; of an account that there is."""
    sandbox = Sandbox(REGISTRY, header_prefix="X-ABC-", assume={"v2.token_headers": ["X-Their-Token"]})
    with (
        sandbox.serve() as server,
        connect(server.url, header_prefix="X-ABC-") as there,
        there.fork() as fork,
    ):
        for path in ("/v3/balance", "/V2.0/domain/zones"):
            assert fork.client("other").get(path).status_code == 200
        assert fork.journal.find(account="other").matching == 2
        with pytest.raises(Refused, match="There is no account"):
            fork.client("mian")


@pytest.fixture(scope="module")
def over_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a server that speaks TLS, and a file with the authority that vouches for it."""
    folder, authority = tmp_path_factory.mktemp("tls"), trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "own.pem")
    with Server(Sandbox(REGISTRY).app, port=0, certfile=str(folder / "own.pem")) as server:
        yield server.url, str(folder / "authority.pem")


@each_client
@pytest.mark.parametrize("api", [API, "http://api.example.test"])
def test_a_server_is_trusted_as_connect_trusts_it(get, api, over_tls, monkeypatch) -> None:
    """Whatever its clients believe to be at the other end: with the authority, and only then."""
    url, authority = over_tls
    headers = {"X-Auth-Token": "main-token"}
    with connect(url) as there, there.intercept(api), pytest.raises(Exception, match=r"(?i)certificate"):
        get(f"{api}/V2.0/domain/zones", headers)
    with connect(url, authority=authority) as there, there.intercept(api):
        assert get(f"{api}/V2.0/domain/zones", headers).status_code == 200
        assert there.client().get("/V2.0/domain/zones").status_code == 200
        there.reset()
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    with connect(url) as there, there.intercept(api):
        assert there.journal.find().matching == 0
        assert get(f"{api}/V2.0/domain/zones", headers).status_code == 200
        there.reset()
