"""Each rule of advice finds the careless client, and has nothing to say of its well-behaved twin."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.advice.record import ORDERS
from reseller_sandbox.advice.rules import RULES
from reseller_sandbox.assembly import operations
from tests.advice.corpus import CORPUS, DOMAINS, Client, Pair
from tests.registry import REGISTRY
from tests.thorough import tries

WORLDS = Sandbox(REGISTRY)

EACH = pytest.mark.parametrize("pair", CORPUS, ids=lambda pair: f"{pair.rule}, {pair.about}")


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    """A client of a world whose clock runs."""
    with sandbox.fork(frozen=False) as world:
        yield Client(world)


@EACH
def test_the_careless_client_is_found(client: Client, pair: Pair) -> None:
    """By this rule and no other, and each finding has the requests that show it."""
    pair.careless(client)
    found = client.sandbox.advice.list().findings
    assert [one.rule for one in found] == [pair.rule], found
    assert all(client.sandbox.world.journal.get(name) for name in found[0].entries)
    assert found[0].summary


@EACH
def test_its_well_behaved_twin_is_not(client: Client, pair: Pair) -> None:
    """No rule says a word."""
    pair.careful(client)
    assert client.sandbox.advice.list().findings == ()
    assert len(client.sandbox.world.journal) > 0


def test_every_rule_has_its_pair() -> None:
    """A rule without a careless client that it finds may find nothing at all."""
    assert {pair.rule for pair in CORPUS} == {rule.name for rule in RULES}


def test_every_order_is_an_operation() -> None:
    """The rules know orders by their operations, in both generations."""
    assert set(ORDERS) <= set(operations())


@settings(max_examples=tries(30))
@given(st.integers(1, 30), st.randoms(use_true_random=False), st.data())
def test_a_list_read_whole_in_any_order_is_read(length: int, chance: Random, data: st.DataObject) -> None:
    """However its pages are shuffled and repeated; without any but the first of them it is not."""
    with WORLDS.fork() as world:
        account = world.account().client_id
        count = -(-world.world.state.orders_of_account.count((account,)) // length)
        pages = [*range(1, count + 1)] * 2
        chance.shuffle(pages)
        missing = data.draw(st.integers(2, count)) if count > 1 and data.draw(st.booleans()) else None
        for page in pages:
            if page != missing:
                world.client().get(f"{DOMAINS}?perPage={length}&page={page}")
        assert [one.rule for one in world.advice.list().findings] == (
            ["pages_not_followed"] if missing else []
        )
