"""Customers and contacts in v2.0: their fields, their changes, and the orders that they are linked to."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import person
from tests.registry import edit, edit_name
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, WORKS


def new_customer(main: Client, **changes: Any) -> int:
    """Create a customer; answers its id."""
    return int(done(main.post("/customer", {**CUSTOMER, **changes}))["data"]["customer_id"])


def test_a_customer_is_shown_without_fax_language_password_and_postal_address(
    sandbox: Sandbox, main: Client
) -> None:
    number = new_customer(main)
    kept = sandbox.customers[number]
    assert (kept.lang, kept.post_address, kept.card.fax) == ("uk", "PO box 9", CARD["fax"])
    shown = {key: CARD[key] for key in CARD if key not in ("fax", "zip")}
    assert done(main.get(f"/customer/{number}")) == {
        "data": {**shown, "id": number, "zip": 65000, "count_active_orders": 0},
        "status": True,
    }


def test_the_postal_code_of_a_customer_is_shown_as_a_number(sandbox: Sandbox) -> None:
    for code, shown in {"79000": 79000, "01001": 1001, "": 0, "SW1A 1AA": 0}.items():
        edit(sandbox, {"customers": {7: {"zip": code}}})
        assert done(connect(sandbox).get("/customer/7"))["data"]["zip"] == shown


def test_a_wrong_value_of_a_customer_is_refused_by_its_field(main: Client, subtests: pytest.Subtests) -> None:
    wrong: list[tuple[str, Any]] = [
        *(("zip", value) for value in ("65000", -1, 1.5)),
        *(("mail", value) for value in ("nora", 5)),
        *(("post_adress", value) for value in ({"street": "New"}, "x" * 256)),
        ("country", "UKR"),
        ("phone", "call me"),
        ("lang", "ukr"),
        ("name", ["Nora"]),
        ("company", "x" * 256),
        ("password", "x" * 256),
        ("fax", "x"),
    ]
    for field, value in wrong:
        with subtests.test(field=field, value=value):
            for answer in (
                main.post("/customer", {**CUSTOMER, field: value}),
                main.put("/customer/8", {field: value}),
            ):
                assert refusal(answer)[:2] == (400, f"Invalid {field}")
                assert "x" * 100 not in answer.headers["x-sandbox-refusal"]


def test_a_change_leaves_the_rest(main: Client) -> None:
    """What is not sent, or is null, stays."""
    number = new_customer(main)
    before = done(main.get(f"/customer/{number}"))["data"]
    assert done(main.put(f"/customer/{number}", {"city": "Lviv", "phone": None}))
    assert done(main.get(f"/customer/{number}"))["data"] == {**before, "city": "Lviv"}


def test_a_customers_mail_can_change_by_its_id(main: Client) -> None:
    """And the old one is free then."""
    number = new_customer(main)
    assert done(main.put("/customer", {"customer_id": number, "mail": "other@example.com"}))
    assert new_customer(main) == number + 1
    taken = main.put("/customer", {"customer_id": number, "mail": CUSTOMER["mail"]})
    assert refusal(taken)[1:] == ("Invalid mail", "mail_taken")
    assert done(main.put("/customer", {"customer_id": number, "mail": "OTHER@example.com"}))


def test_path_and_body_have_to_name_one_customer(main: Client) -> None:
    """Where both name one."""
    other = main.put("/customer/7", {"customer_id": 8, "name": "Path"})
    assert refusal(other) == (400, "Invalid customer_id", "invalid_parameter")
    assert done(main.put("/customer/7", {"customer_id": 7, "name": "Path"}))
    assert done(main.get("/customer/7"))["data"]["name"] == "Path"
    assert done(main.get("/customer/8"))["data"]["name"] == "Eight"


def test_active_orders_are_counted(sandbox: Sandbox, main: Client) -> None:
    """Registered, asked for from elsewhere, released."""

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


def test_a_deleted_customer_leaves_its_contacts_and_its_names_in_removal(sandbox: Sandbox) -> None:
    edit_name(sandbox, "active.com", stage="redemption")
    main = connect(sandbox)
    assert done(main.delete("/customer/7"))
    assert sandbox.contacts["OWNER"].customer is None
    assert sandbox.names["active.com"].customer is None
    assert done(main.get("/contact/OWNER"))


def test_the_customer_of_a_registration_counts_in_reseller_mode_alone(
    sandbox: Sandbox, main: Client, poor: Client
) -> None:
    sandbox.outside.adjust_balance("poor", to=100)
    roles = dict.fromkeys(("contact_admin", "contact_billing", "contact_registrant", "contact_tech"), "POOR")
    without = {key: NAME[key] for key in NAME if key != "customer_id"}
    assert done(poor.post("/domain/poor.com", {**NAME, **roles, "customer_id": 7}))
    assert done(main.post("/domain/rich.com", {**NAME, "customer_id": 7}))
    assert done(main.post("/domain/richer.com", without))
    customers = [sandbox.names[name].customer for name in ("poor.com", "rich.com", "richer.com")]
    assert customers == [None, 7, None]


def test_a_customer_without_effect_is_reported(sandbox: Sandbox, main: Client, poor: Client) -> None:
    """Where the account is no reseller, and where a contact is edited; no other answer reports one."""
    sandbox.outside.adjust_balance("poor", to=100)
    roles = dict.fromkeys(("contact_admin", "contact_billing", "contact_registrant", "contact_tech"), "POOR")
    transfer = {"customer_id": 7, "transfer_code": "let-me-in"}
    wrong_code = {**transfer, "transfer_code": "no"}
    without_effect = [
        poor.post("/domain/poor.com", {**NAME, **roles, "customer_id": 7}),
        poor.post("/domain/poor.com", {**NAME, **roles, "customer_id": 7}),  # refused: taken
        poor.post("/domain/elsewhere.com/transfer", wrong_code),
        poor.post("/domain/elsewhere.com/transfer", transfer),
        poor.put("/contact/POOR", {**CARD, "customer_id": 7}),
        main.put("/contact/OWNER", {**CARD, "customer_id": 7}),
    ]
    assert [one.headers.get("x-sandbox-ignored") for one in without_effect] == ["customer_id"] * 6
    assert [one.status for one in without_effect] == [200, 403, 400, 200, 200, 200]
    entry = sandbox.journal[without_effect[0].headers["x-sandbox-request"]]
    assert entry.request.ignored == ("customer_id",)
    others = [
        main.post("/domain/rich.com", {**NAME, "customer_id": 7}),
        main.post("/contact/NEW", {**CARD, "customer_id": 7, "tax_number": "12345678"}),
        main.put("/customer", {"customer_id": 7, "name": "Seven"}),
        poor.put("/customer", {"customer_id": 7, "name": "Seven"}),
        poor.get("/customer/7"),
    ]
    assert [one.headers.get("x-sandbox-ignored") for one in others] == [None] * 5
    assert [one.status for one in others] == [200, 200, 200, 404, 404]


# Contacts


def test_a_contact_as_it_is_shown(main: Client) -> None:
    """Its ten fields, all strings."""
    assert done(main.post("/contact/NEW", {**CARD, "customer_id": 7, "tax_number": "12345678"}))
    assert done(main.get("/contact/NEW")) == {"code": 200, "status": True, "data": CARD}


def test_an_extra_parameter_is_kept(sandbox: Sandbox, main: Client) -> None:
    """At creation and in a change; unknown ones are passed over in a change."""
    assert done(main.post("/contact/NEW", {**CARD, "tax_number": "12345678"}))
    assert sandbox.contacts["NEW"].extra == {"tax_number": "12345678"}
    assert done(main.put("/contact/NEW", {**CARD, "tax_number": "87654321", "size": "1"}))
    assert sandbox.contacts["NEW"].extra == {"tax_number": "87654321"}
    assert refusal(main.put("/contact/NEW", {**CARD, "tax_number": 87654321}))[1] == "Invalid Param"


def test_a_changed_contact_is_its_names_contact(sandbox: Sandbox, main: Client) -> None:
    """v3 shows the new card."""
    assert done(main.put("/contact/OWNER", CARD))
    shown = sandbox.client().get("/v3/domains/getDomain/active.com").get_json()["domain"]["contacts"]
    assert shown["reg-contact"]["name"] == CARD["name"]


def test_a_change_of_a_contact_keeps_what_may_be_left_out(main: Client) -> None:
    """Company, fax and region."""
    assert done(main.post("/contact/NEW", CARD))
    needed = {key: CARD[key] for key in CARD if key not in ("company", "fax", "region")}
    assert done(main.put("/contact/NEW", {**needed, "city": "Lviv"}))
    assert done(main.get("/contact/NEW"))["data"] == {**CARD, "city": "Lviv"}
    assert done(main.put("/contact/NEW", {**needed, "fax": ""}))
    assert done(main.get("/contact/NEW"))["data"]["fax"] == ""


def test_a_contact_that_v3_made_is_there(sandbox: Sandbox, main: Client) -> None:
    """Under the handle that domain info shows, and linked."""
    v3 = {"contacts": {"tech-contact": person("Vera Three")}}
    assert sandbox.client().post("/v3/domains/setContacts/served.com", json=v3).status_code == 200
    handle = main.get("/domain/served.com").json["contact_tech"]
    assert done(main.get(f"/contact/{handle}"))["data"]["name"] == "Vera Three"
    assert done(main.get(f"/contact/{handle}/check"))["avail"] is False
    assert refusal(main.delete(f"/contact/{handle}"))[1] == "This object linked"
    assert done(main.put("/domain/served.com", {"contact_tech": "SPARE"}))
    assert done(main.delete(f"/contact/{handle}"))
    assert done(main.get(f"/contact/{handle}/check"))["avail"] is True


def test_a_handle_of_ones_own_does_not_disturb_v3(sandbox: Sandbox, main: Client) -> None:
    """v3 takes the next one that is free."""
    for number in range(1, 4):
        assert done(main.post(f"/contact/C{number:06d}", CARD))
    v3 = {"contacts": {"tech-contact": person("Vera Three")}}
    assert sandbox.client().post("/v3/domains/setContacts/served.com", json=v3).status_code == 200
    assert main.get("/domain/served.com").json["contact_tech"] == "C000004"
