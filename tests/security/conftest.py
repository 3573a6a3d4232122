"""Control interfaces, guarded in different ways, on real ports; and all that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Socket
from tests.documented import document
from tests.registry import REGISTRY

TOKEN = "a-token-for-control"


@dataclass
class Guarded:
    """A sandbox and its address."""

    sandbox: Sandbox
    url: str
    socket: Socket

    @property
    def host(self) -> str:
        """The address without its scheme."""
        return self.url.partition("://")[2]

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request as it is; underscores in the headers' names are dashes."""
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        return self.socket(method, path, named, body)


@pytest.fixture(scope="module")
def guarded() -> Iterator[Callable[..., Guarded]]:
    """Serves a sandbox with the settings given; all of them stop at the end."""
    with ExitStack() as stack:

        def serve(host: str = "127.0.0.1", **settings: Any) -> Guarded:
            sandbox = Sandbox(REGISTRY, **settings)
            server = stack.enter_context(sandbox.serve(host))
            socket = Socket(server.url)
            stack.callback(socket.close)
            return Guarded(sandbox, server.url, socket)

        yield serve


@pytest.fixture(scope="module")
def plain(guarded: Callable[..., Guarded]) -> Guarded:
    """As it is by default."""
    return guarded()


@pytest.fixture(scope="module")
def tokened(guarded: Callable[..., Guarded]) -> Guarded:
    """One that wants ``TOKEN``."""
    return guarded(control_token=TOKEN)


#: The page's own files, which hold nothing of any world; ``tests/page`` has more of them.
OPEN = ("/_sandbox/page", "/_sandbox/page/{file}")


def closed() -> list[tuple[str, str]]:
    """Every operation that tells of a world, or changes one."""
    return [(method, path) for method, path in operations() if path not in OPEN]


def operations() -> list[tuple[str, str]]:
    """Every operation of the control interface, as method and path, from the document that is served."""
    paths = document("control").content["paths"]
    return sorted((method.upper(), path) for path, row in paths.items() for method in row)
