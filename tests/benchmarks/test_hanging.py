"""A good request takes as long beside hundreds of answers that hang as it takes alone."""

from __future__ import annotations

import http.client
import socket
import threading
from statistics import median
from typing import Any

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.delivery import Delivery, Drops, Silence
from reseller_sandbox.server.server import Server

HANGING = 400


def test_hanging_answers_delay_nobody() -> None:
    called = threading.Semaphore(0)
    deliveries = [Delivery(cut=Silence()), Delivery(delay=600), Delivery(drip=Drops(size=1, pause=0.5))]

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if environ["PATH_INFO"] != "/good":
            environ["sandbox.delivery"] = deliveries[int(environ["QUERY_STRING"])]
            called.release()
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"fine" * 100]

    with Server(app, port=0) as server:
        alone = good_request(server.port)
        clients = [hanging(server.port, number % len(deliveries)) for number in range(HANGING)]
        for _ in clients:
            assert called.acquire(timeout=10)
        beside = good_request(server.port)
        began = stopwatch()
    stopping = stopwatch() - began
    for client in clients:
        client.close()
    assert beside < 3 * alone, f"{beside * 1e6:.0f} µs beside {HANGING} hanging, {alone * 1e6:.0f} µs alone"
    assert stopping < 1


def hanging(port: int, which: int) -> socket.socket:
    """A connection whose answer is not going to be complete."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"GET /hang?%d HTTP/1.1\r\nHost: toy\r\n\r\n" % which)
    return client


def good_request(port: int) -> float:
    """The seconds that an ordinary request takes, as a rule."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []
    for _ in range(200):
        began = stopwatch()
        connection.request("GET", "/good")
        connection.getresponse().read()
        times.append(stopwatch() - began)
    connection.close()
    return median(times)
