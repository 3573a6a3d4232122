"""Rules of advice, and their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

from reseller_sandbox.advice.record import Record
from reseller_sandbox.values.parameters import docstring
from reseller_sandbox.worlds import Entry


class Severity(StrEnum):
    """The consequence of a finding in production."""

    MONEY = "money"
    """Money was spent unnecessarily."""
    DATA = "data"
    """A domain was lost, or existing data was not read."""
    RISK = "risk"
    """Nothing was lost yet."""


class Seen(Struct, frozen=True):
    """One case of a rule: the requests that show it, in order, and a summary.

    ``domains`` are the affected domains in Unicode. ``amount`` is the money spent unnecessarily, if any.
    """

    entries: Sequence[Entry]
    summary: str
    domains: tuple[str, ...] = ()
    amount: Decimal | None = None


Look = Callable[[Record], Iterable[Seen]]


class AdviceRule(Struct, frozen=True, kw_only=True):
    """A rule of advice, with a description and a recommendation.

    ``about`` is the description, and ``instead`` is the recommendation.
    """

    name: str
    severity: Severity
    about: str
    instead: str
    look: Look


def rule(severity: Severity, *, instead: str = "") -> Callable[[Look], AdviceRule]:
    """Declare a function as a rule with the function's name.

    The first paragraph of its docstring is the description. The section ``Instead:`` is the recommendation,
    unless several rules share one in ``instead``.
    """

    def declare(look: Look) -> AdviceRule:
        about, _, recommendation = docstring(look).partition("\n\nInstead:\n")
        return AdviceRule(
            name=look.__name__,
            severity=severity,
            about=" ".join(about.partition("\n\n")[0].split()),
            instead=instead or " ".join(recommendation.split()),
            look=look,
        )

    return declare


class Finding(Struct, frozen=True, kw_only=True):
    """One piece of advice.

    ``account`` is the account's name, and ``domains`` are in Unicode. ``amount`` is the money spent
    unnecessarily in ``currency``, or None.
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
