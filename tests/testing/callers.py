"""The HTTP clients that people use, as a test calls them: over a socket, or in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import httpx
import requests

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import SandboxAdapter, SandboxTransport

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


class Httpx:
    """httpx's synchronous client; of ``sandbox`` in this process, or over a socket without one."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        transport = SandboxTransport(sandbox, **options) if sandbox is not None else None
        self.client = httpx.Client(transport=transport, timeout=timeout, trust_env=False, verify=False)

    def call(self, method: str, url: str, headers: dict[str, str], body: bytes, *, streamed: bool) -> Got:
        got = Got()
        try:
            with self.client.stream(method, url, headers=headers, content=body) as answer:
                got.status, got.reason = answer.status_code, answer.reason_phrase
                got.headers = answer.headers.multi_items()
                for piece in answer.iter_raw() if streamed else [answer.read()]:
                    got.body += piece
        except Exception as error:
            got.raised = type(error)
        return got

    def close(self) -> None:
        self.client.close()


class AsyncHttpx:
    """httpx's asynchronous client."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        transport = SandboxTransport(sandbox, **options) if sandbox is not None else None
        self.client = httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False, verify=False)
        self.runner = asyncio.Runner()

    def call(self, method: str, url: str, headers: dict[str, str], body: bytes, *, streamed: bool) -> Got:
        return self.runner.run(self._called(method, url, headers, body, streamed))

    async def _called(self, method: str, url: str, headers: Any, body: bytes, streamed: bool) -> Got:
        got = Got()
        try:
            async with self.client.stream(method, url, headers=headers, content=body) as answer:
                got.status, got.reason = answer.status_code, answer.reason_phrase
                got.headers = answer.headers.multi_items()
                if streamed:
                    async for piece in answer.aiter_raw():
                        got.body += piece
                else:
                    got.body = await answer.aread()
        except Exception as error:
            got.raised = type(error)
        return got

    def close(self) -> None:
        with self.runner:
            self.runner.run(self.client.aclose())


class Requests:
    """requests, with a session."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        self.session = requests.Session()
        self.session.trust_env = False
        self.timeout = timeout
        if sandbox is not None:
            for scheme in ("http://", "https://"):
                self.session.mount(scheme, SandboxAdapter(sandbox, **options))

    def call(self, method: str, url: str, headers: dict[str, str], body: bytes, *, streamed: bool) -> Got:
        got = Got()
        try:
            answer = self.session.request(
                method, url, headers=headers, data=body, timeout=self.timeout, stream=True
            )
            with answer:
                got.status, got.reason = answer.status_code, answer.reason
                got.headers = list(answer.headers.items())
                for piece in answer.iter_content(1) if streamed else [answer.content]:
                    got.body += piece
        except Exception as error:
            got.raised = type(error)
        return got

    def close(self) -> None:
        self.session.close()


class Plain:
    """Python's own ``http.client``, and in this process Flask's test client, which is to be like it."""

    def __init__(self, sandbox: Sandbox | None, timeout: float | None, **options: Any) -> None:
        self.inside = sandbox.client(timeout=timeout, **options) if sandbox is not None else None
        self.timeout = timeout
        self.connection: HTTPConnection | None = None

    def call(self, method: str, url: str, headers: dict[str, str], body: bytes, *, streamed: bool) -> Got:
        got, headers = Got(), {"Accept-Encoding": "identity", "User-Agent": "plain", **TOKEN, **headers}
        try:
            if self.inside is not None:
                answer = self.inside.open(url, method=method, headers=headers, data=body or None)
                reason = answer.status.partition(" ")[2].replace("UNKNOWN", "")
                got.status, got.reason = answer.status_code, reason
                got.headers, read = list(answer.headers), answer.get_data
            else:
                parts = urlsplit(url)
                self.connection = HTTPConnection(parts.netloc, timeout=self.timeout)
                self.connection.request(method, url.partition(parts.netloc)[2], body or None, headers)
                response = self.connection.getresponse()
                got.status, got.reason = response.status, response.reason
                got.headers, read = response.getheaders(), response.read
            got.body = read()
        except Exception as error:
            got.raised = type(error)
            if isinstance(error, IncompleteRead):
                got.body = error.partial
        return got

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


CALLERS: dict[str, Callable[..., Any]] = {
    "httpx": Httpx,
    "httpx, asynchronous": AsyncHttpx,
    "requests": Requests,
}

#: Beside them the client that is there without any library, for what faults do.
ALL_CALLERS = {**CALLERS, "Flask's": Plain}


def get_by_httpx(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    """The answer to a GET by httpx, through a transport of ``sandbox`` if there is one."""
    with httpx.Client(transport=SandboxTransport(sandbox) if sandbox is not None else None) as client:
        return client.get(url, headers=headers)


def get_by_async_httpx(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    """The same by httpx's asynchronous client."""

    async def got() -> Any:
        transport = SandboxTransport(sandbox) if sandbox is not None else None
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.get(url, headers=headers)

    return asyncio.run(got())


def get_by_requests(url: str, headers: dict[str, str] = TOKEN, sandbox: Sandbox | None = None) -> Any:
    """The same by requests."""
    with requests.Session() as session:
        if sandbox is not None:
            session.mount("https://", SandboxAdapter(sandbox))
        return session.get(url, headers=headers, timeout=60)


GETS: tuple[Callable[..., Any], ...] = (get_by_httpx, get_by_async_httpx, get_by_requests)
