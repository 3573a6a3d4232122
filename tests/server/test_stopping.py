"""How a server stops, and how it works in hostile surroundings and under load."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from reseller_sandbox import Sandbox, connect
from tests.benchmarks import soak
from tests.command import PROGRAM, run, started
from tests.connection import Connection
from tests.faults.conftest import Dialler
from tests.persistence.serving import serving
from tests.registry import edit
from tests.server.conftest import GET, HOST, Client, Served
from tests.waiting import PATIENCE, wait_until

BALANCE = "/v3/balance"
POST = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\n"

#: Rules that hold an answer up for longer than a server waits.
HELD_UP: list[dict[str, Any]] = [
    {"kind": "hang"},
    {"kind": "latency", "seconds": 600},
    {"kind": "latency", "seconds": 600, "when": {"phase": "after"}},
    {"kind": "drip", "size": 1, "pause": 600},
]


def test_a_server_stops_immediately_and_closes_every_connection(
    served: Served, at_once: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    clients: list[Client] = []
    for tls in (False, True):
        for sent in (b"", b"GET / HTTP/1.1\r\nHo", POST):
            clients.append(client := served.dial(tls=tls))
            assert client.ask().status == 200
            client.send(sent)
        clients.append(served.dial(tls=tls))
        for rule in HELD_UP:
            with served.sandbox.faults.add(**rule) as placed:
                clients.append(client := served.dial(tls=tls))
                client.send(served.signed("GET", BALANCE))
                wait_until(lambda: placed.applied)
    silent = served.client(served.connected(served.server.tls_port))
    last = served.dial(tls=True)
    last.ask(GET.replace(HOST, HOST + b"Connection: close\r\n"))
    with at_once():
        served.server.stop()
    served.server.stop()
    assert silent.rest() == b""
    for client in clients:
        with suppress(ConnectionResetError):
            assert b"10000.00" not in client.rest()
    assert f"sandbox:{served.server.port}" not in {thread.name for thread in threading.enumerate()}
    assert not caplog.records


def test_a_port_is_taken_until_its_server_stops(sandbox: Sandbox) -> None:
    with sandbox.serve(tls=True) as server:
        for port in (server.port, server.tls_port):
            refused = run("serve", "--port", str(port))
            assert (refused.status, refused.out) == (2, "")
            assert f"127.0.0.1:{port} is in use by another " in refused.err
            assert "give --port N" in refused.err
            is_plain = port == server.port
            assert ("by another sandbox, whose clock shows 2026-03-01T12:00:00Z." in refused.err) == is_plain
        with sandbox.serve() as another:
            pass
        words = ("serve", "--port", str(another.port), "--tls", "--tls-port", str(server.tls_port))
        assert re.search(rf"127.0.0.1:{server.tls_port} is in use .* give --tls-port N", run(*words).err)
    for port in (server.port, another.port):
        with sandbox.serve(port=port):
            pass
    assert (
        "cannot listen on 192.0.2.1:0"
        in run("serve", "--port", "0", "--control-open", "--host", "192.0.2.1").err
    )


#: Seconds that a server gives requests in flight after a signal, and to its end.
GRACE, END = 3, 5


@pytest.fixture
def hangup() -> Iterator[Callable[[Any], Any]]:
    """Sets how a server that is started next treats SIGHUP: the terminal says so, or ``nohup``."""
    before = signal.getsignal(signal.SIGHUP)
    yield lambda handler: signal.signal(signal.SIGHUP, handler)
    signal.signal(signal.SIGHUP, before)


def test_a_signalled_server_waits_for_delayed_but_not_endless_responses(hangup: Callable[[Any], Any]) -> None:
    hangup(signal.SIG_DFL)
    end = signal.SIGHUP
    with serving(end=end) as there:
        sandbox = there.sandbox
        sandbox.faults.replace(
            [
                {"kind": "latency", "seconds": 0.3, "match": {"path": BALANCE}},
                {"kind": "latency", "seconds": 600, "match": {"path": "/v3/marker"}},
            ]
        )
        dial = Dialler(sandbox, there.url)
        late, endless = dial.send("GET", BALANCE), dial.send("GET", "/v3/marker")
        wait_until(lambda: all(rule.applied for rule in sandbox.faults.list()))
        there.process.send_signal(end)
        began = monotonic()
        assert late.answer().json[0]["balance"] == "10000.00"
        assert late.rest() == endless.rest() == b""
        assert there.process.wait(60) == 0
        assert monotonic() - began < GRACE
        assert there.process.communicate() == ("", "")
        dial.close()


def test_a_second_signal_stops_the_server_without_waiting(hangup: Callable[[Any], Any]) -> None:
    """SIGHUP is none under nohup."""
    hangup(signal.SIG_IGN)
    with serving() as there:
        there.sandbox.faults.add("latency", seconds=GRACE - 0.5, match={"path": BALANCE})
        dial = Dialler(there.sandbox, there.url)
        late = dial.send("GET", BALANCE)
        wait_until(lambda: [rule for rule in there.sandbox.faults.list() if rule.applied])
        there.process.send_signal(signal.SIGHUP)
        idle = dial.send("GET", "/v3/marker")
        assert idle.answer().status == 404
        there.process.send_signal(signal.SIGINT)
        assert idle.rest() == b"", "the server has received the first signal"
        there.process.send_signal(signal.SIGTERM)
        assert there.process.wait(60) == 0
        assert late.rest() == b"", "the server has not waited for its delayed response"
        dial.close()


#: A server of which another thread receives a signal, so that the wait of the main thread is not interrupted.
SIGNALLED = """
import signal, sys, threading, time
from reseller_sandbox.cli.main import main

def receive():
    sys.stdin.readline()
    time.sleep(0.5)  # until the main thread waits for clients
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

threading.Thread(target=receive).start()
main()
"""


def test_a_signal_that_does_not_interrupt_the_wait_for_clients_stops_the_server() -> None:
    words, pipe = [sys.executable, "-c", SIGNALLED, "serve", "--port", "0"], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            assert any("Ctrl-C" in line for line in process.stdout)
            process.communicate("\n", timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0


@pytest.mark.parametrize("signals", [1, 2])
def test_long_work_does_not_delay_the_end_of_a_server(tmp_path: Path, signals: int) -> None:
    """One signal interrupts the work and saves. A second one ends the server without a save."""
    path = tmp_path / "worlds"
    with serving("--state-file", path) as there:
        names = {f"n{number}.com": {"autorenew": True} for number in range(3000)}
        late = there.sandbox.fork(name="late")
        edit(there.sandbox, {"accounts": {"main": {"balance": 10**9}}, "domains": names})
        wait_until(lambda: path.stat().st_size > 100_000)
        size = path.stat().st_size
        work = threading.Thread(target=advance, args=(there.sandbox,))
        work.start()
        sleep(0.3)
        late.names.add("late.com")
        for _ in range(signals):
            there.process.send_signal(signal.SIGTERM)
            began = monotonic()
            sleep(0.2)  # because the system merges signals that wait
        assert there.process.wait(60) == signals - 1
        assert monotonic() - began < (END if signals == 1 else END - GRACE)
        work.join(PATIENCE)
        words = there.process.communicate()[1]
    if signals == 2:
        assert f"the latest changes are not saved in {path}" in words
        assert path.stat().st_size == size
    else:
        with serving("--state-file", path) as there:
            assert "n2999.com" in there.sandbox.names
            assert "late.com" in connect(there.url, world="late").names


def advance(sandbox: Sandbox) -> None:
    """Begin work of many seconds, which the end of the server interrupts."""
    with pytest.raises(ConnectionError):
        sandbox.clock.advance("9000d")


def test_a_short_call_does_not_queue_behind_long_ones(served: Served) -> None:
    """Calls of clients that wait for busy worlds are as long as the work in these worlds."""
    with connect(served.server.url) as client, ExitStack() as stack:
        busy = [client.fork(name=f"busy{number}") for number in range(12)]
        calls = [threading.Thread(target=world.clock.advance, args=("1d",)) for world in busy]
        for number in range(len(busy)):
            stack.enter_context(served.sandbox.engine.find(f"busy{number}").lock)
        for call in calls:
            call.start()
        wait_until(lambda: sum("long call" in thread.name for thread in threading.enumerate()) == len(calls))
        before = client.clock.now
        assert client.clock.advance("1d").now > before
        stack.close()
        for call in calls:
            call.join(PATIENCE)
        assert {world.clock.now for world in busy} == {busy[0].clock.now}


def test_a_signal_right_after_the_first_output_line_stops_the_server_cleanly(tmp_path: Path) -> None:
    """The worlds are saved, and the state file is open for the next server."""
    for number in range(3):
        words = ("serve", "--quiet", "--frozen", "--port", "0", "--state-file", tmp_path / f"{number}.state")
        with started(*words) as (server, _):
            server.terminate()
            assert (server.wait(60), server.communicate()[1]) == (0, "")


LOST = re.compile(r"WARNING (\d+) lines of this log were lost")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals and limits to send")


def under(shell: str, *arguments: str) -> list[str]:
    """The command with ``arguments``, called from a shell; ``shell`` stands before it or around it."""
    return ["sh", "-c", shell.format(command='exec "$@"'), "sh", PROGRAM, *arguments]


class Surrounded:
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
        with Connection.to(f"http://127.0.0.1:{self.port}") as client:
            client.send((request + b"\r\n") * (times - 1) + request + b"Connection: close\r\n\r\n")
            received = client.rest()
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
def surrounded() -> Iterator[Callable[..., Surrounded]]:
    """Starts servers with the standard error and the limits that a test wants."""
    with ExitStack() as stack:

        def start(shell: str = "{command}", **options: Any) -> Surrounded:
            started = Surrounded(shell, **options)
            stack.enter_context(started.process)
            stack.callback(started.process.kill)
            return started

        yield start


def test_an_unread_log_does_not_block_the_server_and_counts_lost_lines(surrounded: Any) -> None:
    """Each request has its line, or is counted among those that have none."""
    server = surrounded(stderr=subprocess.PIPE, pipesize=4096)
    server.ask(1300)
    lines: list[str] = []

    def counted() -> int:
        lost = [int(match[1]) for match in map(LOST.match, tuple(lines)) if match]
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
def test_clients_wait_for_free_descriptors_and_a_log_line_each_second_says_so(
    surrounded: Any, tmp_path: Path
) -> None:
    """Connected clients are surrounded. When some leave, others take their place."""
    log = tmp_path / "log"
    with ExitStack() as stack:
        # A file takes every line whole. A pipe that nobody reads would end in a part of one.
        server = surrounded("ulimit -n 40; {command}", stderr=stack.enter_context(log.open("wb")))
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


def test_connected_clients_are_served_without_free_descriptors(surrounded: Any, tmp_path: Path) -> None:
    """Connections leave some descriptors to the files that a first request needs."""
    log = tmp_path / "log"
    with ExitStack() as stack:
        server = surrounded("ulimit -n 40; {command}", stderr=stack.enter_context(log.open("wb")))
        clients = [stack.enter_context(closing(server.connect())) for _ in range(60)]
        wait_until(lambda: "Too many open files" in log.read_text())
        assert {path: status(clients[0], path) for path in NEED_FILES} == NEED_FILES


@pytest.mark.slow
def test_a_server_with_few_descriptors_and_no_stderr_serves_a_client(surrounded: Any) -> None:
    """A part of the descriptors is kept for files, not a fixed number."""
    server = surrounded("ulimit -n 16; {command} 2>&-")
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
def test_a_command_that_cannot_write_its_output_ends_with_an_error_line(
    shell: str, word: str, complaint: str
) -> None:
    done = subprocess.run(under(shell, word), capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert re.fullmatch(f"reseller-sandbox: {complaint}\n" if complaint else "", done.stderr.decode())


def test_a_server_whose_output_pipe_is_closed_ends() -> None:
    """Nobody knows its address then. Its status is that of any program in a pipe."""
    reader, writer = os.pipe()
    os.close(reader)  # before the server prints its address
    with open(writer, "wb") as out:
        command = [PROGRAM, "serve", "--port", "0"]
        pipe = subprocess.PIPE
        done = subprocess.run(command, stdout=out, stderr=pipe, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
def test_all_requests_succeed_under_load() -> None:
    """No charge is lost or comes twice, and a killed server goes on from its last whole save."""
    seen = soak.soaked(5)
    assert seen.answers["own"]
    assert seen.answers["applied"]
    most = max(descriptors for _, descriptors in seen.held)
    assert most < soak.CONNECTIONS + soak.FOLLOWERS + 32, "descriptors are not given back"
