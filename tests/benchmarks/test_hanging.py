"""A good request takes as much beside hundreds of answers that hang as it takes alone."""

from __future__ import annotations

import http.client
import socket
import threading
from contextlib import ExitStack
from statistics import median
from time import process_time
from typing import Any

from reseller_sandbox.server.delivery import Delivery, Drops, Silence
from reseller_sandbox.server.server import Server

HANGING = 400


def test_hanging_answers_delay_nobody(at_once: Any) -> None:
    """Neither a request, by what is computed for it, nor a stop: they would hang for minutes."""
    called = threading.Semaphore(0)
    deliveries = [Delivery(cut=Silence()), Delivery(delay=600), Delivery(drip=Drops(size=1, pause=0.5))]

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if environ["PATH_INFO"] != "/good":
            environ["sandbox.delivery"] = deliveries[int(environ["QUERY_STRING"])]
            called.release()
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"fine" * 100]

    with ExitStack() as stopping, Server(app, port=0) as server:
        alone = good_request(server.port)
        clients = [hanging(server.port, number % len(deliveries)) for number in range(HANGING)]
        for _ in clients:
            assert called.acquire(timeout=60)
        beside = good_request(server.port)
        stopping.enter_context(at_once())
    for client in clients:
        client.close()
    assert beside < 3 * alone, f"{beside * 1e6:.0f} µs beside {HANGING} hanging, {alone * 1e6:.0f} µs alone"


def hanging(port: int, which: int) -> socket.socket:
    """A connection whose answer is not going to be complete."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"GET /hang?%d HTTP/1.1\r\nHost: toy\r\n\r\n" % which)
    return client


def good_request(port: int) -> float:
    """The seconds of computing that an ordinary request takes, as a rule."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    for _ in range(200):
        began = process_time()
        connection.request("GET", "/good")
        connection.getresponse().read()
        times.append(process_time() - began)
    connection.close()
    return median(times)
