"""Where a past is not known whole, a capsule says so, and goes on from what the world was then."""

from __future__ import annotations

from dataclasses import replace

from reseller_sandbox import Sandbox, replay
from tests.registry import REGISTRY, account_of, write


def test_it_begins_where_the_journal_does() -> None:
    """What it has dropped is left out, and a body that was too long for it is told by its request."""
    sandbox = Sandbox(REGISTRY, journal=4, journal_body=300)
    client = sandbox.client()
    for number in range(7):
        pad = "y" * (400 if number == 5 else 1)
        body = {"domain": {"domainName": f"new-{number}.com"}, "pad": pad}
        client.post("/v3/domains/createDomain", json=body)
    told = sandbox.capsule.get()
    assert told.requests == 4
    assert told.notes[0] == "what came before is no longer in the journal"
    found = replay(told.content)
    assert found.identical
    assert list(found.beyond) == ["r6"]
    assert "--journal-body" in found.beyond["r6"]
    assert found.sandbox.export() == sandbox.export()


def test_a_change_that_nothing_tells_of_is_there_all_the_same() -> None:
    """As a test makes it that writes into the world's state."""
    sandbox = Sandbox(REGISTRY)
    sandbox.client().get("/v3/balance")
    account = account_of(sandbox)
    write(sandbox, replace(account, balance=account.balance + 5))
    sandbox.client().get("/v3/balance")
    told = sandbox.capsule.get()
    assert told.notes == ("the world was changed in a way that nothing tells of",)
    found = replay(told.content)
    assert found.identical
    assert found.sandbox.account("main").balance == account.balance + 5


def test_a_world_that_took_up_what_it_had_left_behind() -> None:
    """Another fixture was loaded, and its world left again: the capsule begins where that line began."""
    sandbox = Sandbox(REGISTRY)
    sandbox.client().get("/v3/balance")
    branch = sandbox.load(sandbox.export()).branch.name
    sandbox.client().get("/v3/balance")
    sandbox.branches.switch(branch)
    sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
    found = replay(sandbox.capsule.get().content)
    assert (found.identical, found.requests, found.notes) == (True, 2, ())
