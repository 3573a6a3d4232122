"""Events: changes of the registry by the clock or by third parties."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from reseller_sandbox.registry.model import OUTSIDE, Account, Order, RoleHandles, Stage
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.money import NOTHING
from reseller_sandbox.values.names import to_unicode


class RegistryEvent(Struct, frozen=True, gc=False):
    """An event that has occurred. Its subject is a domain, a zone or an account.

    ``charged`` is the amount that ``account`` paid (negative for a refund), and ``balance`` its balance after
    the event. ``note`` says why an expected event did not occur, or why a third party acted. ``stage`` is the
    earlier stage of the order. ``actor`` is the third party that acted, and ``changes`` the changed fields of
    the order, each with its old and its new value as JSON.
    """

    at: datetime
    event: str
    subject: str
    account: int | None = None
    order: int | None = None
    charged: Decimal = NOTHING
    balance: Decimal | None = None
    note: str = ""
    stage: Stage | None = None
    actor: str = ""
    changes: tuple[tuple[str, Any, Any], ...] = ()

    def changing(self, before: Order, after: Order, fields: Iterable[str]) -> RegistryEvent:
        """Return the event with the changes of ``fields`` between two records of an order."""
        values = ((name, getattr(before, name), getattr(after, name)) for name in fields)
        changes = tuple((name, _json(old), _json(new)) for name, old, new in values if old != new)
        return replace(self, changes=changes)


def _json(value: object) -> object:
    """Return the value of an order's field as JSON."""
    match value:
        case datetime():
            return wire(value)
        case frozenset():
            return sorted(map(str, value))
        case tuple():
            return [to_unicode(name) for name in value]
        case RoleHandles():
            return asdict(value)
    return value


def concerning(
    draft: Draft, event: str, of: Order | Account, charged: Decimal = NOTHING, note: str = ""
) -> RegistryEvent:
    """Return an event about an order or account, with the account's current balance."""
    order, account, stage = (
        (of.id, of.account, of.stage) if isinstance(of, Order) else (None, of.client_id, None)
    )
    balance = draft.state.accounts[account].balance if account != OUTSIDE else None
    return RegistryEvent(draft.now, event, of.name, account, order, charged, balance, note, stage)
