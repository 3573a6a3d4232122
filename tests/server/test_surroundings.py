"""A server in hostile surroundings: a log without a reader, output that is closed, no descriptors left."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.command import PROGRAM
from tests.server.conftest import PATIENCE, wait_until

LOST = re.compile(r"WARNING (\d+) lines of this log were lost")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals and limits to send")


def under(shell: str, *arguments: str) -> list[str]:
    """The command with ``arguments``, called from a shell; ``shell`` stands before it or around it."""
    return ["sh", "-c", shell.format(command='exec "$@"'), "sh", PROGRAM, *arguments]


class Served:
    """``reseller-sandbox serve``, its standard output read for its address."""

    def __init__(self, shell: str, **options: Any) -> None:
        command = under(shell, "serve", "--port", "0")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().decode().rpartition(":")[2])

    def connect(self) -> HTTPConnection:
        """A connection; it may have to wait."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.connect()
        return connection

    def ask(self, times: int) -> None:
        """Send requests on one connection; each is answered."""
        request = b"GET /v3/balance HTTP/1.1\r\nHost: localhost\r\n"
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as client:
            client.sendall((request + b"\r\n") * (times - 1) + request + b"Connection: close\r\n\r\n")
            received = b"".join(iter(lambda: client.recv(1 << 16), b""))
        assert received.count(b"HTTP/1.1 401 ") == times

    def stop(self) -> None:
        """Ask it to end, and see that it does, without a complaint."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0


def status(connection: HTTPConnection, path: str = "/v3/balance") -> int:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    """Starts servers with the standard error and the limits that a test wants."""
    with ExitStack() as stack:

        def start(shell: str = "{command}", **options: Any) -> Served:
            started = Served(shell, **options)
            stack.enter_context(started.process)
            stack.callback(started.process.kill)
            return started

        yield start


def test_a_log_without_a_reader_does_not_block_the_server_and_counts_lost_lines(served: Any) -> None:
    """Each request has its line, or is counted among those that have none."""
    server = served(stderr=subprocess.PIPE, pipesize=4096)
    server.ask(1300)
    lines: list[str] = []

    def counted() -> int:
        lost = [int(found[1]) for found in map(LOST.match, tuple(lines)) if found]
        return len(lines) - len(lost) + sum(lost)

    def read() -> None:
        while counted() < 1301:
            lines.append(server.process.stderr.readline().decode())

    reader = threading.Thread(target=read)
    reader.start()
    server.ask(1)
    reader.join(PATIENCE)
    assert counted() == 1301
    assert any(map(LOST.match, lines))
    assert all(LOST.match(line) or "GET /v3/balance" in line for line in lines)
    server.process.stderr.close()
    server.ask(100)
    server.stop()


@pytest.mark.slow
def test_without_descriptors_new_clients_wait_and_the_log_reports_it_once_a_second(
    served: Any, tmp_path: Path
) -> None:
    """Connected clients are served. When some leave, others take their place."""
    log = tmp_path / "log"
    with ExitStack() as stack:
        # A file takes every line whole. A pipe that nobody reads would end in a part of one.
        server = served("ulimit -n 40; {command}", stderr=stack.enter_context(log.open("wb")))
        first = monotonic()
        clients = [stack.enter_context(closing(server.connect())) for _ in range(80)]
        served_now = [client for client in clients[:20] if status(client)]
        began = monotonic()
        while monotonic() - began < 3:
            assert all(map(status, served_now))
        for client in served_now:
            client.close()
        assert all(map(status, clients[20:30]))
    server.stop()
    seconds = monotonic() - first
    lines = [line for line in log.read_text().splitlines() if "/v3/balance" not in line]
    assert lines
    expected = r"ERROR Too many open files: new clients wait, \d+ connections are open"
    assert [line for line in lines if not re.fullmatch(expected, line)] == []
    assert len(lines) <= seconds + 2


#: Requests that each need a file that no other has needed before: modules, pages, the page's own files.
NEED_FILES = {
    "/V2.0/domain/active.com": 403,
    "/v3/balance": 401,
    "/_sandbox/health": 200,
    "/_sandbox/openapi/v3.json": 200,
    "/_sandbox/manual": 200,
    "/_sandbox/history/export": 200,
    "/_sandbox/recording": 200,
    "/_sandbox/page": 200,
}


def test_connected_clients_are_served_without_free_descriptors(served: Any, tmp_path: Path) -> None:
    """Connections leave some descriptors to the files that a first request needs."""
    log = tmp_path / "log"
    with ExitStack() as stack:
        server = served("ulimit -n 40; {command}", stderr=stack.enter_context(log.open("wb")))
        clients = [stack.enter_context(closing(server.connect())) for _ in range(60)]
        wait_until(lambda: "Too many open files" in log.read_text())
        assert {path: status(clients[0], path) for path in NEED_FILES} == NEED_FILES


@pytest.mark.slow
def test_with_few_descriptors_and_no_log_at_all_a_client_is_served(served: Any) -> None:
    """A part of the descriptors is kept for files, not a fixed number."""
    server = served("ulimit -n 16; {command} 2>&-")
    server.ask(2)
    server.stop()


@pytest.mark.parametrize(
    ("shell", "word", "complaint"),
    [
        ("{command} >/dev/full", "lifecycle", "standard output: No space left on device"),
        ("{command} >&-", "--version", "standard output is closed.*"),
        ("{command} <&- >&- 2>&-", "--help", ""),
    ],
)
def test_output_that_cannot_be_written_ends_a_command_with_a_line(
    shell: str, word: str, complaint: str
) -> None:
    done = subprocess.run(under(shell, word), capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert re.fullmatch(f"reseller-sandbox: {complaint}\n" if complaint else "", done.stderr.decode())


def test_a_reader_that_leaves_at_once_ends_the_server() -> None:
    """Nobody knows its address then. Its status is that of any program in a pipe."""
    reader, writer = os.pipe()
    os.close(reader)  # before the server prints its address
    with open(writer, "wb") as out:
        command = [PROGRAM, "serve", "--port", "0"]
        pipe = subprocess.PIPE
        done = subprocess.run(command, stdout=out, stderr=pipe, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
