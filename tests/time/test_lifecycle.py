"""The tables of the lifecycle run: the clock does what a row says, and a fixture can permit otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main as command
from reseller_sandbox.core import lifecycle
from reseller_sandbox.core.actions import Action
from reseller_sandbox.core.lifecycle import MOVES, Passage, Period
from reseller_sandbox.core.model import Stage
from reseller_sandbox.diagram import mermaid
from reseller_sandbox.fixture import dumps, loads
from reseller_sandbox.worlds.explain import explain
from tests.registry import REGISTRY, arrange, ask_for, connect, order_of
from tests.v2 import test_stages as v2_stages
from tests.v2.client import connect as connect_v2
from tests.v3 import test_stages as v3_stages
from tests.v3.test_stages import STAGES

Run = Callable[..., Sandbox]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Makes a sandbox whose table of what time does has other rows in the place of those of some events."""

    def make(instead: dict[tuple[str, Stage], Passage], *more: Passage) -> Sandbox:
        rows = [instead.get((row.event, row.stage), row) for row in lifecycle.TIMED]
        monkeypatch.setattr(lifecycle, "TIMED", (*rows, *more))
        monkeypatch.setattr(lifecycle, "_BY_STAGE", lifecycle.by_stage((*rows, *more)))
        return Sandbox(REGISTRY)

    return make


def row(event: str, stage: Stage) -> Passage:
    """The row of an event."""
    [found] = [one for one in lifecycle.TIMED if (one.event, one.stage) == (event, stage)]
    return found


def until(sandbox: Sandbox, name: str, event: str) -> Any:
    """Go on until ``event`` befalls ``name``; answers it."""
    moved = sandbox.clock.advance("P400D")
    return next(one for one in moved.fired if (one.event, one.subject) == (event, name))


def renewing(sandbox: Sandbox) -> datetime:
    """Have ``second.com`` renew itself when it expires; answers when that is."""
    assert connect(sandbox).post("/v3/domains/enableAutorenew/second.com").status == 200
    return order_of(sandbox, "second.com").expires


def test_a_row_says_for_how_many_years_a_name_renews_itself_and_so_what_that_costs(run: Run) -> None:
    """Two years where the row says two, at the price of two."""
    usual = row("automatic renewal", Stage.ACTIVE)
    once, twice = Sandbox(REGISTRY), None
    expired = renewing(once)
    charged = until(once, "second.com", usual.event).charged
    twice = run({(usual.event, Stage.ACTIVE): replace(usual, years=2)})
    renewing(twice)
    assert until(twice, "second.com", usual.event).charged == 2 * charged
    assert order_of(twice, "second.com").expires == expired.replace(year=expired.year + 2)


def test_a_row_says_where_a_stage_leads(run: Run) -> None:
    """An overdue name is deleted without redemption, and one in redemption is released at once."""
    redemption, deletion = row("redemption", Stage.OVERDUE), row("pending delete", Stage.REDEMPTION)
    sandbox = run(
        {
            ("redemption", Stage.OVERDUE): replace(redemption, target=Stage.PENDING_DELETE, event="removal"),
            ("pending delete", Stage.REDEMPTION): replace(deletion, target=Stage.RELEASED),
        }
    )
    fired = [(one.event, one.subject) for one in sandbox.clock.advance("P60D").fired]
    assert [event for event, name in fired if name == "overdue.com"] == ["removal", "release"]
    assert [event for event, name in fired if name == "redemption.com"] == ["pending delete"]
    assert "redemption.com" not in sandbox.world.state.holding_order


def test_a_row_says_when_a_stage_ends(run: Run) -> None:
    """Of two rows the one whose period ends first takes place, whichever stands first."""
    soon = Period("three hours", lambda since, *_: since + timedelta(hours=3))
    sandbox = run({}, Passage(Stage.OVERDUE, Stage.RELEASED, "swept", soon, ends_transfer=True))
    assert connect(sandbox).post("/v3/domains/disableAutorenew/second.com").status == 200
    expires = order_of(sandbox, "second.com").expires
    assert until(sandbox, "second.com", "swept").at == expires + timedelta(hours=3)


def test_a_row_says_whether_it_ends_a_transfer(run: Run) -> None:
    """A transfer under way when a name expires goes on, unless the row of the expiry says otherwise."""
    usual = row("expiry", Stage.ACTIVE)
    for marked in (False, True):
        sandbox = run({("expiry", Stage.ACTIVE): replace(usual, ends_transfer=marked)})
        expires = order_of(sandbox, "second.com").expires
        sandbox.clock.set(expires - timedelta(days=1))
        ask_for(sandbox, "second.com")
        fired = [one.event for one in sandbox.clock.advance("P2D").fired if one.subject == "second.com"]
        assert fired == (["transfer cancelled", "expiry"] if marked else ["expiry"])


def test_how_long_a_transfer_takes_is_its_row(run: Run) -> None:
    """One that takes an hour is over in an hour."""
    usual = row("transfer completion", Stage.ARRIVING)
    hour = Period("an hour", lambda since, *_: since + timedelta(hours=1))
    sandbox = run({(usual.event, Stage.ARRIVING): replace(usual, period=hour)})
    begun = sandbox.clock.now
    sandbox.outside.request_transfer(domain="second.com")
    assert until(sandbox, "second.com", usual.event).at == begun + timedelta(hours=1)


def test_something_always_takes_place() -> None:
    """The last row of each stage asks for nothing, so that nothing stays due for ever."""
    for stage in STAGES:
        assert not lifecycle.passages(stage)[-1].years


# What a fixture permits


@pytest.fixture
def permitting(tmp_path: Path) -> Callable[[Stage, set[Action]], Sandbox]:
    """Makes a sandbox whose fixture permits just those actions at a stage."""

    def make(stage: Stage, actions: set[Action], registry: Path = REGISTRY) -> Sandbox:
        keys = ", ".join(sorted(action.key for action in actions))
        file = tmp_path / "registry.yaml"
        file.write_text(f"{registry.read_text('utf-8')}\nlifecycle:\n  {stage}: [{keys}]\n", "utf-8")
        return Sandbox(file)

    return make


V2_REGISTRY = Path(v2_stages.__file__).with_name("registry.yaml")
HELD = [stage for stage in STAGES if stage is not Stage.ARRIVING]
V3 = {action: name for name, (action, *_) in v3_stages.OPERATIONS.items()}
V2 = {action: name for name, (action, *_) in v2_stages.OPERATIONS.items()}


@pytest.mark.parametrize("stage", HELD)
@pytest.mark.parametrize("action", V3)
def test_v3_follows_what_a_fixture_permits(permitting: Any, action: Action, stage: Stage) -> None:
    """What is permitted is possible at any stage, and refused where it alone is not."""
    for permitted in (set(Action), set(Action) - {action}):
        sandbox = permitting(stage, permitted)
        api = connect(sandbox)
        api.post(v3_stages.GLUE, {"hostname": "ns1", "ips": ["192.0.2.9"]})
        if action in v3_stages.DECISIONS:
            ask_for(sandbox, v3_stages.NAME)
        arrange(sandbox, v3_stages.NAME, stage=stage)
        _, method, target, body = v3_stages.OPERATIONS[V3[action]]
        answer = api.call(method, target, body)
        if action in permitted:
            assert answer.error != "wrong_state", answer.raw
        else:
            assert answer.error == "wrong_state"
            assert "possible there: " in answer.message


@pytest.mark.parametrize("stage", HELD)
@pytest.mark.parametrize("action", V2)
def test_v2_follows_what_a_fixture_permits(permitting: Any, action: Action, stage: Stage) -> None:
    """As v3 does; an edit asks for each of the things it does."""
    for permitted in (set(Action), set(Action) - {action}):
        sandbox = permitting(stage, permitted, V2_REGISTRY)
        main = connect_v2(sandbox)
        main.post(v2_stages.HOST, {"ip": [{"ip": "192.0.2.1", "type": "v4"}]})
        if action in v2_stages.DECISIONS:
            ask_for(sandbox, v2_stages.NAME)
        held = arrange(sandbox, v2_stages.NAME, stage=stage)
        ask = v2_stages.OPERATIONS[V2[action]][1]
        if action is Action.RENEW:
            ask = ask.having({"current_expiry_date": held.expires.date().isoformat(), "period": 1})
        told = ask.send(main).headers.get("x-sandbox-refusal", "")
        assert told.startswith("wrong_state: ") is (action not in permitted), told


@pytest.mark.parametrize(
    ("action", "change"),
    [
        (Action.HOLD, {"client_hold": 1}),
        (Action.LOCK_TRANSFER, {"client_transfer_prohibited": 1}),
        (Action.LOCK_UPDATE, {"client_update_prohibited": 1}),
    ],
)
def test_one_action_has_two_sides(permitting: Any, action: Action, change: dict[str, int]) -> None:
    """What v3 may not switch, v2.0 may not either, and each is told so in its own words."""
    sandbox = permitting(Stage.ACTIVE, set(Action) - {action}, V2_REGISTRY)
    [(key, _)] = change.items()
    told = connect_v2(sandbox).put(f"/domain/{v2_stages.NAME}", change).headers["x-sandbox-refusal"]
    assert f"where {key} 1 is not possible" in told
    assert connect(sandbox).post(f"/v3/domains/{V3[action]}/{v2_stages.NAME}").error == "wrong_state"


def test_explanations_follow_what_a_fixture_permits(permitting: Any) -> None:
    """Where a registry restores in the pending delete, that is the way back; nothing else is named."""
    sandbox = permitting(Stage.PENDING_DELETE, {Action.RESTORE})
    answer = connect_v2(sandbox).put(
        "/domain/pending.com/renew", {"current_expiry_date": "2025-12-22", "period": 1}
    )
    assert answer.headers["x-sandbox-refusal"].endswith("possible there: restore.")
    explanation = explain(sandbox.world.journal.entries[-1])
    assert explanation is not None
    assert explanation.allowed.words == "ask for its restore first, which makes it active"


def test_the_picture_follows_what_a_fixture_permits(permitting: Any, tmp_path: Path) -> None:
    """``reseller-sandbox lifecycle --fixture`` draws what that fixture permits."""
    sandbox = permitting(Stage.PENDING_DELETE, {Action.RESTORE})
    printed = CliRunner().invoke(command, ["lifecycle", "--fixture", str(tmp_path / "registry.yaml")]).output
    assert printed == mermaid(sandbox.world.state) + "\n"
    assert "    pending_delete --> active: restore\n" in printed
    assert "note right of pending_delete" not in printed
    assert CliRunner().invoke(command, ["lifecycle"]).output == mermaid() + "\n"
    wrong = CliRunner().invoke(command, ["lifecycle", "--fixture", "nowhere"])
    assert (wrong.exit_code, "there is no such fixture" in wrong.output) == (2, True)


def test_what_a_fixture_permits_comes_back_from_an_export() -> None:
    """Other stages stay as they are; an empty list permits nothing."""
    text = "lifecycle: {overdue: [read_hosts, renew], active: []}\n"
    state = loads(text).state
    assert dict(state.permits) == {Stage.OVERDUE: (Action.RENEW, Action.READ_HOSTS), Stage.ACTIVE: ()}
    again = loads(dumps(state, loads(text).now)).state
    assert again.permits == state.permits
    for move in MOVES:
        assert lifecycle.permits(again, Stage.REDEMPTION, move.action) is (Stage.REDEMPTION in move.stages)
        assert not lifecycle.permits(again, Stage.ACTIVE, move.action)
