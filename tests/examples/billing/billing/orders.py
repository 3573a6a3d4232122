"""What customers order. Whatever happens on the way, nothing is paid for twice, and nothing paid is lost."""

from __future__ import annotations

from enum import StrEnum

from billing.registrar import Refused, Registrar, Unanswered


class Outcome(StrEnum):
    """What became of an order."""

    DONE = "done"
    TAKEN = "taken"
    POSTPONED = "postponed"


#: How often an order that was left unanswered is tried before it is postponed.
TRIES = 2


def register(registrar: Registrar, name: str, years: int = 1) -> Outcome:
    """Register a name for a customer."""
    for _ in range(TRIES):
        try:
            registrar.register(name, years)
        except Unanswered:
            if _is_ours(registrar, name):
                return Outcome.DONE
        except Refused as refused:
            if refused.code == "insufficient_funds":
                return Outcome.POSTPONED
            return Outcome.TAKEN
        else:
            return Outcome.DONE
    return Outcome.POSTPONED


def renew(registrar: Registrar, name: str, years: int = 1) -> Outcome:
    """Renew a name of ours. Its expiry date says whether an unanswered renewal took effect."""
    before = registrar.find(name)
    if before is None:
        return Outcome.TAKEN
    for _ in range(TRIES):
        try:
            registrar.renew(name, years)
        except Unanswered:
            after = registrar.find(name)
            if after is not None and after.expires > before.expires:
                return Outcome.DONE
        except Refused as refused:
            if refused.code == "insufficient_funds":
                return Outcome.POSTPONED
            raise
        else:
            return Outcome.DONE
    return Outcome.POSTPONED


def _is_ours(registrar: Registrar, name: str) -> bool:
    try:
        return registrar.find(name) is not None
    except Unanswered:
        return False
