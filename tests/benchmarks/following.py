"""Requests beside those who follow them: many over sockets; the page, by its streams alone and in a browser.

The page is looked at while the server answers as many requests as it can; a browser takes a part of the
machine's cores for itself, so beside the rate stands the server's own computing time for an answer.
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from statistics import median, quantiles

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from tests.benchmarks import load
from tests.benchmarks.measuring import Figure, How, Told, interleaved, line_of, ours, ratios, running
from tests.clients import Api, Socket
from tests.page.conftest import CHROMIUM, FLAGS

FOLLOWERS, REQUESTS = 400, 600

#: What the page's journal listens to, and the views that a browser shows.
STREAMS = ("events/follow?per_second=100", "journal/follow?per_second=100")
VIEWS = ("journal", "names", "money")

_ALONE, _STREAMS = "alone", "beside the page's streams"

#: Reads whatever comes of streams.
_READER = """
import selectors, socket, sys
port, *paths = sys.argv[1:]
with selectors.DefaultSelector() as come:
    for path in paths:
        one = socket.create_connection(("127.0.0.1", int(port)))
        one.sendall(f"GET /_sandbox/{path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n".encode())
        one.recv(1)
        come.register(one, selectors.EVENT_READ)
    print("reads", flush=True)
    while all(key.fileobj.recv(1 << 20) for key, _ in come.select()):
        pass
"""


def run(how: How) -> Told:
    """The median and the 99th percentile of a request's time."""
    count, requests = (10, 50) if how.tiny else (FOLLOWERS, REQUESTS)
    for what, query, followers in (
        ("alone", "", 0),
        (f"beside {count} followers of another account", "?account=other", count),
        (f"beside {count} followers of everything", "", count),
    ):
        taken = zip(*(_taken(query, followers, requests) for _ in range(how.rounds)), strict=True)
        for about, values in zip(("", ", the slowest in 100"), taken, strict=False):
            yield Figure(f"{what}{about}", "µs", values)
    yield from _looked_at(how)


def _looked_at(how: How) -> Told:
    """Yield what is left of the rate at full load, and what an answer takes the server, beside a page."""
    seconds = 0.2 if how.tiny else how.seconds
    computed: dict[str, list[float]] = {}
    with ExitStack() as stack:
        program = stack.enter_context(running(*ours("reseller_sandbox.cli", "serve", "--port", "0")))
        port = int(line_of(program).rpartition(":")[2])
        token = {"X-Auth-Token": "sandbox-token"}
        request = load.written("GET", "/V2.0/domain/shop-example.com/check", port, token)
        ways: dict[str, Callable[[], AbstractContextManager[object]]] = {
            _ALONE: ExitStack,
            _STREAMS: partial(_reading, port),
        }
        chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
        if chromium is None:
            yield "the browser is left out: Chromium is not there"
        else:
            url, begins = f"http://127.0.0.1:{port}/#/", 0.5 if how.tiny else 3.0
            ways |= {
                f"beside the page's {view}": partial(_browsing, chromium, url + view, begins)
                for view in VIEWS
            }

        def rate(way: str) -> float:
            with ways[way]():
                before = load.computed(program.pid)
                answered = load.rate(port, [request], 16, seconds)
                taken = load.computed(program.pid) - before
            computed.setdefault(way, []).append(taken / answered)
            return answered

        rate(_ALONE)
        computed.clear()
        rates = interleaved({way: partial(rate, way) for way in ways}, how.rounds)
    for way in list(ways)[1:]:
        goal = "≥ 0.95" if way == _STREAMS else ""  # a browser takes the cores that the server had
        yield Figure(f"full load {way}", "× the rate alone", ratios(rates[way], rates[_ALONE]), goal)
        if all(computed[_ALONE]):
            times = ratios(computed[way], computed[_ALONE])
            yield Figure(f"full load {way}, in computing time", "× alone", times, "≤ 1.05")


@contextmanager
def _reading(port: int) -> Iterator[None]:
    with running(sys.executable, "-c", _READER, str(port), *STREAMS) as program:
        line_of(program)
        yield


@contextmanager
def _browsing(chromium: str, url: str, begins: float) -> Iterator[None]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ("--headless", f"--user-data-dir={folder}", "--remote-debugging-port=0")
        with running(chromium, *options, *FLAGS, url):
            time.sleep(begins)
            yield


def _taken(query: str, count: int, requests: int) -> tuple[float, float]:
    sandbox = Sandbox()
    account = sandbox.account()
    with sandbox.serve() as server:
        head = f"GET /_sandbox/journal/follow{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        followers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        for one in followers:
            one.sendall(head)
        for one in followers:
            one.recv(4096)  # the head of the answer
        client = Socket(server.url)
        api = Api(client, server.url, account.key, account.secret)
        times = []
        for _ in range(requests):
            began = stopwatch()
            assert api.get("/v3/balance").status == 200
            times.append((stopwatch() - began) * 1e6)
        client.close()
    for one in followers:
        one.close()
    return median(times), quantiles(times, n=100)[-1]
