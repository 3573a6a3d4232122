"""The registry that the tests act in, and ways to arrange it as a test needs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from reseller_sandbox import Sandbox
from reseller_sandbox.core.lifecycle import Action, permitted
from reseller_sandbox.core.model import Account, Order, Stage, Transfer, TransferStatus, Zone
from reseller_sandbox.core.state import Draft
from reseller_sandbox.core.terms import account_called
from tests.clients import Api, InProcess
from tests.documented import documented

REGISTRY = Path(__file__).parent / "data" / "registry.yaml"
BASE = "http://sandbox.test"

#: Makes sandboxes with settings of their own.
Make = Callable[..., Sandbox]


def connect(sandbox: Sandbox, account: str = "main") -> Api:
    """An account's client of a sandbox in this process; its answers are held against the documents."""
    held = sandbox.account(account)
    return Api(documented(InProcess(sandbox.app)), BASE, held.key, held.secret)


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


def set_balance(sandbox: Sandbox, amount: str, account: str = "main") -> None:
    """Give ``account`` this balance and no ledger."""
    edit(sandbox, {"accounts": {account: {"balance": amount}}, "ledger": None})


def contents(sandbox: Sandbox) -> str:
    """Return the world's export without its count of requests: a refused request leaves it equal."""
    return re.sub(r"(?m)^requests: \d+\n", "", sandbox.export())


def _merge(document: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, Mapping):
            _merge(document.setdefault(key, {}), value)
        else:
            document[key] = value


def account_of(sandbox: Sandbox, name: str = "main") -> Account:
    """The record of an account, as the registry holds it."""
    return account_called(sandbox.world.state, name)


def order_of(sandbox: Sandbox, name: str, account: str = "main") -> Order:
    """The account's order for a name, which is in its ASCII form."""
    state = sandbox.world.state
    return state.orders[state.own_order[account_of(sandbox, account).client_id, name]]


def balance(sandbox: Sandbox, account: str = "main") -> Decimal:
    """An account's balance."""
    return account_of(sandbox, account).balance


def write(sandbox: Sandbox, *records: Any) -> None:
    """Put records into the world's state, past every rule."""
    state = sandbox.world.state
    for record in records:
        state = state.put(record)
    sandbox.world.moment = replace(sandbox.world.moment, state=state)


def arrange(sandbox: Sandbox, name: str, account: str = "main", **changes: Any) -> Order:
    """Change an order as no operation would, for a test of what follows; it stays so for a day at least."""
    order = replace(order_of(sandbox, name, account), **changes)
    if order.stage is not Stage.ARRIVING:
        order = replace(order, due=max(order.expires, sandbox.clock.now + timedelta(days=1)))
    write(sandbox, order)
    return order


def forbid(sandbox: Sandbox, stage: Stage, action: Action) -> None:
    """Permit everything but ``action`` at a stage, as ``lifecycle:`` in a fixture can."""
    moment = sandbox.world.moment
    left = tuple(one for one in permitted(moment.state, stage) if one is not action)
    sandbox.world.moment = replace(moment, state=replace(moment.state, permits=((stage, left),)))


def allow_all(sandbox: Sandbox) -> None:
    """Permit at each stage what is usual there."""
    moment = sandbox.world.moment
    sandbox.world.moment = replace(moment, state=replace(moment.state, permits=()))


def arrange_zone(sandbox: Sandbox, name: str, **changes: Any) -> Zone:
    """Change a zone."""
    zone = replace(sandbox.world.state.zones[name], **changes)
    write(sandbox, zone)
    return zone


def arrange_balance(sandbox: Sandbox, amount: str, account: str = "main") -> Account:
    """Give an account exactly this much money, and no past."""
    money = Decimal(amount)
    changed = replace(account_of(sandbox, account), balance=money, opening=money)
    write(sandbox, changed)
    return changed


def ask_for(sandbox: Sandbox, name: str, gaining: str = "other", losing: str = "main") -> None:
    """Let another registrar's transfer of a name be pending, whatever the rules say."""
    held = order_of(sandbox, name, losing)
    account = sandbox.account(gaining)
    number = 900_000 + held.id
    arriving = replace(
        held,
        id=number,
        account=account.client_id,
        stage=Stage.ARRIVING,
        due=None,
        customer_id=None,
        registration=(),
    )
    now = sandbox.clock.now
    transfer = Transfer(
        name=name,
        status=TransferStatus.PENDING,
        gaining=account.client_id,
        losing=held.account,
        gaining_order=number,
        losing_order=held.id,
        requested=now,
        completes=now + timedelta(days=5),
    )
    write(sandbox, arriving, transfer)


def end_transfer(sandbox: Sandbox, name: str) -> None:
    """Take a pending transfer of a name away, with the order that waits for it."""
    world = sandbox.world
    transfer = world.state.transfers[name]
    draft = Draft(world.state, world.now(), world.assumptions, "")
    draft.remove(transfer)
    draft.remove(world.state.orders[transfer.gaining_order])
    world.moment = replace(world.moment, state=draft.state)
