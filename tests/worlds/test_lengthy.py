"""What takes long, with a world that holds much, holds up nobody else."""

from __future__ import annotations

import http.client
import json
import threading
from dataclasses import replace

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.state import filled

ORDERS = 6000


@pytest.fixture(scope="module")
def grown() -> Sandbox:
    """A world with some thousands of names."""
    sandbox = Sandbox(max_body=1 << 24)
    moment = sandbox.world.moment
    one = moment.state.orders[min(moment.state.orders)]
    last = moment.state.counters["order"]
    orders = [replace(one, id=last + number, name=f"n{number}.com") for number in range(1, ORDERS + 1)]
    counters = moment.state.counters.insert("order", last + ORDERS)
    state = replace(filled(moment.state, orders), counters=counters)
    sandbox.world.begin_again(replace(moment, state=state))
    return sandbox


def ask(port: int, method: str, path: str, body: bytes | None = None) -> dict:
    """A request to control on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, f"/_sandbox/{path}", body)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    connection.close()
    assert answer.status < 300, told
    return told


def answered_meanwhile(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, dict]:
    """How many quick requests are answered while a long one is under way, and the long one's answer."""
    told = {}
    long = threading.Thread(target=lambda: told.update(ask(port, method, path, body)))
    long.start()
    count = 0
    while long.is_alive():
        ask(port, "GET", "health")
        count += 1
    long.join()
    return count, told


def test_writing_and_reading_a_large_world_lets_others_through(grown: Sandbox) -> None:
    """Export, import and a fork of a state: others are answered all the while, and nothing is missing."""
    with grown.serve() as server:
        count, exported = answered_meanwhile(server.port, "GET", "export")
        assert count > 5
        body = json.dumps({"fixture": exported["fixture"]}).encode()
        count, loaded = answered_meanwhile(server.port, "POST", "import", body)
        assert count > 5
        assert "branch" in loaded
        assert len(grown.world.state.orders) > ORDERS
        body = json.dumps({"state": exported["fixture"] + "\n# another text\n"}).encode()
        count, forked = answered_meanwhile(server.port, "POST", "worlds", body)
        assert count > 5
        assert forked["orders"] == len(grown.world.state.orders)
