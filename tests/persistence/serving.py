"""A server in a separate process that keeps its worlds in a file."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reseller_sandbox import Sandbox, connect
from tests.command import run, started
from tests.registry import REGISTRY


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
    words = ("serve", "--quiet", "--frozen", "--port", port, "--fixture", REGISTRY, *options)
    before = ("prlimit", f"--fsize={limit}") if limit else ()
    more = {"cwd": at, "env": {**os.environ, **(env or {})}}
    with started(*words, before=before, end=end, **more) as (server, line):
        url = line.split()[-1]
        with connect(url) as sandbox:
            yield Served(server, url, sandbox)


def refusal(path: Path) -> str:
    """Return what ``serve`` prints when it refuses the state file, which has to stay as it is."""
    content = path.read_bytes() if path.is_file() else None
    done = run("serve", "--port", "0", "--state-file", str(path))
    assert done.status == 2, done
    assert "Traceback" not in done.err
    assert str(path.resolve()) in done.err.replace("\n", ""), done
    assert (path.read_bytes() if path.is_file() else None) == content
    return " ".join(done.err.split())


def register(sandbox: Sandbox, name: str) -> int:
    answer = sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": name}})
    return int(answer.status_code)
