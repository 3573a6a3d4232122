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

pytest_plugins = "pytester"

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


def datagram() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def by_datagram(url: str, method: str, *arguments: object) -> None:
    with datagram() as sock:
        getattr(sock, method)(*arguments, (url.split("/")[2], 53))


def by_datagram_endpoint(url: str) -> None:
    async def send() -> None:
        loop = asyncio.get_running_loop()
        target = (url.split("/")[2], 53)
        transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=target)
        transport.close()

    asyncio.run(send())


def by_sock_sendto(url: str) -> None:
    async def send() -> None:
        with datagram() as sock:
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_sendto(sock, b"x", (url.split("/")[2], 53))

    asyncio.run(send())


def by_loop_getnameinfo(url: str) -> None:
    async def look_up() -> None:
        await asyncio.get_running_loop().getnameinfo((url.split("/")[2], 80), 0)

    asyncio.run(look_up())


#: A request by each library, and the name of the library in the message where the library is not intercepted.
WAYS: dict[str, tuple[Callable[[str], object], str]] = {
    "httpx": (lambda url: httpx.get(url), "a request to"),
    "requests": (lambda url: requests.get(url, timeout=60), "a request to"),
    "urllib3": (lambda url: urllib3.request("GET", url), "a request to"),
    "aiohttp": (by_aiohttp, "a request to"),
    "urllib": (lambda url: urllib.request.urlopen(url, timeout=60), "urllib.request tried to reach"),
    "http.client": (by_http_client, "http.client tried to reach"),
    "asyncio": (by_asyncio, "asyncio"),
    "datagram endpoint": (by_datagram_endpoint, "asyncio"),
    "sendto": (lambda url: by_datagram(url, "sendto", b"x"), "tried to reach"),
    "sendto with flags": (lambda url: by_datagram(url, "sendto", b"x", 0), "tried to reach"),
    "sendmsg": (lambda url: by_datagram(url, "sendmsg", [b"x"], [], 0), "tried to reach"),
    "loop.sock_sendto": (by_sock_sendto, "asyncio"),
    "gethostbyaddr": (lambda url: socket.gethostbyaddr(url.split("/")[2]), "socket tried to reach"),
    "getnameinfo": (lambda url: socket.getnameinfo((url.split("/")[2], 80), 0), "socket tried to reach"),
    "loop.getnameinfo": (by_loop_getnameinfo, "tried to reach"),
    "getfqdn": (lambda url: socket.getfqdn(url.split("/")[2]), "tried to reach"),
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
        assert socket.getfqdn()
        assert socket.getfqdn("localhost")
        assert socket.getnameinfo(("127.0.0.1", 80), socket.NI_NUMERICHOST)[0] == "127.0.0.1"
        with datagram() as receiver, datagram() as sender:
            receiver.bind(("127.0.0.1", 0))
            assert sender.sendto(b"x", receiver.getsockname()) == 1
            assert sender.sendmsg([b"x"], [], 0, receiver.getsockname()) == 1
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
    assert sandbox.journal.list(limit=0).matching == 2


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
