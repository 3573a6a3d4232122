"""Each stage of an order against each v3 operation: as the table of moves says, or without effect."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.lifecycle import MOVES, TIMED, Action
from reseller_sandbox.core.model import Flag, Stage
from reseller_sandbox.v3.interface import V3
from tests.clients import Api, person
from tests.registry import arrange, ask_for, order_of

NAME = "second.com"
D = "/v3/domains"
GLUE = f"{D}/glueRecords/{NAME}"

#: Each operation that acts on a name of the account: how it is called, and as which action it counts.
OPERATIONS: dict[str, tuple[Action, str, str, Any]] = {
    "renewDomain": (Action.RENEW, "POST", f"{D}/renewDomain/{NAME}", None),
    "setNameservers": (
        Action.SET_NAMESERVERS,
        "POST",
        f"{D}/setNameservers/{NAME}",
        {"nameservers": ["ns.a.net"]},
    ),
    "lock": (Action.HOLD, "POST", f"{D}/lock/{NAME}", None),
    "unlock": (Action.RELEASE_HOLD, "POST", f"{D}/unlock/{NAME}", None),
    "lockTransfer": (Action.LOCK_TRANSFER, "POST", f"{D}/lockTransfer/{NAME}", None),
    "unlockTransfer": (Action.UNLOCK_TRANSFER, "POST", f"{D}/unlockTransfer/{NAME}", None),
    "lockUpdate": (Action.LOCK_UPDATE, "POST", f"{D}/lockUpdate/{NAME}", None),
    "unlockUpdate": (Action.UNLOCK_UPDATE, "POST", f"{D}/unlockUpdate/{NAME}", None),
    "enableAutorenew": (Action.SET_AUTORENEW, "POST", f"{D}/enableAutorenew/{NAME}", None),
    "disableAutorenew": (Action.SET_AUTORENEW, "POST", f"{D}/disableAutorenew/{NAME}", None),
    "createGlueRecord": (Action.CHANGE_HOSTS, "POST", GLUE, {"hostname": "ns2", "ips": ["192.0.2.1"]}),
    "updateGlueRecord": (Action.CHANGE_HOSTS, "PUT", f"{GLUE}/ns1", {"ips": ["192.0.2.1"]}),
    "deleteGlueRecord": (Action.CHANGE_HOSTS, "DELETE", f"{GLUE}/ns1", None),
    "listGlueRecords": (Action.READ_HOSTS, "GET", GLUE, None),
    "getGlueRecord": (Action.READ_HOSTS, "GET", f"{GLUE}/ns1", None),
    "setAuthcode": (Action.SET_AUTH_CODE, "POST", f"{D}/setAuthcode/{NAME}", {"authcode": "new-code"}),
    "getAuthcode": (Action.READ_AUTH_CODE, "GET", f"{D}/getAuthcode/{NAME}", None),
    "setContacts": (
        Action.SET_CONTACTS,
        "POST",
        f"{D}/setContacts/{NAME}",
        {"contacts": {"tech-contact": person("T")}},
    ),
    "approveTransfer": (Action.APPROVE_TRANSFER, "POST", f"{D}/approveTransfer/{NAME}", None),
    "rejectTransfer": (Action.REJECT_TRANSFER, "POST", f"{D}/rejectTransfer/{NAME}", None),
}
BY_ACTION = {move.action: move for move in MOVES}
STAGES = [stage for stage in Stage if stage is not Stage.RELEASED]
#: Stages in which a name is held; arriving, it is still another's, and no transfer of it can be decided.
DECISIONS = (Action.APPROVE_TRANSFER, Action.REJECT_TRANSFER)


def at(sandbox: Sandbox, stage: Stage) -> None:
    """Bring the name to a stage."""
    arrange(sandbox, NAME, stage=stage)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_is_possible_at_its_stages(
    sandbox: Sandbox, api: Api, operation: str, stage: Stage
) -> None:
    """It leads where the table says; elsewhere it is refused, and nothing has changed."""
    action, method, target, body = OPERATIONS[operation]
    assert api.post(GLUE, {"hostname": "ns1", "ips": ["192.0.2.9"]}).status == 200
    if action in DECISIONS:
        ask_for(sandbox, NAME)
    at(sandbox, stage)
    before = sandbox.world.state
    held = order_of(sandbox, NAME)

    answer = api.call(method, target, body)

    move = BY_ACTION[action]
    if stage not in move.stages:
        assert answer.error == "wrong_state"
        assert (
            f"{NAME} is at the stage {stage.value}, where {V3.wording.word(action)} is not possible"
            in answer.message
        )
        assert sandbox.world.state is before
        return
    assert answer.status == 200, answer.raw
    if move.target is Stage.RELEASED:
        assert held.id not in sandbox.world.state.orders
    else:
        assert order_of(sandbox, NAME).stage is (move.target or stage)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_pending_transfer_holds_up(sandbox: Sandbox, api: Api, operation: str) -> None:
    """While a name is about to leave, the operations that the table marks have to wait."""
    action, method, target, body = OPERATIONS[operation]
    assert api.post(GLUE, {"hostname": "ns1", "ips": ["192.0.2.9"]}).status == 200
    ask_for(sandbox, NAME)
    before = sandbox.world.state
    answer = api.call(method, target, body)
    if BY_ACTION[action].while_leaving:
        assert answer.status == 200
    else:
        assert answer.error == "transfer_pending"
        assert sandbox.world.state is before


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_flag_forbids(sandbox: Sandbox, api: Api, operation: str) -> None:
    """With every flag of its holder's set, the operations that a flag forbids say which."""
    action, method, target, body = OPERATIONS[operation]
    assert api.post(GLUE, {"hostname": "ns1", "ips": ["192.0.2.9"]}).status == 200
    if action in DECISIONS:
        ask_for(sandbox, NAME)
    arrange(sandbox, NAME, flags=frozenset(Flag) - {Flag.SERVER_HOLD})
    answer = api.call(method, target, body)
    flag = BY_ACTION[action].forbidden_by
    if flag is None:
        assert answer.status == 200
    else:
        assert answer.error == "locked"
        assert flag.value in answer.message


def test_reading_is_possible_at_every_stage(sandbox: Sandbox, api: Api) -> None:
    """getDomain and the list show a name wherever it is in its life."""
    for stage in STAGES:
        at(sandbox, stage)
        assert api.get(f"{D}/getDomain/{NAME}").json["domain"]["domainName"] == NAME
        assert NAME in [one["domainName"] for one in api.get(D).json["domains"]]


def test_the_table_says_what_was_decided() -> None:
    """Renewal of live and overdue names, restore from redemption alone, glue records to be read of any,
    everything else on live names.
    """
    kept = {Stage.ACTIVE, Stage.OVERDUE}
    wider = {
        Action.RENEW: kept,
        Action.RESTORE: {Stage.REDEMPTION},
        Action.DELETE: kept,
        Action.READ_AUTH_CODE: kept,
        Action.TRANSFER_OUT: kept,
        Action.APPROVE_TRANSFER: kept,
        Action.REJECT_TRANSFER: kept,
        Action.CANCEL_TRANSFER: {Stage.ARRIVING},
        Action.READ_HOSTS: set(STAGES),
    }
    assert {move.action: set(move.stages) for move in MOVES} == {
        action: wider.get(action, {Stage.ACTIVE}) for action in Action
    }
    assert {move.action for move in MOVES if not move.while_leaving} == {
        Action.RENEW,
        Action.DELETE,
        Action.LOCK_TRANSFER,
        Action.TRANSFER_OUT,
    }


def test_every_stage_but_the_last_is_left_in_time() -> None:
    """A name goes on by itself until it is released; nothing stays for ever."""
    assert {passage.stage for passage in TIMED} == set(STAGES)
    reached = {Stage.REQUESTED}
    for _ in TIMED:
        reached |= {passage.target for passage in TIMED if passage.stage in reached}
    assert reached == set(Stage) - {Stage.ARRIVING}
