"""Export and import: any world is a fixture, and the fixture is the same world again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox, fixture
from reseller_sandbox.core.refusals import Refused
from tests.clients import Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.thorough import tries
from tests.worlds.control import Control, control, enter, inside, money_of, register, renew


def _lived(sandbox: Sandbox) -> None:
    api = inside(sandbox)
    register(api, "exported.com", 3)
    renew(api, "active.com")
    api.post("/v3/domains/lock/active.com")
    sandbox.clock.advance("45d")


def test_a_world_comes_back_from_its_export(sandbox: Sandbox, steer: Control) -> None:
    """Import makes the same state, clock and assumptions; nothing of it is lost or made up."""
    _lived(sandbox)
    sandbox.world.assume(sandbox.world.assumptions.with_values({"v3.ids": "integer"}))
    was = sandbox.world.present()
    text = steer.get("history/export")["fixture"]
    fixture.loads(text)
    register(inside(sandbox), "forgotten.com")
    answer = steer.post("history/load", {"fixture": text})
    now = sandbox.world.moment
    assert now.state == was.state
    assert (now.clock, now.assumptions) == (was.clock, was.assumptions)
    assert sandbox.export() == text
    assert answer["branch"]["last"] == "r4"
    sandbox.branches.switch(answer["branch"]["name"])
    assert inside(sandbox).get("/v3/domains/getDomain/forgotten.com").status == 200


def test_an_export_is_a_fixture_to_start_and_to_fork_from(sandbox: Sandbox, tmp_path: Any) -> None:
    """A file of it starts an equal sandbox; sent as state it makes an equal fork with other credentials."""
    _lived(sandbox)
    file = tmp_path / "exported.yaml"
    file.write_text(sandbox.export(), encoding="utf-8")
    started = Sandbox(file)
    assert started.world.state == sandbox.world.state
    fork = sandbox.fork(state=sandbox.export())
    assert dict(fork.world.state.orders) == dict(sandbox.world.state.orders)
    assert fork.account().key != sandbox.account().key
    assert sandbox.fork(state=file).world.state.orders == fork.world.state.orders


def test_requests_go_on_being_counted(sandbox: Sandbox, steer: Control) -> None:
    """The name of a request that the old world has seen is not given to another one in the new."""
    api = inside(sandbox)
    for _ in range(5):
        api.get("/v3/balance")
    steer.post("history/load", {"fixture": steer.get("history/export")["fixture"]})
    assert inside(sandbox).get("/v3/balance").headers["x-sandbox-request"] == "r6"
    fork = sandbox.fork(state=sandbox.export())
    assert inside(fork).get("/v3/balance").headers["x-sandbox-request"] == "r7"


@pytest.mark.parametrize("per", ["account", "rule"])
def test_the_windows_of_a_rate_limit_come_back(sandbox: Sandbox, steer: Control, per: str) -> None:
    """What has been let through counts after an import as it did before."""
    sandbox.faults.add(name="limit", kind="rate_limit", limit=3, window="1h", per=per)
    assert [inside(sandbox).get("/v3/balance").status for _ in range(2)] == [200, 200]
    text = steer.get("history/export")["fixture"]
    steer.post("history/load", {"fixture": text})
    assert sandbox.export() == text
    assert [inside(sandbox).get("/v3/balance").status for _ in range(2)] == [200, 429]
    sandbox.clock.advance("1h")
    assert inside(sandbox).get("/v3/balance").status == 200


@pytest.mark.parametrize(
    "windows",
    [
        "5",
        "{main: 5}",
        "{main: {began: now}}",
        "{main: {began: never, used: 1}}",
        "{main: {began: now, used: -1}}",
    ],
)
def test_windows_that_are_none(windows: str) -> None:
    """Each mistake has its place."""
    text = f"zones: {{}}\nfaults:\n  f:\n    kind: rate_limit\n    limit: 1\n    windows: {windows}\n"
    with pytest.raises(fixture.FixtureError) as error:
        fixture.loads(text)
    assert ":6:" in str(error.value) or ":3:" in str(error.value), str(error.value)


def test_a_number_of_requests_below_the_ledgers() -> None:
    """It would give the name of a request away a second time."""
    sandbox = Sandbox(REGISTRY)
    register(inside(sandbox), "charged.com")
    with pytest.raises(fixture.FixtureError, match="names the request r1 already, and this is 0"):
        fixture.loads("requests: 0\n" + sandbox.export())


def test_faults_come_back_with_what_they_have_counted(sandbox: Sandbox, steer: Control) -> None:
    """So that chance goes on as it would have, and a rule that is spent stays so."""
    body = {"text": "1", "none": None, "some": [True, Decimal("0.000000125"), 10**20]}
    sandbox.faults.replace(
        [
            {"kind": "error", "status": 500, "body": body, "when": {"chance": 0.5, "until": "2040-01-01"}},
            {"kind": "reset", "name": "once", "when": {"times": 1, "phase": "after"}},
            {"kind": "latency", "median": 0.00001, "match": {"body": {"[0].x": 1}, "method": ["GET", "PUT"]}},
            {"preset": "flaky", "match": {"domain": "flaky.com"}},
        ]
    )
    for _ in range(20):
        with suppress(ConnectionResetError):
            inside(sandbox).get("/v3/balance")
    was, text = sandbox.faults.list(), sandbox.export()
    assert {rule["spent"] for rule in was} == {True, False}
    sandbox.faults.clear()
    steer.post("history/load", {"fixture": text})
    assert (sandbox.faults.list(), sandbox.export()) == (was, text)
    assert sandbox.fork(state=text).faults.list() == was


def test_a_fixture_declares_faults(sandbox: Sandbox, steer: Control) -> None:
    """In the words that there are, with instants that may be relative; they outlive a reset."""
    text = sandbox.export() + (
        "faults:\n"
        "  soon: {kind: close, match: {operation: v3.balance}, when: {from: +1d, until: +2d}}\n"
        "  down: {preset: maintenance, match: {operation: v2.*}}\n"
    )
    fork = sandbox.fork(state=text)
    fork.faults.clear()
    fork.reset()
    assert [rule.name for rule in fork.faults.list()] == ["soon", "down"]
    assert inside(fork).get("/v3/balance").status == 200
    fork.clock.advance("1d")
    with pytest.raises(ConnectionAbortedError):
        inside(fork).get("/v3/balance")
    wrong = text.replace("v3.balance", "v3.balence")
    refused = steer.refused("POST", "history/load", {"fixture": wrong})
    assert refused[:2] == (400, "invalid_fixture")
    assert "match.operation matches no operation; the nearest is v3.balance" in str(refused)


def test_a_fixture_declares_no_more_faults_than_there_may_be() -> None:
    """The limit counts for them too."""
    sandbox = Sandbox(REGISTRY, max_faults=4)
    text = sandbox.export() + "faults: {flaky: {preset: flaky}}\n"
    for take in (sandbox.load, lambda state: sandbox.fork(state=state)):
        with pytest.raises(Refused, match="too_many_faults"):
            take(text)


def test_assumptions_survive_servers_with_other_defaults() -> None:
    """What an export assumes is what its import assumes, whatever the server was told at its start."""
    observed = Sandbox(REGISTRY, profile="observed")
    plain = Sandbox(REGISTRY)
    observed.load(plain.export())
    assert observed.world.assumptions != plain.world.assumptions, "an unsaid assumption is the server's own"
    changed = observed.world.assumptions.with_values({"v3.list.last_page": "with_next"})
    observed.world.assume(changed)
    text = observed.export()
    observed.reset()
    observed.load(text)
    plain.load(text)
    assert observed.world.assumptions == plain.world.assumptions == changed


def test_request_names_go_on_after_an_import(sandbox: Sandbox) -> None:
    """A ledger names the requests of the life before; no later request takes one of their names."""
    api = inside(sandbox)
    register(api, "named.com")
    renew(api, "named.com")
    sandbox.load(sandbox.export())
    assert register(api, "later.com").headers["x-sandbox-request"] == "r3"
    assert {entry.cause for entry in sandbox.ledger.find().entries} >= {"r1", "r2", "r3"}


def test_credentials_of_another_world_are_not_taken_over(sandbox: Sandbox, steer: Control) -> None:
    """A fork that loads another world's export keeps to itself: the credentials there stay the other's."""
    world = steer.post("worlds/fork", {})
    loaded = control(sandbox, "w1").post("history/load", {"fixture": sandbox.export()})
    assert loaded["accounts"] == world["accounts"]
    fork, default = enter(InProcess(sandbox.app), BASE, world), inside(sandbox)
    register(default, "mine.com")
    assert (money_of(default), money_of(fork)) == ("9990.00", "10000.00")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"fixture": "zones: ["}, "invalid_fixture"),
        ({"fixture": "zonez: {}"}, "invalid_fixture"),
        ({"fixture": 5}, "invalid_parameter"),
        ({}, "invalid_parameter"),
        (b"{", "malformed_body"),
    ],
)
def test_a_bad_import_changes_nothing(sandbox: Sandbox, steer: Control, body: Any, error: str) -> None:
    """A mistake is told with its place, and the world is as it was."""
    before = sandbox.world.moment
    assert steer.refused("POST", "history/load", body)[1] == error
    assert sandbox.world.moment is before


def test_reading_a_fixture_twice_reads_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated forks from one fixture share what was read; another ``now`` is another fixture."""
    sandbox, loads = Sandbox(REGISTRY), []
    monkeypatch.setattr(fixture, "load", lambda *args, **kw: loads.append(kw) or _load(*args, **kw))
    first, second = sandbox.fork(fixture="empty"), sandbox.fork(fixture="empty")
    assert first.world.state.zones is second.world.state.zones
    sandbox.fork(fixture="empty", now="2040-01-01")
    assert len(loads) == 2


def test_an_unchanged_world_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks again gets what there is; whatever has changed since is in it, and a fork has its own."""
    sandbox, written = Sandbox(REGISTRY), []
    monkeypatch.setattr(fixture, "dumps", lambda *args, **kw: written.append(kw) or _dumps(*args, **kw))
    texts = [sandbox.export() for _ in range(3)]
    assert (len(set(texts)), len(written)) == (1, 1)
    changes: list[Callable[[], object]] = [
        lambda: register(inside(sandbox), "changed.com"),
        lambda: sandbox.clock.advance("1h"),
        lambda: sandbox.clock.run(),
        lambda: sandbox.assumptions.set({"v3.ids": "integer"}),
        lambda: sandbox.faults.add(name="slow", kind="latency", seconds=0.001),
        lambda: inside(sandbox).get("/v3/balance"),
    ]
    for change in changes:
        change()
        texts.append(sandbox.export())
        assert texts[-1] != texts[-2]
        fixture.loads(texts[-1])
    assert sandbox.fork().export() != texts[-1]


_dumps = fixture.dumps
_load = fixture.load


@settings(max_examples=tries(10))
@given(
    names=st.lists(st.sampled_from(["x.com", "y.net", "z.shop", "bücher.com"]), max_size=4),
    wait=st.integers(0, 900),
    years=st.integers(1, 3),
)
def test_any_world_survives_the_way_through_yaml(names: list[str], wait: int, years: int) -> None:
    """Whatever has happened in it."""
    sandbox = Sandbox(REGISTRY, journal=5)
    api: Api = inside(sandbox)
    for name in names:
        register(api, name, years)
        api.post(f"/v3/domains/enableAutorenew/{name}")
    sandbox.clock.advance(f"{wait}d")
    was = sandbox.world.present()
    sandbox.load(sandbox.export())
    assert sandbox.world.moment.state == was.state
    assert sandbox.world.clock == was.clock
