"""The persistent sorted set beside its model: a sorted list of tuples."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox.registry import indexes
from reseller_sandbox.registry.indexes import Ordered
from tests.thorough import tries

Key = tuple[int, int]
KEYS = st.tuples(st.integers(0, 5), st.integers(0, 60))


@pytest.fixture(scope="module", autouse=True)
def narrow_leaves() -> Iterator[None]:
    """Make the leaves narrow, so that few keys fill many of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, width in {"_WIDEST": 32, "_FILLED": 24, "_NARROWEST": 8}.items():
            patch.setattr(indexes, name, width)
        yield


@given(st.lists(KEYS, max_size=200))
def test_ordered_set_of_any_keys_is_sorted_and_has_no_duplicates(keys: list[Key]) -> None:
    model = sorted(set(keys))
    assert_same(Ordered(keys), model)


@given(st.lists(st.tuples(st.booleans(), KEYS), max_size=300))
def test_ordered_set_equals_a_sorted_list_after_each_change(changes: list[tuple[bool, Key]]) -> None:
    versions: list[tuple[Ordered[Key], list[Key]]] = [(Ordered(), [])]
    for adding, key in changes:
        made, model = versions[-1]
        changed = sorted({*model, key}) if adding else [other for other in model if other != key]
        versions.append((made.add(key) if adding else made.remove(key), changed))
    assert_same(*versions[-1])
    for made, model in versions[::20]:
        assert list(made) == model, "a change leaves the earlier versions"


@settings(max_examples=tries(3))
@given(st.permutations(range(1200)), st.integers(0, 1200))
def test_ordered_set_with_many_leaves_equals_a_sorted_list(order: list[int], left: int) -> None:
    made: Ordered[tuple[int, int]] = Ordered()
    for number in order:
        made = made.add((number % 3, number))
    model = sorted((number % 3, number) for number in order)
    assert_same(made, model, sample=97)
    for number in sorted(order, key=lambda key: (key * 7919) % 1201)[left:]:
        made = made.remove((number % 3, number))
        del model[bisect_left(model, (number % 3, number))]
    assert_same(made, model, sample=13)


def assert_same(made: Ordered[Key], model: list[Key], sample: int = 7) -> None:
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
