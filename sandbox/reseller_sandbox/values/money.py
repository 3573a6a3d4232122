"""Money: the precision, reading and writing of amounts in all interfaces.

An amount is a ``Decimal`` in the account's currency with at most ``FINEST`` fraction digits. The registry's
sums and products never need more digits.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

#: The maximum number of fraction digits. ``write_in_full`` always writes all of them.
FINEST = 6

#: The minimum number of fraction digits of a written amount.
USUAL = 2

#: Zero, and the start of every sum, so that sums have at least ``USUAL`` fraction digits.
NOTHING = Decimal("0.00")

#: Prices and changes of a balance stay below this, so that a JSON number holds all of their digits.
MOST = 10**9

#: Balances and ledger entries stay below this.
MOST_KEPT = 10**15

_LONGEST = 100

#: JSON Schema of a price as a string. ``read_price`` also accepts an exponent.
PRICE = {"pattern": rf"^[0-9]+(\.[0-9]{{1,{FINEST}}}0*)?$", "maxLength": _LONGEST}


def read(value: object, most: int | None = MOST) -> Decimal:
    """Return the amount that a number or a decimal text stands for.

    Raise ValueError for any other value, for too many fraction digits, and for an amount of ``most`` or more.
    The message continues after the name of the value.
    """
    amount = _number(value)
    if most is not None and abs(amount) >= most:
        raise ValueError(f"must be less than {most}")
    if amount.adjusted() < -_LONGEST or len(_fraction(amount)) > FINEST:
        raise ValueError(f"must have at most {FINEST} fraction digits")
    return Decimal(write(amount)) if amount else NOTHING


def read_price(value: object, most: int | None = MOST) -> Decimal:
    """Return the amount as ``read`` does. Raise ValueError if it is negative."""
    amount = read(value, most)
    if amount < 0:
        raise ValueError("must not be below zero")
    return amount


def _number(value: object) -> Decimal:
    if isinstance(value, str) and not (value.isascii() and len(value) <= _LONGEST and "_" not in value):
        raise ValueError("must be a decimal number")
    try:
        number = Decimal(str(value) if isinstance(value, float) else value)  # type: ignore[arg-type]
    except (InvalidOperation, TypeError, ValueError):
        raise ValueError("must be a decimal number") from None
    if isinstance(value, bool) or not number.is_finite() or number.adjusted() > _LONGEST:
        raise ValueError("must be a decimal number")
    return number


def write(amount: Decimal) -> str:
    """Return ``amount`` as decimal digits, with at least two fraction digits."""
    return f"{amount:.{max(USUAL, len(_fraction(amount)))}f}"


def write_in_full(amount: Decimal) -> str:
    """Return ``amount`` with all ``FINEST`` fraction digits."""
    return f"{amount:.{FINEST}f}"


def _fraction(amount: Decimal) -> str:
    return f"{amount:f}".partition(".")[2].rstrip("0")
