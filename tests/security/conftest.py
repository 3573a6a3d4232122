"""Control interfaces, guarded in different ways, on real ports; and all that they take."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Socket
from tests.command import PROGRAM, run
from tests.documented import document
from tests.registry import REGISTRY

TOKEN = "a-token-for-control"


@dataclass
class Guarded:
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
    return guarded()


@pytest.fixture(scope="module")
def tokened(guarded: Callable[..., Guarded]) -> Guarded:
    return guarded(control_token=TOKEN)


def digest(sandbox: Sandbox) -> Any:
    """Everything that a refused request could change, in short."""
    worlds = sandbox.worlds.list().worlds
    return (
        [(world.name, world.now, world.frozen, world.seed, world.requests, world.orders) for world in worlds],
        *(part.list() for part in (sandbox.faults, sandbox.branches, sandbox.scheduled)),
        [(account.name, account.balance) for account in sandbox.accounts.list().accounts],
    )


def refusal(*words: str) -> str:
    """The one line by which the command line refuses to start, with status 2 and no output."""
    done = run(*words)
    assert (done.status, done.out) == (2, ""), done
    (line,) = done.err.splitlines()
    return line


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """Serve in a separate process, which has to end well; yield the text that it prints at its start."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([PROGRAM, "serve", *options], **pipes) as process:
        assert process.stdout is not None
        text = ""
        while "Ctrl-C" not in text:
            text += next(process.stdout)
        try:
            yield text
        finally:
            process.terminate()
            rest, log = process.communicate(timeout=60)
        assert process.returncode == 0
        assert TOKEN not in text + rest + log


def filled(path: str, segment: str = "1") -> str:
    return re.sub(r"\{\w+\}", lambda _: segment, path)


#: The page's own files, which hold nothing of any world; ``tests/page`` has more of them.
OPEN = ("/_sandbox/page", "/_sandbox/page/addresses", "/_sandbox/page/{file}")


def closed() -> list[tuple[str, str]]:
    """Every operation that tells of a world, or changes one."""
    return [(method, path) for method, path in operations() if path not in OPEN]


def operations() -> list[tuple[str, str]]:
    """Every operation of the control interface, as method and path, from the document that is served."""
    paths = document("control").content["paths"]
    return sorted((method.upper(), path) for path, row in paths.items() for method in row)
