"""What a client meets in this process is what it meets over a socket, whatever fault strikes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.faults import KINDS
from tests.clients import signature
from tests.registry import REGISTRY
from tests.testing.callers import ALL_CALLERS, Got

#: How many seconds a client waits that is to have its answer, and one that is to give up.
PATIENT, HASTY = 20, 0.1
#: What both have time for, and what is too long for the hasty one.
WITHIN, BEYOND = 0.02, 0.2
#: On a busy machine a tenth of a second can be too short for anything: then all takes so many times as long.
SLOWER = 6

_HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n"

#: What each kind of fault can be told, by its name.
TOLD: dict[str, list[dict[str, Any]]] = {
    "error": [
        {"error": "internal_error"},
        {"status": 503, "body": "<h1>Busy</h1>", "retry_after": 7},
        {"status": 204},
        {"status": 299, "body": {"strange": True}},
    ],
    "latency": [{"seconds": WITHIN}, {"seconds": BEYOND}],
    "drip": [{"size": 60, "pause": WITHIN}, {"size": 60, "pause": BEYOND}],
    "bandwidth": [{"rate": 20_000}, {"rate": 1}],
    "hang": [{}, {"seconds": WITHIN}, {"seconds": BEYOND}],
    "reset": [{}],
    "close": [{}],
    "truncate": [{}, {"keep": 0}, {"keep": 10, "reset": True}, {"keep": 1 << 20}],
    "garbage": [
        {},
        {"hex": "00ff"},
        {"text": "HTTP/1.1 200 OK\r\n"},
        {"text": f"{_HEAD}\r\ntoo short"},
        {"text": f"{_HEAD}\r\nprecisely that long!"},
        {"text": f"{_HEAD}\r\nlonger than it has said it is"},
        {"text": "HTTP/1.1 200 OK\r\n\r\nuntil the connection ends"},
        {"text": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsome \r\nzz\r\n"},
    ],
    "mutate": [{"path": "order-id", "drop": True}],
    "rate_limit": [{"limit": 1}],
    "duplicate": [{"answer": "first"}, {"answer": "second"}],
    "stale": [{}],
}

#: Rules that strike together.
TOGETHER: list[list[dict[str, Any]]] = [
    [{"kind": "latency", "seconds": WITHIN, "when": {"phase": "before"}}, {"kind": "reset"}],
    [{"kind": "latency", "seconds": WITHIN}, {"kind": "truncate", "keep": 30}],
    [{"kind": "latency", "seconds": BEYOND, "when": {"phase": "before"}}, {"kind": "truncate"}],
    [{"kind": "drip", "size": 10, "pause": WITHIN}, {"kind": "truncate", "keep": 25, "reset": True}],
    [{"kind": "drip", "size": 10, "pause": BEYOND}, {"kind": "truncate", "keep": 25}],
]


def _rules() -> Iterator[Any]:
    for kind, told in TOLD.items():
        for parameters in told:
            for phase in KINDS[kind].phases:
                rule = {"kind": kind, **parameters, "when": {"phase": phase}}
                yield pytest.param([rule], id=f"{kind} {phase} {parameters}"[:60])
    for rules in TOGETHER:
        yield pytest.param(rules, id=" and ".join(f"{one['kind']}" for one in rules))


@pytest.fixture(scope="module")
def here() -> Sandbox:
    return Sandbox(REGISTRY)


def test_every_kind_of_fault_is_compared() -> None:
    assert set(TOLD) == set(KINDS)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", ALL_CALLERS)
@pytest.mark.parametrize("rules", list(_rules()))
def test_a_fault_is_the_same_in_process(served, url, here, rules, client, streamed) -> None:
    """The same is raised, the same has been read by then, and the same has become of world and journal."""

    def stories(times: int) -> list[Any]:
        served.reset(original=True)
        here.reset()
        timeout = HASTY * times if any(map(_is_late, rules)) else PATIENT
        told = [{name: _times(value, times) for name, value in rule.items()} for rule in rules]
        make = partial(ALL_CALLERS[client], timeout=timeout)
        return [
            _story(partial(make, within), sandbox, url, told, streamed)
            for within, sandbox in ((None, served), (here, here))
        ]

    there, within = stories(1)
    if there != within:
        there, within = stories(SLOWER)
    assert within == there


def _times(value: Any, times: int) -> Any:
    """A length of time that many times as long; anything else as it is."""
    return value * times if value in (WITHIN, BEYOND) else value


def _is_late(rule: dict[str, Any]) -> bool:
    """Whether a hasty client gives up on what the rule does."""
    endless = rule["kind"] == "hang" and "seconds" not in rule
    return endless or BEYOND in (rule.get("seconds"), rule.get("pause")) or rule.get("rate") == 1


def _story(make: Callable[[], Any], sandbox: Sandbox, url: str, rules: Any, streamed: bool) -> list[Any]:
    """What clients are given for a registration and a look at the balance, and what stays of them.

    Each has a connection of its own: on one that the server is about to close it would be a matter of luck.
    """
    sandbox.faults.replace(rules)
    body = b'{"domain": {"domainName": "equal-example.com"}}'
    with closing(make()) as client:
        first = _asked(client, sandbox, url, "POST", "/v3/domains/createDomain", body, streamed)
    with closing(make()) as client:
        told: list[Any] = [first, _asked(client, sandbox, url, "GET", "/v3/balance", b"", streamed)]
    journal = [asdict(sandbox.journal.get(entry.id)) for entry in sandbox.world.journal]
    for entry in journal:
        del entry["duration_ms"]
    return [*told, journal, sandbox.export()]


def _asked(
    client: Any, sandbox: Sandbox, url: str, method: str, path: str, body: bytes, streamed: bool
) -> Got:
    account = sandbox.account()
    signed = signature(account.secret, account.key, url + path, body)
    headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed, "Content-Type": "application/json"}
    seen = len(sandbox.world.journal)
    got: Got = client.call(method, url + path, headers, body, streamed=streamed)
    until = stopwatch() + 15
    # A late one takes effect when the client has left already; in a hurry it may have left before it sent it.
    while len(sandbox.world.journal) == seen and stopwatch() < until:
        time.sleep(0.005)
    return got
