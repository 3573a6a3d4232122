"""A server in a separate process that keeps its worlds in a file, and everything that can be seen of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from reseller_sandbox import Sandbox, connect
from tests.clients import Answer
from tests.command import run
from tests.registry import REGISTRY
from tests.script import MEASURED

COMMAND = (sys.executable, "-m", "reseller_sandbox", "serve", "--quiet", "--frozen")


@dataclass
class Served:
    """A server: its process, its address, and its default world."""

    process: subprocess.Popen[str]
    url: str
    sandbox: Sandbox


@contextmanager
def serving(
    *options: object,
    end: int = signal.SIGTERM,
    port: int = 0,
    at: Path | None = None,
    limit: int = 0,
    env: Mapping[str, str] | None = None,
) -> Iterator[Served]:
    """Serve the tests' registry with these options, and send the signal ``end`` after it.

    ``limit`` is the largest size in bytes of a file that the server may write. ``env`` is added to its
    environment.
    """
    command = [*COMMAND, "--port", str(port), "--fixture", str(REGISTRY), *map(str, options)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if limit:
        command = ["prlimit", f"--fsize={limit}", *command]
    with subprocess.Popen(command, cwd=at, env={**os.environ, **(env or {})}, **pipes) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line, server.communicate()
        url = line.split()[-1]
        with connect(url) as sandbox:
            try:
                yield Served(server, url, sandbox)
            finally:
                server.send_signal(end)
                server.wait(60)


def refusal(path: Path) -> str:
    """Return what ``serve`` prints when it refuses the state file, which has to stay as it is."""
    content = path.read_bytes() if path.is_file() else None
    done = run("serve", "--port", "0", "--keep", str(path))
    assert done.status == 2, done
    assert "Traceback" not in done.err
    assert str(path.resolve()) in done.err.replace("\n", "")
    assert (path.read_bytes() if path.is_file() else None) == content
    return " ".join(done.err.split())


def wait_until(done: Callable[[], object]) -> None:
    """Wait at most a minute."""
    deadline = monotonic() + 60
    while not done():
        assert monotonic() < deadline
        sleep(0.05)


def register(sandbox: Sandbox, name: str) -> int:
    """Return the status of the registration of a name."""
    answer = sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": name}})
    return int(answer.status_code)


def sent(sandbox: Sandbox, method: str, target: str, body: bytes = b"", account: str = "main") -> Answer:
    """Send a request with signature and token. Return the answer without measured times."""
    client = sandbox.client(account)
    try:
        answer = client.open(target, method=method, data=body, content_type="application/json")
        content = answer.data
    except (HTTPException, OSError) as problem:  # the effect of a fault
        return Answer(0, {}, repr(problem).encode())
    headers = {name.lower(): value for name, value in answer.headers.items()}
    raw, measured = MEASURED.subn(rb'"\1":0', content)
    if measured:
        headers.pop("content-length")
    return Answer(answer.status_code, headers, raw)


def seen(sandbox: Sandbox) -> dict[str, Answer]:
    """Read every world, and each of its requests, through the control interface."""
    rows = sandbox.client().get("/_sandbox/openapi/control.json").json["paths"].items()
    reads = [
        path
        for path, row in rows
        if "get" in row and "event-stream" not in str(row["get"]) and "{" not in path
    ]
    found = {}
    for world in sandbox.worlds:
        api = f"/_worlds/{world.name}"
        requests = sandbox.client().get(f"{api}/_sandbox/journal?limit=10000").json["requests"]
        for path in (*reads, *(f"/_sandbox/journal/{request['id']}" for request in requests)):
            found[api + path] = sent(sandbox, "GET", api + path)
    return found
