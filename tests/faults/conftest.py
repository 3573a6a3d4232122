"""Clients that see what happens to a connection, and the money that requests cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, encoded, signature
from tests.connection import Connection


class Dialler:
    """The account ``main`` of a sandbox on a port. Each request has a separate connection.

    ``authority`` is the file by which an https address is trusted.
    """

    def __init__(self, sandbox: Sandbox, url: str, authority: str | None = None) -> None:
        self.url, self._authority = url, authority
        self.account = sandbox.accounts["main"]
        self._open: list[Connection] = []

    def send(self, method: str, target: str, body: Any = None) -> Connection:
        """Send a signed request, and do not wait for the answer."""
        raw, own = encoded(body), self.account
        signed = signature(own.secret, own.key, self.url + target, raw)
        keys = [f"X-SVC-APIKEY: {own.key}", f"X-SVC-SIGNATURE: {signed}", f"X-Auth-Token: {own.token}"]
        about = ["Content-Type: application/json", f"Content-Length: {len(raw)}"]
        return self.send_plain(method, target, [*keys, *about], raw)

    def send_plain(self, method: str, target: str, headers: list[str], raw: bytes = b"") -> Connection:
        """Send a request with these headers and a Host."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {urlsplit(self.url).netloc}", *headers, "", ""]
        connection = Connection.to(self.url, self._authority)
        self._open.append(connection)
        connection.send("\r\n".join(lines).encode() + raw)
        return connection

    def get(self, target: str) -> Answer:
        return self.send("GET", target).answer()

    def close(self) -> None:
        for connection in self._open:
            connection.close()


@pytest.fixture
def dial(served: Sandbox, url: str) -> Iterator[Dialler]:
    """The account ``main`` of ``served``."""
    dialler = Dialler(served, url)
    yield dialler
    dialler.close()


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


def register(name: str, **more: Any) -> dict[str, Any]:
    return {"domain": {"domainName": name}, **more}


def create(client: Any, name: str, **more: Any) -> Any:
    return client.post("/v3/domains/createDomain", json=register(name, **more))


def balance(sandbox: Sandbox) -> str:
    return str(sandbox.accounts["main"].balance)


def charges(sandbox: Sandbox, name: str) -> list[tuple[str, str]]:
    """The causes and amounts of the money that a name has cost."""
    return [(entry.cause, str(entry.amount)) for entry in sandbox.ledger.list(domain=name).entries]
