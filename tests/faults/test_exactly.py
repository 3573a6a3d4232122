"""A rule comes back from an exported world exactly, and its name is a path to it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox

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


@pytest.fixture(scope="module")
def world() -> Sandbox:
    return Sandbox("empty")


@given(RULES)
def test_a_rule_comes_back_exactly_from_an_export(world: Sandbox, rule: dict[str, Any]) -> None:
    """Its match, its conditions, its parameters and its counts."""
    try:
        world.faults.replace([rule])
    except Refused:
        return
    listed, text = world.faults.list(), world.export()
    world.faults.clear()
    world.load(text)
    assert (world.faults.list(), world.export()) == (listed, text)
    world.faults.replace([dict(rule) for rule in listed])
    assert (world.faults.list(), world.export()) == (listed, text)


def test_the_phase_that_a_rule_leaves_open_stays_open(sandbox: Sandbox) -> None:
    """So a change to another kind brings the phase of that kind."""
    sandbox.faults.add("latency", seconds=1, name="f")
    assert "phase" not in sandbox.export()
    assert sandbox.faults.get("f").when == {"phase": "before"}
    assert sandbox.faults.change("f", {"kind": "truncate"}).when == {"phase": "after"}
    sandbox.faults.change("f", {"kind": "reset", "when": {"phase": "after"}})
    with sandbox.fork() as again:
        again.load(sandbox.export())
        assert again.faults.list() == sandbox.faults.list()


def test_a_rule_cannot_have_the_name_of_another_path(sandbox: Sandbox) -> None:
    """Such a rule could not be read over HTTP."""
    for name in ("kinds", "presets"):
        for make in (
            lambda: sandbox.faults.add("reset", name=name),
            lambda: sandbox.faults.replace([{"kind": "reset", "name": name}]),
            lambda: sandbox.faults.preset("outage", name=name),
            lambda: sandbox.fork().load(f"faults: {{{name}: {{kind: reset}}}}"),
        ):
            with pytest.raises(Refused, match=f"name cannot be {name}"):
                make()


def test_a_match_that_grows_in_capitals_is_refused_or_matches(sandbox: Sandbox, subtests) -> None:
    """Some letters become several in the other case. A glob that gets too long is refused."""
    client = sandbox.client("main")
    parts = cycle(("method", "operation", "domain", "account", "path", "fault"))
    for letter in ("ß", "ŉ", "ǰ", "İ", "ﬃ", "ΐ", "xn--", "*"):
        for length, part in zip((1, 300, 500, 1000), parts, strict=False):
            with subtests.test(part, letter=letter, length=length):
                match = {part: letter * (length // len(letter) or 1)}
                rule = {"kind": "close", "match": match, "when": {"phase": "after"}}
                answers = [
                    client.post("/_sandbox/faults", json=rule),
                    client.get("/_sandbox/journal", query_string=match),
                ]
                statuses = [answer.status_code for answer in answers]
                assert statuses in ([201, 200], [400, 400]), answers[0].json
        with sandbox.fork() as again:
            again.load(sandbox.export())
            assert again.faults.list() == sandbox.faults.list()
