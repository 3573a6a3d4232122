"""Many rules: they are looked up, and strike as if each had been looked at in its turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox.core.match_index import MatchIndex
from reseller_sandbox.faults import Effects, FaultBook
from reseller_sandbox.faults.reading import read_rules
from tests.core.test_match_index import MATCHES, REQUESTS
from tests.thorough import tries

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)

KINDS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"kind": "latency", "seconds": 1},
        {"kind": "reset"},
        {"kind": "stale"},
        {"kind": "duplicate"},
        {"kind": "error", "status": 500},
        {"kind": "rate_limit", "limit": 1, "per": "account"},
    ]
)
WHENS = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from(["before", "after"]),
        "times": st.integers(1, 2),
        "nth": st.integers(1, 3),
        "chance": st.sampled_from([0.5]),
        "from": st.just((NOW + timedelta(seconds=2)).isoformat()),
        "until": st.just((NOW + timedelta(seconds=3)).isoformat()),
    },
)


@st.composite
def rules(draw: st.DrawFn) -> Any:
    """A rule as it is read."""
    made: dict[str, Any] = draw(KINDS)
    when = draw(WHENS)
    if made["kind"] in ("stale", "duplicate", "rate_limit"):
        when = {name: value for name, value in when.items() if name != "phase"}
    ((rule, _),) = read_rules([{**made, "when": when, "paused": draw(st.booleans())}], None)
    return replace(rule, match=draw(MATCHES))


def as_it_came(asked: Any, admitted: bool, reads: bool) -> Any:
    """The request, as faults see it."""
    asked.admitted, asked.reads = admitted, reads
    return asked


ASKED = st.builds(as_it_came, REQUESTS, st.booleans(), st.booleans())


def all_of(index: MatchIndex, _: Any) -> range:
    """Every place, as if there were no index."""
    return range(len(index._matches))


@settings(max_examples=tries(60))
@given(st.lists(rules(), max_size=12), st.lists(ASKED, min_size=1, max_size=6))
def test_the_same_rules_strike_as_without_an_index(some: list[Any], asked: list[Any]) -> None:
    """In the same order, with the same effects and counts, in both phases, request by request."""
    named = [replace(rule, name=f"f{number}") for number, rule in enumerate(some)]
    book = plain = FaultBook(tuple(named))
    for number, one in enumerate(asked):
        for phase in ("before", "after"):
            now = NOW + timedelta(seconds=number)
            book, strike = book.strike(phase, one, now, "seed", Effects())
            with patch.object(MatchIndex, "possible", all_of):
                plain, expected = plain.strike(phase, one, now, "seed", Effects())
            assert (strike.rules, strike.effects) == (expected.rules, expected.effects)
            assert dict(book.counts.items()) == dict(plain.counts.items())
