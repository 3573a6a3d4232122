"""Concurrent clients: the order of the requests in the journal, one after another, explains all answers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from decimal import Decimal
from itertools import chain, count
from random import Random
from typing import Any, NamedTuple

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, Socket
from tests.model.registry import ANN, FIXTURE, Model
from tests.model.wire import Call, agree
from tests.thorough import tries

ACCOUNTS = ("main", "main", "main", "other")  # three of the clients share a balance
NAMES = ("one.eu", "two.eu")
BALANCE = Decimal(20)
#: Sends a call and returns the answer in the model's terms, and the request's number.
Send = Callable[[Call], tuple[tuple[Any, ...], int]]


class Answered(NamedTuple):
    """A call with its answer; ``began`` and ``ended`` order it among the calls of all threads."""

    call: Call
    began: int
    ended: int
    seen: tuple[Any, ...]
    number: int


@pytest.fixture(autouse=True)
def _threads_change_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def scheduled(random: Random, account: str) -> list[Call]:
    return [_call(random, account) for _ in range(8)]


def _call(random: Random, account: str) -> Call:
    name = random.choice(NAMES)
    person, word = f"PERSON-{account}", random.choice(["approve", "reject", "cancel"])
    v2_terms = {"years": 1, "servers": ["ns1.home.test"], "holder": person}
    return random.choices(
        [
            Call("v3", "create", account, name, {"autorenew": random.random() < 0.5}),
            Call("v2", "create", account, name, v2_terms),
            Call("v3", "renew", account, name),
            Call("v2", "delete", account, name),
            Call("v3", "balance", account),
            Call("v3", "info", account, name),
            Call("v3", "names", account),
            Call(
                "v3", "set_holder", account, name, {"person": random.choice([ANN, ANN._replace(name="Bob")])}
            ),
            Call("v3", "transfer", account, "old.com", {"code": "code-of-old"}),
            Call("v3", "transfer", account, "their.com", {"code": "code-of-their"}),
            Call("v2", "decide", account, "their.com", {"word": word}),
            Call("v2", "decide", account, "old.com", {"word": word}),
        ],
        [6, 3, 2, 6, 2, 1, 1, 1, 1, 1, 1, 1],
    )[0]


def in_process(sandbox: Sandbox, account: str) -> Send:
    """Return a client that calls the sandbox in its own thread."""
    client = sandbox.client(account)

    def send(call: Call) -> tuple[tuple[Any, ...], int]:
        method, path, body = call.request()
        answer = client.open(path, method=method, json=body)
        rule = answer.headers.get("X-Sandbox-Refusal")
        number = int(answer.headers["X-Sandbox-Request"][1:])
        return call.seen(answer.status_code, answer.json, rule), number

    return send


def over_socket(sandbox: Sandbox, account: str, url: str, stack: ExitStack) -> Send:
    """Return a client with a connection to the server."""
    socket = Socket(url)
    stack.callback(socket.close)
    held = sandbox.accounts[account]
    api = Api(socket, url, held.key, held.secret)

    def send(call: Call) -> tuple[tuple[Any, ...], int]:
        method, path, body = call.request()
        answer = api.call(method, path, body, [("X-Auth-Token", held.token)])
        number = int(answer.headers["x-sandbox-request"][1:])
        return call.seen(answer.status, answer.json, answer.headers.get("x-sandbox-refusal")), number

    return send


def history(sends: Sequence[Send], scheduled: Sequence[Sequence[Call]]) -> list[list[Answered]]:
    """Let each client send its calls in a thread; return the answers by client."""
    ticks, start = count(), threading.Barrier(len(sends))
    answered: list[list[Answered]] = [[] for _ in sends]

    def send_all(number: int) -> None:
        start.wait()
        for call in scheduled[number]:
            began = next(ticks)
            seen, request = sends[number](call)
            answered[number].append(Answered(call, began, next(ticks), seen, request))

    threads = [threading.Thread(target=send_all, args=(number,)) for number in range(len(sends))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(mine) for mine in answered] == [len(mine) for mine in scheduled], "a client has failed"
    return answered


def beginning() -> Model:
    """Return the model of the world in which each round begins."""
    model = Model()
    model.accounts["main"] = BALANCE
    return model


def as_text(answered: Sequence[Sequence[Answered]]) -> str:
    """Return a history as text, in the order of the answers."""
    every = sorted((answer for mine in answered for answer in mine), key=lambda answer: answer.ended)
    return "\n".join(
        f"{answer.began:3}-{answer.ended:3} r{answer.number} {answer.call} {answer.seen}" for answer in every
    )


def assert_explained(sandbox: Sandbox, answered: Sequence[Sequence[Answered]]) -> None:
    """Assert that a request takes effect at its place in the journal, between its beginning and its end."""
    model, every = beginning(), sorted(chain.from_iterable(answered), key=lambda answer: answer.number)
    assert [answer.number for answer in every] == list(range(1, len(every) + 1))
    latest = 0
    for answer in every:
        assert answer.ended > latest, (
            f"r{answer.number} ended before an earlier request began\n{as_text(answered)}"
        )
        latest = max(latest, answer.began)
        expected = answer.call.expected(model)
        assert agree(answer.seen, expected), f"r{answer.number} {answer.seen} {expected}\n{as_text(answered)}"
        if answer.number > 1:
            between = sandbox.diff(f"after:r{answer.number - 1}", f"before:r{answer.number}").changes
            assert not between, f"something changed before r{answer.number}"


@pytest.mark.parametrize("sockets", [0, 2])
def test_responses_to_concurrent_clients_match_a_model_in_the_order_of_the_journal(sockets: int) -> None:
    sandbox = Sandbox(FIXTURE)
    with sandbox.serve() if sockets else nullcontext() as server, ExitStack() as stack:
        sends = [in_process(sandbox, account) for account in ACCOUNTS[sockets:]]
        for account in ACCOUNTS[:sockets]:
            assert server is not None
            sends.insert(0, over_socket(sandbox, account, server.url, stack))
        for number in range(tries(12)):
            random = Random(number)
            sandbox.reset()
            sandbox.accounts.set_balance("main", BALANCE)
            answered = history(sends, [scheduled(random, account) for account in ACCOUNTS])
            assert_explained(sandbox, answered)
