"""A server in hostile surroundings: a log that nobody reads, output that is closed, no descriptors left."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.logwriter import LogWriter

PATIENCE = 60  # Seconds until a test that waits in vain gives up.
COMMAND = [sys.executable, "-m", "reseller_sandbox"]
LOST = re.compile(r"WARNING (\d+) lines of this log could not be written\.")

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals and limits to send")


def until(done: Callable[[], bool]) -> None:
    """Wait for something."""
    began = stopwatch()
    while not done():
        assert stopwatch() - began < PATIENCE
        threading.Event().wait(0.01)


# The writer of the log.


class File:
    """A file that takes bytes, or waits, or fails; ``seen`` is what it took."""

    def __init__(self) -> None:
        self.seen = b""
        self.writes = 0
        self.free = threading.Event()
        self.free.set()
        self.error: OSError | None = None
        self.at_once = 1 << 16

    def write(self, data: bytes) -> int:
        """Take the beginning of ``data``."""
        self.writes += 1
        self.free.wait(PATIENCE)
        if self.error is not None:
            raise self.error
        self.seen += data[: self.at_once]
        return min(len(data), self.at_once)

    @property
    def lines(self) -> list[str]:
        """The lines that it took."""
        return self.seen.decode().splitlines()


@pytest.fixture
def file() -> File:
    return File()


def test_lines_are_written_in_their_order(file: File) -> None:
    """Whole, however little the file takes at once, and all of them before the log ends."""
    file.at_once = 3
    log = LogWriter(file)
    for number in range(500):
        log.write(f"line {number} …")
    log.end(PATIENCE)
    assert file.lines == [f"line {number} …" for number in range(500)]


def test_lines_that_come_while_others_are_written_go_out_in_one_write(file: File) -> None:
    """So the thread works once for all of them."""
    file.free.clear()
    log = LogWriter(file)
    log.write("taken")
    until(lambda: file.writes == 1)
    for number in range(500):
        log.write(f"{number}")
    file.free.set()
    log.end(PATIENCE)
    assert file.lines == ["taken", *map(str, range(500))]
    assert file.writes == 2


def test_a_line_that_comes_after_a_silence_is_written_without_another(file: File) -> None:
    """Each time, since a line that finds none waiting calls the thread."""
    log = LogWriter(file)
    for number in range(3):
        log.write(f"{number}")
        until(lambda: len(file.lines) == number + 1)
    log.end(PATIENCE)


def test_what_is_logged_in_the_midst_of_logging_waits_for_nobody(file: File) -> None:
    """As when a signal comes then, or rubbish is collected that has something to say."""
    log = LogWriter(file)

    def interrupted() -> None:
        with log._lock:
            log.write("the one within")
        log.write("the one after it")

    thread = threading.Thread(target=interrupted, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    log.end(PATIENCE)
    assert file.lines == ["the one within", "the one after it"]


def test_a_file_that_does_not_take_anything_holds_up_nobody(file: File) -> None:
    """What there is no room for is counted, and the count stands where the lines would have stood."""
    file.free.clear()
    log = LogWriter(file, most=10)
    log.write("taken")
    until(lambda: not log._waiting)
    began = stopwatch()
    for number in range(1000):
        log.write(f"{number}")
    assert stopwatch() - began < PATIENCE / 2  # the file takes nothing for longer than that
    log.end(0.01)
    assert stopwatch() - began < PATIENCE / 2
    file.free.set()
    log._thread.join(PATIENCE)
    assert file.lines == [
        "taken",
        *map(str, range(10)),
        "WARNING 990 lines of this log could not be written.",
    ]


def test_lines_that_a_file_refuses_are_told_of_when_it_takes_some_again(file: File) -> None:
    """Before the next line."""
    log = LogWriter(file)
    file.error = OSError(28, "No space left on device")
    for number in range(5):
        log.write(f"{number}")
    until(lambda: not log._waiting)
    file.error = None
    log.write("and on")
    log.end(PATIENCE)
    assert file.lines == ["WARNING 5 lines of this log could not be written.", "and on"]


# The command, in a process of its own.


def under(shell: str, *arguments: str) -> list[str]:
    """The command with ``arguments``, called from a shell; ``shell`` stands before it or around it."""
    return ["sh", "-c", shell.format(command='exec "$@"'), "sh", *COMMAND, *arguments]


class Served:
    """``reseller-sandbox serve``, its standard output read for its address."""

    def __init__(self, shell: str, **options: Any) -> None:
        command = under(shell, "serve", "--port", "0")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().decode().rpartition(":")[2])

    def connect(self) -> http.client.HTTPConnection:
        """A connection; it may have to wait."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.connect()
        return connection

    def ask(self, times: int = 1) -> None:
        """Send requests on one connection; each is answered."""
        with closing(self.connect()) as connection:
            for _ in range(times):
                answered(connection)

    def stop(self) -> None:
        """Ask it to end, and see that it does, without a complaint."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0


def status(connection: http.client.HTTPConnection, path: str) -> int:
    """The status of the answer to a request on a connection."""
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def answered(connection: http.client.HTTPConnection) -> int:
    """The same, of a request that is always the same."""
    return status(connection, "/v3/balance")


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    """Starts servers with the standard error and the limits that a test wants."""
    with ExitStack() as stack:

        def start(shell: str = "{command}", **options: Any) -> Served:
            one = Served(shell, **options)
            stack.enter_context(one.process)
            stack.callback(one.process.kill)
            return one

        yield start


@pytest.mark.slow
@posix_only
def test_a_log_that_nobody_reads_stops_no_server(served: Any) -> None:
    """Several times the requests that fill a pipe are answered, and SIGTERM ends it as ever."""
    server = served(stderr=subprocess.PIPE)
    server.ask(4000)
    server.stop()


@pytest.mark.slow
@posix_only
def test_a_log_that_is_read_late_tells_how_much_it_lost(served: Any) -> None:
    """Each request has its line, or is counted among those that have none."""
    server = served(stderr=subprocess.PIPE)
    server.ask(4000)
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(map(bytes.decode, server.process.stderr)))
    reader.start()
    server.ask(1)

    def lost() -> list[int]:
        return [int(found[1]) for found in map(LOST.match, tuple(lines)) if found]

    until(lambda: len(lines) - len(lost()) + sum(lost()) >= 4001)
    server.stop()
    reader.join(PATIENCE)
    assert lost()
    assert len(lines) - len(lost()) + sum(lost()) == 4001
    assert all(LOST.match(line) or "GET /v3/balance" in line for line in lines)


@posix_only
def test_a_log_that_cannot_be_written_stops_no_server(served: Any) -> None:
    """Standard error may be full, or closed: then there is no log."""
    for shell in ("{command} 2>/dev/full", "{command} 2>&-"):
        server = served(shell)
        server.ask(100)
        server.stop()


@pytest.mark.slow
@posix_only
def test_without_descriptors_newcomers_wait_and_the_log_says_so_once_a_second(
    served: Any, tmp_path: Path
) -> None:
    """Those who are connected are served on; as some leave, others come in."""
    log = tmp_path / "log"
    with ExitStack() as stack:
        # A file takes every line whole. A pipe that nobody reads would end in a part of one.
        server = served("ulimit -n 40; {command}", stderr=stack.enter_context(log.open("wb")))
        first = stopwatch()
        clients = [stack.enter_context(closing(server.connect())) for _ in range(80)]
        served_now = [client for client in clients[:20] if answered(client)]
        began = stopwatch()
        while stopwatch() - began < 3:
            assert all(map(answered, served_now))
        for client in served_now:
            client.close()
        assert all(map(answered, clients[20:30]))
    server.stop()
    seconds = stopwatch() - first
    lines = [line for line in log.read_text().splitlines() if "/v3/balance" not in line]
    assert lines
    assert set(lines) <= {
        line for line in lines if re.fullmatch(r"ERROR Too many open files: .* have to wait", line)
    }
    assert len(lines) <= seconds + 2


#: Requests that each need a file that no other has needed before: modules, pages, the page's own files.
NEED_FILES = {
    "/V2.0/domain/active.com": 403,
    "/v3/balance": 401,
    "/_sandbox/health": 200,
    "/_sandbox/openapi/v3.json": 200,
    "/_sandbox/manual": 200,
    "/_sandbox/history/export": 200,
    "/_sandbox/capsule": 200,
    "/_sandbox/page": 200,
}


@posix_only
def test_without_descriptors_who_is_connected_lacks_nothing(served: Any, tmp_path: Path) -> None:
    """Whatever they ask for first: connections leave some descriptors to the files that are needed for it."""
    log = tmp_path / "log"
    with ExitStack() as stack:
        server = served("ulimit -n 40; {command}", stderr=stack.enter_context(log.open("wb")))
        clients = [stack.enter_context(closing(server.connect())) for _ in range(60)]
        until(lambda: "Too many open files" in log.read_text())
        assert {path: status(clients[0], path) for path in NEED_FILES} == NEED_FILES


@posix_only
def test_with_few_descriptors_at_all_there_is_room_for_somebody(served: Any) -> None:
    """A part of them is kept for files, not a number."""
    server = served("ulimit -n 16; {command} 2>/dev/null")
    server.ask(2)
    server.stop()


COMMANDS = (
    ["serve", "--port", "0"],
    ["assumptions"],
    ["lifecycle"],
    ["check", "default"],
    ["--help"],
    ["--version"],
)


@posix_only
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
class TestOutputThatCannotBeWritten:
    """Every command ends in one line that says so and an exit status of its own, without a traceback."""

    def test_full(self, command: Any) -> None:
        """As a disk can be."""
        done = run("{command} >/dev/full", *command)
        said = b"reseller-sandbox: standard output: No space left on device\n"
        assert (done.returncode, done.stderr) == (2, said)

    def test_closed(self, command: Any) -> None:
        """As ``>&-`` has it."""
        done = run("{command} >&-", *command)
        assert done.returncode == 2
        assert re.fullmatch(rb"reseller-sandbox: standard output is closed.*\n", done.stderr)

    def test_everything_closed(self, command: Any) -> None:
        """Then the exit status is all there is."""
        assert run("{command} <&- >&- 2>&-", *command).returncode == 2


def run(shell: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(under(shell, *arguments), capture_output=True, timeout=PATIENCE, check=False)


@posix_only
def test_a_reader_who_leaves_at_once_ends_the_server() -> None:
    """Its address is told to nobody then; as of any program in a pipe, its status says why."""
    reader, writer = os.pipe()
    os.close(reader)  # before the server can have told its address
    with open(writer, "wb") as out:
        done = subprocess.run(
            [*COMMAND, "serve", "--port", "0"],
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, b"")
