"""A program with several workers is tried in every order that could matter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.state import Draft
from reseller_sandbox.tools.explore import Exploration, explore
from reseller_sandbox.tools.explore.report import BROKEN, FAILED, MIXED
from reseller_sandbox.tools.replaying import replay
from tests.tools.billing import Careful, Careless, at_once, in_process

D = "/v3/domains"
NAME, OTHER, FREE = "active-example.com", "renewing-example.com", "wanted-example.com"


@pytest.fixture(scope="module")
def prepared() -> Iterator[Sandbox]:
    """The world that each run begins with."""
    with Sandbox() as sandbox:
        yield sandbox


class Worker:
    """A client of one worker; what is refused is raised."""

    def __init__(self, sandbox: Sandbox, account: str = "main") -> None:
        self._client = sandbox.client(account)

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request."""
        answer = self._client.open(path, method=method, json=body)
        if answer.status_code != 200:
            raise RuntimeError(f"{method} {path}: {answer.json}")
        return answer.json

    def held(self, name: str) -> Any:
        """A name as it is."""
        return self("GET", f"{D}/getDomain/{name}")["domain"]

    def is_free(self, name: str) -> bool:
        """Whether a name can be registered."""
        [found] = self("POST", f"{D}/checkAvailability", {"domainNames": [name]})["results"]
        return bool(found["status"] == "available")

    def register(self, name: str) -> None:
        """Register a name for a year."""
        self("POST", f"{D}/createDomain", {"domain": {"domainName": name}, "years": 1})

    def renew(self, name: str) -> None:
        """Renew a name for a year."""
        self("POST", f"{D}/renewDomain/{name}", {"years": 1})


Job = Callable[[Worker], None]


def together(*jobs: Job, account: str = "main") -> Callable[[Sandbox], None]:
    """A program that does jobs at once, a worker each; it fails where one of them does."""

    def program(sandbox: Sandbox) -> None:
        at_once(jobs, lambda job: job(Worker(sandbox, account)))

    return program


def kinds(found: Exploration) -> set[str]:
    """The kinds of what was found."""
    return {one.kind for one in found.findings}


def renews_when_due(worker: Worker) -> None:
    """Renews a name that is due, unless somebody has."""
    if worker.held(NAME)["expireDate"] < "2027":
        worker.renew(NAME)


def renews_blindly(worker: Worker) -> None:
    """Renews a name, due or not."""
    worker.renew(NAME)


def adds(host: str) -> Job:
    """Adds a name server to those that a name has."""

    def add(worker: Worker) -> None:
        servers = worker.held(NAME)["nameservers"]
        worker("POST", f"{D}/setNameservers/{NAME}", {"nameservers": [*servers, host]})

    return add


def test_two_workers_that_renew_the_same_name_are_found(prepared: Sandbox) -> None:
    """Each has seen that it is due: it is paid twice, which taking turns never comes to."""
    found = explore(together(renews_when_due, renews_when_due), prepared)
    assert kinds(found) == {BROKEN}
    [finding] = found.findings
    assert finding.order.schedule == "main main-2 main-2 main"
    assert finding.words == (f"the renewal of {NAME} was paid 2 times: 12.99 + 12.99",)


def test_what_is_paid_twice_in_every_order_is_told(prepared: Sandbox) -> None:
    """It is no finding: workers that renew without a look do so too when they take turns."""
    found = explore(together(renews_blindly, renews_blindly), prepared)
    assert not found.findings
    assert list(found.lines())[1:] == [
        "nothing found",
        f"in every order tried, by the advice renewed_twice: {NAME} was renewed twice for 1 year each within "
        "the same second: 12.99 USD more than one renewal costs.",
    ]
    assert [line.partition(":")[0] for line in found.told()["always"]] == ["renewed_twice"]


def test_what_is_paid_twice_in_some_orders_is_not_told_of_all(prepared: Sandbox) -> None:
    """There it is a finding."""
    found = explore(together(renews_when_due, renews_when_due), prepared)
    assert found.findings
    assert not found.always
    assert not Exploration([], []).always


def test_what_is_refused_in_every_order_is_told(prepared: Sandbox) -> None:
    """Workers that change nothing are in nobody's way; those that are refused in some orders alone are."""

    def wrong(worker: Worker) -> None:
        with suppress(RuntimeError):
            worker("PUT", "/v3/nothing")

    found = explore(together(wrong, wrong), prepared)
    told = ["main PUT /v3/nothing → 404", "main-2 PUT /v3/nothing → 404"]
    assert sorted(found.told()["refused"]) == told
    assert list(found.lines())[-1].startswith("refused in every order tried: ")
    assert not Exploration([], []).refused


def test_what_is_refused_is_told_whatever_the_status_says() -> None:
    """It goes by the journal, as sweep does: an interface may answer everything with 200."""

    def taken(worker: Worker) -> None:
        with suppress(RuntimeError):
            worker("GET", "/v3/domains/getDomain/nobodys-example.com")

    prepared = Sandbox(assume={"v3.errors.http_status": "always_200"})
    found = explore(together(taken, taken), prepared)
    asked = "GET /v3/domains/getDomain/nobodys-example.com → 200"
    assert sorted(found.told()["refused"]) == [f"main {asked}", f"main-2 {asked}"]


def test_a_lost_update_of_name_servers_is_found(prepared: Sandbox) -> None:
    """What one has added is gone where the other wrote back what it had read before."""
    found = explore(together(adds("ns7.example.net"), adds("ns8.example.net")), prepared)
    assert kinds(found) == {MIXED}
    assert len(found.orders) == 6 - 2  # the two that read first may do so in either order


def test_a_name_that_is_checked_and_then_taken_is_found(prepared: Sandbox) -> None:
    """One is refused what it was told to be free."""

    def registers(worker: Worker) -> None:
        if worker.is_free(FREE):
            worker.register(FREE)

    found = explore(together(registers, registers), prepared)
    assert kinds(found) == {FAILED}
    assert "name_taken" in "".join(found.findings[0].words)


def test_the_last_cents_spent_twice_are_found(prepared: Sandbox) -> None:
    """Both have seen enough money for one name."""
    with prepared.fork() as sandbox:
        sandbox.outside.adjust_balance(to="15", account="main")

        def buys(name: str) -> Job:
            def buy(worker: Worker) -> None:
                [found] = worker("GET", "/v3/balance")
                if Decimal(found["balance"]) >= 11:
                    worker.register(name)

            return buy

        found = explore(together(buys("one-example.com"), buys("two-example.com")), sandbox)
    assert kinds(found) == {FAILED}
    assert "insufficient_funds" in "".join(found.findings[0].words)


@pytest.mark.parametrize(
    "jobs",
    [(renews_when_due, renews_when_due), (adds("ns7.example.net"), adds("ns8.example.net"))],
    ids=["renewals", "name servers"],
)
def test_the_same_under_a_lock_is_clean(prepared: Sandbox, jobs: tuple[Job, Job]) -> None:
    """Whoever has it does its requests while the other does not come."""

    def program(sandbox: Sandbox) -> None:
        lock = threading.Lock()

        def locked(job: Job) -> Job:
            def work(worker: Worker) -> None:
                with lock:
                    job(worker)

            return work

        together(*map(locked, jobs))(sandbox)

    assert not explore(program, prepared, quiet=0.05).findings


def test_workers_on_two_names_are_run_in_one_order(prepared: Sandbox) -> None:
    """Nothing that one does matters to the other: not even that they are one account's."""

    def looks_at(name: str, switch: str) -> Job:
        def work(worker: Worker) -> None:
            worker.held(name)
            worker("POST", f"{D}/{switch}/{name}")
            worker.held(name)

        return work

    found = explore(together(looks_at(NAME, "lockUpdate"), looks_at(OTHER, "lockTransfer")), prepared)
    assert (len(found.orders), found.findings) == (1, [])


def test_workers_with_accounts_of_their_own_are_told_apart_by_these(prepared: Sandbox) -> None:
    """A credential says whose a request is, and a header counts before it."""

    def program(sandbox: Sandbox) -> None:
        def look(account: str) -> None:
            headers = {"X-Sandbox-Actor": "third worker"} if account == "poor" else {}
            assert sandbox.client(account).get("/v3/balance", headers=headers).status_code == 200

        at_once(("main", "other", "poor"), look)

    assert explore(program, prepared, actors=3).actors == ["main", "other", "third_worker"]


def test_an_order_that_was_told_can_be_run_alone(prepared: Sandbox) -> None:
    """It comes to the same again."""
    program = together(adds("ns7.example.net"), adds("ns8.example.net"))
    [finding, *_] = explore(program, prepared).findings
    again = explore(program, prepared, schedule=finding.order.schedule)
    assert [one.kind for one in again.findings] == [MIXED]
    assert again.orders[0].left == finding.order.left
    with pytest.raises(ValueError, match="nobody-else has no request waiting"):
        explore(program, prepared, schedule="main nobody-else")


def test_two_explorations_come_to_the_same(prepared: Sandbox) -> None:
    """What is told depends on no clock and no thread's luck."""
    program = together(adds("ns7.example.net"), adds("ns8.example.net"), lambda worker: worker.held(NAME))
    assert explore(program, prepared, actors=3).told() == explore(program, prepared, actors=3).told()


def test_what_is_left_untried_is_told(prepared: Sandbox) -> None:
    """And the orders in which workers take turns are run all the same, to compare with."""
    program = together(adds("ns7.example.net"), adds("ns8.example.net"))
    found = explore(program, prepared, max_runs=2)
    assert found.untried
    assert any("left untried" in line for line in found.lines())
    assert [one.schedule for one in found.orders[2:]] == [
        "main main main-2 main-2",
        "main-2 main-2 main main",
    ]


def test_what_comes_before_and_after_the_workers_is_done_in_its_place(prepared: Sandbox) -> None:
    """A program that prepares something, starts workers and looks at what they did, alone at both ends."""

    def program(sandbox: Sandbox) -> None:
        worker = Worker(sandbox)
        worker.register(FREE)
        together(adds("ns7.example.net"), adds("ns8.example.net"))(sandbox)
        worker.held(FREE)

    found = explore(program, prepared, quiet=0.05)
    assert kinds(found) == {MIXED}
    assert len(found.orders) == 4


def test_an_invariant_of_ones_own_is_held_against_each_order(prepared: Sandbox) -> None:
    """What it says stands in the report."""

    def two_servers(sandbox: Sandbox) -> str | None:
        servers = sandbox.names.get(NAME).nameservers
        assert {"ns7.example.net", "ns8.example.net"} <= set(servers), f"it has {servers}"
        return None

    program = together(adds("ns7.example.net"), adds("ns8.example.net"))
    found = explore(program, prepared, invariants=[two_servers])
    assert kinds(found) == {BROKEN}
    assert found.findings[0].words[0].startswith("two_servers: ")
    with pytest.raises(AssertionError, match="broken: an invariant does not hold"):
        found.check()


def test_nothing_of_it_is_there_when_nobody_explores(prepared: Sandbox) -> None:
    """The application is as it was, and drafts note nothing."""
    before = prepared.app.wsgi_app
    explore(together(renews_when_due), prepared)
    assert prepared.app.wsgi_app is before
    assert prepared.world.drafts is Draft


@pytest.mark.parametrize("job", ["race", "nameservers"])
def test_the_billing_program_s_races_are_found_and_its_corrected_twin_is_clean(
    prepared: Sandbox, job: str, tmp_path: Path
) -> None:
    """The check before an order, and the list of name servers that another worker has changed meanwhile.

    Each finding has a file that replays it to the byte.
    """
    kind = {"race": BROKEN, "nameservers": MIXED}[job]

    def careless(world: Sandbox) -> object:
        return Careless(in_process(world)).run(job)

    found = explore(careless, prepared, quiet=0.05, folder=tmp_path)
    assert kinds(found) == {kind}
    assert all(replay(one.capsule).identical for one in found.findings)
    assert not explore(lambda world: Careful(in_process(world)).run(job), prepared, quiet=0.05).findings


def test_each_finding_has_a_file_that_replays_it(prepared: Sandbox, tmp_path: Path) -> None:
    """To the byte: the requests are in it in the order in which they were let through."""
    found = explore(together(renews_when_due, renews_when_due), prepared, folder=tmp_path)
    [finding] = found.findings
    replayed = replay(finding.capsule)
    assert replayed.identical
    assert replayed.requests == len(finding.order.requests)
    assert replayed.sandbox.names.get(NAME).expires.year == 2028
