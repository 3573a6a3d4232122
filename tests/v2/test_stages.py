"""Each stage of an order against each v2.0 operation: done as the table of moves says, or without effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.lifecycle import MOVES, Action
from reseller_sandbox.core.model import Flag, Stage
from tests.registry import Make, arrange, ask_for, order_of, write
from tests.v2 import works
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import Ask

NAME = "served.com"
ONE = f"/domain/{NAME}"
HOST = f"{ONE}/host/ns1"
STATUS = "The status of the order does not allow to perform the operation"
ADDRESS = [{"ip": "192.0.2.9", "type": "v4"}]

#: Each operation that acts on a name of the account: how it is called, and as which action it counts.
OPERATIONS: dict[str, tuple[Action, Ask, str]] = {
    "domain.edit/flags": (Action.SET_FLAGS, Ask("PUT", ONE, {"client_hold": 1}), "Not the correct status"),
    "domain.edit/lock": (
        Action.LOCK_TRANSFER,
        Ask("PUT", ONE, {"client_transfer_prohibited": 1}),
        "Not the correct status",
    ),
    "domain.edit/ns": (
        Action.SET_NAMESERVERS,
        Ask("PUT", ONE, {"ns": {"add": ["ns3.home.net"]}}),
        "Not the correct status",
    ),
    "domain.edit/contacts": (
        Action.SET_CONTACTS,
        Ask("PUT", ONE, {"contact_tech": "SPARE"}),
        "Not the correct status",
    ),
    "domain.delete": (Action.DELETE, Ask("DELETE", ONE), STATUS),
    "domain.renew": (Action.RENEW, Ask("PUT", f"{ONE}/renew"), STATUS),
    "domain.restore": (Action.RESTORE, Ask("PUT", f"{ONE}/restore"), STATUS),
    "transfer.approve": (Action.APPROVE_TRANSFER, Ask("PUT", f"{ONE}/transfer/approve"), STATUS),
    "transfer.reject": (Action.REJECT_TRANSFER, Ask("PUT", f"{ONE}/transfer/reject"), STATUS),
    "host.check": (Action.CHECK_HOST, Ask("GET", f"{HOST}/check"), STATUS),
    "host.create": (Action.CHANGE_HOSTS, Ask("POST", f"{ONE}/host/ns2", {"ip": ADDRESS}), STATUS),
    "host.edit": (Action.CHANGE_HOSTS, Ask("PUT", HOST, {"ip": {"add": ADDRESS}}), STATUS),
    "host.info": (Action.READ_HOSTS, Ask("GET", HOST), STATUS),
    "host.delete": (Action.CHANGE_HOSTS, Ask("DELETE", HOST), STATUS),
}
BY_ACTION = {move.action: move for move in MOVES}
CLIENT_FLAGS = [flag for flag in Flag if flag.startswith("client_")]
STAGES = [stage for stage in Stage if stage is not Stage.RELEASED]
DECISIONS = (Action.APPROVE_TRANSFER, Action.REJECT_TRANSFER)
WORDS = {
    Stage.REQUESTED: "0",
    Stage.PROCESSING: "1",
    Stage.ARRIVING: "1",
    Stage.ACTIVE: "2",
    Stage.OVERDUE: "3",
    Stage.REDEMPTION: "6",
    Stage.PENDING_DELETE: "6",
}


def prepared(sandbox: Sandbox, main: Client, operation: str) -> tuple[Action, Ask, str]:
    """The name with a host below it and, where one is decided about, a transfer under way."""
    action, ask, said = OPERATIONS[operation]
    assert done(main.post(HOST, {"ip": [{"ip": "192.0.2.1", "type": "v4"}]}))
    if action in DECISIONS:
        ask_for(sandbox, NAME)
    if Stage.ACTIVE not in BY_ACTION[action].stages:
        arrange(sandbox, NAME, stage=BY_ACTION[action].stages[0])
    if action is Action.RENEW:
        expiry = order_of(sandbox, NAME).expires.date().isoformat()
        ask = ask.having({"current_expiry_date": expiry, "period": 1})
    return action, ask, said


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_is_possible_at_its_stages(
    sandbox: Sandbox, main: Client, operation: str, stage: Stage
) -> None:
    """It leads where the table says; elsewhere it is refused, and nothing has changed."""
    action, ask, said = prepared(sandbox, main, operation)
    held = arrange(sandbox, NAME, stage=stage)
    if stage is Stage.ARRIVING:  # then another holds it
        write(sandbox, replace(held, due=None))
    before = sandbox.world.state

    answer = ask.send(main)

    move = BY_ACTION[action]
    if stage not in move.stages:
        assert refusal(answer)[1:] == (said, "wrong_state")
        assert sandbox.world.state is before
    else:
        assert done(answer)
        if move.target is Stage.RELEASED:
            assert held.id not in sandbox.world.state.orders
        else:
            assert order_of(sandbox, NAME).stage is (move.target or stage)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_pending_transfer_holds_up(sandbox: Sandbox, main: Client, operation: str) -> None:
    """While a name is about to leave, the operations that the table marks have to wait."""
    action, ask, said = prepared(sandbox, main, operation)
    ask_for(sandbox, NAME)
    before = sandbox.world.state
    answer = ask.send(main)
    if BY_ACTION[action].while_leaving:
        assert done(answer)
    else:
        told = "Not the correct client_transfer_prohibited" if said != STATUS else said
        assert refusal(answer)[1:] == (told, "transfer_pending")
        assert sandbox.world.state is before


@pytest.mark.parametrize("flag", CLIENT_FLAGS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_flag_forbids(sandbox: Sandbox, main: Client, operation: str, flag: Flag) -> None:
    """The table's flag for the action, of which the answer speaks; a switch is never forbidden."""
    action, ask, said = prepared(sandbox, main, operation)
    arrange(sandbox, NAME, flags=frozenset({flag}))
    before = sandbox.world.state
    answer = ask.send(main)
    edit = operation.startswith("domain.edit")
    if flag is BY_ACTION[action].forbidden_by:
        told = "Not the correct client_update_prohibited" if edit else said
        assert refusal(answer)[1:] == (told, "locked")
        assert f"{flag} set, which forbids {action}" in answer.headers["x-sandbox-refusal"]
        assert sandbox.world.state is before
    else:
        assert done(answer)


@pytest.mark.parametrize("stage", STAGES)
def test_reading_is_possible_at_every_stage(sandbox: Sandbox, main: Client, stage: Stage) -> None:
    """Domain info shows the stage in its one of five words."""
    arrange(sandbox, NAME, stage=stage)
    assert done(main.get(ONE))["status"] == WORDS[stage]


@pytest.mark.parametrize("stage", STAGES)
def test_a_name_that_is_held_is_taken(sandbox: Sandbox, main: Client, stage: Stage) -> None:
    """Whatever stage it is in, until it is released."""
    arrange(sandbox, NAME, stage=stage)
    if stage is not Stage.ARRIVING:
        assert done(main.get(f"{ONE}/check"))["avail"] == "false"
    assert refusal(main.post(ONE, works.NAME))[1] == "Domain is already registered"


@pytest.mark.parametrize("flag", CLIENT_FLAGS)
def test_flags_are_set_and_taken_off(sandbox: Sandbox, main: Client, flag: Flag) -> None:
    """1 sets, 0 removes, what is so already stays so, and the others are left alone."""
    rest = frozenset({Flag.HOLD, Flag.RENEW_PROHIBITED}) - {flag}
    arrange(sandbox, NAME, flags=rest)
    for value in (1, 0, 0, 1):
        assert done(main.put(ONE, {flag.value: value}))
        assert order_of(sandbox, NAME).flags == rest | ({flag} if value else set())


@pytest.mark.parametrize(
    ("beside", "action"),
    [
        ({"contact_tech": "SPARE"}, Action.SET_CONTACTS),
        ({"ns": {"add": ["ns3.home.net"]}}, Action.SET_NAMESERVERS),
        ({"ns": {"add": ["not a name"]}}, Action.SET_NAMESERVERS),
    ],
)
def test_updates_are_allowed_again_before_they_are_made(
    sandbox: Sandbox, main: Client, beside: dict[str, Any], action: Action
) -> None:
    """An edit that does both is refused whole, and says which part of it is forbidden."""
    assert done(main.put(ONE, {"client_update_prohibited": 1}))
    before = sandbox.world.state
    for switch in ({"client_update_prohibited": 0}, {"client_update_prohibited": 1}, {"client_hold": 1}):
        answer = main.put(ONE, {**switch, **beside})
        assert refusal(answer) == (400, "Not the correct client_update_prohibited", "locked")
        assert f"forbids {action};" in answer.headers["x-sandbox-refusal"]
        entry = sandbox.world.journal.get(answer.headers["x-sandbox-request"])
        assert entry.refused
        assert entry.refused.facts["action"] == action
    assert sandbox.world.state is before
    assert done(main.put(ONE, {"client_update_prohibited": 0}))


#: Each switch of v2.0 that v3 has too, with v3's words for it on and off.
SWITCHES = {
    "client_hold": ("lock", "unlock"),
    "client_transfer_prohibited": ("lockTransfer", "unlockTransfer"),
    "client_update_prohibited": ("lockUpdate", "unlockUpdate"),
}


@pytest.mark.parametrize("covers", ["updates", "registrant_only"])
@pytest.mark.parametrize("flag", CLIENT_FLAGS)
def test_the_update_lock_leaves_every_switch_in_both_interfaces(make: Make, flag: Flag, covers: str) -> None:
    """One assumption for both: what v3 lets pass v2.0 lets pass, alone or with unlocking."""
    sandbox = make(assume={"v3.update_lock.covers": covers})
    main, v3 = connect(sandbox), sandbox.client()
    for value in (1, 0):
        arrange(sandbox, NAME, flags=frozenset({Flag.UPDATE_PROHIBITED}))
        assert done(main.put(ONE, {flag.value: value}))
        assert (flag in order_of(sandbox, NAME).flags) is bool(value)
        assert done(main.put(ONE, {flag.value: value, "client_update_prohibited": 0}))
        if flag in SWITCHES:
            arrange(sandbox, NAME, flags=frozenset({Flag.UPDATE_PROHIBITED}))
            word = SWITCHES[flag][0 if value else 1]
            assert v3.post(f"/v3/domains/{word}/{NAME}").status_code == 200
            assert (flag in order_of(sandbox, NAME).flags) is bool(value)


@pytest.mark.parametrize("own", [frozenset(), frozenset({Flag.HOLD})])
def test_a_hold_of_the_registry_is_not_ended_by_its_holder(make: Make, own: frozenset[Flag]) -> None:
    """Both interfaces say so, or, where that is assumed, end the holder's own hold alone."""
    sandbox = make()
    main, v3 = connect(sandbox), sandbox.client()
    arrange(sandbox, NAME, flags=own)
    sandbox.outside.hold(NAME)
    before = sandbox.world.state
    answer = main.put(ONE, {"client_hold": 0, "client_delete_prohibited": 1})
    assert refusal(answer) == (400, "Not the correct client_hold", "held_by_registry")
    told = v3.post(f"/v3/domains/unlock/{NAME}")
    assert (told.status_code, told.json["error"]) == (409, "held_by_registry")
    for message in (answer.headers["x-sandbox-refusal"], told.json["message"]):
        assert f"{NAME} stays suspended: its registry holds it (server_hold)" in message
    assert sandbox.world.state is before
    assert done(main.put(ONE, {"client_hold": 1}))
    sandbox.outside.release_hold(NAME)
    assert done(main.put(ONE, {"client_hold": 0}))
    assert v3.get(f"/v3/domains/getDomain/{NAME}").json["status"] == "active"


@pytest.mark.parametrize("own", [frozenset(), frozenset({Flag.HOLD})])
def test_a_hold_of_the_registry_may_outlast_ones_own(make: Make, own: frozenset[Flag]) -> None:
    """Where ``locks.registry_hold`` is accepted, in both interfaces, and the answer names it."""
    sandbox = make(assume={"locks.registry_hold": "accepted"})
    main, v3 = connect(sandbox), sandbox.client()
    flags = own | {Flag.SERVER_HOLD}
    arrange(sandbox, NAME, flags=flags)
    answer = main.put(ONE, {"client_hold": 0})
    assert done(answer)
    assert answer.assumptions["locks.registry_hold"] == "accepted"
    arrange(sandbox, NAME, flags=flags)
    unlocked = v3.post(f"/v3/domains/unlock/{NAME}")
    assert (unlocked.status_code, unlocked.json["status"]) == (200, "suspended")
    assert order_of(sandbox, NAME).flags == {Flag.SERVER_HOLD}


def test_an_edit_that_prohibits_updates_is_carried_out_whole(sandbox: Sandbox, main: Client) -> None:
    """What comes with the prohibition comes before it."""
    body = {"client_update_prohibited": 1, "contact_tech": "SPARE", "ns": {"add": ["ns3.home.net"]}}
    assert done(main.put(ONE, body))
    order = order_of(sandbox, NAME)
    assert order.flags == {Flag.UPDATE_PROHIBITED}
    assert (order.contacts.tech, order.nameservers[-1]) == ("SPARE", "ns3.home.net")


@pytest.mark.parametrize("value", [2, -1, True, "1", 1.0, [1], {"on": 1}, "yes"])
@pytest.mark.parametrize("flag", CLIENT_FLAGS)
def test_a_flag_is_nothing_but_0_or_1(main: Client, flag: Flag, value: Any) -> None:
    """Anything else is told by the flag's name."""
    assert refusal(main.put(ONE, {flag.value: value}))[:2] == (400, f"Not the correct {flag.value}")
