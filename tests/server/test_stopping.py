"""How a server stops: by the end of its context, and by signals."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.command import run
from tests.faults.conftest import Dialler
from tests.persistence.serving import COMMAND, serving
from tests.server.conftest import GET, HOST, Client, Served, wait_until

BALANCE = "/v3/balance"
POST = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\n"

#: Rules that hold an answer up for longer than a server waits.
HELD_UP: list[dict[str, Any]] = [
    {"kind": "hang"},
    {"kind": "latency", "seconds": 600},
    {"kind": "latency", "seconds": 600, "when": {"phase": "after"}},
    {"kind": "drip", "size": 1, "pause": 600},
]


def test_a_server_stops_at_once_and_ends_every_connection(
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
            assert f"127.0.0.1:{port} is in use" in refused.err
        with sandbox.serve() as another:
            pass
        words = ("serve", "--port", str(another.port), "--tls", "--tls-port", str(server.tls_port))
        assert f"127.0.0.1:{server.tls_port} is in use" in run(*words).err
    for port in (server.port, another.port):
        with sandbox.serve(port=port):
            pass
    assert (
        "cannot listen on 192.0.2.1:0"
        in run("serve", "--port", "0", "--control-open", "--host", "192.0.2.1").err
    )


#: A server gives requests in flight five seconds after a signal.
GRACE = 5


@pytest.fixture
def hangup() -> Iterator[Callable[[Any], Any]]:
    """Sets how a server that is started next treats SIGHUP: the terminal says so, or ``nohup``."""
    before = signal.getsignal(signal.SIGHUP)
    yield lambda handler: signal.signal(signal.SIGHUP, handler)
    signal.signal(signal.SIGHUP, before)


def test_a_signal_waits_for_delayed_responses_but_not_for_endless_ones(hangup: Callable[[Any], Any]) -> None:
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


def test_a_second_signal_waits_for_no_answer(hangup: Callable[[Any], Any]) -> None:
    """SIGHUP is none under nohup."""
    hangup(signal.SIG_IGN)
    with serving() as there:
        there.sandbox.faults.add("latency", seconds=GRACE - 1, match={"path": BALANCE})
        dial = Dialler(there.sandbox, there.url)
        late = dial.send("GET", BALANCE)
        wait_until(lambda: [rule for rule in there.sandbox.faults.list() if rule.applied])
        there.process.send_signal(signal.SIGHUP)
        idle = dial.send("GET", "/v3/marker")
        assert idle.answer().status == 404
        there.process.send_signal(signal.SIGINT)
        assert idle.rest() == b"", "the server has received the first signal"
        there.process.send_signal(signal.SIGTERM)
        began = monotonic()
        assert there.process.wait(60) == 0
        assert monotonic() - began < GRACE - 2
        assert late.rest() == b""
        dial.close()


def test_a_signal_right_after_the_first_line_ends_the_server_in_order(tmp_path: Path) -> None:
    """The worlds are saved, and the state file is open for the next server."""
    for number in range(5):
        command = (*COMMAND, "--port", "0", "--state-file", str(tmp_path / f"{number}.state"))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert server.stdout.readline()
            server.terminate()
            assert (server.wait(60), server.communicate()[1]) == (0, "")
