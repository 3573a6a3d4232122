"""The persistent sorted set against what it stands for: a sorted list of tuples."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reseller_sandbox.core.ordered import Ordered
from tests.thorough import tries

Key = tuple[int, int]
KEYS = st.tuples(st.integers(0, 5), st.integers(0, 60))


@given(st.lists(KEYS, max_size=200))
def test_a_set_is_built_sorted_and_without_duplicates(keys: list[Key]) -> None:
    """From any iterable; its length is the number of different keys."""
    made = Ordered(keys)
    assert list(made) == sorted(set(keys))
    assert len(made) == len(set(keys))


@given(st.lists(KEYS, max_size=200))
def test_of_keys_in_order_it_is_made_without_sorting_and_of_no_others(keys: list[Key]) -> None:
    """It is the same set; keys in another order, or one that is there twice, are refused."""
    model = sorted(set(keys))
    _same(Ordered.of_sorted(model), model)
    if keys != model:
        with pytest.raises(ValueError, match="not in order"):
            Ordered.of_sorted(keys)


@given(st.lists(st.tuples(st.booleans(), KEYS), max_size=300))
def test_it_is_a_sorted_list(changes: list[tuple[bool, Key]]) -> None:
    """After any additions and removals every question has a sorted list's answer."""
    made: Ordered[Key] = Ordered()
    model: list[Key] = []
    for adding, key in changes:
        made = made.add(key) if adding else made.remove(key)
        model = sorted({*model, key}) if adding else [one for one in model if one != key]
    _same(made, model)


@settings(max_examples=tries(10))
@given(st.permutations(range(1200)), st.integers(0, 1200))
def test_it_stays_sound_over_many_nodes(order: list[int], left: int) -> None:
    """Filled with over a thousand keys in any order and emptied in another, key by key."""
    made: Ordered[tuple[int, int]] = Ordered()
    for number in order:
        made = made.add((number % 3, number))
    model = sorted((number % 3, number) for number in order)
    _same(made, model, sample=97)
    for number in sorted(order, key=lambda one: (one * 7919) % 1201)[left:]:
        made = made.remove((number % 3, number))
        del model[bisect_left(model, (number % 3, number))]
    _same(made, model, sample=13)


def _same(made: Ordered[Key], model: list[Key], sample: int = 7) -> None:
    assert list(made) == model
    assert len(made) == len(model)
    assert made.first() == (model[0] if model else None)
    assert made == Ordered(model)
    for key in [*model[::sample], (-1, 0), (3, 30), (9, 0)]:
        assert (key in made) is (key in model)
        assert made.rank(key) == bisect_left(model, key)
    for start in range(0, len(model) + 2, sample):
        assert list(made.walk(start)) == model[start:]
    for first in (0, 1, 2, 9):
        inside = [key for key in model if key[0] == first]
        assert made.count((first,)) == len(inside)
        assert list(made.beginning((first,))) == inside
        assert list(made.beginning((first,), 2)) == inside[2:]
        assert list(made.beginning((first,), 10**9)) == []


class Persistence(RuleBasedStateMachine):
    """Every version that was ever made stays what it was."""

    def __init__(self) -> None:
        super().__init__()
        self.versions: list[tuple[Ordered[Key], list[Key]]] = [(Ordered(), [])]

    @rule(key=KEYS, at=st.integers(0, 10**6))
    def add(self, key: Key, at: int) -> None:
        """Add to any earlier version."""
        made, model = self.versions[at % len(self.versions)]
        self.versions.append((made.add(key), sorted({*model, key})))

    @precondition(lambda self: len(self.versions) > 1)
    @rule(key=KEYS, at=st.integers(0, 10**6))
    def remove(self, key: Key, at: int) -> None:
        """Remove from any earlier version."""
        made, model = self.versions[at % len(self.versions)]
        self.versions.append((made.remove(key), [one for one in model if one != key]))

    @invariant()
    def every_version_is_as_it_was(self) -> None:
        """None has changed with the others."""
        for made, model in self.versions:
            assert list(made) == model


Persistence.TestCase.settings = settings(max_examples=tries(8), stateful_step_count=25)
TestPersistence = Persistence.TestCase


def test_a_change_that_is_none_leaves_the_set_equal() -> None:
    """Adding what is there and removing what is not."""
    made = Ordered([(1, 1)])
    assert made.add((1, 1)) == made
    assert made.remove((2, 2)) == made


def test_many_changes_in_one_go_are_as_good_as_one_by_one(subtests: pytest.Subtests) -> None:
    """Whether somebody looks at the order in between or only at the end."""
    for count in [1023, 1025, 5000]:
        with subtests.test(count=count):
            looked: Ordered[Key] = Ordered()
            unseen: Ordered[Key] = Ordered()
            for number in range(count):
                key = (0, number * 7919 % count)
                looked, unseen = looked.add(key), unseen.add(key)
                assert looked.first() is not None
            for number in range(0, count, 2):
                looked, unseen = looked.remove((0, number)), unseen.remove((0, number))
                assert (0, number) not in unseen
            _same(unseen, [(0, number) for number in range(1, count, 2)], sample=count // 3)
            assert looked == unseen


def test_sets_are_equal_by_their_keys_and_not_hashable() -> None:
    """However they came about."""
    built = Ordered((0, number) for number in range(100))
    grown: Ordered[Key] = Ordered()
    for number in reversed(range(100)):
        grown = grown.add((0, number))
    assert built == grown
    assert built != grown.remove((0, 50))
    assert built != list(built)
    with pytest.raises(TypeError):
        hash(built)


def test_sets_are_equal_by_their_keys() -> None:
    """All of them, either way round."""
    low, high = Ordered([(1,), (2,)]), Ordered([(1,), (3,)])
    assert low == Ordered([(2,), (1,)])
    assert low != high
    assert high != low
    assert low != Ordered([(1,)])
