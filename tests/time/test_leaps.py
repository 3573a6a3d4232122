"""However time is cut into steps, and whatever is planned in it, it comes to the same end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY
from tests.soundness import assert_consistent
from tests.thorough import tries

DAYS = 500
NAMES = ("active.com", "second.com", "wanted.com", "arriving.com", "leaving.com", "meagre.com", "overdue.com")

names = st.sampled_from(NAMES).map(lambda name: {"domain": name})
actions = st.one_of(
    st.tuples(
        st.sampled_from(
            ["register", "hold", "release_hold", "approve_transfer", "reject_transfer", "cancel_transfer"]
        ),
        names,
    ),
    st.tuples(st.just("request_transfer"), names.map(lambda name: {**name, "force": True})),
    st.tuples(st.just("adjust_balance"), st.integers(0, 30).map(lambda to: {"account": "main", "to": to})),
    st.tuples(st.just("set_service"), st.booleans().map(lambda on: {"zone": "com", "in_service": on})),
    st.tuples(st.just("set_prices"), st.integers(1, 30).map(lambda price: {"zone": "com", "renewal": price})),
    st.tuples(
        st.just("set_promotion"),
        st.integers(1, 60).map(
            lambda days: {"zone": "com", "of": "renewal", "price": 1, "until": f"P{days}D"}
        ),
    ),
)
planned = st.lists(st.tuples(st.integers(0, DAYS), actions), max_size=12)


def world(plans: list[Any]) -> Sandbox:
    """A world with plans at so many days from now."""
    sandbox = Sandbox(REGISTRY)
    for days, (action, told) in plans:
        getattr(sandbox.outside.when(timedelta(days=days)), action)(**told)
    return sandbox


@settings(max_examples=tries(8))
@given(planned, st.lists(st.integers(0, DAYS), max_size=8))
def test_a_leap_of_the_clock_equals_any_steps(plans: list[Any], stops: list[int]) -> None:
    """The same events in the same order, the same state, and the books balance."""
    leap, steps = world(plans), world(plans)
    end = leap.clock.now + timedelta(days=DAYS)
    begin = leap.clock.now
    foreseen = leap.clock.advance(to=end, dry_run=True).fired
    at_once = leap.clock.set(end).fired
    piecemeal = tuple(
        fired
        for stop in [*sorted(stops), DAYS]
        for fired in steps.clock.set(begin + timedelta(days=stop)).fired
    )
    assert at_once == piecemeal == foreseen
    assert leap.export() == steps.export()
    assert_consistent(leap)
