"""Each stage of an order against each v3 operation: possible there, or refused without effect."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.registry import connect, contents, edit, edit_name
from tests.v3.operations import operations
from tests.v3.test_bad_input import GOOD

STAGES = ("requested", "processing", "arriving", "active", "overdue", "redemption", "pending_delete")
#: Where an operation on a name is possible, if not only at ``active``.
POSSIBLE = {
    **dict.fromkeys(("v3.renewDomain", "v3.getAuthcode"), ("active", "overdue")),
    **dict.fromkeys(("v3.getDomain", "v3.listGlueRecords", "v3.getGlueRecord"), STAGES),
}
DECISIONS = ("v3.approveTransfer", "v3.rejectTransfer", "v3.cancelTransfer")


@pytest.mark.parametrize("stage", STAGES)
def test_an_operation_is_possible_at_its_stages_alone(
    sandbox: Sandbox, stage: str, subtests: pytest.Subtests
) -> None:
    name = "arriving.com" if stage == "arriving" else "active.com"
    if stage == "arriving":  # the host lies below the name, whichever registrar holds it
        edit(sandbox, {"taken": {name: {"hosts": {"ns1": ["192.0.2.9"]}}}})
    elif stage != "active":
        edit_name(sandbox, name, stage=stage)
    api = connect(sandbox)
    for operation, row in operations().items():
        if "{domainName}" not in row.paths[-1] or operation in DECISIONS:
            continue
        sandbox.reset()
        before = contents(sandbox)
        body = GOOD.get(operation) if operation != "v3.renewDomain" else None
        with subtests.test(operation=operation):
            answer = api.call(row.method, row.paths[-1].format(domainName=name, hostname="ns1"), body)
            if stage in POSSIBLE.get(operation, ("active",)):
                assert answer.status == 200, answer.raw
            else:
                assert answer.error == "wrong_state"
                assert f"{name} is at the stage {stage}, where" in answer.message
                assert contents(sandbox) == before
