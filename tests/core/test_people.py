"""Customers and contacts: what refusals about them name, and where one ends and another begins."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core import contacts, customers
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Account, Card
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.state import Draft, State
from tests.registry import account_of

PERSON = Card(
    name="Ann",
    address="1 Main Street",
    city="Kyiv",
    zip="01001",
    country="UA",
    phone="+380.441234567",
    mail="ann@example.com",
)


@pytest.fixture
def account(sandbox: Sandbox) -> Account:
    """The account ``main``."""
    return account_of(sandbox)


def made(sandbox: Sandbox, names: int) -> Draft:
    """A draft in which customer 901 has so many active names."""
    sandbox.customers.add(901, name="Ann", mail="ann.901@example.com")
    for number in range(names):
        sandbox.names.add(f"theirs-{number}.com", account="main", customer=901)
    return Draft(sandbox.world.state, sandbox.clock.now, sandbox.world.assumptions, "a test")


@pytest.mark.parametrize(("names", "told"), [(1, 1), (5, 5), (6, 5)])
def test_a_customer_with_names_is_kept_and_five_of_them_are_told(
    sandbox: Sandbox, names: int, told: int
) -> None:
    """More would make no message."""
    draft = made(sandbox, names)
    with pytest.raises(Refused) as refused:
        customers.delete(draft, draft.state.customers[901])
    assert refused.value.code == "customer_has_orders"
    assert refused.value.message.count("theirs-") == told
    assert 901 in draft.state.customers


def test_a_customer_without_names_goes(sandbox: Sandbox) -> None:
    """With its mail, which another may have then."""
    draft = made(sandbox, 0)
    customers.delete(draft, draft.state.customers[901])
    assert 901 not in draft.state.customers
    again = customers.create(draft, account_of(sandbox), {"name": "Bea", "mail": "ANN.901@example.com"})
    assert again.customer_id != 901


@pytest.mark.parametrize(
    ("params", "known"),
    [((("size", "[0-9]"), ("colour", "[a-z]+")), "there are colour, size"), ((), "there are no parameters")],
    ids=["some", "none"],
)
def test_an_unknown_parameter_of_a_contact_is_told_beside_those_that_there_are(
    account: Account, params: tuple[tuple[str, str], ...], known: str
) -> None:
    """The first unknown one in the order of the alphabet; a registry need not have any that it knows."""
    state = replace(State().put(account), contact_params=params)
    work = Draft(state, datetime(2026, 3, 1, tzinfo=UTC), Assumptions(), "a test")
    with pytest.raises(Refused) as refused:
        contacts.add(work, account, "NEW", PERSON, {"zz": "9", "aa": "9"})
    assert refused.value.facts == {"field": "aa", "known": known}
