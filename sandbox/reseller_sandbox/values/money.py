"""Amounts of money: their precision, reading and writing, the same in all interfaces.

An amount is a ``Decimal`` in the account's currency with at most ``FINEST`` fraction digits. The registry's
sums and products never need more digits.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

#: The maximum number of fraction digits. ``write_in_full`` always writes all of them.
FINEST = 6

#: The minimum number of fraction digits of a written amount.
USUAL = 2

#: Zero. Every sum starts with this value, because a sum must have at least ``USUAL`` fraction digits.
NOTHING = Decimal("0.00")

#: Prices, and changes of a balance, must be less than this amount, so that a JSON number holds all digits.
MOST = 10**9

#: Balances and ledger entries must be less than this amount.
MOST_KEPT = 10**15

_LONGEST = 100

#: Matches a string of a float with an error, such as 285.29999999999995 for 95.10 * 3.
_FLOAT = re.compile(r"-?(?=[0-9.]{16})[0-9]+\.[0-9]{0,9}(0{5}|9{5})[0-9]{1,3}")

#: JSON Schema of a price as a string. ``read_price`` also accepts an exponent.
PRICE = {"pattern": rf"^[0-9]+(\.[0-9]{{1,{FINEST}}}0*)?$", "maxLength": _LONGEST}


def read(value: object, most: int | None = MOST) -> Decimal:
    """Return a number, or a string with a decimal number, as an amount.

    A number counts as the nearest amount, because a product of floats has an error: 95.10 * 3 is
    285.29999999999995. A string counts as the nearest amount only if it has such an error. Raise ValueError
    for any other value, for too many fraction digits, and for an amount of ``most`` or more.
    The message has no subject (``must be a decimal number``).
    """
    amount = _number(value)
    if len(_fraction(amount)) > FINEST and (not isinstance(value, str) or _FLOAT.fullmatch(value)):
        amount = Decimal(write_in_full(amount))
    if most is not None and abs(amount) >= most:
        raise ValueError(f"must be less than {most}")
    if amount.adjusted() < -_LONGEST or len(_fraction(amount)) > FINEST:
        raise ValueError(f"must have at most {FINEST} fraction digits")
    return Decimal(write(amount)) if amount else NOTHING


def read_price(value: object, most: int | None = MOST) -> Decimal:
    """Return an amount as ``read`` does. Raise ValueError for a negative amount."""
    amount = read(value, most)
    if amount < 0:
        raise ValueError("must not be negative")
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
    """Return ``amount`` as a decimal string with two or more fraction digits (``12.50``)."""
    return f"{amount:.{max(USUAL, len(_fraction(amount)))}f}"


def write_in_full(amount: Decimal) -> str:
    """Return ``amount`` as a decimal string with six fraction digits (``12.500000``)."""
    return f"{amount:.{FINEST}f}"


def _fraction(amount: Decimal) -> str:
    return f"{amount:f}".partition(".")[2].rstrip("0")
