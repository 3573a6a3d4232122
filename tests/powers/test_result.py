"""Answers of powers read well where people meet them: in a failed assertion, and at a prompt."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.powers.result import result


class Colour(StrEnum):
    """Something to choose from."""

    RED = "red"


@result
class Shelf:
    """A record of everything that a record may hold."""

    at: datetime
    price: Decimal
    colour: Colour
    names: tuple[str, ...] = ()
    note: str | None = None
    text: str = ""
    full: bool = False
    count: int = 0
    facts: Any = None


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({}, ""),
        ({"names": ("a", "b")}, ", names=['a', 'b']"),
        ({"note": "", "text": "", "full": False}, ""),
        ({"note": "it's", "full": True, "count": 3}, ', note="it\'s", full=True, count=3'),
        ({"facts": {"b": Decimal("1.50"), "a": [None]}}, ", facts={b: 1.50, a: [None]}"),
        ({"names": tuple("abcdefghijklmnopqrstuvwxyz")}, ", and 6 more]"),
        ({"text": "x" * 1000}, f", text='{'x' * 400}…'"),
    ],
)
def test_a_record_shows_what_it_holds(told: dict[str, Any], shown: str) -> None:
    """In the words of the wire; what is empty is left out, and what is long is cut."""
    made = Shelf(at=datetime(2026, 1, 2, tzinfo=UTC), price=Decimal("10.99"), colour=Colour.RED, **told)
    printed = repr(made).replace(", count=0", "")
    assert printed.startswith("Shelf(at=2026-01-02T00:00:00Z, price=10.99, colour=red")
    assert printed.endswith(f"{shown})")


def test_an_order_reads_well() -> None:
    """As a test that looks at one meets it."""
    name = Sandbox().names["active-example.com"]
    assert "stage=active" in repr(name)
    assert "datetime" not in repr(name)
    assert "Decimal" not in repr(name)


def test_a_sandbox_and_its_powers_say_whose_they_are() -> None:
    """Without an address in memory, which differs from run to run."""
    sandbox = Sandbox()
    shown = {name: repr(getattr(sandbox, name)) for name in sandbox.powers()}
    assert shown["ledger"] == "<Ledger: world default>"
    assert [one for one in shown.values() if not one.endswith(": world default>")] == []
