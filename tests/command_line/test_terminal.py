"""Commands print tables as wide as the terminal, and plain lines in a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.command import run
from tests.registry import REGISTRY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server with a few requests behind it."""
    sandbox = Sandbox(REGISTRY)
    client = sandbox.client()
    client.get("/v3/balance")
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "shop.com"}, "years": 2})
    client.get("/v3/domains/getDomain/%1B%5B31mred.com")
    with sandbox.serve() as server:
        yield server


def on_a_terminal(server: Any, *words: str, columns: int = 80, **environment: str) -> list[str]:
    """Return the lines that a command prints on a terminal of so many columns."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: os.environ[name] for name in os.environ.keys() - {"COLUMNS", "NO_COLOR"}}
    command = [sys.executable, "-m", "reseller_sandbox", *words, "--url", server.url]
    with subprocess.Popen(
        command, stdin=follower, stdout=follower, env=kept | {"TERM": "xterm-256color"} | environment
    ) as running:
        os.close(follower)
        seen = b""
        while piece := _read(leader):
            seen += piece
    os.close(leader)
    assert running.returncode == 0
    return seen.decode().replace("\r\n", "\n").splitlines()


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # the end of the output on Linux
        return b""


def test_tables_fit_the_terminal(server: Any) -> None:
    """Each row is one line where its columns fit. Control characters in a request do not move the cursor."""
    for columns, least in ((80, 5), (200, 7)):
        lines = on_a_terminal(server, "journal", "list", columns=columns, NO_COLOR="1")
        assert "\x1b" not in "".join(lines)
        assert max(map(len, lines)) <= columns
        heads = next(line for line in lines if line.startswith("id")).split()
        assert heads[:6] == ["id", "at", "operation", "status", "outcome", "domains"][: len(heads)]
        assert len(heads) >= least
        assert sum(line.startswith(("r1 ", "r2 ", "r3 ")) for line in lines) == 3
        left = " ".join(lines[-4:])
        assert ("charged" in heads) != ("charged" in left)
        assert "--json shows them)" in left
    assert "red.com" in "".join(lines)
    done = run("journal", "list", "--url", server.url, env={"COLUMNS": None})  # in a pipe
    assert 80 < max(map(len, done.out.splitlines())) <= 160
    assert "\x1b" not in done.out


@pytest.mark.slow
def test_output_is_styled_only_on_a_terminal(server: Any) -> None:
    assert "\x1b[" in "".join(on_a_terminal(server, "journal", "list"))
    assert "\x1b" not in "".join(on_a_terminal(server, "journal", "list", TERM="dumb"))
    assert "\x1b" not in "".join(on_a_terminal(server, "journal", "get", "r3", NO_COLOR="1"))
