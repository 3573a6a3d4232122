"""What a rule of advice is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from reseller_sandbox.advice.record import Record


class Severity(StrEnum):
    """What a finding would have meant in production."""

    MONEY = "money"
    """Money was spent that need not have been."""
    DATA = "data"
    """A name was lost, or something was not seen that was there."""
    RISK = "risk"
    """Nothing was lost yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One case of what a rule looks for; ``entries`` are the ids of the requests that show it, in order."""

    account: str | None
    domains: tuple[str, ...] = ()
    summary: str
    entries: tuple[str, ...]
    amount: Decimal | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Something to look for. ``about`` says what it is, ``instead`` what to do instead."""

    name: str
    severity: Severity
    about: str
    instead: str
    look: Callable[[Record], Iterable[Seen]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A piece of advice.

    ``account`` is the account's name, ``domains`` are in Unicode, ``amount`` is what was spent
    without need, in ``currency``; None where no money was.
    """

    rule: str
    severity: Severity
    account: str | None
    domains: tuple[str, ...]
    summary: str
    instead: str
    amount: Decimal | None
    currency: str | None
    entries: tuple[str, ...]
