"""The registry that the tests act in, ways to arrange it, and what holds of every world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from reseller_sandbox import Sandbox, replay
from tests.clients import Answer, Api, InProcess
from tests.documented import documented

REGISTRY = Path(__file__).parent / "data" / "registry.yaml"
BASE = "http://sandbox.test"

#: Makes sandboxes with settings of their own.
Make = Callable[..., Sandbox]


def connect(sandbox: Sandbox, account: str = "main", *, checked: bool = True) -> Api:
    """An account's client of a sandbox in this process; its answers are held against the documents.

    A document is made for each set of assumptions, which takes long: ``checked`` can be False.
    """
    held, transport = sandbox.accounts[account], InProcess(sandbox.app)
    return Api(documented(transport) if checked else transport, BASE, held.key, held.secret)


def create(api: Api, name: str = "new.com", years: int = 1, cost: object = None, **domain: object) -> Answer:
    """Register a name over v3."""
    body = {"domain": {"domainName": name, **domain}, "years": years, "purchaseCost": cost}
    return api.post("/v3/domains/createDomain", body)


def assert_replays(sandbox: Sandbox) -> Any:
    """Replay the sandbox's own recording, which must come out the same. Return the result."""
    replayed = replay(sandbox.recording.get().content)
    assert replayed.identical, replayed.difference
    return replayed


def start_over(sandbox: Sandbox) -> None:
    """Take the default world back to its beginning, and delete the other worlds."""
    for world in list(sandbox.worlds):
        if world.name != "default":
            sandbox.worlds.remove(world.name)
    sandbox.reset(original=True)


def edit(sandbox: Sandbox, changes: Mapping[str, Any]) -> None:
    """Reload the world's own export with ``changes`` merged in. None removes a key.

    The journal, the history and the events begin anew. Settings, faults and snapshots stay.
    """
    document = yaml.load(sandbox.export(), yaml.CSafeLoader)
    _merge(document, changes)
    sandbox.load(document)


def edit_name(sandbox: Sandbox, name: str, **changes: Any) -> None:
    """Change keys of a name's fixture entry, such as ``flags=["client_hold"]``.

    A new ``stage`` has dates that fit: it has begun a day ago, and processing lasts another day.
    """
    if "stage" in changes:
        begun = {"active": {}, "requested": {"due": "+1d"}, "processing": {"due": "+1d"}}
        dates = dict.fromkeys(("created", "expires", "since", "due"))
        changes = {**dates, **begun.get(changes["stage"], {"since": "-1d"}), **changes}
    edit(sandbox, {"domains": {name: changes}})


def edit_zone(sandbox: Sandbox, zone: str, **changes: Any) -> None:
    """Change keys of a zone's fixture entry, such as ``prices={"renewal": "5.00"}``."""
    edit(sandbox, {"zones": {zone: changes}})


def contents(sandbox: Sandbox) -> object:
    """Return the world's time and its differences from its start: a refused request leaves them equal."""
    difference = sandbox.diff("start", limit=1000)
    return difference.to.now, difference.total, difference.changes, difference.settings


def _merge(document: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, Mapping):
            _merge(document.setdefault(key, {}), value)
        else:
            document[key] = value


def balance(sandbox: Sandbox, account: str = "main") -> Decimal:
    return sandbox.accounts[account].balance


def assert_books_balance(sandbox: Sandbox) -> None:
    """Assert that each balance is its opening and its movements, and that nothing is refunded twice."""
    ledger = sandbox.ledger.list(limit=10_000)
    for account in sandbox.accounts.list().accounts:
        moved = sum(entry.amount for entry in ledger.entries if entry.account == account.name)
        assert account.balance == account.opening + moved, account.name
        assert account.balance >= 0
    refunded = [entry.refunds for entry in ledger.entries if entry.refunds is not None]
    assert ledger.matching == len(ledger.entries)
    assert len(refunded) == len(set(refunded))
    assert {entry.id: -entry.amount for entry in ledger.entries if entry.id in refunded} == {
        entry.refunds: entry.amount for entry in ledger.entries if entry.refunds is not None
    }


def assert_consistent(sandbox: Sandbox) -> None:
    """Assert that the books balance, that no name has two holders, and that nothing is overdue.

    A world that is made of the export has to export the same again, so every index follows from the records.
    """
    text = sandbox.export()
    again = Sandbox()
    again.load(text)
    assert again.export() == text
    assert not any(character < " " and character != "\n" for character in text)
    assert_books_balance(sandbox)
    coming = sandbox.clock.due().due
    assert all(event.at > sandbox.clock.now for event in coming), coming
    names = list(sandbox.names)
    holders = Counter(name.name for name in names if name.stage != "arriving")
    assert not [name for name, count in holders.items() if count > 1], "a name has two holders"
    assert not [name.name for name in names if name.stage == "released"]
    for host in sandbox.hosts:
        assert host.domain in sandbox.names, f"{host.name} outlived its domain"


def assert_unchanged(sandbox: Sandbox) -> None:
    """Assert that the latest request has changed nothing."""
    (latest,) = sandbox.journal.list(limit=1).requests
    assert latest.changes == ()
