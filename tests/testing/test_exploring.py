"""pytest explores marked tests: it runs each of them in every order of its workers' requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.testing import async_workers
from tests.testing.conftest import Printed
from tests.thorough import WHOLE
from tests.tools.running import command, with_pytest

pytest_plugins = "pytester"

BOTH = """
from concurrent.futures import ThreadPoolExecutor

import pytest

NAME = "active-example.com"


def both(work):
    with ThreadPoolExecutor() as pool:
        list(pool.map(work, ["ns7.example.net", "ns8.example.net"]))

"""

SUITE = f"""{BOTH}
@pytest.mark.reseller_sandbox_explore
def test_adds_name_servers(reseller_sandbox):
    def add(host):
        client = reseller_sandbox.client()
        servers = client.get(f"/v3/domains/getDomain/{{NAME}}").json["domain"]["nameservers"]
        client.post(f"/v3/domains/setNameservers/{{NAME}}", json={{"nameservers": [*servers, host]}})

    both(add)


@pytest.mark.reseller_sandbox_explore(actors=2)
def test_looks(reseller_sandbox):
    both(lambda _: reseller_sandbox.client().get("/v3/balance"))


@pytest.mark.reseller_sandbox_explore(workers=2)
def test_has_a_wrong_mark(reseller_sandbox):
    both(lambda _: reseller_sandbox.client().get("/v3/balance"))


def test_is_not_marked(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/balance").status_code == 200
"""


#: Few seconds without a request are enough, because the workers of these tests are quick.
QUIET = "--reseller-sandbox-explore-quiet=0.03"


def test_an_explored_test_fails_with_the_order_of_requests_that_leaves_a_wrong_state(
    printed: Printed,
) -> None:
    said = printed(SUITE, QUIET)
    assert "2 failed, 2 passed" in said
    assert "not serializable: the result is not possible if" in said
    schedule = "main main-2 main-2 main"
    assert f'  --reseller-sandbox-explore-schedule "{schedule}"' in said
    repeated = printed(SUITE, "-k", "adds", QUIET, f"--reseller-sandbox-explore-schedule={schedule}")
    assert "1 schedule tried" in repeated
    assert "reseller_sandbox_explore: " in said
    assert "Unexpected keyword argument 'workers'" in said
    bounded = printed(SUITE, "-k", "adds", QUIET, "--reseller-sandbox-explore-max-runs=2")
    assert "Not tried:" in bounded
    assert "other orders of the requests: a larger --reseller-sandbox-explore-max-runs" in bounded
    suite = SUITE.replace("_explore\ndef", '_explore(schedule="main main-2 main-2 main")\ndef')
    said = printed(suite, QUIET, "-k", "adds")
    assert "1 failed" in said
    assert "1 schedule tried" in said


@pytest.mark.slow
def test_the_explore_option_explores_tests_without_a_mark(printed: Printed) -> None:
    suite = f"""{BOTH}
def never(world):
    return "never holds"


def test_two_look(reseller_sandbox):
    both(lambda _: reseller_sandbox.client().get("/v3/balance"))


@pytest.mark.reseller_sandbox_explore(invariants=[])
def test_marked(reseller_sandbox):
    reseller_sandbox.client().get("/v3/balance")


def test_has_no_world():
    pass
"""
    explore = "--reseller-sandbox-explore"
    said = printed(suite, QUIET, explore, "--reseller-sandbox-invariant=test_suite:never")
    assert "2 failed, 1 passed" in said
    assert "never: never holds" in said
    said = printed(suite, QUIET, f"{explore}=2", f"{explore}-max-runs=1")
    assert "1 failed, 2 passed" in said
    assert "nothing was explored: all requests came from one worker" in said
    assert "1 passed" in printed(suite, QUIET, explore, f"{explore}-schedule=main main-2", "-k", "two_look")
    assert "-explore must be an integer from 1 to 1000000000; it is 'two'" in printed(suite, f"{explore}=two")
    server = ("-k", "marked", "--reseller-sandbox-mode=server")
    assert "requires worlds in this process" in printed(suite, *server)


ASYNC = Path(async_workers.__file__).read_text("utf-8")

PAID_TWICE = f"the renewal of {async_workers.NAME} was paid 2 times"


def test_explore_finds_the_race_of_coroutines_and_passes_the_correct_twin(printed: Printed) -> None:
    """A held request does not block the event loop of an intercepted client."""
    said = printed(ASYNC, QUIET, "-k", "gather and httpx")
    assert "2 failed, 2 passed" in said
    assert said.count(PAID_TWICE) == 2


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["mark", "option", "command"])
def test_explore_finds_each_form_of_coroutines(
    mode: str, printed: Printed, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """httpx and aiohttp, gather and TaskGroup, asyncio.run and async tests: each careless, and correct.

    As a sample, the mark explores those of one client, and the option those of the other.
    """
    if mode == "command":
        with_pytest(monkeypatch)
        pytester.makepyfile(test_suite=ASYNC)
        few = [] if WHOLE else ["-k", "aiohttp and group"]  # every run of a schedule is a process
        done = command("explore", "--json", "--", "pytest", "-p", "anyio", "-q", *few, "test_suite.py")
        explorations = json.loads(done.stdout)["explorations"]
        found = {one["test"]: bool(one["findings"]) for one in explorations}
        assert len(found) == (4 if few else 16), done.stderr
        assert {name: "careless" in name for name in found} == found
        return
    suite = ASYNC if mode == "mark" else ASYNC.replace("mark.reseller_sandbox_explore", "mark.flaky")
    options = () if mode == "mark" else ("--reseller-sandbox-explore", "-o", "markers=flaky")
    count, few = (8, []) if WHOLE else (4, ["-k", "httpx" if mode == "mark" else "aiohttp"])
    said = printed(suite, *options, *few)
    assert f"{count} failed, {count} passed" in said
    assert said.count(PAID_TWICE) == count
    assert said.count("the requests came one at a time") == (0 if mode == "mark" else count)


@pytest.mark.slow
def test_explore_holds_requests_no_longer_than_a_deadline_of_the_coroutines(printed: Printed) -> None:
    suite = ASYNC.replace("await together(job)", "await asyncio.wait_for(together(job), 0.3)")
    said = printed(suite, "-k", "gather and httpx and careless and run")
    assert PAID_TWICE in said


NOTHING = f"""{BOTH}
import threading

LOCK = threading.Lock()
explored = pytest.mark.reseller_sandbox_explore


def look(sandbox):
    sandbox.client().get("/v3/balance")


@explored
def test_one_worker(reseller_sandbox):
    look(reseller_sandbox)


@explored
def test_no_request(reseller_sandbox):
    pass


@explored
def test_no_fixture():
    pass


def under_a_lock(reseller_sandbox):
    def job(_):
        with LOCK:
            look(reseller_sandbox)

    both(job)


@explored
def test_lock(reseller_sandbox):
    under_a_lock(reseller_sandbox)


@explored(locked=True)
def test_expected_lock(reseller_sandbox):
    under_a_lock(reseller_sandbox)


def test_unmarked(reseller_sandbox):
    look(reseller_sandbox)
"""


def test_a_marked_test_fails_if_nothing_was_explored(printed: Printed) -> None:
    said = printed(NOTHING, QUIET)
    assert "4 failed, 2 passed" in said
    for reason in (
        "all requests came from one worker, main",
        "the program sent no request to its sandbox",
        "not explored: the test does not use the fixture reseller_sandbox",
        "if the workers act under a lock, pass --reseller-sandbox-explore-locked",
    ):
        assert said.count(reason) == 1, reason
    said = printed(NOTHING, QUIET, "--reseller-sandbox-explore", "-k", "unmarked")
    assert "1 passed" in said
    assert "test_suite.py::test_unmarked: all requests came from one worker" in said


def test_a_sweep_includes_the_tests_that_are_also_explored(printed: Printed) -> None:
    said = printed(SUITE, QUIET, "-k", "adds", "--reseller-sandbox-sweep=lost-answer")
    assert "sweep of test_suite.py::test_adds_name_servers" in said
    assert "not serializable" in said
