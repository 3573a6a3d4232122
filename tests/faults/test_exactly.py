"""A rule comes back from an exported world exactly as it was, and its name leads to it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.core.state import State
from reseller_sandbox.faults import BadFaults, FaultBook
from reseller_sandbox.faults.reading import given as as_given
from reseller_sandbox.faults.reading import read_rules
from reseller_sandbox.fixture import dumps, loads
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.web.routes import method_of, path_of

FAULTS = "/_sandbox/faults"

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
INSTANTS = st.datetimes(datetime(1980, 1, 1), datetime(2990, 1, 1)).map(
    lambda at: at.replace(microsecond=0, tzinfo=UTC).isoformat()
)
TEXTS = st.text(st.characters() | st.sampled_from("ßŉİǰ*?no: {'\"-#\x00\u2028"), min_size=1, max_size=12)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
SECONDS = st.floats(0, 86400) | st.integers(0, 86400) | st.sampled_from(["PT1H", "90s", "5m"])
GLOBS = TEXTS | st.lists(TEXTS, min_size=1, max_size=3)
NAMED = st.dictionaries(TEXTS, st.none() | TEXTS, min_size=1, max_size=2)
PATHS = st.sampled_from(["a", "a.b", "results[*].status", "a[0]"])


def some(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the parts."""
    return st.fixed_dictionaries({}, optional=parts)


def one(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A rule of a kind, with all of its parts."""
    return st.fixed_dictionaries({"kind": st.just(kind), **parts})


KIND = (
    st.sampled_from(["hang", "reset", "close", "truncate", "garbage", "duplicate", "stale", "drip"]).map(
        lambda kind: {"kind": kind}
    )
    | one("latency", seconds=SECONDS)
    | one("latency", median=SECONDS, sigma=st.floats(0, 5))
    | one("bandwidth", rate=st.integers(1, 10**6))
    | one("garbage", text=TEXTS)
    | one("mutate", path=PATHS, value=JSON.filter(lambda value: value is not None))
    | one("rate_limit", limit=st.integers(0, 99), window=st.floats(0.001, 86400))
    | one("error", status=st.integers(200, 599), body=JSON)
    | one("error", error=TEXTS, facts=st.dictionaries(TEXTS, JSON, max_size=3))
)
MATCH = some(
    operation=GLOBS,
    domain=GLOBS,
    account=GLOBS,
    method=GLOBS,
    path=GLOBS,
    headers=NAMED,
    query=NAMED,
    body=st.dictionaries(PATHS, JSON, min_size=1, max_size=2),
    outcome=GLOBS,
    carried_out=st.booleans(),
    changed=st.booleans(),
    fault=GLOBS,
)
WHEN = some(
    phase=st.sampled_from(["before", "after"]),
    nth=st.lists(st.integers(1, 10**11), min_size=1, max_size=3),
    every=st.integers(1, 10**11),
    times=st.integers(1, 10**11),
    chance=st.floats(0, 1),
    until=INSTANTS,
) | st.fixed_dictionaries({"from": INSTANTS})
RULES = st.tuples(KIND, some(match=MATCH, when=WHEN, paused=st.booleans(), matched=st.integers(0, 99))).map(
    lambda parts: {**parts[0], **parts[1]}
)


@given(RULES)
def test_a_rule_comes_back_exactly(rule: dict[str, Any]) -> None:
    """From JSON and from a fixture: what it matches, when it strikes, what it does, what it has counted."""
    try:
        ((read, counted),) = read_rules([rule], None, now=NOW)
    except BadFaults:
        return
    ((again, _),) = read_rules([{**as_given(read), "name": read.name}], None)
    assert again == read
    book = FaultBook((read,), HashTrieMap({read.name: counted}))
    text = dumps(State(), NOW, book=book)
    loaded = loads(text).faults
    assert (loaded.rules, loaded.count(read.name)) == (book.rules, counted)
    assert dumps(State(), NOW, book=loaded) == text


def test_the_phase_that_a_rule_leaves_open_stays_open(sandbox: Sandbox) -> None:
    """An exported rule says no more than it was told, so another kind may come with another phase."""
    sandbox.faults.add("latency", seconds=1, name="f")
    assert "phase" not in sandbox.export()
    assert sandbox.faults.get("f").when == {"phase": "before"}
    changed = sandbox.faults.change("f", {"kind": "truncate"})
    assert changed.when == {"phase": "after"}
    sandbox.faults.change("f", {"kind": "reset", "when": {"phase": "after"}})
    before = sandbox.world.moment.faults.rules
    again = sandbox.fork()
    again.load(sandbox.export())
    assert again.world.moment.faults.rules == before


def hidden() -> dict[str, set[str]]:
    """Return the paths by name that paths of words hide, each with the words."""
    looks = [one for power in POWERS.values() for one in power.operations() if method_of(one) == "GET"]
    paths = [path_of(one).split("/") for one in looks]
    found: dict[str, set[str]] = {}
    for path, other in product(paths, paths):
        alike = (step == word or step[0] == "{" for step, word in zip(path[1:], other[1:], strict=False))
        if path != other and len(path) == len(other) and all(alike):
            found.setdefault("/".join(path), set()).add(other[-1])
    return found


def test_nothing_is_called_what_its_path_would_be_hidden_by(sandbox: Sandbox) -> None:
    """A rule of that name could not be looked at; requests are called r1, r2, and cannot be in the way."""
    found = hidden()
    assert found == {
        "/_sandbox/faults/{name}": {"kinds", "presets"},
        "/_sandbox/journal/{request}": {"follow"},
    }
    for name in found["/_sandbox/faults/{name}"]:
        for make in (
            lambda name=name: sandbox.faults.add("reset", name=name),
            lambda name=name: sandbox.faults.replace([{"kind": "reset", "name": name}]),
            lambda name=name: sandbox.faults.preset("outage", name=name),
            lambda name=name: sandbox.fork().load(f"faults: {{{name}: {{kind: reset}}}}"),
        ):
            with pytest.raises(Refused, match=f"name cannot be {name}"):
                make()


@pytest.mark.parametrize("letter", ["ß", "ŉ", "ǰ", "İ", "ﬃ", "ΐ", "xn--", "*"])
@pytest.mark.parametrize("part", ["method", "operation", "domain", "account", "path", "fault"])
def test_a_match_that_grows_in_capitals_is_refused_or_matches(
    sandbox: Sandbox, part: str, letter: str
) -> None:
    """Some letters become several in the other case; a glob that gets too long is refused."""
    client = sandbox.client("main")
    for length in (1, 300, 500, 1000):
        match = {part: letter * (length // len(letter) or 1)}
        answers = [
            client.post(FAULTS, json={"kind": "close", "match": match, "when": {"phase": "after"}}),
            client.get("/_sandbox/journal", query_string=match),
        ]
        assert {answer.status_code for answer in answers} in ({200, 201}, {400}), answers[0].json
        if answers[0].status_code == 201:
            again = sandbox.fork()
            again.load(sandbox.export())
            assert again.faults.list() == sandbox.faults.list()
