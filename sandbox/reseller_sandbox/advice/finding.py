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


class Case(Struct, frozen=True):
    """One case of a rule: the requests that show it, in order, and a summary.

    ``domains`` are the affected domains in Unicode. ``amount`` is the money spent unnecessarily, if any.
    """

    entries: Sequence[Entry]
    summary: str
    domains: tuple[str, ...] = ()
    amount: Decimal | None = None


#: The function of a rule: it yields the cases in a record.
Find = Callable[[Record], Iterable[Case]]


class AdviceRule(Struct, frozen=True, kw_only=True):
    """A rule of advice, with a description and a recommendation.

    ``about`` is the description, and ``instead`` is the recommendation.
    """

    name: str
    severity: Severity
    about: str
    instead: str
    find_cases: Find


def rule(severity: Severity, *, instead: str = "") -> Callable[[Find], AdviceRule]:
    """Declare a function as a rule with the function's name.

    The first paragraph of its docstring is the description. The section ``Instead:`` is the recommendation,
    unless several rules share the recommendation ``instead``.
    """

    def declare(find_cases: Find) -> AdviceRule:
        about, _, recommendation = docstring(find_cases).partition("\n\nInstead:\n")
        return AdviceRule(
            name=find_cases.__name__,
            severity=severity,
            about=" ".join(about.partition("\n\n")[0].split()),
            instead=instead or " ".join(recommendation.split()),
            find_cases=find_cases,
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
