"""The fault kind ``stale_connection``, and the time after which the server closes an idle connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from time import sleep
from typing import Any

import pytest

from reseller_sandbox import Sandbox, connect
from tests.connection import Connection
from tests.registry import Make

API = "https://api.example.com"
ONCE = {"kind": "stale_connection", "when": {"times": 1}}


@contextmanager
def _requests() -> Iterator[Callable[..., Any]]:
    with pytest.importorskip("requests").Session() as session:
        yield session.get


@contextmanager
def _httpx() -> Iterator[Callable[..., Any]]:
    with pytest.importorskip("httpx").Client() as client:
        yield client.get


@contextmanager
def _urllib3() -> Iterator[Callable[..., Any]]:
    with pytest.importorskip("urllib3").PoolManager(retries=False) as pool:
        yield lambda url, **options: pool.request("GET", url, **options)


CLIENTS = {"requests": _requests, "httpx": _httpx, "urllib3": _urllib3}


@pytest.fixture(params=["process", "socket"])
def base(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[str]:
    if request.param == "process":
        with sandbox.intercept(API):
            yield API
        return
    with sandbox.serve() as server:
        yield server.url


@pytest.mark.parametrize("library", CLIENTS)
def test_the_next_request_on_a_stale_connection_fails_without_effect(
    library: str, base: str, sandbox: Sandbox
) -> None:
    sandbox.faults.add(**ONCE)
    own = {"X-Auth-Token": sandbox.accounts["main"].token}
    with CLIENTS[library]() as get:

        def ask() -> int:
            answer = get(f"{base}/V2.0/domain/zones/gtld", headers=own)
            return int(getattr(answer, "status_code", None) or answer.status)

        assert ask() == 200
        with pytest.raises(Exception, match=r"without (sending a )?response"):
            ask()
        assert ask() == 200
    assert [entry.fault for entry in sandbox.journal] == ["stale_connection", None]


def test_pipelined_requests_after_a_stale_response_are_dropped(sandbox: Sandbox) -> None:
    sandbox.faults.add(**ONCE)
    request = b"GET /V2.0/domain/zones/gtld HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: %b\r\n\r\n"
    with sandbox.serve() as server, Connection.to(server.url) as client:
        client.send(request % sandbox.accounts["main"].token.encode() * 3)
        assert client.rest().count(b"HTTP/1.1 200") == 1
    assert sandbox.journal.count() == 1


def test_an_idle_connection_is_closed_after_keep_alive_seconds(make: Make) -> None:
    sandbox = make(keep_alive=0.05)
    with sandbox.serve() as server:
        client = HTTPConnection(server.host, server.port, timeout=30)
        client.request("GET", "/_sandbox/health")
        assert client.getresponse().read()
        assert client.sock.recv(1) == b""
        client.close()


def test_a_remote_client_reopens_a_connection_that_the_server_closed(make: Make) -> None:
    with make(keep_alive=0.05).serve() as server, connect(server.url) as client:
        assert client.clock.show().frozen
        sleep(0.5)
        assert client.assumptions.set({"v3.ids": "integer"})
