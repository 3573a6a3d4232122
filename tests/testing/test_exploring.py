"""A test run explores the tests that are marked: each is run in every order of its workers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.testing.test_plugin import told as told

pytest_plugins = "pytester"

SUITE = """
from concurrent.futures import ThreadPoolExecutor

import pytest

NAME = "active-example.com"


def both(work):
    with ThreadPoolExecutor() as pool:
        list(pool.map(work, ["ns7.example.net", "ns8.example.net"]))


@pytest.mark.reseller_sandbox_explore
def test_adds_name_servers(reseller_sandbox):
    def add(host):
        client = reseller_sandbox.client()
        servers = client.get(f"/v3/domains/getDomain/{NAME}").json["domain"]["nameservers"]
        client.post(f"/v3/domains/setNameservers/{NAME}", json={"nameservers": [*servers, host]})

    both(add)


@pytest.mark.reseller_sandbox_explore(actors=2)
def test_looks(reseller_sandbox):
    both(lambda _: reseller_sandbox.client().get("/v3/balance"))


@pytest.mark.reseller_sandbox_explore(workers=2)
def test_asks_for_what_there_is_not(reseller_sandbox):
    both(lambda _: reseller_sandbox.client().get("/v3/balance"))


def test_is_not_marked(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/balance").status_code == 200
"""


@pytest.mark.slow
def test_a_marked_test_fails_where_some_order_leaves_what_it_should_not(told: Callable[..., str]) -> None:
    """With the order, which can be run alone; the others pass."""
    said = told(SUITE)
    assert "2 failed, 2 passed" in said
    assert "mixed up: what is left is left by no order" in said
    assert '--schedule "main main-2 main-2 main"' in said
    assert "reseller_sandbox_explore: " in said
    assert "unexpected keyword argument 'workers'" in said


def test_one_order_can_be_asked_for(told: Callable[..., str]) -> None:
    """By the schedule that was told."""
    one = SUITE.replace("_explore\ndef", '_explore(schedule="main main-2 main-2 main")\ndef')
    said = told(one, "-k", "adds")
    assert "1 failed" in said
    assert "1 order tried" in said


ELSEWHERE = """
import pytest


@pytest.mark.reseller_sandbox_explore
def test_looks(reseller_sandbox):
    assert reseller_sandbox.accounts["main"].balance
"""


def test_a_server_elsewhere_is_refused(told: Callable[..., str]) -> None:
    """Its requests cannot be held from here."""
    assert "needs worlds in this process" in told(ELSEWHERE, "--reseller-sandbox-mode=server")


def test_every_test_can_be_explored(told: Callable[..., str]) -> None:
    """Without a mark: by an option, with invariants and a bound; a mark that there is counts before it."""
    suite = """
from concurrent.futures import ThreadPoolExecutor

import pytest


def never(world):
    return "never holds"


def test_two_look(reseller_sandbox):
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: reseller_sandbox.client().get("/v3/balance"), [1, 2]))


@pytest.mark.reseller_sandbox_explore(invariants=[])
def test_marked(reseller_sandbox):
    reseller_sandbox.client().get("/v3/balance")


def test_has_no_world():
    pass
"""
    said = told(suite, "--reseller-sandbox-explore", "--reseller-sandbox-invariant=test_suite:never")
    assert "1 failed, 2 passed" in said
    assert "never: never holds" in said
    assert "3 passed" in told(suite, "--reseller-sandbox-explore=2", "--reseller-sandbox-explore-max-runs=1")
    one = ("--reseller-sandbox-explore", "--reseller-sandbox-explore-schedule=main main-2")
    assert "1 passed" in told(suite, *one, "-k", "two_look")
    assert "has no request waiting" in told(suite, *one, "-k", "marked")
    assert "-explore must be a number above 0; it is 'two'" in told(suite, "--reseller-sandbox-explore=two")
