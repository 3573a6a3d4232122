"""Two clients at once: one registry, one order of events, and nobody is charged for what they did not get."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, InProcess, Socket
from tests.registry import BASE, balance
from tests.soundness import assert_consistent

NAMES = [f"race{number}.com" for number in range(25)]


def _over_sockets(sandbox: Sandbox, url: str) -> tuple[list[Api], list[Socket]]:
    sockets = [Socket(url), Socket(url)]
    accounts = [sandbox.account("main"), sandbox.account("other")]
    apis = [
        Api(socket, url, account.key, account.secret)
        for socket, account in zip(sockets, accounts, strict=True)
    ]
    return apis, sockets


def _in_process(sandbox: Sandbox, url: str) -> tuple[list[Api], list[Socket]]:
    accounts = [sandbox.account("main"), sandbox.account("other")]
    return [Api(InProcess(sandbox.app), BASE, one.key, one.secret) for one in accounts], []


@pytest.mark.parametrize("reach", [_over_sockets, _in_process], ids=["sockets", "threads"])
def test_two_race_for_the_same_names(
    served: Sandbox, url: str, reach: Callable[[Sandbox, str], tuple[list[Api], list[Socket]]]
) -> None:
    """Each name goes to one of them, who alone pays for it; the other is told that it is taken."""
    apis, sockets = reach(served, url)
    answers: list[list[Answer]] = [[], []]
    start = threading.Barrier(2)

    def run(number: int) -> None:
        for name in NAMES:
            start.wait()
            answers[number].append(
                apis[number].post("/v3/domains/createDomain", {"domain": {"domainName": name}})
            )

    threads = [threading.Thread(target=run, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for socket in sockets:
        socket.close()

    outcomes = [{one.error, two.error} for one, two in zip(*answers, strict=True)]
    assert outcomes == [{None, "name_taken"}] * len(NAMES)
    won = [sum(answer.error is None for answer in mine) for mine in answers]
    assert balance(served) == 10_000 - 10 * won[0]
    assert balance(served, "other") == 500 - 10 * won[1]
    requests = [answer.headers["x-sandbox-request"] for mine in answers for answer in mine]
    assert len(set(requests)) == len(requests), "each request has a name of its own"
    assert_consistent(served)


def test_a_clock_that_moves_under_requests(sandbox: Sandbox) -> None:
    """Time may be moved from one thread while another sends: everything happens before or after."""
    account = sandbox.account()
    api = Api(InProcess(sandbox.app), BASE, account.key, account.secret)
    answers: list[Answer] = []

    def send() -> None:
        for number in range(60):
            body = {"domain": {"domainName": f"tick{number}.com", "autorenewEnabled": True}}
            answers.append(api.post("/v3/domains/createDomain", body))

    sender = threading.Thread(target=send)
    sender.start()
    for _ in range(60):
        sandbox.clock.advance("30d")
    sender.join()
    assert {answer.status for answer in answers} == {200}
    assert_consistent(sandbox)
