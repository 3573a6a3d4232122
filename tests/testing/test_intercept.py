"""Clients that know nothing of the sandbox and reach it at the address that they use in production."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests
from requests.adapters import HTTPAdapter, Retry

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.testing import NetworkRefused, SandboxTransport
from reseller_sandbox.testing.with_httpx import DETOURS as OF_HTTPX
from reseller_sandbox.testing.with_requests import DETOURS as OF_REQUESTS

API = "https://api.example.test"
ZONES = "/V2.0/domain/zones"
TOKEN = {"X-Auth-Token": "main-token"}


def _by_httpx(url: str) -> Any:
    return httpx.get(url, headers=TOKEN).headers


def _by_async_httpx(url: str) -> Any:
    async def got() -> Any:
        async with httpx.AsyncClient(headers=TOKEN) as client:
            return (await client.get(url)).headers

    return asyncio.run(got())


def _by_requests(url: str) -> Any:
    return requests.get(url, headers=TOKEN, timeout=5).headers


CLIENTS: dict[str, Callable[[str], Any]] = {
    "httpx": _by_httpx,
    "httpx, asynchronous": _by_async_httpx,
    "requests": _by_requests,
}
each_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


def _methods() -> list[Any]:
    return [vars(detour.owner)[detour.name] for detour in (*OF_HTTPX, *OF_REQUESTS)]


@pytest.fixture(autouse=True)
def _everything_is_put_back():
    before = _methods()
    yield
    assert _methods() == before


@each_client
def test_a_client_reaches_the_world_at_its_usual_address(sandbox, client):
    with sandbox.intercept(API) as given:
        assert given is sandbox
        assert client(API + ZONES)["x-sandbox-request"] == "r1"
        assert client(f"{API.upper()}:443{ZONES}")["x-sandbox-request"] == "r2"


@each_client
def test_everything_else_goes_on_to_the_network(sandbox, served, url, client):
    """Another host, another scheme and another port are something else."""
    with sandbox.intercept(API, url.replace("127.0.0.1", "localhost")):
        assert client(url + ZONES)["x-sandbox-request"] == "r1"
    assert (len(served.world.journal), len(sandbox.world.journal)) == (1, 0)


@each_client
@pytest.mark.parametrize("other", ["https://other.test/", "http://api.example.test/", f"{API}:8443/"])
def test_everything_else_is_refused_by_choice(sandbox, client, other):
    """The error names where the request was to go, and what is intercepted."""
    with sandbox.intercept(API, "http://127.0.0.1:8053", others="refuse"):
        with pytest.raises(NetworkRefused) as refused:
            client(other)
        assert client(API + ZONES)["x-sandbox-request"] == "r1"
    assert f"a request to {other.removesuffix('/')} would have" in str(refused.value)
    assert str(refused.value).endswith("intercepted are http://127.0.0.1:8053, https://api.example.test")


def test_clients_that_were_made_and_used_before_are_intercepted(sandbox, url):
    """And find the network again afterwards."""
    session = requests.Session()
    session.headers.update(TOKEN)
    with httpx.Client(headers=TOKEN) as client, session:
        for get in (client.get, session.get):
            assert get(url + ZONES).headers["x-sandbox-request"]
            with sandbox.intercept(url):
                assert get(url + ZONES).status_code == 200
            assert get(url + ZONES).headers["x-sandbox-request"]
    assert len(sandbox.world.journal) == 2


def test_what_a_client_was_told_counts(sandbox):
    """The retries of an adapter of one's own, and a transport around httpx's."""
    session = requests.Session()
    often = Retry(3, backoff_factor=0, status_forcelist=[503], allowed_methods=None)
    session.mount("https://", HTTPAdapter(max_retries=often))
    sandbox.faults.replace([{"kind": "error", "status": 503, "when": {"times": 2}}])
    with sandbox.intercept(API), session:
        assert session.get(API + ZONES, headers=TOKEN, timeout=5).status_code == 200
        assert len(sandbox.world.journal) == 3

    class Doubtful(httpx.HTTPTransport):
        def handle_request(self, request):
            super().handle_request(request)
            return super().handle_request(request)

    with sandbox.intercept(API), httpx.Client(transport=Doubtful(), headers=TOKEN) as client:
        assert client.get(API + ZONES).headers["x-sandbox-request"] == "r5"


def test_transports_of_their_own_are_left_alone(sandbox, make):
    """Whoever has a transport that leads elsewhere gets there."""
    elsewhere = make()
    with sandbox.intercept(API, others="refuse"):
        with httpx.Client(transport=SandboxTransport(elsewhere), headers=TOKEN) as client:
            client.get(API + ZONES)
        with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(299))) as client:
            assert client.get("https://other.test").status_code == 299
    assert (len(elsewhere.world.journal), len(sandbox.world.journal)) == (1, 0)


@each_client
def test_the_innermost_is_the_one(sandbox, client):
    """Of two for one address; other addresses of the outer one stay, and its refusal holds for the rest."""
    with sandbox.fork() as inner, sandbox.intercept(API, "https://old.test", others="refuse"):
        with inner.intercept(API, "https://new.test"):
            assert client(API + ZONES)["x-sandbox-world"] == inner.world.name
            assert client("https://new.test" + ZONES)["x-sandbox-world"] == inner.world.name
            assert client("https://old.test" + ZONES)["x-sandbox-world"] == "default"
            with pytest.raises(NetworkRefused):
                client("https://other.test")
        assert client(API + ZONES)["x-sandbox-world"] == "default"
        with pytest.raises(NetworkRefused):
            client("https://new.test")


def test_they_may_end_in_any_order(sandbox):
    """As fixtures of different scopes do."""
    with sandbox.fork() as other:
        first, second = sandbox.intercept(API), other.intercept(API)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert _by_httpx(API + ZONES)["x-sandbox-world"] == other.world.name
        second.__exit__(None, None, None)


def test_it_may_begin_in_one_context_and_end_in_another(sandbox):
    """As a fixture of an asynchronous test does, whose test runs in neither of them."""
    context = sandbox.intercept(API)
    contextvars.copy_context().run(context.__enter__)
    assert _by_httpx(API + ZONES)["x-sandbox-request"] == "r1"
    contextvars.copy_context().run(context.__exit__, None, None, None)


def test_whatever_happens_they_end(sandbox):
    """An exception within, and an address among others that is none."""
    before = _methods()
    with pytest.raises(KeyError), sandbox.intercept(API):
        raise KeyError
    with pytest.raises(Refused), sandbox.intercept(API, "https://api.example.test/v3"):
        raise AssertionError
    assert _methods() == before


def test_what_somebody_else_has_put_in_place_stays(sandbox, monkeypatch):
    """A mock that was put on top while this was in place is the other's to take away."""
    calls = []
    context = sandbox.intercept(API)
    context.__enter__()
    ours = httpx.HTTPTransport.handle_request

    def theirs(self, request):
        calls.append(request)
        return ours(self, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", theirs)
    assert _by_httpx(API + ZONES)["x-sandbox-request"] == "r1"
    context.__exit__(None, None, None)
    assert httpx.HTTPTransport.handle_request is theirs
    monkeypatch.undo()
    setattr(httpx.HTTPTransport, "handle_request", getattr(ours, "original"))  # noqa: B009, B010
    assert len(calls) == 1


def test_threads_that_were_started_within_are_intercepted(sandbox):
    found = []
    with sandbox.intercept(API):
        for client in CLIENTS.values():
            thread = threading.Thread(target=lambda call=client: found.append(call(API + ZONES)))
            thread.start()
            thread.join()
    assert len(found) == 3


def test_threads_with_worlds_of_their_own_do_not_meet(sandbox):
    """Each finds its own at the same address, all at once."""
    found: dict[str, set[str]] = {}
    ready, done = threading.Barrier(6), threading.Barrier(6)

    def work() -> None:
        with sandbox.fork() as own, own.intercept(API):
            ready.wait(60)
            answers = [client(API + ZONES) for client in CLIENTS.values() for _ in range(5)]
            found[own.world.name] = {answer["x-sandbox-world"] for answer in answers}
            done.wait(60)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(seen == {own} for own, seen in found.items())


def test_tasks_with_worlds_of_their_own_do_not_meet(sandbox):
    async def work() -> tuple[str, set[str]]:
        with sandbox.fork() as own, own.intercept(API):
            async with httpx.AsyncClient(headers=TOKEN) as client:
                seen = set()
                for _ in range(5):
                    seen.add((await client.get(API + ZONES)).headers["x-sandbox-world"])
                    await asyncio.sleep(0)
            return own.world.name, seen

    async def all_of_them() -> list[tuple[str, set[str]]]:
        return await asyncio.gather(*(work() for _ in range(6)))

    found = asyncio.run(all_of_them())
    assert len(found) == 6
    assert all(seen == {own} for own, seen in found)


def test_it_may_decorate(sandbox):
    @sandbox.intercept(API)
    def asked() -> Any:
        return _by_requests(API + ZONES)

    assert [asked()["x-sandbox-request"] for _ in range(2)] == ["r1", "r2"]


def test_internationalised_hosts_are_intercepted(sandbox):
    """Whichever way they are written."""
    for written in ("https://апі.укр", "https://xn--80a4a4d.xn--j1amh"):
        with sandbox.intercept(written, others="refuse"):
            for client in CLIENTS.values():
                assert client(f"https://апі.укр{ZONES}")["x-sandbox-request"]
                assert client(f"https://xn--80a4a4d.xn--j1amh{ZONES}")["x-sandbox-request"]


@pytest.mark.parametrize("delay", [0, 30])
def test_faults_and_timeouts_are_as_with_a_transport(sandbox, delay):
    sandbox.faults.replace([{"kind": "latency", "seconds": delay}, {"kind": "reset"}])
    late = delay > 5
    with sandbox.intercept(API):
        with pytest.raises(httpx.ReadTimeout if late else httpx.ReadError):
            _by_httpx(API + ZONES)
        with pytest.raises(requests.ReadTimeout if late else requests.ConnectionError):
            _by_requests(API + ZONES)


@pytest.mark.parametrize(
    ("urls", "others", "problem"),
    [
        ((), "network", "intercept takes the URLs that the clients use"),
        (("api.example.test",), "network", "'api.example.test' is no URL of a service"),
        (("ftp://api.example.test",), "network", "is no URL of a service"),
        (("https://",), "network", "is no URL of a service"),
        (("https://a:x",), "network", "is no URL: Port could not"),
        (("https://a:99999",), "network", "is no URL: Port out of range"),
        (("https://[::1",), "network", "is no URL: Invalid IPv6"),
        (
            ("https://api.example.test/v3",),
            "network",
            "more than a scheme, a host and a port: name https://api",
        ),
        (("https://me@api.example.test",), "network", "more than a scheme"),
        (("https://api.example.test?x",), "network", "more than a scheme"),
        ((5,), "network", "5 is no URL"),
        ((b"https://a.test",), "network", "is no URL"),
        ((None,), "network", "None is no URL"),
        (("https://" + "ß" * 300,), "network", "is no URL"),
        ((API,), "refuze", "others takes network or refuse, and not 'refuze'; the nearest is refuse"),
        ((API,), None, "others takes network or refuse"),
    ],
)
def test_what_cannot_be_intercepted_is_refused(sandbox, urls, others, problem):
    before = _methods()
    with pytest.raises(Refused) as refused, sandbox.intercept(*urls, others=others):
        raise AssertionError
    assert refused.value.rule.code == "invalid_parameter"
    assert problem in str(refused.value)
    assert _methods() == before


@pytest.mark.parametrize("missing", ["httpx", "requests"])
def test_one_of_the_libraries_is_enough(missing):
    """Neither is a dependency, and neither is imported before somebody asks for it."""
    there = {"httpx": "requests", "requests": "httpx"}[missing]
    code = f"""
import sys
sys.modules[{missing!r}] = None
from reseller_sandbox import Sandbox
import reseller_sandbox.testing
sandbox = Sandbox()
assert {there!r} not in sys.modules
with sandbox.intercept({API!r}):
    import {there}
    print({there}.get("{API}{ZONES}", headers={{"X-Auth-Token": "sandbox-token"}}).status_code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "200\n", done.stderr
