"""Each rule of advice has a finding for its careless client, and none for the careful client."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.advice.corpus import CORPUS, DOMAINS, Client
from tests.registry import REGISTRY
from tests.thorough import tries

WORLDS = Sandbox(REGISTRY)


def test_a_careless_client_gets_advice_and_a_careful_client_gets_none(subtests: pytest.Subtests) -> None:
    """There is exactly one finding, with the requests that show it."""
    for pair in CORPUS:
        with subtests.test(pair.rule, about=pair.about):
            with WORLDS.fork(frozen=False) as world:
                Client(world).do(pair.careless)
                (found,) = world.advice.list().findings
                assert found.rule == pair.rule
                assert found.summary
                assert all(world.journal[name] for name in found.entries)
            with WORLDS.fork(frozen=False) as world:
                Client(world).do(pair.careful)
                assert world.advice.list().findings == ()
                assert world.journal.count()


def test_each_advice_rule_has_a_test_case_and_a_description() -> None:
    rules = WORLDS.advice.list().looked_for
    assert {rule.rule for rule in rules} == {pair.rule for pair in CORPUS}
    assert all(rule.about and rule.instead for rule in rules)
    assert {rule.severity for rule in rules} == {"money", "data", "risk"}


@settings(max_examples=tries(20))
@given(st.integers(1, 30), st.randoms(use_true_random=False), st.data())
def test_advice_accepts_pages_of_a_list_in_any_order(
    length: int, chance: Random, data: st.DataObject
) -> None:
    with WORLDS.fork() as world:
        count = -(-len(world.names.list(account="main", limit=1000).names) // length)
        pages = [*range(1, count + 1)] * 2
        chance.shuffle(pages)
        missing = data.draw(st.integers(2, count)) if count > 1 and data.draw(st.booleans()) else None
        for page in pages:
            if page != missing:
                world.client().get(f"{DOMAINS}?perPage={length}&page={page}")
        found = [finding.rule for finding in world.advice.list().findings]
        assert found == (["pages_not_followed"] if missing else [])
