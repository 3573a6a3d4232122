"""Each stage of an order against each v2.0 operation: possible there, or refused without effect."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.registry import Make, contents, edit, edit_name
from tests.v2 import works
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import Ask

NAME = "served.com"
ONE = f"/domain/{NAME}"
HOST = f"{ONE}/host/ns1"
STATUS = "The status of the order does not allow to perform the operation"
EDIT = "Not the correct status"
ADDRESS = [{"ip": "192.0.2.9", "type": "v4"}]

#: Each operation on a name of the account: the words for it in a refusal, the request, the message if the
#: stage does not allow it.
OPERATIONS: dict[str, tuple[str, Ask, str]] = {
    "domain.edit/flags": ("setting a status", Ask("PUT", ONE, {"client_hold": 0}), EDIT),
    "domain.edit/lock": (
        "locking against transfer", Ask("PUT", ONE, {"client_transfer_prohibited": 1}), EDIT),
    "domain.edit/ns": ("changing name servers", Ask("PUT", ONE, {"ns": {"add": ["ns3.home.net"]}}), EDIT),
    "domain.edit/contacts": ("changing contacts", Ask("PUT", ONE, {"contact_tech": "SPARE"}), EDIT),
    "domain.delete": ("delete", Ask("DELETE", ONE), STATUS),
    "domain.renew": ("renewal", Ask("PUT", f"{ONE}/renew"), STATUS),
    "domain.restore": ("restore", Ask("PUT", f"{ONE}/restore"), STATUS),
    "transfer.approve": ("approving a transfer", Ask("PUT", f"{ONE}/transfer/approve"), STATUS),
    "transfer.reject": ("rejecting a transfer", Ask("PUT", f"{ONE}/transfer/reject"), STATUS),
    "host.check": ("checking for a glue record", Ask("GET", f"{HOST}/check"), STATUS),
    "host.create": ("changing glue records", Ask("POST", f"{ONE}/host/ns2", {"ip": ADDRESS}), STATUS),
    "host.edit": ("changing glue records", Ask("PUT", HOST, {"ip": {"add": ADDRESS}}), STATUS),
    "host.info": ("reading glue records", Ask("GET", HOST), STATUS),
    "host.delete": ("changing glue records", Ask("DELETE", HOST), STATUS),
}  # fmt: skip
DECISIONS = ("approving a transfer", "rejecting a transfer")
#: The status that domain info shows at a stage, and a name of the registry that is there.
STAGES = {
    "requested": ("0", "requested.com"),
    "processing": ("1", "processing.com"),
    "arriving": ("1", "arriving.com"),
    "active": ("2", NAME),
    "overdue": ("3", "overdue.com"),
    "redemption": ("6", "removed.com"),
    "pending_delete": ("6", "pending.com"),
}
#: Where an operation is possible, if not only at ``active``.
POSSIBLE = {
    **dict.fromkeys(
        ("domain.delete", "domain.renew", "transfer.approve", "transfer.reject"), ("active", "overdue")
    ),
    "domain.restore": ("redemption",),
    "host.info": tuple(STAGES),
}
#: The flag that forbids an operation.
FORBIDDEN_BY = {
    "domain.renew": "client_renew_prohibited",
    "domain.delete": "client_delete_prohibited",
    **dict.fromkeys(
        ("domain.edit/ns", "domain.edit/contacts", "host.create", "host.edit", "host.delete"),
        "client_update_prohibited",
    ),
}
FLAGS = tuple(f"client_{word}_prohibited" for word in ("transfer", "update", "delete", "renew"))
CLIENT_FLAGS = ("client_hold", *FLAGS)


def leave(sandbox: Sandbox, name: str = NAME) -> None:
    """Have a transfer of a name to another registrar pending."""
    edit(sandbox, {"transfers": {name: {"to": "other", "requested": "-1d"}}})


def ask_about(sandbox: Sandbox, operation: str, name: str) -> Ask:
    """Return the request of an operation about a name; a renewal has its present expiry."""
    ask = OPERATIONS[operation][1]
    ask = ask.at(ask.path.replace(NAME, name))
    if operation == "domain.renew":
        expires = sandbox.names.get(name, account="main").expires.date().isoformat()
        ask = ask.having({"current_expiry_date": expires, "period": 1})
    return ask


@pytest.mark.parametrize("stage", STAGES)
def test_an_operation_is_possible_at_its_stages_alone(
    make: Make, stage: str, subtests: pytest.Subtests
) -> None:
    sandbox, leaving = make(), make()
    status, name = STAGES[stage]
    for world in (sandbox, leaving):
        section = "taken" if stage == "arriving" else "domains"
        edit(world, {section: {name: {"hosts": {"ns1": ["192.0.2.1"]}}}})
        if world is leaving and stage in ("active", "overdue"):
            leave(world, name)
    assert done(connect(sandbox).get(f"/domain/{name}"))["status"] == status
    assert done(connect(sandbox).get(f"/domain/{name}/check"))["avail"] == "false"
    assert refusal(connect(sandbox).post(f"/domain/{name}", works.NAME))[1] == "Domain is already registered"
    for operation, (words, _, message) in OPERATIONS.items():
        with subtests.test(operation=operation):
            world = leaving if words in DECISIONS else sandbox
            world.reset()
            before = contents(world)
            answer = ask_about(world, operation, name).send(connect(world))
            if stage in POSSIBLE.get(operation, ("active",)):
                assert done(answer)
                if operation in ("domain.renew", "domain.restore"):
                    assert world.names[name].stage == "active"
                elif operation == "domain.delete":
                    assert world.names[name].stage == "redemption"
            else:
                rules = ("wrong_state", "no_transfer") if words in DECISIONS else ("wrong_state",)
                assert refusal(answer)[1] == message
                assert refusal(answer)[2] in rules
                assert contents(world) == before


def test_a_pending_transfer_blocks_renewal_deletion_and_the_transfer_lock(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    edit(sandbox, {"domains": {NAME: {"hosts": {"ns1": ["192.0.2.1"]}}}})
    leave(sandbox)
    for operation, (_, _, message) in OPERATIONS.items():
        with subtests.test(operation=operation):
            if operation == "domain.restore":
                continue
            sandbox.reset()
            before = contents(sandbox)
            answer = ask_about(sandbox, operation, NAME).send(connect(sandbox))
            if operation in ("domain.edit/lock", "domain.delete", "domain.renew"):
                lock = "Not the correct client_transfer_prohibited"
                assert refusal(answer)[1:] == (lock if message == EDIT else message, "transfer_pending")
                assert contents(sandbox) == before
            else:
                assert done(answer)


@pytest.mark.parametrize("flag", CLIENT_FLAGS)
def test_a_flag_forbids_its_operations_and_is_named(
    sandbox: Sandbox, flag: str, subtests: pytest.Subtests
) -> None:
    edit_name(sandbox, NAME, flags=[flag], hosts={"ns1": ["192.0.2.1"]})
    for operation, (words, _, message) in OPERATIONS.items():
        with subtests.test(operation=operation):
            if operation == "domain.restore" or words in DECISIONS:
                continue
            sandbox.reset()
            before = contents(sandbox)
            answer = ask_about(sandbox, operation, NAME).send(connect(sandbox))
            if flag == FORBIDDEN_BY.get(operation):
                update = "Not the correct client_update_prohibited"
                assert refusal(answer)[1:] == (update if message == EDIT else message, "locked")
                assert f"{flag} set, which forbids {words}" in answer.headers["x-sandbox-refusal"]
                assert contents(sandbox) == before
            else:
                assert done(answer)


def test_a_flag_is_set_by_1_and_removed_by_0_and_nothing_else(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    for flag in CLIENT_FLAGS:
        with subtests.test(flag=flag):
            sandbox.reset()
            rest = {"client_hold", "client_renew_prohibited"} - {flag}
            assert done(main.put(ONE, dict.fromkeys(rest, 1)))
            for value in (1, 0, 0, 1):
                assert done(main.put(ONE, {flag: value}))
                assert set(sandbox.names[NAME].flags) == rest | ({flag} if value else set())
            for wrong in (2, -1, True, "1", 1.0, [1], {"on": 1}, "yes"):
                assert refusal(main.put(ONE, {flag: wrong}))[:2] == (400, f"Not the correct {flag}")


def test_an_edit_that_also_permits_updates_is_refused_whole(sandbox: Sandbox, main: Client) -> None:
    assert done(main.put(ONE, {"client_update_prohibited": 1}))
    before = contents(sandbox)
    parts: list[tuple[dict[str, Any], str]] = [
        ({"contact_tech": "SPARE"}, "changing contacts"),
        ({"ns": {"add": ["ns3.home.net"]}}, "changing name servers"),
        ({"ns": {"add": ["not a name"]}}, "changing name servers"),
    ]
    for beside, action in parts:
        for switch in ({"client_update_prohibited": 0}, {"client_update_prohibited": 1}, {"client_hold": 1}):
            answer = main.put(ONE, {**switch, **beside})
            assert refusal(answer) == (400, "Not the correct client_update_prohibited", "locked")
            assert f"forbids {action};" in answer.headers["x-sandbox-refusal"]
    assert contents(sandbox) == before
    assert done(main.put(ONE, {"client_update_prohibited": 0}))


def test_an_edit_that_also_prohibits_updates_is_carried_out_whole(sandbox: Sandbox, main: Client) -> None:
    body = {"client_update_prohibited": 1, "contact_tech": "SPARE", "ns": {"add": ["ns3.home.net"]}}
    assert done(main.put(ONE, body))
    name = sandbox.names[NAME]
    assert name.flags == ("client_update_prohibited",)
    assert (name.contacts["tech"], name.nameservers[-1]) == ("SPARE", "ns3.home.net")


#: Each switch of v2.0 that v3 has too, with v3's operations to set and to remove it.
SWITCHES = {
    "client_hold": ("lock", "unlock"),
    "client_transfer_prohibited": ("lockTransfer", "unlockTransfer"),
    "client_update_prohibited": ("lockUpdate", "unlockUpdate"),
}


def test_the_update_lock_forbids_no_switch_in_either_interface(make: Make, subtests: pytest.Subtests) -> None:
    for covers in ("updates", "registrant_only"):
        sandbox = make(assume={"v3.update_lock.covers": covers})
        edit_name(sandbox, NAME, flags=["client_update_prohibited"])
        main, v3 = connect(sandbox), sandbox.client()
        for flag, value in [(flag, value) for flag in CLIENT_FLAGS for value in (1, 0)]:
            with subtests.test(covers=covers, flag=flag, value=value):
                sandbox.reset()
                assert done(main.put(ONE, {flag: value}))
                assert (flag in sandbox.names[NAME].flags) is bool(value)
                assert done(main.put(ONE, {flag: value, "client_update_prohibited": 0}))
                if flag in SWITCHES:
                    sandbox.reset()
                    word = SWITCHES[flag][0 if value else 1]
                    assert v3.post(f"/v3/domains/{word}/{NAME}").status_code == 200
                    assert (flag in sandbox.names[NAME].flags) is bool(value)


def test_a_hold_of_the_registry_is_not_ended_by_the_registrant(make: Make) -> None:
    for own in (0, 1):
        sandbox = make()
        main, v3 = connect(sandbox), sandbox.client()
        assert done(main.put(ONE, {"client_hold": own}))
        sandbox.outside.hold(NAME)
        before = contents(sandbox)
        answer = main.put(ONE, {"client_hold": 0, "client_delete_prohibited": 1})
        assert refusal(answer) == (400, "Not the correct client_hold", "held_by_registry")
        unlocked = v3.post(f"/v3/domains/unlock/{NAME}")
        assert (unlocked.status_code, unlocked.json["error"]) == (409, "held_by_registry")
        for message in (answer.headers["x-sandbox-refusal"], unlocked.json["message"]):
            assert f"{NAME} stays suspended: its registry holds it (server_hold)" in message
        assert contents(sandbox) == before
        assert done(main.put(ONE, {"client_hold": 1}))
        sandbox.outside.release_hold(NAME)
        assert done(main.put(ONE, {"client_hold": 0}))
        assert v3.get(f"/v3/domains/getDomain/{NAME}").json["status"] == "active"


def test_the_registrants_own_hold_can_be_ended_under_that_of_the_registry_if_assumed(make: Make) -> None:
    for own in ([], ["client_hold"]):
        sandbox = make(assume={"locks.registry_hold": "accepted"})
        edit_name(sandbox, NAME, flags=[*own, "server_hold"])
        answer = connect(sandbox).put(ONE, {"client_hold": 0})
        assert done(answer)
        assert answer.assumptions["locks.registry_hold"] == "accepted"
        assert sandbox.names[NAME].flags == ("server_hold",)
        sandbox.reset()
        unlocked = sandbox.client().post(f"/v3/domains/unlock/{NAME}")
        assert (unlocked.status_code, unlocked.json["status"]) == (200, "suspended")
        assert sandbox.names[NAME].flags == ("server_hold",)
