"""A client in the test's process gets the same as a client over a socket, whatever fault applies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from msgspec import to_builtins

from reseller_sandbox import Sandbox
from tests.clients import signature
from tests.testing.callers import ALL_CALLERS, Got
from tests.thorough import THOROUGH
from tests.waiting import wait_until

#: Timeouts in seconds: of a client that is to get its answer, and of a client that is to give up.
PATIENT, HASTY = 20, 0.1
#: Delays in seconds: both clients bear the first, the hasty client does not bear the second.
WITHIN, BEYOND = 0.02, 0.2
#: On a busy machine a tenth of a second can be too short for anything: a second attempt multiplies all times.
SLOWER = 6

_HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n"

#: Parameters for each kind of fault.
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "error": [
        {"error": "internal_error"},
        {"status": 503, "body": "<h1>Busy</h1>", "retry_after": 7},
        {"status": 204},
        {"status": 299, "body": {"strange": True}},
    ],
    "latency": [{"seconds": WITHIN}, {"seconds": BEYOND}],
    "drip": [{"size": 60, "pause": WITHIN}, {"size": 60, "pause": BEYOND}],
    "stale_connection": [{}],
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
    "time_passes": [{"by": 1}],
}

#: Rules that strike together.
TOGETHER: list[list[dict[str, Any]]] = [
    [{"kind": "latency", "seconds": WITHIN, "when": {"phase": "before"}}, {"kind": "reset"}],
    [{"kind": "latency", "seconds": WITHIN}, {"kind": "truncate", "keep": 30}],
    [{"kind": "latency", "seconds": BEYOND, "when": {"phase": "before"}}, {"kind": "truncate"}],
    [{"kind": "drip", "size": 10, "pause": WITHIN}, {"kind": "truncate", "keep": 25, "reset": True}],
    [{"kind": "drip", "size": 10, "pause": BEYOND}, {"kind": "truncate", "keep": 25}],
]


def _variants(sandbox: Sandbox) -> Iterator[list[list[dict[str, Any]]]]:
    """Yield the rules of each kind of fault, and those that strike together."""
    phases = {kind.kind: kind.phases for kind in sandbox.faults.kinds().kinds}
    assert set(PARAMETERS) == set(phases)
    for kind, listed in PARAMETERS.items():
        yield [
            [{"kind": kind, **parameters, "when": {"phase": phase}}]
            for parameters in listed
            for phase in phases[kind]
        ]
    yield TOGETHER


def _rules(sandbox: Sandbox, client: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the rules for a client: each kind is for each client, and each rule for one of them at least."""
    place, clients = list(ALL_CALLERS).index(client), len(ALL_CALLERS)
    for variants in _variants(sandbox):
        if THOROUGH:
            yield from variants
        else:
            numbers = range(place, max(len(variants), clients), clients)
            yield from (variants[number % len(variants)] for number in numbers)


@pytest.mark.parametrize("client", ALL_CALLERS)
def test_a_fault_has_the_same_effect_in_process_and_over_a_socket(
    served, url, make, client, subtests
) -> None:
    """The same exception, the same bytes read before it, and the same effect on world and journal."""
    local = make()

    def stories(rules: Any, times: int, streamed: bool) -> list[Any]:
        served.reset(original=True)
        local.reset()
        timeout = HASTY * times if any(map(_is_late, rules)) else PATIENT
        slower = [{name: _times(value, times) for name, value in rule.items()} for rule in rules]
        caller = partial(ALL_CALLERS[client], timeout=timeout)
        return [
            _story(partial(caller, within), sandbox, url, slower, streamed)
            for within, sandbox in ((None, served), (local, local))
        ]

    for number, rules in enumerate(_rules(local, client)):
        with subtests.test(rules=rules):  # whether the body is read as it comes alternates
            there, within = stories(rules, 1, streamed=number % 2 == 0)
            if there != within:
                there, within = stories(rules, SLOWER, streamed=number % 2 == 0)
            assert within == there


def _times(value: Any, times: int) -> Any:
    return value * times if value in (WITHIN, BEYOND) else value


def _is_late(rule: dict[str, Any]) -> bool:
    """Whether a hasty client gives up on what the rule does."""
    endless = rule["kind"] == "hang" and "seconds" not in rule
    return endless or BEYOND in (rule.get("seconds"), rule.get("pause")) or rule.get("rate") == 1


def _story(make: Callable[[], Any], sandbox: Sandbox, url: str, rules: Any, streamed: bool) -> list[Any]:
    """Return the answers to a registration and a look at the balance, the journal and the world.

    Each request has its own connection: whether a closing connection takes another request is a race.
    """
    sandbox.faults.replace(rules)
    body = b'{"domain": {"domainName": "equal-example.com"}}'
    answers = []
    for method, path, raw in (("POST", "/v3/domains/createDomain", body), ("GET", "/v3/balance", b"")):
        with closing(make()) as client:
            answers.append(_ask(client, sandbox, url, method, path, raw, streamed))
    journal = [to_builtins(sandbox.journal.get(entry.id)) for entry in sandbox.journal.list().requests]
    for entry in journal:
        del entry["duration_ms"]
    return [*answers, journal, sandbox.export()]


def _ask(client: Any, sandbox: Sandbox, url: str, method: str, path: str, body: bytes, streamed: bool) -> Got:
    account = sandbox.accounts["main"]
    signed = signature(account.secret, account.key, url + path, body)
    headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed, "Content-Type": "application/json"}
    seen = sandbox.journal.list(limit=1).matching
    got: Got = client.call(method, url + path, headers, body, streamed=streamed)
    # A delayed request takes effect after its client has left, which may even be before all of it was sent.
    wait_until(lambda: sandbox.journal.list(limit=1).matching > seen)
    return got
