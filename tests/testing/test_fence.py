"""A fence: no library reaches another machine, and the message names the library that tried."""

from __future__ import annotations

import asyncio
import http.client
import socket
import urllib.request
from collections.abc import Callable

import aiohttp
import httpx
import pytest
import requests
import urllib3

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import NetworkRefused
from tests.testing.conftest import Printed

API = "https://api.example.test"
ELSEWHERE = "http://other.example.test/"


def by_aiohttp(url: str) -> None:
    async def get() -> None:
        async with aiohttp.ClientSession() as session, session.get(url):
            pass

    asyncio.run(get())


def by_asyncio(url: str) -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection(url.split("/")[2], 80), 60))


def by_http_client(url: str) -> None:
    http.client.HTTPConnection(url.split("/")[2], timeout=60).request("GET", "/")


#: A request by each library, and the name of the library in the message where the library is not intercepted.
WAYS: dict[str, tuple[Callable[[str], object], str]] = {
    "httpx": (lambda url: httpx.get(url), "a request to"),
    "requests": (lambda url: requests.get(url, timeout=60), "a request to"),
    "urllib3": (lambda url: urllib3.request("GET", url), "a request to"),
    "aiohttp": (by_aiohttp, "a request to"),
    "urllib": (lambda url: urllib.request.urlopen(url, timeout=60), "urllib.request tried to reach"),
    "http.client": (by_http_client, "http.client tried to reach"),
    "asyncio": (by_asyncio, "asyncio"),
    "socket": (lambda url: socket.create_connection((url.split("/")[2], 80)), "socket tried to reach"),
}


def test_no_library_reaches_another_machine_inside_an_interception(
    sandbox: Sandbox, url: str, subtests: pytest.Subtests
) -> None:
    """Neither by name nor by address. This machine, with the port of another server, stays reachable."""
    host = url.removeprefix("http://")
    with sandbox.intercept(API, others="refuse"):
        for name, (get, words) in WAYS.items():
            for target in (ELSEWHERE, "http://192.0.2.7/"):
                with subtests.test(name, target=target):
                    with pytest.raises(NetworkRefused, match=words) as refused:
                        get(target)
                    assert "others='refuse' forbids" in str(refused.value)
        with urllib.request.urlopen(f"{url}/_sandbox/health", timeout=60) as answer:
            assert answer.status == 200
        assert socket.getaddrinfo("localhost", 80)
        with socket.create_connection((host.partition(":")[0], int(host.partition(":")[2]))):
            pass
    with pytest.raises(OSError, match=r"(?i)name|address|host|temporary|not known"):
        socket.getaddrinfo("other.invalid", 80)


def test_a_request_to_the_sandbox_passes_the_fence(sandbox: Sandbox) -> None:
    with sandbox.intercept(API, others="refuse"):
        by_aiohttp(f"{API}/V2.0/domain/zones")
        assert urllib3.request("GET", f"{API}/V2.0/domain/zones").status == 403
        with sandbox.serve() as server, urllib.request.urlopen(f"{server.url}/_sandbox/health") as answer:
            assert answer.status == 200
    assert sandbox.journal.find(limit=0).matching == 2


SUITE = """
import socket
import urllib.request

import pytest


def test_reaches_out():
    urllib.request.urlopen("http://other.example.test/", timeout=60)


def test_reaches_the_world(reseller_sandbox):
    urllib.request.urlopen(f"{reseller_sandbox.url}/_sandbox/health", timeout=60).close()


def test_reaches_an_allowed_host():
    with socket.socket() as sock, pytest.raises(OSError):
        sock.settimeout(0.01)
        sock.connect(("192.0.2.7", 9))
"""


def test_the_fence_option_holds_for_the_whole_test_run(printed: Printed, subtests: pytest.Subtests) -> None:
    shown = printed(SUITE, "--reseller-sandbox-fence=192.0.2.7")
    assert "1 failed, 2 passed" in shown
    assert (
        "urllib.request tried to reach other.example.test:80, which --reseller-sandbox-fence forbids" in shown
    )
    assert "2 failed, 1 passed" in printed(SUITE, "-o", "reseller_sandbox_fence=localhost")
    with subtests.test("the option does not take the path after it"):
        assert "2 failed, 1 passed" in printed(SUITE, "--reseller-sandbox-fence", "test_suite.py")
    with subtests.test("a path is not a host"):
        shown = printed(SUITE, "--reseller-sandbox-fence=tests/test_suite.py")
        assert "must be hosts such as db.example.test, not 'tests/test_suite.py'" in shown
