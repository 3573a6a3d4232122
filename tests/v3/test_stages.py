"""Each stage of an order against each v3 operation: possible there, or refused without effect."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, person
from tests.registry import Make, connect, contents, edit, edit_name

NAME = "second.com"
D = "/v3/domains"
GLUE = f"{D}/glueRecords/{NAME}"

#: Each operation on a name of the account: the words for it in a refusal, its method, its target, its body.
OPERATIONS: dict[str, tuple[str, str, str, Any]] = {
    "renewDomain": ("renewal", "POST", f"{D}/renewDomain/{NAME}", None),
    "setNameservers": (
        "changing name servers", "POST", f"{D}/setNameservers/{NAME}", {"nameservers": ["ns.a.net"]}),
    "lock": ("lock", "POST", f"{D}/lock/{NAME}", None),
    "unlock": ("unlock", "POST", f"{D}/unlock/{NAME}", None),
    "lockTransfer": ("locking against transfer", "POST", f"{D}/lockTransfer/{NAME}", None),
    "unlockTransfer": ("unlocking for transfer", "POST", f"{D}/unlockTransfer/{NAME}", None),
    "lockUpdate": ("locking against updates", "POST", f"{D}/lockUpdate/{NAME}", None),
    "unlockUpdate": ("unlocking for updates", "POST", f"{D}/unlockUpdate/{NAME}", None),
    "enableAutorenew": ("switching auto-renewal", "POST", f"{D}/enableAutorenew/{NAME}", None),
    "disableAutorenew": ("switching auto-renewal", "POST", f"{D}/disableAutorenew/{NAME}", None),
    "createGlueRecord": ("changing glue records", "POST", GLUE, {"hostname": "ns2", "ips": ["192.0.2.1"]}),
    "updateGlueRecord": ("changing glue records", "PUT", f"{GLUE}/ns1", {"ips": ["192.0.2.1"]}),
    "deleteGlueRecord": ("changing glue records", "DELETE", f"{GLUE}/ns1", None),
    "listGlueRecords": ("reading glue records", "GET", GLUE, None),
    "getGlueRecord": ("reading glue records", "GET", f"{GLUE}/ns1", None),
    "setAuthcode": ("setting the code", "POST", f"{D}/setAuthcode/{NAME}", {"authcode": "new-code"}),
    "getAuthcode": ("reading the code", "GET", f"{D}/getAuthcode/{NAME}", None),
    "setContacts": (
        "changing contacts", "POST", f"{D}/setContacts/{NAME}", {"contacts": {"tech-contact": person("T")}}),
    "approveTransfer": ("approving a transfer", "POST", f"{D}/approveTransfer/{NAME}", None),
    "rejectTransfer": ("rejecting a transfer", "POST", f"{D}/rejectTransfer/{NAME}", None),
}  # fmt: skip
STAGES = ("requested", "processing", "arriving", "active", "overdue", "redemption", "pending_delete")
DECISIONS = ("approving a transfer", "rejecting a transfer")
#: Where an operation is possible, if not only at ``active``.
POSSIBLE = {
    **dict.fromkeys(("renewDomain", "getAuthcode"), ("active", "overdue")),
    **dict.fromkeys(("approveTransfer", "rejectTransfer"), ("active", "overdue")),
    **dict.fromkeys(("listGlueRecords", "getGlueRecord"), STAGES),
}
#: The flag that forbids an operation.
FORBIDDEN_BY = {
    "renewDomain": "client_renew_prohibited",
    **dict.fromkeys(
        ("setNameservers", "createGlueRecord", "updateGlueRecord", "deleteGlueRecord", "setAuthcode",
         "setContacts"),
        "client_update_prohibited",
    ),
}  # fmt: skip


def at_stage(sandbox: Sandbox, stage: str) -> str:
    """Bring a name with a glue record to a stage, leaving if that is possible there; return the name."""
    hosts: dict[str, Any] = {"hosts": {"ns1": ["192.0.2.9"]}}
    if stage == "arriving":  # the host lies below the name, whoever holds it
        edit(sandbox, {"taken": {"arriving.com": hosts}})
        return "arriving.com"
    edit_name(sandbox, NAME, stage=stage, **hosts)
    return NAME


def leave(sandbox: Sandbox) -> None:
    """Have a transfer of the name to another registrar pending."""
    edit(sandbox, {"transfers": {NAME: {"to": "other", "requested": "-1d"}}})


@pytest.mark.parametrize("stage", STAGES)
def test_an_operation_is_possible_at_its_stages_alone(
    make: Make, stage: str, subtests: pytest.Subtests
) -> None:
    sandbox = make()
    name = at_stage(sandbox, stage)
    leaving = make()
    at_stage(leaving, stage)
    if stage in ("active", "overdue"):
        leave(leaving)
    for operation, (words, method, target, body) in OPERATIONS.items():
        with subtests.test(operation=operation):
            world = leaving if words in DECISIONS else sandbox
            world.reset()
            before = contents(world)
            answer = connect(world).call(method, target.replace(NAME, name), body)
            if stage in POSSIBLE.get(operation, ("active",)):
                assert answer.status == 200, answer.raw
                if operation == "renewDomain":
                    assert world.names[name].stage == "active"
            elif words in DECISIONS and stage == "arriving":
                assert answer.error == "no_transfer"
                assert contents(world) == before
            else:
                assert answer.error in ("wrong_state", "no_transfer" if words in DECISIONS else "")
                assert (
                    answer.error == "no_transfer"
                    or f"{name} is at the stage {stage}, where" in answer.message
                )
                assert contents(world) == before


def test_a_pending_transfer_blocks_renewal_and_the_transfer_lock(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    at_stage(sandbox, "active")
    leave(sandbox)
    for operation, (_, method, target, body) in OPERATIONS.items():
        with subtests.test(operation=operation):
            sandbox.reset()
            before = contents(sandbox)
            answer = connect(sandbox).call(method, target, body)
            if operation in ("renewDomain", "lockTransfer"):
                assert answer.error == "transfer_pending"
                assert contents(sandbox) == before
            else:
                assert answer.status == 200, answer.raw


def test_a_flag_forbids_its_operations_and_is_named(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    at_stage(sandbox, "active")
    flags = [f"client_{word}_prohibited" for word in ("transfer", "update", "delete", "renew")]
    edit_name(sandbox, NAME, flags=["client_hold", *flags])
    for operation, (words, method, target, body) in OPERATIONS.items():
        with subtests.test(operation=operation):
            sandbox.reset()
            if words in DECISIONS:
                leave(sandbox)
            answer = connect(sandbox).call(method, target, body)
            flag = FORBIDDEN_BY.get(operation)
            assert answer.error == ("locked" if flag else None), answer.raw
            assert not flag or flag in answer.message


def test_a_name_is_shown_at_every_stage(sandbox: Sandbox, api: Api) -> None:
    for name in ("requested", "processing", "arriving", "active", "overdue", "redemption", "pending"):
        assert api.get(f"{D}/getDomain/{name}.com").json["domain"]["domainName"] == f"{name}.com"
        assert f"{name}.com" in [shown["domainName"] for shown in api.get(D).json["domains"]]
