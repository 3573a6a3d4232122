"""Worlds that were kept are as they were: to the byte, and for whatever comes next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from werkzeug.test import create_environ, run_wsgi_app

from reseller_sandbox import Sandbox, replay
from reseller_sandbox.core.state import State, filled
from reseller_sandbox.core.tables import TABLES
from reseller_sandbox.faults.presets import PRESETS
from reseller_sandbox.keeping.states import OWN
from reseller_sandbox.keeping.worlds import opened, save
from reseller_sandbox.limits import Limits
from reseller_sandbox.server.delivery import ENV_SERVED
from tests.clients import Answer
from tests.keeping.reopening import reopened, seen, sent
from tests.registry import REGISTRY
from tests.script import SCRIPT, SCRIPT_V2
from tests.soundness import assert_sound
from tests.thorough import tries

LOADED = """
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
accounts: {main: {balance: 100, contact: {name: Mary Example}}, late: {balance: 1, contact: {name: X}}}
domains: {n1.com: {created: -99d}, n2.com: {created: -364d}}
"""

#: What a step does: for an account, with a method, at a path, with a body.
Step = tuple[str, str, str, Any]

RULES: Sequence[Any] = [
    {"name": "dear", "kind": "rate_limit", "limit": 3, "window": 86400},
    {"name": "odd", "kind": "error", "error": "internal_error", "when": {"chance": 0.5, "phase": "after"}},
    {"name": "twice", "kind": "duplicate", "match": {"operation": "v3.domains.*"}, "when": {"every": 3}},
    {"name": "old", "kind": "stale", "commits": 2, "when": {"nth": [2, 4]}},
    {"name": "other", "kind": "mutate", "path": "results[*].price", "value": {"a": [1.5, None, "x"]}},
    {"name": "cut", "kind": "truncate", "match": {"body": {"domain.domainName": "n*.com"}}},
]
CONTROL: Sequence[tuple[str, str, Any]] = [
    ("POST", "clock/advance", {"by": "12d"}),
    ("POST", "clock/advance", {"by": "200d"}),
    ("POST", "worlds/fork", {}),
    ("POST", "worlds/fork", {"name": "side", "point": "start"}),
    ("POST", "worlds/fork", {"point": "before:LAST"}),
    ("POST", "worlds/fork", {"fixture": "default"}),
    ("DELETE", "worlds/w1", None),
    ("POST", "snapshots", {"name": "one"}),
    ("POST", "snapshots/one/restore", {}),
    ("DELETE", "snapshots/one", None),
    ("POST", "history/rewind", {"request": "LAST"}),
    ("POST", "history/reset", {}),
    ("POST", "history/load", {"fixture": LOADED}),
    ("POST", "branches/b1/switch", {}),
    ("DELETE", "journal", None),
    ("POST", "outside/adjust_balance", {"account": "main", "by": "-5"}),
    ("POST", "outside/register", {"domain": "n1.com"}),
    ("POST", "outside/revoke_credentials", {"account": "other"}),
    ("POST", "outside/register", {"domain": "planned.com", "at": "P3D"}),
    ("POST", "outside/adjust_balance", {"account": "main", "by": "7", "after": {"operation": "v3.*"}}),
    ("POST", "outside/set_promotion", {"zone": "com", "of": "registration", "price": "1", "until": "P40D"}),
    ("POST", "assumptions/set", {"assume": {"requests.unknown_keys": "refused"}}),
    *(("POST", "faults", rule) for rule in RULES),
    *(("POST", "faults", {"preset": name}) for name in PRESETS if name != "slow"),
    ("DELETE", "faults", None),
]
STEPS: Sequence[Step] = [
    *((who, method, target, body) for who, method, target, body in SCRIPT),
    *(("main", method, f"/V2.0/{target}", body) for method, target, body in SCRIPT_V2),
    *(("main", method, f"/_sandbox/{path}", body) for method, path, body in CONTROL),
]
DRAWN = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(STEPS)), max_size=30)


def take(sandbox: Sandbox, steps: Sequence[tuple[int, Step]]) -> list[Answer]:
    """The answers to steps, each in one of the worlds that there are by then."""
    found = []
    for number, (who, method, target, body) in steps:
        worlds = list(sandbox.engine)
        world = worlds[number % len(worlds)]
        last = world.journal.entries[-1].id if len(world.journal) else "r1"
        raw = b"" if body is None else json.dumps(body).replace("LAST", last).encode()
        known = {one.name for one in sandbox.world.state.accounts.values()}
        asks = who if who in known else "main"
        found.append(sent(sandbox, method, f"/_worlds/{world.name}{target}", raw, asks))
    return found


@pytest.mark.slow
@settings(max_examples=tries(4), phases=[Phase.generate])
@given(before=DRAWN, after=DRAWN)
def test_any_worlds_go_on_as_if_nothing_had_been(
    before: list[tuple[int, Step]], after: list[tuple[int, Step]], tmp_path_factory: Any
) -> None:
    """Whatever has been done: all that can be seen is the same, and so is what comes of the same requests."""
    path = tmp_path_factory.mktemp("kept") / "worlds"
    one = Sandbox(REGISTRY)
    take(one, before)
    other = reopened(one, path)
    for world in other.engine:
        for state in (world.state, world.origin.state, *(entry.after.state for entry in world.journal)):
            assert_sound(state)
    assert seen(one) == seen(other)
    assert take(one, after) == take(other, after)
    assert seen(one) == seen(other)


def test_what_is_shared_is_written_once_and_shared_again(tmp_path: Path) -> None:
    """Neither forks nor the moments of a journal make a file as large as many worlds."""
    one = Sandbox(REGISTRY)
    moment = one.world.moment
    order = moment.state.orders[min(moment.state.orders)]
    many = [replace(order, id=9000 + number, name=f"n{number}.com") for number in range(3000)]
    one.world.moment = replace(moment, state=filled(moment.state, many))
    sizes = []
    for forks in (0, 20):
        for _ in range(forks):
            fork = one.fork()
            for number in range(5):
                fork.client().post(f"/v3/domains/lock/n{number}.com")
            fork.clock.advance("1d")
        other = reopened(one, tmp_path / "worlds")
        sizes.append((tmp_path / "worlds").stat().st_size)
    assert sizes[1] - sizes[0] < sizes[0], "twenty forks are larger than what they are forks of"
    default, *forks_again = other.engine
    assert all(fork.first.state.orders is default.state.orders for fork in forks_again)


def test_every_part_of_a_state_is_a_table_an_index_or_its_own() -> None:
    """So that a state written as changed records has all that it had."""
    state = Sandbox(REGISTRY).world.state
    records = [record for table in TABLES.values() for record in getattr(state, table.name).values()]
    own = {name: getattr(state, name) for name in OWN}
    assert filled(State(**own), records) == state


def test_a_request_that_a_fault_holds_back_ends_with_the_server(tmp_path: Path) -> None:
    """It never takes effect; that it came and was struck stays in the past, which can be done again."""
    one = Sandbox(REGISTRY, frozen=False)
    one.faults.add("latency", seconds=9, match={"operation": "v2.domain.zones"})
    held = create_environ("/V2.0/domain/zones", headers={"X-Auth-Token": one.account().token})
    run_wsgi_app(one.app, {**held, ENV_SERVED: True})  # the server is to send it again in nine seconds
    one.snapshot("here")
    other = reopened(one, tmp_path / "worlds")
    assert other.world.clock == one.world.clock
    for again in (other, reopened(other, tmp_path / "later")):
        again.client().get("/v3/domains")
        again.restore("here")
        again.client().get("/v3/domains")
        assert [entry.operation for entry in again.world.journal] == ["v3.listDomains"]
        assert again.world.moment.faults.count("latency").struck == 1
        found = replay(again.capsule.get().content)
        assert found.identical, found.difference


def test_a_shorter_journal_counts_what_it_had_to_drop(tmp_path: Path) -> None:
    """The settings of the new server count."""
    one = Sandbox(REGISTRY)
    for _ in range(5):
        one.client().get("/v3/balance")
    save(tmp_path / "worlds", one.engine.kept())
    world = opened(tmp_path / "worlds").worlds[0].opened(Limits(journal=2))
    assert ([entry.id for entry in world.journal], world.journal.dropped) == (["r4", "r5"], 3)
