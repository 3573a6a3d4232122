"""The faults of a world, over HTTP and in Python."""

from __future__ import annotations

from reseller_sandbox import Sandbox, connect

FAULTS = "/_sandbox/faults"
BALANCE = "/v3/balance"
CREATE, NEW = "/v3/domains/createDomain", {"domain": {"domainName": "new.com"}}


def test_the_end_of_a_fault_block_removes_only_the_rules_of_the_block(served: Sandbox, url: str) -> None:
    for sandbox in (served, connect(url)):
        with sandbox.faults.add("error", status=599, match={"operation": "v3.*"}) as fault:
            assert served.client().get(BALANCE).status_code == 599
            assert (fault.matched, fault.applied) == (1, 1)
            assert sandbox.faults[fault.names[0]].applied == 1
            sandbox.faults.add(kind="error", status=501, name="other")
        with sandbox.faults.preset("maintenance", name="closed"):
            sandbox.faults.remove("closed")
        assert [rule.name for rule in sandbox.faults.list()] == ["other"]
        sandbox.faults.clear()
