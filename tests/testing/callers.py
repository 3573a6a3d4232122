"""The HTTP clients that people use, as a test calls them: over a socket, or in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, IncompleteRead
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import requests
import urllib3
from yarl import URL

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import SandboxAdapter, SandboxConnector, SandboxPoolManager, SandboxTransport

#: Flask's test client of the sandbox adds this header.
TOKEN = {"X-Auth-Token": "main-token"}


@dataclass
class Got:
    """As much of an answer as a client could read, and the exception that it raised."""

    status: int = 0
    reason: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    raised: type[BaseException] | None = None


class Caller:
    """A client of ``sandbox`` in this process, or over a socket without a sandbox."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        raise NotImplementedError

    def call(self, method: str, url: str, headers: dict[str, str], body: bytes, *, streamed: bool) -> Got:
        """Return as much of the answer as the client could read."""
        got = Got()
        try:
            self.read(got, streamed, method, url, headers, body)
        except Exception as error:
            got.raised = type(error)
            got.body = error.partial if isinstance(error, IncompleteRead) else got.body
        return got

    def read(self, got: Got, streamed: bool, method: str, url: str, headers: Any, body: bytes) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections."""


class Httpx(Caller):
    """httpx's synchronous client."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        transport = SandboxTransport(sandbox, **options) if sandbox is not None else None
        self.client = httpx.Client(transport=transport, timeout=timeout, trust_env=False, verify=False)
        self.close = self.client.close  # type: ignore[method-assign]

    def read(self, got: Got, streamed: bool, method: str, url: str, headers: Any, body: bytes) -> None:
        with self.client.stream(method, url, headers=headers, content=body) as answer:
            got.status, got.reason = answer.status_code, answer.reason_phrase
            got.headers = answer.headers.multi_items()
            for piece in answer.iter_raw() if streamed else [answer.read()]:
                got.body += piece


class AsyncHttpx(Caller):
    """httpx's asynchronous client."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        transport = SandboxTransport(sandbox, **options) if sandbox is not None else None
        self.client = httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False, verify=False)
        self.runner = asyncio.Runner()

    def read(self, got: Got, streamed: bool, *request: Any) -> None:
        self.runner.run(self._read(got, streamed, *request))

    async def _read(self, got: Got, streamed: bool, method: str, url: str, headers: Any, body: bytes) -> None:
        async with self.client.stream(method, url, headers=headers, content=body) as answer:
            got.status, got.reason = answer.status_code, answer.reason_phrase
            got.headers = answer.headers.multi_items()
            if not streamed:
                got.body = await answer.aread()
                return
            async for piece in answer.aiter_raw():
                got.body += piece

    def close(self) -> None:
        with self.runner:
            self.runner.run(self.client.aclose())


class Requests(Caller):
    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        self.session = requests.Session()
        self.session.trust_env = False
        self.timeout = timeout
        self.close = self.session.close  # type: ignore[method-assign]
        if sandbox is not None:
            for scheme in ("http://", "https://"):
                self.session.mount(scheme, SandboxAdapter(sandbox, **options))

    def read(self, got: Got, streamed: bool, method: str, url: str, headers: Any, body: bytes) -> None:
        more: dict[str, Any] = {"timeout": self.timeout, "stream": True}
        with self.session.request(method, url, headers=headers, data=body, **more) as answer:
            got.status, got.reason = answer.status_code, answer.reason
            got.headers = list(answer.headers.items())
            for piece in answer.iter_content(1) if streamed else [answer.content]:
                got.body += piece


class Plain(Caller):
    """Python's own ``http.client``, and in this process Flask's test client, which is to be like it."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        self.inside = sandbox.client(timeout=timeout, **options) if sandbox is not None else None
        self.timeout = timeout

    def read(self, got: Got, streamed: bool, method: str, url: str, headers: Any, body: bytes) -> None:
        headers = {"Accept-Encoding": "identity", "User-Agent": "plain", **TOKEN, **headers}
        if self.inside is not None:
            answer = self.inside.open(url, method=method, headers=headers, data=body or None)
            got.status, got.reason = answer.status_code, answer.status.partition(" ")[2]
            got.reason = got.reason.replace("UNKNOWN", "")
            got.headers = list(answer.headers)
            got.body = answer.get_data()
            return
        parts = urlsplit(url)
        with closing(HTTPConnection(parts.netloc, timeout=self.timeout)) as connection:
            connection.request(method, url.partition(parts.netloc)[2], body or None, headers)
            response = connection.getresponse()
            got.status, got.reason, got.headers = response.status, response.reason, response.getheaders()
            got.body = response.read()


class Urllib3(Caller):
    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        more: dict[str, Any] = {"timeout": timeout, "retries": False}
        pools = (
            urllib3.PoolManager(**more) if sandbox is None else SandboxPoolManager(sandbox, **options, **more)
        )
        self.pools = pools
        self.close = pools.clear  # type: ignore[method-assign]

    def read(self, got: Got, streamed: bool, method: str, url: str, headers: Any, body: bytes) -> None:
        answer = self.pools.request(method, url, headers=headers, body=body or None, preload_content=False)
        got.status, got.reason = answer.status, answer.reason or ""
        got.headers = list(answer.headers.items())
        for piece in answer.stream(1) if streamed else [answer.read()]:
            got.body += piece


CALLERS: dict[str, Callable[..., Any]] = {
    "httpx": Httpx,
    "httpx, asynchronous": AsyncHttpx,
    "requests": Requests,
    "urllib3": Urllib3,
}

#: Beside them the client that is there without any library, for what faults do.
ALL_CALLERS = {**CALLERS, "Flask's": Plain}


def get_by_httpx(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    """The answer to a GET by httpx, through a transport of ``sandbox`` if there is one."""
    with httpx.Client(transport=SandboxTransport(sandbox) if sandbox else None) as client:
        return client.get(url, headers=headers)


def get_by_async_httpx(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    """The same by httpx's asynchronous client."""

    async def get() -> Any:
        async with httpx.AsyncClient(transport=SandboxTransport(sandbox) if sandbox else None) as client:
            return await client.get(url, headers=headers)

    return asyncio.run(get())


def get_by_requests(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    with requests.Session() as session:
        if sandbox is not None:
            session.mount("https://", SandboxAdapter(sandbox))
        return session.get(url, headers=headers, timeout=60)


def get_by_urllib3(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    with SandboxPoolManager(sandbox) if sandbox is not None else urllib3.PoolManager() as manager:
        answer = manager.request("GET", url, headers=headers, timeout=60, retries=False)
        return SimpleNamespace(status_code=answer.status, headers=answer.headers)


def get_by_aiohttp(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    async def get() -> Any:
        connector = SandboxConnector(sandbox) if sandbox is not None else None
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.get(URL(url, encoded=url.isascii()), headers=headers) as answer,
        ):
            return SimpleNamespace(status_code=answer.status, headers=answer.headers)

    async def get_and_wait() -> Any:
        try:
            return await get()
        finally:  # because asyncio ends TLS connections in the background
            await asyncio.sleep(0.05)

    return asyncio.run(get_and_wait())


GETS: tuple[Callable[..., Any], ...] = (
    *(get_by_httpx, get_by_async_httpx, get_by_requests),
    *(get_by_urllib3, get_by_aiohttp),
)
