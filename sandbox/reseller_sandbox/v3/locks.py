"""The switches of a domain: suspension, transfer lock, update lock and autorenewal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marshmallow import Schema

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Rule
from reseller_sandbox.registry import orders
from reseller_sandbox.registry.model import Flag
from reseller_sandbox.v3.shapes import (
    Envelope,
    EnvelopeWithPremium,
    EnvelopeWithUpdateLock,
    on_name,
    own_order,
    path_envelope,
)
from reseller_sandbox.web.interface import Call, Endpoint


def _row(name: str, answer: Schema, *more: Rule) -> Callable[..., Endpoint]:
    return on_name(name, answer, r.WRONG_STATE, *more, r.SWITCHED_ALREADY)


def _set(call: Call, flag: Flag, on: bool) -> dict[str, Any]:
    answer = path_envelope(call, orders.set_flag(call.draft, own_order(call), flag, on))
    if flag is Flag.UPDATE_PROHIBITED:
        answer["domain"]["updateProhibited"] = on
    return answer


@_row("lockTransfer", EnvelopeWithPremium(), r.TRANSFER_PENDING)
def lock_transfer(call: Call) -> dict[str, object]:
    """Lock a domain against transfer."""
    return _set(call, Flag.TRANSFER_PROHIBITED, True)


@_row("unlockTransfer", EnvelopeWithPremium())
def unlock_transfer(call: Call) -> dict[str, object]:
    """Remove the transfer lock of a domain."""
    answer = _set(call, Flag.TRANSFER_PROHIBITED, False)
    answer["domain"]["lockedEnabled"] = call.assumed.unlock_transfer_locked
    return answer


@_row("lock", EnvelopeWithPremium())
def lock(call: Call) -> dict[str, object]:
    """Suspend a domain, which removes it from the DNS."""
    return _set(call, Flag.HOLD, True)


@_row("unlock", EnvelopeWithPremium(), r.HELD_BY_REGISTRY)
def unlock(call: Call) -> dict[str, object]:
    """End the suspension of a domain."""
    return _set(call, Flag.HOLD, False)


@_row("lockUpdate", EnvelopeWithUpdateLock())
def lock_update(call: Call) -> dict[str, object]:
    """Lock a domain against updates and against a change of registrant."""
    return _set(call, Flag.UPDATE_PROHIBITED, True)


@_row("unlockUpdate", EnvelopeWithUpdateLock())
def unlock_update(call: Call) -> dict[str, object]:
    """Remove the update lock of a domain."""
    return _set(call, Flag.UPDATE_PROHIBITED, False)


@_row("enableAutorenew", Envelope())
def enable_autorenew(call: Call) -> dict[str, object]:
    """Switch on the automatic renewal of a domain at expiry."""
    return path_envelope(call, orders.set_autorenew(call.draft, own_order(call), True))


@_row("disableAutorenew", Envelope())
def disable_autorenew(call: Call) -> dict[str, object]:
    """Switch off the automatic renewal of a domain. The domain then expires unless you renew it."""
    return path_envelope(call, orders.set_autorenew(call.draft, own_order(call), False))
