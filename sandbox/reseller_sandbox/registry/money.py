"""Money: how finely an amount is kept, read and written. Every door takes and shows it by these rules.

An amount is a ``Decimal`` in the account's currency with at most ``FINEST`` fraction digits, which
none of the registry's sums and products makes finer.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

#: How many fraction digits an amount has at most, and is always written with where an answer asks for all.
FINEST = 6

#: How many fraction digits an amount is written with at least.
USUAL = 2

#: No money, and what any sum of money begins with: so no amount that is shown has fewer digits than usual.
NOTHING = Decimal("0.00")

#: What a price, and a change of a balance, stays below: so that a JSON number holds all of its digits.
MOST = 10**9

#: What a balance, and an entry of the ledger, stays below.
MOST_KEPT = 10**15

_LONGEST = 100

#: How a price is usually written as a string, in JSON Schema; ``read_price`` takes an exponent as well.
PRICE = {"pattern": rf"^[0-9]+(\.[0-9]{{1,{FINEST}}}0*)?$", "maxLength": _LONGEST}


def read(given: object, most: int | None = MOST) -> Decimal:
    """Return the amount that a number or a text in decimal digits stands for.

    Raise ValueError for anything else, for a finer amount and, where ``most`` is given, for one that is not
    below it; the message reads on after the name of what was given.
    """
    amount = _number(given)
    if most is not None and abs(amount) >= most:
        raise ValueError(f"must be less than {most}")
    if amount.adjusted() < -_LONGEST or len(_fraction(amount)) > FINEST:
        raise ValueError(f"must have at most {FINEST} fraction digits")
    return Decimal(write(amount)) if amount else NOTHING


def read_price(given: object, most: int | None = MOST) -> Decimal:
    """Return what ``read`` does, and refuse amounts below zero."""
    amount = read(given, most)
    if amount < 0:
        raise ValueError("must not be below zero")
    return amount


def _number(given: object) -> Decimal:
    if isinstance(given, str) and not (given.isascii() and len(given) <= _LONGEST and "_" not in given):
        raise ValueError("must be a decimal number")
    try:
        number = Decimal(str(given) if isinstance(given, float) else given)  # type: ignore[arg-type]
    except (InvalidOperation, TypeError, ValueError):
        raise ValueError("must be a decimal number") from None
    if isinstance(given, bool) or not number.is_finite() or number.adjusted() > _LONGEST:
        raise ValueError("must be a decimal number")
    return number


def write(amount: Decimal) -> str:
    """Return ``amount`` in digits: two after the point, or as many more as it has."""
    return f"{amount:.{max(USUAL, len(_fraction(amount)))}f}"


def write_in_full(amount: Decimal) -> str:
    """Return ``amount`` with all the digits that are kept."""
    return f"{amount:.{FINEST}f}"


def _fraction(amount: Decimal) -> str:
    return f"{amount:f}".partition(".")[2].rstrip("0")
