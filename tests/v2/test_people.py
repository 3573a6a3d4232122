"""Customers and contacts in v2.0: their fields, their changes, and the orders that they are linked to."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import person
from tests.registry import contents, edit, edit_name
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, ROLES, WORKS

#: v3's words for the fields of a card.
FIELDS = {
    "name": "name",
    "company": "company-name",
    "address": "address1",
    "city": "city",
    "region": "state",
    "zip": "zipcode",
    "country": "country",
    "phone": "phone",
    "fax": "fax",
    "mail": "email",
}


def create_customer(main: Client) -> int:
    return int(done(main.post("/customer", CUSTOMER))["data"]["customer_id"])


def test_a_customer_is_shown_without_fax_language_password_and_postal_address(
    sandbox: Sandbox, main: Client
) -> None:
    number = create_customer(main)
    kept = sandbox.customers[number]
    assert (kept.lang, kept.post_address, kept.card.fax) == ("uk", "PO box 9", CARD["fax"])
    shown = {key: CARD[key] for key in CARD if key not in ("fax", "zip")}
    shown |= {"id": number, "zip": 65000, "count_active_orders": 0}
    assert done(main.get(f"/customer/{number}")) == {"data": shown, "status": True}
    assert done(main.put(f"/customer/{number}", {"city": "Lviv", "phone": None}))
    assert done(main.get(f"/customer/{number}"))["data"] == {**shown, "city": "Lviv"}


def test_the_postal_code_of_a_customer_is_shown_as_a_number(sandbox: Sandbox) -> None:
    for code, shown in {"79000": 79000, "01001": 1001, "": 0, "SW1A 1AA": 0}.items():
        edit(sandbox, {"customers": {7: {"zip": code}}})
        assert done(connect(sandbox).get("/customer/7"))["data"]["zip"] == shown


def test_a_wrong_value_of_a_customer_is_refused_by_its_field(main: Client, subtests) -> None:
    wrong: dict[str, tuple[Any, ...]] = {
        "zip": ("65000", -1, 1.5),
        "mail": ("nora", 5),
        "post_adress": ({"street": "New"}, "x" * 256),
        "country": ("UKR",),
        "phone": ("call me",),
        "name": (["Nora"],),
        "password": ("x" * 256,),
    }
    for field, value in ((field, value) for field, values in wrong.items() for value in values):
        with subtests.test(field=field, value=value):
            created = main.post("/customer", {**CUSTOMER, field: value})
            for answer in (created, main.put("/customer/8", {field: value})):
                assert refusal(answer)[:2] == (400, f"Invalid {field}")
                assert "x" * 100 not in answer.headers["x-sandbox-refusal"]


def test_a_customers_mail_can_change_by_its_id_and_becomes_free(main: Client) -> None:
    number = create_customer(main)
    assert done(main.put("/customer", {"customer_id": number, "mail": "other@example.com"}))
    assert create_customer(main) == number + 1
    taken = main.put("/customer", {"customer_id": number, "mail": CUSTOMER["mail"]})
    assert refusal(taken)[1:] == ("Invalid mail", "mail_taken")
    assert done(main.put("/customer", {"customer_id": number, "mail": "OTHER@example.com"}))


def test_a_customer_is_deleted_when_no_active_orders_are_counted(sandbox: Sandbox, main: Client) -> None:
    def count() -> Any:
        return done(main.get("/customer/8"))["data"]["count_active_orders"]

    assert count() == 0
    assert done(main.post("/domain/new.com", {**NAME, "customer_id": 8}))
    assert done(WORKS["v2.transfer.request"].send(main))
    assert count() == 2
    refused = main.delete("/customer/8")
    assert refused.json["status"] is True
    assert "new.com" in refused.headers["x-sandbox-refusal"]
    assert done(main.delete("/domain/new.com"))
    assert done(main.delete("/domain/elsewhere.com/transfer"))
    assert count() == 0
    assert done(main.delete("/customer/8"))
    assert refusal(main.get("/customer/8"))[1] == "ID not found"
    assert done(main.post("/customer", {"name": "Bea", "mail": "EIGHT@example.com"}))["data"] != {
        "customer_id": 8
    }


def test_a_deleted_customer_leaves_its_contacts_and_its_names_in_removal(
    sandbox: Sandbox, main: Client
) -> None:
    edit_name(sandbox, "active.com", stage="redemption")
    assert done(main.delete("/customer/7"))
    assert sandbox.contacts["OWNER"].customer is None
    assert sandbox.names["active.com"].customer is None
    assert done(main.get("/contact/OWNER"))


def test_a_customer_id_without_effect_is_reported_as_ignored(
    sandbox: Sandbox, main: Client, poor: Client
) -> None:
    """An account that is no reseller has no customers, and an edited contact keeps its own."""
    sandbox.simulate.adjust_balance("poor", to=100)
    name = {**NAME, **dict.fromkeys(ROLES, "POOR"), "customer_id": 7}
    transfer = {"customer_id": 7, "transfer_code": "let-me-in"}
    wrong_code = {**transfer, "transfer_code": "no"}
    extra = {**CARD, "customer_id": 7, "tax_number": "12345678"}
    rows = [
        (poor.post("/domain/poor.com", name), 200, "customer_id"),
        (poor.post("/domain/poor.com", name), 403, "customer_id"),
        (poor.post("/domain/elsewhere.com/transfer", wrong_code), 400, "customer_id"),
        (poor.post("/domain/elsewhere.com/transfer", transfer), 200, "customer_id"),
        (poor.put("/contact/POOR", {**CARD, "customer_id": 7}), 200, "customer_id"),
        (main.put("/contact/OWNER", {**CARD, "customer_id": 7}), 200, "customer_id"),
        (main.post("/domain/rich.com", {**NAME, "customer_id": 7}), 200, None),
        (main.post("/contact/NEW", extra), 200, None),
        (main.put("/customer", {"customer_id": 7, "name": "Seven"}), 200, None),
        (poor.put("/customer", {"customer_id": 7, "name": "Seven"}), 404, None),
    ]
    for number, (answer, status, ignored) in enumerate(rows):
        assert (answer.status, answer.headers.get("x-sandbox-ignored")) == (status, ignored), number
    entry = sandbox.journal[rows[0][0].headers["x-sandbox-request"]]
    assert entry.request.ignored == ("customer_id",)
    assert [sandbox.names[name].customer for name in ("poor.com", "rich.com")] == [None, 7]


def test_a_customer_has_telephone_and_fax_numbers_in_any_form(main: Client) -> None:
    numbers = {"phone": "(044) 123-45-67", "fax": "044 765.43/21"}
    assert done(main.post("/customer", {**CUSTOMER, **numbers}))


# Contacts


def test_a_contact_keeps_the_fields_that_a_change_leaves_out(sandbox: Sandbox, main: Client) -> None:
    assert done(main.post("/contact/NEW", {**CARD, "customer_id": 7, "tax_number": "12345678"}))
    assert done(main.get("/contact/NEW")) == {"code": 200, "status": True, "data": CARD}
    needed = {key: CARD[key] for key in CARD if key not in ("company", "fax", "region")}
    assert done(main.put("/contact/NEW", {**needed, "city": "Lviv"}))
    assert done(main.get("/contact/NEW"))["data"] == {**CARD, "city": "Lviv"}
    assert done(main.put("/contact/NEW", {**needed, "fax": ""}))
    assert done(main.get("/contact/NEW"))["data"]["fax"] == ""
    assert sandbox.contacts["NEW"].extra == {"tax_number": "12345678"}
    assert done(main.put("/contact/NEW", {**CARD, "tax_number": "87654321", "size": "1"}))
    assert sandbox.contacts["NEW"].extra == {"tax_number": "87654321"}
    assert refusal(main.put("/contact/NEW", {**CARD, "tax_number": 87654321}))[1] == "Invalid Param"


def test_both_interfaces_have_the_same_contacts(sandbox: Sandbox, main: Client) -> None:
    """A contact of v3 gets the next free handle."""
    v3 = sandbox.client()
    assert done(main.put("/contact/OWNER", CARD))
    shown = v3.get("/v3/domains/getDomain/active.com").json["domain"]["contacts"]["reg-contact"]
    assert shown == {FIELDS[key]: value for key, value in CARD.items()}
    for number in range(1, 4):
        assert done(main.post(f"/contact/C{number:06d}", CARD))
    body = {"contacts": {"tech-contact": person("Vera Three")}}
    assert v3.post("/v3/domains/setContacts/served.com", json=body).status_code == 200
    assert main.get("/domain/served.com").json["contact_tech"] == "C000004"
    assert done(main.get("/contact/C000004"))["data"]["name"] == "Vera Three"
    assert done(main.get("/contact/C000004/check"))["avail"] is False
    assert refusal(main.delete("/contact/C000004"))[1] == "This object linked"
    assert done(main.put("/domain/served.com", {"contact_tech": "SPARE"}))
    assert done(main.delete("/contact/C000004"))
    assert done(main.get("/contact/C000004/check"))["avail"] is True


# Data of other accounts


def test_handles_are_unique_in_all_accounts_and_a_mail_in_its_account(main: Client, other: Client) -> None:
    for client in (main, other):
        for handle, is_free in {"OWNER": False, "THEIRS": False, "NEW": True}.items():
            assert done(client.get(f"/contact/{handle}/check"))["avail"] is is_free
    assert done(other.post("/customer", {**CUSTOMER, "mail": "seven@example.com"}))
    assert refusal(main.post("/customer", {**CUSTOMER, "mail": "SEVEN@example.com"}))[0] == 403
    assert done(main.put("/customer", {"mail": "Seven@Example.com", "name": "Mine"}))
    assert done(main.get("/customer/7"))["data"]["name"] == "Mine"


def test_contacts_and_customers_of_another_account_are_invalid_ids(sandbox: Sandbox, other: Client) -> None:
    before = contents(sandbox)
    own = {**NAME, **dict.fromkeys(ROLES, "THEIRS"), "customer_id": 9}
    answers = [
        other.post("/domain/new.com", {**own, "customer_id": 7}),
        other.post("/domain/elsewhere.com/transfer", {"transfer_code": "let-me-in", "customer_id": 7}),
    ]
    for change in ({"contact_registrant": "OWNER"}, {"contact_admin": "OUTSIDE"}, {"contact_tech": "MAIN"}):
        answers += [other.post("/domain/new.com", {**own, **change}), other.put("/domain/theirs.com", change)]
    assert [refusal(answer)[:2] for answer in answers] == [(400, "Invalid id")] * 8
    answer = other.post("/contact/NEW", {**CARD, "customer_id": 7})
    assert refusal(answer)[1] == "Invalid value for extra param customer_id"
    assert contents(sandbox) == before
