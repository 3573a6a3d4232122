"""The money module: amounts as they are read and written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.values import money

AMOUNTS = st.decimals(0, money.MOST - 1, allow_nan=False, allow_infinity=False, places=money.FINEST)


@given(amount=AMOUNTS)
def test_a_written_amount_is_read_as_the_same_amount(amount: Decimal) -> None:
    assert money.read(money.write(amount)) == amount
    assert money.read(money.write_in_full(amount)) == amount
    assert money.read(float(amount)) == amount


def test_malformed_amounts_are_refused(subtests) -> None:
    finer = "must have at most 6 fraction digits"
    wrong: dict[object, str] = dict.fromkeys(
        ["", "x", "1_0", "١", "NaN", "inf", "1e200", None, True, 10**9, "1e9"], "must be"
    )
    wrong |= dict.fromkeys(
        ["1.1234567", Decimal("1.1234567"), 1.12345671, "1e-7", "1e-101", f"1.{'0' * 60}1"], finer
    )
    for value, message in wrong.items():
        with subtests.test(value=value), pytest.raises(ValueError, match=message):
            money.read(value)


def test_a_balance_has_at_most_fifteen_digits_before_the_point() -> None:
    most = money.MOST_KEPT
    assert most == 10**15
    for sign in (1, -1):
        assert money.read(sign * (most - Decimal("0.01")), most) == sign * (most - Decimal("0.01"))
        with pytest.raises(ValueError, match="must be less than"):
            money.read(sign * most, most)
