"""What a rule of advice is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

from reseller_sandbox.advice.record import Record
from reseller_sandbox.registry.parameters import docstring
from reseller_sandbox.worlds import Entry


class Severity(StrEnum):
    """What a finding would have meant in production."""

    MONEY = "money"
    """Money was spent without need."""
    DATA = "data"
    """A name was lost, or something that was there was not seen."""
    RISK = "risk"
    """Nothing was lost yet."""


class Seen(Struct, frozen=True):
    """One case of what a rule looks for: the requests that show it, in order, and what happened.

    ``domains`` are the names it is about, in Unicode, ``amount`` is what was spent without need, if anything.
    """

    entries: Sequence[Entry]
    summary: str
    domains: tuple[str, ...] = ()
    amount: Decimal | None = None


Look = Callable[[Record], Iterable[Seen]]


class AdviceRule(Struct, frozen=True, kw_only=True):
    """Something to look for. ``about`` says what it is, ``instead`` what to do instead."""

    name: str
    severity: Severity
    about: str
    instead: str
    look: Look


def rule(severity: Severity, *, instead: str = "") -> Callable[[Look], AdviceRule]:
    """Declare a function that looks for something as a rule, which has its name.

    The first paragraph of its docstring says what it looks for, the section ``Instead:`` what to do instead,
    unless several rules share one ``instead``.
    """

    def declare(look: Look) -> AdviceRule:
        words, _, own = docstring(look).partition("\n\nInstead:\n")
        about = words.partition("\n\n")[0]
        return AdviceRule(
            name=look.__name__,
            severity=severity,
            about=" ".join(about.split()),
            instead=instead or " ".join(own.split()),
            look=look,
        )

    return declare


class Finding(Struct, frozen=True, kw_only=True):
    """A piece of advice.

    ``account`` is the account's name, ``domains`` are in Unicode, ``amount`` is what was spent
    without need, in ``currency``, or None.
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
