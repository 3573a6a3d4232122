"""What commands print on a terminal, as wide as that is, and in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
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
    """The lines that a command prints on a terminal so wide."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    told = {one: value for one, value in os.environ.items() if one not in ("COLUMNS", "NO_COLOR", "TERM")}
    command = [sys.executable, "-m", "reseller_sandbox", *words, "--url", server.url]
    with subprocess.Popen(
        command, stdin=follower, stdout=follower, env=told | {"TERM": "xterm-256color"} | environment
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
    except OSError:  # which is how Linux says that nobody will write any more
        return b""


def piped(server: Any, *words: str) -> list[str]:
    """Return the lines that a command prints where its output is no terminal."""
    done = run(*words, "--url", server.url, env={"COLUMNS": None})
    assert done.status == 0, done.err
    return done.out.splitlines()


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_fit_the_terminal(server: Any, columns: int) -> None:
    """No line is wider, and each row is one line where its columns fit; what is left out is named."""
    lines = on_a_terminal(server, "journal", "find", columns=columns, NO_COLOR="1")
    assert max(map(len, lines)) <= columns
    heads = next(line for line in lines if line.startswith("id")).split()
    assert heads[:6] == ["id", "at", "operation", "status", "outcome", "domains"][: len(heads)]
    assert len(heads) >= 5  # what came of each request is there on the smallest terminal
    assert sum(line.startswith(("r1 ", "r2 ", "r3 ")) for line in lines) == 3
    left = " ".join(lines[-4:])
    assert ("charged" in heads) != ("charged" in left)
    assert "(--json shows them)" in left


@pytest.mark.slow
def test_there_is_style_on_a_terminal_alone(server: Any) -> None:
    """Not where ``NO_COLOR`` is set, nor in a pipe, nor on a terminal that can do nothing."""
    assert "\x1b[" in "".join(on_a_terminal(server, "journal", "find"))
    assert "\x1b" not in "".join(on_a_terminal(server, "journal", "find", NO_COLOR="1"))
    assert "\x1b" not in "".join(on_a_terminal(server, "journal", "find", TERM="dumb"))


def test_a_pipe_gets_lines_without_spaces_at_their_ends(server: Any) -> None:
    """Of a width of its own."""
    lines = piped(server, "journal", "find")
    assert all(line == line.rstrip() for line in lines)
    assert 80 < max(map(len, lines)) <= 160
    assert "\x1b" not in "".join(lines)


def test_parts_are_told_below_and_changes_by_what_was(server: Any) -> None:
    """A request with its parts; who is charged has so much less."""
    lines = piped(server, "journal", "get", "r2")
    assert {"request", "answer", "changes", "ledger"} <= set(lines)
    assert any(re.search(r"balance=[0-9.]+ → [0-9.]+$", line) for line in lines)


@pytest.mark.slow
def test_nothing_stands_before_the_first_line(server: Any) -> None:
    """A line is left free between two parts alone."""
    for words in (("journal", "find"), ("names", "list"), ("accounts", "list"), ("faults", "list")):
        lines = piped(server, *words)
        assert lines[0]
        assert lines[-1]
        assert not any(one == another == "" for one, another in pairwise(lines))


def test_no_name_moves_the_cursor(server: Any) -> None:
    """What a client sends is printed as what it is, whatever a terminal would make of it."""
    for words in (("journal", "find"), ("journal", "get", "r3")):
        lines = on_a_terminal(server, *words, NO_COLOR="1", columns=200)
        assert "\x1b" not in "".join(lines)
        assert "red.com" in "".join(lines)
