"""pytest explores marked tests: it runs each of them in every order of its workers' requests."""

from __future__ import annotations

import pytest

from tests.testing.conftest import Printed

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
    assert '--schedule "main main-2 main-2 main"' in said
    assert "reseller_sandbox_explore: " in said
    assert "Unexpected keyword argument 'workers'" in said
    bounded = printed(SUITE, "-k", "adds", QUIET, "--reseller-sandbox-explore-max-runs=2")
    assert "not tried (--max-runs)" in bounded
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
    assert "1 failed, 2 passed" in said
    assert "never: never holds" in said
    assert "3 passed" in printed(suite, QUIET, f"{explore}=2", f"{explore}-max-runs=1")
    assert "1 passed" in printed(suite, QUIET, explore, f"{explore}-schedule=main main-2", "-k", "two_look")
    assert "-explore must be a number above 0; it is 'two'" in printed(suite, f"{explore}=two")
    server = ("-k", "marked", "--reseller-sandbox-mode=server")
    assert "requires worlds in this process" in printed(suite, *server)
