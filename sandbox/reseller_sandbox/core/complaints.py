"""How complaints are worded: what was given is quoted shortly, and of many problems a few are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Self

from reseller_sandbox.core.spelling import COMPARED

_MOST_PROBLEMS = 20


class Must(str):
    """What a value must be, in words: ``Must("be text")``. Who tells that tells what came instead, too."""

    __slots__ = ()

    def __new__(cls, wanted: str) -> Self:
        return super().__new__(cls, f"must {wanted}")

    def format(self, *_: object, **__: object) -> Self:
        """Return it as it is: it has no blanks, whatever is to be filled in."""
        return self

    def or_(self, other: str) -> Must:
        """Return the same with something else that the value may be as well."""
        return Must(f"{self.removeprefix('must ')}, or {other}")


def says_what_must_be(problem: ValueError) -> bool:
    """Whether an error says what a value must be, and so not yet what it is."""
    return bool(problem.args) and isinstance(problem.args[0], Must)


def shortened(value: object) -> str:
    """Return ``value`` as complaints quote it."""
    try:
        shown = repr(undecimal(value))
    except ValueError:  # Python writes no number of so many digits
        shown = "a number of thousands of digits"
    return shown if len(shown) <= COMPARED else f"{shown[: COMPARED - 1]}…"


def there_are(names: Iterable[str], what: str) -> str:
    """Return which names there are, ``what`` they all are, as a refusal tells it: the first few of many."""
    found = list(names)
    if not found:
        return f"there are no {what}"
    more = f" and {len(found) - _MOST_PROBLEMS} more" if len(found) > _MOST_PROBLEMS else ""
    return f"there {'is' if len(found) == 1 else 'are'} {', '.join(found[:_MOST_PROBLEMS])}{more}"


def undecimal(value: object) -> object:
    """Return ``value`` with the numbers that Python would have for its decimals."""
    if isinstance(value, Mapping):
        return {key: undecimal(one) for key, one in value.items()}
    if isinstance(value, list):
        return [undecimal(one) for one in value]
    return float(value) if isinstance(value, Decimal) else value


def complaint(problems: Sequence[str]) -> str:
    """Return the first few of ``problems`` as one sentence, and how many more there are."""
    told = list(problems[:_MOST_PROBLEMS])
    if len(problems) > _MOST_PROBLEMS:
        told.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return "; ".join(told)
