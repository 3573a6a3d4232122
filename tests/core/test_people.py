"""Customers and contacts: the facts that their refusals name."""

from __future__ import annotations

from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.registry import edit
from tests.v2.client import connect
from tests.v2.works import CARD

V2 = Path(__file__).parent.parent / "v2" / "registry.yaml"


@pytest.mark.parametrize(("names", "listed"), [(1, 1), (5, 5), (6, 5)])
def test_deleting_a_customer_with_domains_is_refused_and_lists_five(names: int, listed: int) -> None:
    sandbox = Sandbox(V2)
    sandbox.customers.add(901, name="Ann", mail="ann.901@example.com")
    for number in range(names):
        sandbox.names.add(f"theirs-{number}.com", account="main", customer=901)
    client = connect(sandbox)
    assert client.delete("/customer/901").json["code"] == 403
    why = sandbox.journal.why("r1")
    assert why is not None
    assert (why.rule, why.message.count("theirs-")) == ("customer_has_orders", listed)
    assert client.get("/customer/901").status == 200


def test_the_mail_of_a_deleted_customer_is_free_again() -> None:
    sandbox = Sandbox(V2)
    sandbox.customers.add(901, name="Ann", mail="ann.901@example.com")
    client = connect(sandbox)
    assert client.delete("/customer/901").status == 200
    assert client.get("/customer/901").status == 404
    created = client.post("/customer", {"name": "Bea", "mail": "ANN.901@example.com"})
    assert created.json["data"]["customer_id"] != 901


@pytest.mark.parametrize(
    ("parameters", "known"),
    [({"size": "[0-9]", "colour": "[a-z]+"}, "there are colour, size"), (None, "there are no parameters")],
    ids=["two parameters", "no parameters"],
)
def test_an_unknown_contact_parameter_is_named_with_the_known_ones(
    parameters: dict[str, str] | None, known: str
) -> None:
    sandbox = Sandbox(V2)
    edit(sandbox, {"contact_params": None})
    edit(sandbox, {"contact_params": parameters})
    connect(sandbox).post("/contact/NEW", {**CARD, "zz": "9", "aa": "9"})
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts == {"field": "aa", "known": known}
