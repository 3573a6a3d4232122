"""Export and load: the export of any world is a fixture, and the fixture makes the same world again."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from tests.clients import InProcess
from tests.registry import BASE, REGISTRY
from tests.thorough import tries
from tests.worlds.control import Control, control, enter, holds, inside, money_of, register, renew, whole


def lived(sandbox: Sandbox) -> None:
    """Let the world have a past."""
    api = inside(sandbox)
    register(api, "exported.com", 3)
    renew(api, "active.com")
    api.post("/v3/domains/lock/active.com")
    sandbox.clock.advance("45d")


def test_load_brings_back_the_exported_world(sandbox: Sandbox, steer: Control) -> None:
    lived(sandbox)
    sandbox.assumptions.set({"v3.ids": "integer"})
    sandbox.snapshot("exported")
    text = steer.get("history/export")["fixture"]
    register(inside(sandbox), "forgotten.com")
    loaded = steer.post("history/load", {"fixture": text})
    assert sandbox.export() == text
    difference = sandbox.diff("snapshot:exported")
    assert (difference.changes, difference.settings) == ((), ())
    assert loaded["branch"]["last"] == "r4"
    sandbox.branches.switch(loaded["branch"]["name"])
    assert holds(inside(sandbox), "forgotten.com")


def test_an_export_starts_a_sandbox_and_a_fork(sandbox: Sandbox, tmp_path: Path) -> None:
    lived(sandbox)
    file = tmp_path / "exported.yaml"
    file.write_text(sandbox.export(), encoding="utf-8")
    assert Sandbox(file).export() == sandbox.export()
    for state in (sandbox.export(), file):
        with sandbox.fork(state=state) as fork:
            assert fork.names.list() == sandbox.names.list()
            assert fork.account().key != sandbox.account().key


def test_request_ids_go_on_after_a_load(sandbox: Sandbox) -> None:
    """The ledger names requests, so a later request must not take one of their ids."""
    register(inside(sandbox), "named.com")
    renew(inside(sandbox), "named.com")
    sandbox.load(sandbox.export())
    assert register(inside(sandbox), "later.com").headers["x-sandbox-request"] == "r3"
    assert {entry.cause for entry in sandbox.ledger.find().entries} >= {"r1", "r2", "r3"}
    fork = sandbox.fork(state=sandbox.export())
    assert inside(fork).get("/v3/balance").headers["x-sandbox-request"] == "r4"
    with pytest.raises(Refused, match="the ledger names the request r3 already"):
        sandbox.load("requests: 0\n" + sandbox.export().replace("requests: 3\n", ""))


def test_the_windows_of_a_rate_limit_come_back(sandbox: Sandbox) -> None:
    for per in ("account", "rule"):
        sandbox.reset(original=True)
        sandbox.faults.add(name="limit", kind="rate_limit", limit=3, window="1h", per=per)
        assert [inside(sandbox).get("/v3/balance").status for _ in range(2)] == [200, 200]
        text = sandbox.export()
        sandbox.load(text)
        assert sandbox.export() == text
        assert [inside(sandbox).get("/v3/balance").status for _ in range(2)] == [200, 429]
        sandbox.clock.advance("1h")
        assert inside(sandbox).get("/v3/balance").status == 200


def test_invalid_windows_are_refused_with_their_line(sandbox: Sandbox) -> None:
    fault = "zones: {}\nfaults:\n  f:\n    kind: rate_limit\n    limit: 1\n    windows: "
    wrong = ["{began: now}", "{began: never, used: 1}", "{began: now, used: -1}", "5"]
    for windows in ("5", *(f"{{main: {one}}}" for one in wrong)):
        with pytest.raises(Refused, match=r":[36]:"):
            sandbox.load(fault + windows)


def test_faults_come_back_with_their_counters(sandbox: Sandbox) -> None:
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
    rules, text = sandbox.faults.list(), sandbox.export()
    assert {rule["spent"] for rule in rules} == {True, False}
    sandbox.faults.clear()
    sandbox.load(text)
    assert (sandbox.faults.list(), sandbox.export()) == (rules, text)
    assert sandbox.fork(state=text).faults.list() == rules


def test_a_fixture_declares_faults(sandbox: Sandbox, steer: Control) -> None:
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
    wrong = {"fixture": text.replace("v3.balance", "v3.balence")}
    status, error, message = steer.refused("POST", "history/load", wrong)
    assert (status, error) == (400, "invalid_fixture")
    assert "the nearest is v3.balance" in message


def test_the_limit_of_faults_holds_for_a_fixture() -> None:
    sandbox = Sandbox(REGISTRY, max_faults=4)
    text = sandbox.export() + "faults: {flaky: {preset: flaky}}\n"
    for take in (sandbox.load, lambda state: sandbox.fork(state=state)):
        with pytest.raises(Refused, match="too_many_faults"):
            take(text)


def test_an_export_overrides_the_assumptions_of_the_server() -> None:
    observed, plain = Sandbox(REGISTRY, profile="observed"), Sandbox(REGISTRY)
    observed.load(plain.export())
    assert observed.assumptions.list() != plain.assumptions.list()
    observed.assumptions.set({"v3.list.last_page": "with_next"})
    text, assumed = observed.export(), observed.assumptions.list()
    observed.reset()
    for sandbox in (observed, plain):
        sandbox.load(text)
        assert {row.name: row.value for row in sandbox.assumptions} == {
            row.name: row.value for row in assumed.assumptions
        }


def test_a_fork_cannot_load_the_credentials_of_another_world(sandbox: Sandbox, steer: Control) -> None:
    world = steer.post("worlds/fork", {})
    loaded = control(sandbox, "w1").post("history/load", {"fixture": sandbox.export()})
    assert loaded["accounts"] == world["accounts"]
    fork, default = enter(InProcess(sandbox.app), BASE, world), inside(sandbox)
    register(default, "mine.com")
    assert (money_of(default), money_of(fork)) == ("9990.00", "10000.00")


def test_a_refused_load_changes_nothing(sandbox: Sandbox, steer: Control) -> None:
    wrong: list[tuple[Any, str]] = [
        ({"fixture": "zones: ["}, "invalid_fixture"),
        ({"fixture": "zonez: {}"}, "invalid_fixture"),
        ({"fixture": 5}, "invalid_parameter"),
        ({}, "invalid_parameter"),
        (b"{", "malformed_body"),
    ]
    before = whole(sandbox)
    for body, error in wrong:
        assert steer.refused("POST", "history/load", body)[1] == error
    assert whole(sandbox) == before


def test_each_export_has_the_latest_change(sandbox: Sandbox) -> None:
    texts = [sandbox.export(), sandbox.export()]
    assert len(set(texts)) == 1
    changes = [
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
    assert sandbox.fork().export() != texts[-1]


@settings(max_examples=tries(8))
@given(
    names=st.lists(st.sampled_from(["x.com", "y.net", "z.shop", "bücher.com"]), max_size=4),
    wait=st.integers(0, 900),
    years=st.integers(1, 3),
)
def test_any_world_comes_back_from_its_export(names: list[str], wait: int, years: int) -> None:
    sandbox = Sandbox(REGISTRY, journal=5)
    api = inside(sandbox)
    for name in names:
        register(api, name, years)
        api.post(f"/v3/domains/enableAutorenew/{name}")
    sandbox.clock.advance(f"{wait}d")
    sandbox.snapshot("before")
    text, due = sandbox.export(), sandbox.clock.advance("2y", dry_run=True).fired
    sandbox.load(text)
    assert sandbox.export() == text
    assert sandbox.clock.advance("2y", dry_run=True).fired == due
    difference = sandbox.diff("snapshot:before")
    assert (difference.changes, difference.settings) == ((), ())
