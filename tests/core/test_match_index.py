"""The index of matches loses none that a request fits, and spares the look at those that it cannot fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox.core.match_index import MatchIndex
from reseller_sandbox.core.matching import MATCH
from tests.core.test_matching import match, request
from tests.thorough import tries

#: Few words and globs, so that what is looked for is often there.
WORDS = st.sampled_from(["a", "b", "ab", "ba", "aab", "abba"])
NAMES = WORDS.map("{}.com".format) | st.sampled_from(["xn--espaa-rta.com", "a.b.com"])
GLOBS = st.sampled_from(["a", "ab", "a*", "*b", "*b*", "?b", "b?", "a*b", "*a?*", "*", "?*", "**a"])
NAME_GLOBS = GLOBS | NAMES | GLOBS.map("{}.com".format) | st.sampled_from(["españa.*", "xn--*", "*.com"])


def several(one: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """One of a kind, or a list of them."""
    return one | st.lists(one, min_size=1, max_size=3)


def named(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of what has a name, whose case means nothing."""
    return st.dictionaries(st.sampled_from(["x", "X", "y"]), values, min_size=1, max_size=2)


BODY_PATHS = st.sampled_from(["x", "x.y", "x[*]", "x[0]", "y"])
SCALARS = WORDS | st.integers(0, 2) | st.none() | st.booleans()
BODIES = st.dictionaries(
    st.sampled_from("xy"),
    SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2),
)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "operation": several(GLOBS),
    "method": several(GLOBS.map(str.upper)),
    "account": several(GLOBS),
    "path": several(GLOBS),
    "domain": several(NAME_GLOBS),
    "headers": named(GLOBS | st.none()),
    "query": named(GLOBS | st.none()),
    "body": st.dictionaries(BODY_PATHS, GLOBS | SCALARS, min_size=1, max_size=2),
    "carried_out": st.booleans(),
}
#: Most say one thing alone, so that many requests fit.
MATCHES = (
    st.one_of(*(st.fixed_dictionaries({part: values}) for part, values in PARTS.items()))
    | st.fixed_dictionaries({}, optional=PARTS)
).map(MATCH.read)
PAIRS = st.lists(st.tuples(st.sampled_from(["x", "X", "y"]), WORDS), max_size=3)
REQUESTS = st.builds(
    request,
    operation=WORDS,
    method=WORDS.map(str.upper),
    account=st.none() | WORDS,
    path=WORDS,
    domains=st.lists(NAMES, max_size=2).map(tuple),
    headers=PAIRS,
    query=PAIRS,
    json=st.none() | BODIES,
    carried_out=st.booleans(),
)


@settings(max_examples=tries(150))
@given(st.lists(MATCHES, max_size=20), st.lists(REQUESTS, min_size=1, max_size=6))
def test_every_match_that_a_request_fits_is_found_in_its_order(matches: list[Any], asked: list[Any]) -> None:
    """Whatever the index has been asked before."""
    index = MatchIndex(matches)
    for one in asked:
        found = list(index.possible(one))
        assert found == sorted(set(found))
        assert [place for place in found if matches[place](one)] == [
            place for place, each in enumerate(matches) if each(one)
        ]


SHAPES: dict[str, Any] = {
    "by operation": lambda number: {"operation": "v3.renewDomain"},
    "by operation, with a star": lambda number: {"operation": "v2.*"},
    "by method": lambda number: {"method": ["GET", "DELETE"]},
    "by account": lambda number: {"account": f"a{number}"},
    "by domain": lambda number: {"domain": f"n{number}.com"},
    "by some domains": lambda number: {"domain": [f"n{number}.com", f"m{number}*"]},
    "by the end of a domain": lambda number: {"domain": f"*.n{number}.com"},
    "by the begin of a domain": lambda number: {"domain": f"n{number}*.com"},
    "by what a domain holds": lambda number: {"domain": f"*n{number}?*"},
    "by operation and domain": lambda number: {"operation": "v3.createDomain", "domain": f"n{number}.com"},
    "by a path that all share and a domain": lambda number: {
        "path": "/v3/domains/*",
        "domain": f"n{number}*",
    },
    "by path": lambda number: {"path": f"*/n{number}"},
    "by header": lambda number: {"headers": {"x-run": f"n{number}"}},
    "by the name of a header": lambda number: {"headers": {f"x-{number}": "*"}},
    "by query": lambda number: {"query": {"dry": f"n{number}*"}},
    "by body": lambda number: {"body": {"domain.domainName": f"n{number}.com"}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_none_of_many_matches_is_looked_at_that_a_request_cannot_fit(shape: str) -> None:
    """By whatever part of it, one that fits stands among a thousand others, which cost nothing."""
    matches = [match(**SHAPES[shape](number)) for number in range(1000)]
    matches.insert(500, match(operation="v3.create*", domain="shop.com"))
    assert list(MatchIndex(matches).possible(request())) == [500]


@pytest.mark.parametrize("glob", ["españa.com", "xn--espaa-rta.com", "españ*", "*ña*", "xn--*", "*rta.com"])
def test_a_name_is_found_in_either_of_its_forms(glob: str) -> None:
    """As people write it, and as the registry keeps it."""
    asked = request(domains=("shop.com", "xn--espaa-rta.com"))
    assert list(MatchIndex([match(domain=glob)]).possible(asked)) == [0]


def test_what_is_remembered_stays_bounded_however_many_methods_clients_make_up() -> None:
    """And a method that comes again finds what it found."""
    index = MatchIndex([match(method="m7"), match(method="GET")])
    for number in range(5000):
        assert list(index.possible(request(method=f"m{number}"))) == ([0] if number == 7 else [])
    assert len(index._by_triple) < 1000
    assert list(index.possible(request(method="m7"))) == [0]
