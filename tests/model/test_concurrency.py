"""Concurrent clients: some order of the requests, one after another, explains all their answers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from decimal import Decimal
from itertools import chain, count
from random import Random
from typing import Any, NamedTuple

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, Socket
from tests.model.registry import FIXTURE, Model
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


def plan(random: Random, account: str) -> list[Call]:
    """Return the calls of one client."""
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
            Call("v3", "set_holder", account, name, {"person": random.choice(["Ann", "Bob"])}),
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
    held = sandbox.account(account)
    api = Api(socket, url, held.key, held.secret)

    def send(call: Call) -> tuple[tuple[Any, ...], int]:
        method, path, body = call.request()
        answer = api.call(method, path, body, [("X-Auth-Token", held.token)])
        number = int(answer.headers["x-sandbox-request"][1:])
        return call.seen(answer.status, answer.json, answer.headers.get("x-sandbox-refusal")), number

    return send


def history(sends: Sequence[Send], plans: Sequence[Sequence[Call]]) -> list[list[Answered]]:
    """Let each client send its calls in a thread; return the answers by client."""
    ticks, start = count(), threading.Barrier(len(sends))
    answered: list[list[Answered]] = [[] for _ in sends]

    def run(number: int) -> None:
        start.wait()
        for call in plans[number]:
            began = next(ticks)
            seen, request = sends[number](call)
            answered[number].append(Answered(call, began, next(ticks), seen, request))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(sends))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(mine) for mine in answered] == [len(mine) for mine in plans], "a client has failed"
    return answered


def beginning() -> Model:
    """Return the model of the world in which each round begins."""
    model = Model()
    model.accounts["main"] = BALANCE
    return model


def is_explained(answered: Sequence[Sequence[Answered]]) -> bool:
    """Whether some sequential order that respects real time makes the model give the same answers.

    This is the search of Wing and Gong: try each call that began before every remaining call ended.
    """
    tried: set[tuple[tuple[int, ...], str]] = set()
    ways = [((0,) * len(answered), beginning())]
    while ways:
        position, model = ways.pop()
        rest = [mine[at] for mine, at in zip(answered, position, strict=True) if at < len(mine)]
        if not rest:
            return True
        for client, at in enumerate(position):
            if at == len(answered[client]):
                continue
            one = answered[client][at]
            if one.began > min(other.ended for other in rest):
                continue
            after = model.copy()
            if not agree(one.seen, one.call.expected(after)):
                continue
            reached = tuple(where + (number == client) for number, where in enumerate(position))
            key = (reached, repr((after.accounts, after.orders, after.transfers)))
            if key not in tried:
                tried.add(key)
                ways.append((reached, after))
    return False


def as_text(answered: Sequence[Sequence[Answered]]) -> str:
    """Return a history as text, in the order of the answers."""
    every = sorted((one for mine in answered for one in mine), key=lambda one: one.ended)
    return "\n".join(f"{one.began:3}-{one.ended:3} r{one.number} {one.call} {one.seen}" for one in every)


def rounds(sandbox: Sandbox, sends: Sequence[Send], count: int) -> Iterator[list[list[Answered]]]:
    """Yield the histories of ``count`` rounds, each in a fresh world."""
    for number in range(count):
        random = Random(number)
        sandbox.reset()
        sandbox.outside.adjust_balance("main", to=BALANCE)
        yield history(sends, [plan(random, account) for account in ACCOUNTS])


def require_explained(answered: Sequence[Sequence[Answered]]) -> None:
    assert is_explained(answered), as_text(answered)


def test_some_sequential_order_explains_the_answers_of_threads() -> None:
    sandbox = Sandbox(FIXTURE)
    sends = [in_process(sandbox, account) for account in ACCOUNTS]
    for answered in rounds(sandbox, sends, tries(20)):
        require_explained(answered)


def test_some_sequential_order_explains_the_answers_of_sockets_and_threads() -> None:
    sandbox = Sandbox(FIXTURE)
    with sandbox.serve() as server, ExitStack() as stack:
        sends = [over_socket(sandbox, account, server.url, stack) for account in ACCOUNTS[:2]]
        sends += [in_process(sandbox, account) for account in ACCOUNTS[2:]]
        for answered in rounds(sandbox, sends, tries(10)):
            require_explained(answered)


def test_numbers_of_requests_give_an_order_that_explains_the_answers() -> None:
    """A request takes effect at its place in the journal: from there, it can be replayed or taken back."""
    sandbox = Sandbox(FIXTURE)
    sends = [in_process(sandbox, account) for account in ACCOUNTS]
    for answered in rounds(sandbox, sends, tries(10)):
        model, every = beginning(), sorted(chain.from_iterable(answered), key=lambda one: one.number)
        assert [one.number for one in every] == list(range(1, len(every) + 1))
        for one in every:
            expected = one.call.expected(model)
            assert agree(one.seen, expected), f"r{one.number} {one.seen} {expected}\n{as_text(answered)}"
        between = [
            sandbox.diff(f"after:r{one.number}", f"before:r{one.number + 1}").changes for one in every[:-1]
        ]
        assert not any(between), "something changed between two requests"
