"""Export and load: the export of any world is a fixture, and the fixture makes the same world again."""

from __future__ import annotations

from pathlib import Path

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.registry import REGISTRY
from tests.worlds.control import Control, holds, inside, register, renew


def test_loading_an_export_restores_the_exported_world(
    sandbox: Sandbox, steer: Control, tmp_path: Path
) -> None:
    api, file = inside(sandbox), tmp_path / "exported.yaml"
    register(api, "exported.com", 3)
    renew(api, "active.com")
    sandbox.clock.advance("45d")
    sandbox.assumptions.set({"v3.ids": "integer"})
    sandbox.snapshot("exported")
    text = steer.get("history/export")["fixture"]
    register(api, "forgotten.com")
    loaded = steer.post("history/load", {"fixture": text})
    assert sandbox.export() == text
    difference = sandbox.diff("snapshot:exported")
    assert (difference.changes, difference.settings) == ((), ())
    file.write_text(text, encoding="utf-8")
    assert Sandbox(file).export() == text
    for state in (text, file):
        with sandbox.fork(state=state) as fork:
            assert fork.names.list() == sandbox.names.list()
            assert fork.accounts["main"].key != sandbox.accounts["main"].key
    sandbox.branches.switch(loaded["branch"]["name"])
    assert holds(api, "forgotten.com")


def test_request_ids_continue_after_a_load(sandbox: Sandbox) -> None:
    """The ledger names requests, so a later request must not take one of their ids."""
    register(inside(sandbox), "named.com")
    renew(inside(sandbox), "named.com")
    sandbox.load(sandbox.export())
    assert register(inside(sandbox), "later.com").headers["x-sandbox-request"] == "r3"
    assert {entry.cause for entry in sandbox.ledger.list().entries} >= {"r1", "r2", "r3"}
    fork = sandbox.fork(state=sandbox.export())
    assert inside(fork).get("/v3/balance").headers["x-sandbox-request"] == "r4"
    with pytest.raises(Refused, match="the ledger names the request r3"):
        sandbox.load("requests: 0\n" + sandbox.export().replace("requests: 3\n", ""))


def test_an_export_keeps_the_windows_of_a_rate_limit(sandbox: Sandbox) -> None:
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
    fault = "zones: {}\nfaults:\n  f:\n    kind: rate_limit\n    limit: 1\n    windows: "
    for window in ("{began: now}", "{began: never, used: 1}", "{began: now, used: -1}", "5"):
        with pytest.raises(Refused, match=r":[36]:"):
            sandbox.load(f"{fault}{{main: {window}}}")


def test_a_fixture_can_declare_fault_rules(sandbox: Sandbox, steer: Control) -> None:
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
    assert "did you mean v3.balance" in message


def test_a_loaded_export_overrides_the_assumptions_of_the_server() -> None:
    observed, plain = Sandbox(REGISTRY, profile="observed"), Sandbox(REGISTRY)
    observed.load(plain.export())
    assert observed.assumptions.list() != plain.assumptions.list()
    observed.assumptions.set({"v3.list.last_page": "with_next"})
    text, assumed = observed.export(), {row.name: row.value for row in observed.assumptions}
    observed.reset()
    for sandbox in (observed, plain):
        sandbox.load(text)
        assert {row.name: row.value for row in sandbox.assumptions} == assumed


def test_each_export_has_the_latest_change(sandbox: Sandbox) -> None:
    """The export of an unchanged world is remembered."""
    texts = [sandbox.export(), sandbox.export()]
    assert len(set(texts)) == 1
    for change in (
        lambda: register(inside(sandbox), "changed.com"),
        lambda: sandbox.clock.advance("1h"),
        lambda: sandbox.clock.run(),
        lambda: sandbox.assumptions.set({"v3.ids": "integer"}),
        lambda: sandbox.faults.add(name="slow", kind="latency", seconds=0.001),
        lambda: inside(sandbox).get("/v3/balance"),
    ):
        change()
        texts.append(sandbox.export())
        assert texts[-1] != texts[-2]
    assert sandbox.fork().export() != texts[-1]
