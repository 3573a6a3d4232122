"""Clients that do not know the sandbox reach it at the address that they use in production."""

from __future__ import annotations

import asyncio
import contextvars
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3
from requests.adapters import HTTPAdapter

from reseller_sandbox import Refused, connect
from reseller_sandbox.testing import NetworkRefused, SandboxTransport
from tests.testing.callers import GETS, get_by_httpx, get_by_requests

API = "https://api.example.test"
ZONES = "/V2.0/domain/zones"
TOKEN = {"X-Auth-Token": "main-token"}


each_client = pytest.mark.parametrize("get", GETS)


def _methods() -> list[Any]:
    """The methods by which the clients reach the network."""
    owners = (
        *(httpx.HTTPTransport, httpx.AsyncHTTPTransport, HTTPAdapter, urllib3.HTTPConnectionPool),
        *(httpx2.HTTPTransport, httpx2.AsyncHTTPTransport),
        *(aiohttp.BaseConnector, socket, socket.socket, asyncio.BaseEventLoop),
    )
    return [{name: value for name, value in vars(owner).items() if callable(value)} for owner in owners]


def _count(sandbox: Any) -> int:
    count: int = sandbox.journal.list(limit=1).matching
    return count


@pytest.fixture(autouse=True)
def _everything_is_put_back():
    before = _methods()
    yield
    assert _methods() == before


@each_client
def test_an_intercepted_client_reaches_the_world_at_the_usual_url_of_the_service(sandbox, get):
    with sandbox.intercept(API) as given:
        assert given is sandbox
        assert get(API + ZONES).headers["x-sandbox-request"] == "r1"
        assert get(f"{API.upper()}:443{ZONES}").headers["x-sandbox-request"] == "r2"
    ascii_form = "https://xn--80a4a4d.xn--j1amh"
    for written in ("https://апі.укр", ascii_form):
        with sandbox.intercept(written, others="refuse"):
            assert get(f"https://апі.укр{ZONES}").headers["x-sandbox-request"]
            assert get(f"{ascii_form}{ZONES}").headers["x-sandbox-request"]


PATH = ZONES
HOST = API.removeprefix("https://")


def _by_async_httpx2(url: str) -> Any:
    async def get() -> Any:
        async with httpx2.AsyncClient() as client:
            return await client.get(url, headers=TOKEN)

    return asyncio.run(get())


#: Other ways to send a request to the intercepted host, with https and with http.
OTHERS: dict[str, Callable[[str], Any]] = {
    "httpx2": lambda scheme: httpx2.get(f"{scheme}://{HOST}{PATH}", headers=TOKEN).status_code,
    "httpx2, asynchronous": lambda scheme: _by_async_httpx2(f"{scheme}://{HOST}{PATH}").status_code,
    "pool": lambda scheme: (
        urllib3.connection_from_url(f"{scheme}://{HOST}").request("GET", PATH, headers=TOKEN).status
    ),
    "pool class": lambda scheme: (
        {"http": urllib3.HTTPConnectionPool, "https": urllib3.HTTPSConnectionPool}[scheme](HOST)
        .urlopen("GET", PATH, headers=TOKEN, timeout=5, retries=False)
        .status
    ),
    "proxy": lambda scheme: (
        urllib3.ProxyManager("http://proxy.test:3128")
        .request("GET", f"{scheme}://{HOST}{PATH}", headers=TOKEN)
        .status
    ),
    "requests with a proxy": lambda scheme: (
        requests.get(
            f"{scheme}://{HOST}{PATH}", headers=TOKEN, timeout=5, proxies={scheme: "http://proxy.test:3128"}
        ).status_code
    ),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("place", ["in process", "on a server"])
def test_every_way_to_send_a_request_is_intercepted(sandbox: Any, name: str, place: str) -> None:
    where = sandbox if place == "in process" else connect(sandbox.url)
    for scheme in ("https", "http"):
        with where.intercept(f"{scheme}://{HOST}", others="refuse"):
            assert OTHERS[name](scheme) == 200
            other = "http" if scheme == "https" else "https"
            with pytest.raises(NetworkRefused, match=r"a request to|tried to reach"):
                OTHERS[name](other)
    journal = sandbox.journal.list()
    assert [entry.request.headers["Host"] for entry in journal.requests] == [HOST, HOST]


def test_small_parts_of_responses_are_as_over_a_socket(sandbox: Any) -> None:
    async def request_info() -> tuple[str, str]:
        async with aiohttp.ClientSession(headers=TOKEN) as session, session.get(API + ZONES) as response:
            return str(response.request_info.url), str(response.request_info.real_url)

    with sandbox.intercept(API):
        assert asyncio.run(request_info()) == (API + ZONES, API + ZONES)
        with sandbox.fork().intercept(API):
            assert asyncio.run(request_info()) == (API + ZONES, API + ZONES)
        response = urllib3.request("GET", API + ZONES, headers=TOKEN, preload_content=False)
        response.shutdown()
        response.close()
    with sandbox.intercept("http://localhost"):
        with httpx.stream("GET", "http://localhost/_sandbox/journal/follow", timeout=5) as stream:
            first = next(stream.iter_raw())
    assert first.startswith(b"event: begin\n")


def test_httpx2_raises_its_own_errors_for_faults(sandbox: Any) -> None:
    with sandbox.intercept(API), httpx2.Client(base_url=API, headers=TOKEN, timeout=2) as client:
        for kind, parameters, error in (
            ("truncate", {}, httpx2.RemoteProtocolError),
            ("reset", {}, httpx2.ReadError),
            ("latency", {"seconds": 30}, httpx2.ReadTimeout),
        ):
            with sandbox.faults.add(kind, **parameters), pytest.raises(error):
                client.get(ZONES)


def test_a_direct_pool_follows_redirects_and_retries_within_the_sandbox(sandbox: Any) -> None:
    sandbox.faults.add("error", status=429, when={"times": 1})
    with sandbox.intercept(API, others="refuse"):
        pool = urllib3.HTTPSConnectionPool(HOST, retries=urllib3.Retry(3, status_forcelist=[429]))
        assert pool.request("GET", ZONES, headers=TOKEN).status == 200
    assert sandbox.journal.count() == 2


@each_client
def test_requests_to_other_urls_go_to_the_network_or_are_refused(sandbox, served, url, get):
    with sandbox.intercept(API, url.replace("127.0.0.1", "localhost")):
        assert get(url + ZONES).headers["x-sandbox-request"] == "r1"
    assert (_count(served), _count(sandbox)) == (1, 0)
    with sandbox.intercept(API, "http://127.0.0.1:8053", others="refuse"):
        for other in ("https://other.test", "http://api.example.test", f"{API}:8443"):
            with pytest.raises(NetworkRefused) as refused:
                get(f"{other}/")
            assert f"a request to {other} would reach" in str(refused.value)
            assert "http://127.0.0.1:8053, https://api.example.test" in str(refused.value)
        assert get(API + ZONES).headers["x-sandbox-request"] == "r1"


def test_clients_created_before_the_interception_are_intercepted(sandbox, url):
    """They find the network again afterwards."""
    session = requests.Session()
    session.headers.update(TOKEN)
    with httpx.Client(headers=TOKEN) as client, session:
        for get in (client.get, session.get):
            assert get(url + ZONES).headers["x-sandbox-request"]
            with sandbox.intercept(url):
                assert get(url + ZONES).status_code == 200
            assert get(url + ZONES).headers["x-sandbox-request"]
    assert _count(sandbox) == 2


def test_interception_keeps_custom_transports_of_clients(sandbox, make):
    """Retries, subclasses of transports, and transports that lead elsewhere."""

    class SendsTwice(httpx.HTTPTransport):
        def handle_request(self, request):
            super().handle_request(request)
            return super().handle_request(request)

    with sandbox.intercept(API), httpx.Client(transport=SendsTwice(), headers=TOKEN) as client:
        assert client.get(API + ZONES).headers["x-sandbox-request"] == "r2"

    elsewhere = make()
    with sandbox.intercept(API, others="refuse"):
        with httpx.Client(transport=SandboxTransport(elsewhere), headers=TOKEN) as client:
            client.get(API + ZONES)
        with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(299))) as client:
            assert client.get("https://other.test").status_code == 299
    assert (_count(elsewhere), _count(sandbox)) == (1, 2)


@each_client
def test_the_innermost_interception_of_a_url_gets_the_request(sandbox, get):
    """Other addresses of the outer interception stay, and its refusal holds for the rest."""
    with sandbox.fork(name="inner") as inner, sandbox.intercept(API, "https://old.test", others="refuse"):
        with inner.intercept(API, "https://new.test"):
            for host, world in (
                (API, "inner"),
                ("https://new.test", "inner"),
                ("https://old.test", "default"),
            ):
                assert get(host + ZONES).headers["x-sandbox-world"] == world
            with pytest.raises(NetworkRefused):
                get("https://other.test")
        assert get(API + ZONES).headers["x-sandbox-world"] == "default"
        with pytest.raises(NetworkRefused):
            get("https://new.test")


def test_interceptions_can_end_in_any_order_and_work_as_context_or_decorator(sandbox):
    with sandbox.fork(name="other") as other:
        first, second = sandbox.intercept(API), other.intercept(API)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert get_by_httpx(API + ZONES).headers["x-sandbox-world"] == "other"
        second.__exit__(None, None, None)
    context = sandbox.intercept(API)
    contextvars.copy_context().run(context.__enter__)
    assert get_by_httpx(API + ZONES).headers["x-sandbox-request"] == "r1"
    contextvars.copy_context().run(context.__exit__, None, None, None)
    with pytest.raises(KeyError), sandbox.intercept(API):
        raise KeyError
    decorated = sandbox.intercept(API)(lambda: get_by_requests(API + ZONES))
    assert [decorated().headers["x-sandbox-request"] for _ in range(2)] == ["r2", "r3"]


def test_a_mock_that_was_installed_during_an_interception_stays(sandbox, monkeypatch):
    calls, original = [], httpx.HTTPTransport.handle_request
    context = sandbox.intercept(API)
    context.__enter__()
    ours = httpx.HTTPTransport.handle_request

    def theirs(self, request):
        calls.append(request)
        return ours(self, request)

    with monkeypatch.context() as patch:
        patch.setattr(httpx.HTTPTransport, "handle_request", theirs)
        assert get_by_httpx(API + ZONES).headers["x-sandbox-request"] == "r1"
        context.__exit__(None, None, None)
        assert httpx.HTTPTransport.handle_request is theirs
    setattr(httpx.HTTPTransport, "handle_request", original)  # noqa: B010
    assert len(calls) == 1


def test_each_thread_and_task_reaches_the_world_of_its_own_interception(sandbox):
    """Each finds its own world at the same address, all at once; other threads find the only one."""
    found: dict[str, set[str]] = {}
    ready, done = threading.Barrier(4), threading.Barrier(4)

    def work(name: str) -> None:
        with sandbox.fork(name=name) as own, own.intercept(API):
            ready.wait(60)
            answers = [get(API + ZONES) for get in GETS for _ in range(2)]
            found[name] = {answer.headers["x-sandbox-world"] for answer in answers}
            done.wait(60)

    async def task(name: str) -> None:
        with sandbox.fork(name=name) as own, own.intercept(API):
            async with httpx.AsyncClient(headers=TOKEN) as client:
                found[name] = set()
                for _ in range(5):
                    found[name].add((await client.get(API + ZONES)).headers["x-sandbox-world"])
                    await asyncio.sleep(0)

    async def tasks() -> None:
        await asyncio.gather(*(task(f"task-{number}") for number in range(6)))

    with ThreadPoolExecutor() as pool:
        list(pool.map(work, [f"thread-{number}" for number in range(4)]))
        asyncio.run(tasks())
        with sandbox.intercept(API):
            answers = list(pool.map(lambda get: get(API + ZONES), GETS))
    found["default"] = {answer.headers["x-sandbox-world"] for answer in answers}
    assert len(found) == 11
    assert {name: {name} for name in found} == found


def test_a_refusing_interception_does_not_affect_threads_with_their_own_interception(sandbox, url):
    def work() -> int:
        with sandbox.intercept(API):
            return int(get_by_httpx(url + ZONES).status_code)

    with ThreadPoolExecutor(1) as pool, sandbox.intercept("https://other.test", others="refuse"):
        assert pool.submit(work).result() == 200


def test_invalid_arguments_of_an_interception_are_refused(sandbox, subtests):
    for urls, others, problem in (
        ((), "network", "intercept needs at least one URL of a service"),
        (("api.example.test",), "network", "'api.example.test'"),
        (("https://[::1",), "network", "Invalid IPv6"),
        ((API, "https://*.example.test"), "network", "'https://*.example.test' is not the URL of a service"),
        ((API, "https://api.example.test/v3"), "network", "Use https://api.example.test"),
        (("https://me@api.example.test",), "network", "more than a scheme"),
        ((5,), "network", "5"),
        ((API,), "refuze", "'refuze'; did you mean refuse"),
        ((API,), None, "'network' or 'refuse'"),
    ):
        with subtests.test(urls=urls, others=others):
            before = _methods()
            with pytest.raises(Refused) as refused, sandbox.intercept(*urls, others=others):
                raise AssertionError
            assert str(refused.value).startswith("invalid_parameter: ")
            assert problem in str(refused.value)
            assert _methods() == before


@pytest.mark.parametrize(("missing", "there"), [("httpx", "requests"), ("requests", "httpx")])
def test_interception_works_if_one_library_is_missing(missing, there):
    """Neither is a dependency, and neither is imported before a test uses it."""
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
