"""Customers, contacts and names in v2.0, flags, tokens, and orders that are not active."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import person
from tests.registry import Make, contents, edit, edit_name
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, ROLES, WORKS, Ask

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


def test_a_response_omits_four_fields_of_a_customer_such_as_the_password(
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


def test_a_wrong_customer_value_is_refused_with_the_name_of_its_field(main: Client, subtests) -> None:
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


def test_a_changed_mail_of_a_customer_frees_the_old_mail(main: Client) -> None:
    number = create_customer(main)
    assert done(main.put("/customer", {"customer_id": number, "mail": "other@example.com"}))
    assert create_customer(main) == number + 1
    taken = main.put("/customer", {"customer_id": number, "mail": CUSTOMER["mail"]})
    assert refusal(taken)[1:] == ("Invalid mail", "mail_taken")
    assert done(main.put("/customer", {"customer_id": number, "mail": "OTHER@example.com"}))


def test_a_customer_can_be_deleted_only_without_active_orders(sandbox: Sandbox, main: Client) -> None:
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


def test_contacts_and_domains_in_redemption_survive_their_deleted_customer(
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
    sandbox.accounts.set_balance("poor", 100)
    name = {**NAME, **dict.fromkeys(ROLES, "POOR"), "customer_id": 7}
    transfer = {"customer_id": 7, "transfer_code": "let-me-in"}
    wrong_code = {**transfer, "transfer_code": "no"}
    extra = {**CARD, "customer_id": 7, "tax_number": "12345678"}
    reseller = "customer_id; the account is not a reseller's"
    rows = [
        (poor.post("/domain/poor.com", name), 200, reseller),
        (poor.post("/domain/poor.com", name), 403, reseller),
        (poor.post("/domain/elsewhere.com/transfer", wrong_code), 400, reseller),
        (poor.post("/domain/elsewhere.com/transfer", transfer), 200, reseller),
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
    assert entry.request.ignored == (reseller,)
    assert [sandbox.names[name].customer for name in ("poor.com", "rich.com")] == [None, 7]


def test_a_customer_may_have_phone_and_fax_numbers_in_any_format(main: Client) -> None:
    numbers = {"phone": "(044) 123-45-67", "fax": "044 765.43/21"}
    assert done(main.post("/customer", {**CUSTOMER, **numbers}))


# Contacts


def test_fields_that_a_contact_edit_omits_stay_unchanged(sandbox: Sandbox, main: Client) -> None:
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


def test_v3_and_v2_show_the_same_contacts(sandbox: Sandbox, main: Client) -> None:
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


def test_handles_are_unique_in_the_registry_and_mails_are_unique_in_an_account(
    main: Client, other: Client
) -> None:
    for client in (main, other):
        for handle, is_free in {"OWNER": False, "THEIRS": False, "NEW": True}.items():
            assert done(client.get(f"/contact/{handle}/check"))["avail"] is is_free
    assert done(other.post("/customer", {**CUSTOMER, "mail": "seven@example.com"}))
    assert refusal(main.post("/customer", {**CUSTOMER, "mail": "SEVEN@example.com"}))[0] == 403
    assert done(main.put("/customer", {"mail": "Seven@Example.com", "name": "Mine"}))
    assert done(main.get("/customer/7"))["data"]["name"] == "Mine"


def test_an_edit_cannot_remove_the_mail_or_the_name_of_a_customer(sandbox: Sandbox, main: Client) -> None:
    before = contents(sandbox)
    for key in ("mail", "name"):
        answer = main.put("/customer", {"customer_id": 7, key: ""})
        assert refusal(answer) == (400, f"Invalid {key}", "invalid_contact")
    assert contents(sandbox) == before


def test_contacts_and_customers_of_another_account_are_refused_as_invalid_ids(
    sandbox: Sandbox, other: Client
) -> None:
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


def test_an_auth_code_may_be_a_number_and_no_response_contains_a_secret(
    sandbox: Sandbox, main: Client
) -> None:
    edit(sandbox, {"domains": {"theirs.com": {"auth_code": "123456"}}})
    answer = main.post("/domain/theirs.com/transfer", {"transfer_code": "my-guess"})
    shown = answer.raw.decode() + str(answer.headers)
    assert "my-guess" not in shown
    assert "123456" not in shown
    assert done(main.post("/domain/theirs.com/transfer", {"transfer_code": 123456}))


def test_a_response_header_explains_a_refusal_with_a_vague_message(main: Client) -> None:
    answer = WORKS["v2.domain.renew"].with_(date_end="soon").send(main)
    assert answer.headers["x-sandbox-refusal"] == "invalid_parameter: date_end must be a date, not 'soon'."
    answer = main.put("/domain/active.com", {"ns": {"add": "ns3.home.net"}})
    problem = "ns.add must be an array of strings, not 'ns3.home.net'"
    assert answer.headers["x-sandbox-refusal"] == f"invalid_parameter: {problem}."
    main.version = f"V{'2' * 20}.0"
    explanation = main.get("/domain/active.com").headers["x-sandbox-refusal"]
    assert explanation == f"version_not_served: The version V{'2' * 19} is not served; use V2.0."


SERVED = "served.com"
DOMAIN = f"/domain/{SERVED}"
UPDATE = "Not the correct client_update_prohibited"
SERVER = {"ns": {"add": ["ns3.home.net"]}}

FLAGS = ("transfer", "update", "delete", "renew")
CLIENT_FLAGS = ("client_hold", *(f"client_{word}_prohibited" for word in FLAGS))


@pytest.mark.parametrize("name", ["requested.com", "processing.com", "arriving.com"])
def test_an_order_that_is_not_active_can_only_be_read(sandbox: Sandbox, main: Client, name: str) -> None:
    path = f"/domain/{name}"
    before = contents(sandbox)
    assert main.get(path).json["status"] == ("0" if name == "requested.com" else "1")
    assert done(main.get(f"{path}/check"))["avail"] == "false"
    assert refusal(main.post(path, NAME))[1] == "Domain is already registered"
    for flag in CLIENT_FLAGS:
        assert refusal(main.put(path, {flag: 1})) == (400, "Not the correct status", "wrong_state")
    expires = sandbox.names.get(name, account="main").expires.date().isoformat()
    renewal = {"current_expiry_date": expires, "period": 1}
    for ask in (
        Ask("DELETE", path),
        Ask("PUT", f"{path}/renew", renewal),
        Ask("GET", f"{path}/host/ns1/check"),
    ):
        assert refusal(ask.send(main))[::2] == (403, "wrong_state")
    assert refusal(main.get(f"{path}/host/ns1"))[2] == "host_not_found"
    assert contents(sandbox) == before


def test_a_flag_accepts_only_1_to_set_and_0_to_remove(sandbox: Sandbox, main: Client) -> None:
    for flag in CLIENT_FLAGS:
        sandbox.reset()
        rest = {"client_hold", "client_renew_prohibited"} - {flag}
        assert done(main.put(DOMAIN, dict.fromkeys(rest, 1)))
        for value in (1, 0, 0, 1):
            assert done(main.put(DOMAIN, {flag: value}))
            assert set(sandbox.names[SERVED].flags) == rest | ({flag} if value else set())
        for wrong in (2, -1, True, "1", 1.0, [1]):
            assert refusal(main.put(DOMAIN, {flag: wrong}))[:2] == (400, f"Not the correct {flag}")


def test_an_edit_that_changes_the_update_lock_succeeds_or_fails_completely(
    sandbox: Sandbox, main: Client
) -> None:
    """A lock that is set in the same edit forbids nothing of it; one that is removed still does."""
    assert done(main.put(DOMAIN, {"client_update_prohibited": 1, "contact_tech": "SPARE", **SERVER}))
    name = sandbox.names[SERVED]
    assert (name.flags, name.contacts["tech"]) == (("client_update_prohibited",), "SPARE")
    assert name.nameservers[-1] == "ns3.home.net"
    before = contents(sandbox)
    parts: list[tuple[dict[str, Any], str]] = [
        ({"contact_tech": "MAIN"}, "changing contacts"),
        ({"ns": {"add": ["ns4.home.net"]}}, "changing name servers"),
        ({"ns": {"add": ["not a name"]}}, "changing name servers"),
    ]
    for beside, action in parts:
        for switch in ({"client_update_prohibited": 0}, {"client_update_prohibited": 1}, {"client_hold": 1}):
            answer = main.put(DOMAIN, {**switch, **beside})
            assert refusal(answer) == (400, UPDATE, "locked")
            assert f"forbids {action}." in answer.headers["x-sandbox-refusal"]
    assert contents(sandbox) == before


#: Each switch of v2.0 that v3 has too, with v3's operations to set and to remove it.
SWITCHES = {
    "client_hold": ("lock", "unlock"),
    "client_transfer_prohibited": ("lockTransfer", "unlockTransfer"),
    "client_update_prohibited": ("lockUpdate", "unlockUpdate"),
}


def test_the_update_lock_does_not_block_flags_in_v3_or_v2(sandbox: Sandbox, main: Client) -> None:
    for covers in ("updates", "registrant_only"):
        edit_name(sandbox, SERVED, flags=["client_update_prohibited"])
        sandbox.assumptions.set({"v3.update_lock.covers": covers})
        for flag in CLIENT_FLAGS:
            for value in (1, 0):
                words = SWITCHES.get(flag)
                if words:
                    assert (
                        sandbox.client().post(f"/v3/domains/{words[1 - value]}/{SERVED}").status_code == 200
                    )
                    assert (flag in sandbox.names[SERVED].flags) is bool(value)
                assert done(main.put(DOMAIN, {"client_update_prohibited": 1}))
                assert done(main.put(DOMAIN, {flag: value, "client_update_prohibited": value}))
                assert (flag in sandbox.names[SERVED].flags) is bool(value)
        assert done(main.put(DOMAIN, {"client_update_prohibited": 1}))
        answer = main.put(DOMAIN, {"contact_admin": "SPARE"})
        assert answer.status == (400 if covers == "updates" else 200)
        assert refusal(main.put(DOMAIN, {"contact_registrant": "SPARE"}))[:2] == (400, UPDATE)


CHECK = "/domain/new.com/check"


def explanation(client: Client, *headers: tuple[str, str]) -> str:
    """Return the explanation of a refused request with these headers, which has no secret."""
    answer = client.call("GET", "/customer/1", headers=list(headers))
    assert answer.status == 403
    shown = answer.raw.decode() + str(answer.headers)
    assert not [value for _, value in headers if len(value) > 5 and value in shown]
    return answer.headers["x-sandbox-refusal"]


def test_a_token_in_a_wrong_header_is_reported_with_the_option_for_this_header(main: Client) -> None:
    for name in ("X-Token", "x-token", "Token", "Authorization", "X-Authorisation"):
        message = explanation(main, (name, "main-token"))
        assert message.startswith("token_missing: The request carries no X-Auth-Token header; it carries ")
        assert f"--token-header {name.title()} would take" in message
    assert "it carries" not in explanation(main, ("X-Sandbox-Token", "x"), ("Accept", "*/*"))
    assert "it carries" not in explanation(main, ("X-Auth-Token", ""))


def test_each_world_has_its_own_token_headers(make: Make) -> None:
    sandbox = make()
    with sandbox.fork(assume={"v2.token_headers": "X-Token"}) as fork:
        client, token = connect(sandbox), fork.accounts["main"].token
        assert done(client.call("GET", CHECK, headers=[("X-Token", token)]))
        assert refusal(client.call("GET", CHECK, headers=[("X-Auth-Token", token)]))[2] == "unknown_token"
        assert refusal(client.call("GET", CHECK, headers=[("X-Token", "main-token")]))[2] == "token_missing"
        assert fork.client().get(f"/V2.0{CHECK}").status_code == 200


def test_a_wrong_credential_sent_as_token_is_named_in_the_refusal(main: Client, sandbox: Sandbox) -> None:
    for token, shown, reason in [
        ("main-key", "ma***ey", "it is the API key of the account main"),
        ("main-secret", "ma***et", "it is the secret of the account main"),
        ("lost-token", "lo***en", "nobody has it"),
    ]:
        message = explanation(main, ("X-Auth-Token", token))
        assert message == f"unknown_token: No account has the token {shown!r}: {reason}."
    sandbox.simulate.revoke_credentials(account="main")
    assert "it has been revoked" in explanation(main, ("X-Auth-Token", "main-token"))


# A contact's own handle in its body

NEEDED = {key: CARD[key] for key in CARD if key not in ("company", "fax", "region")}


def test_a_contact_body_may_repeat_its_handle_but_not_another_handle(main: Client) -> None:
    for key, place in {"contact_id": "the body", "id": "the body, as id"}.items():
        for method, error in (("POST", "Invalid value for extra param contact_id"), ("PUT", "Invalid Param")):
            refused = main.call(method, f"/contact/N-{key}", {**NEEDED, key: "OWNER"})
            assert refusal(refused) == (400, error, "invalid_parameter")
            message = f"has two different values: N-{key} in the path and OWNER in {place}."
            assert refused.headers["x-sandbox-refusal"].endswith(message)
            assert done(main.call(method, f"/contact/N-{key}", {**NEEDED, key: f"N-{key}"}))
    assert done(main.post("/contact/1234", {**NEEDED, "id": 1234})), "a handle of digits as a number"


def test_a_fixture_may_declare_an_extra_parameter_named_id(sandbox: Sandbox, main: Client) -> None:
    edit(sandbox, {"contact_params": {"id": "[0-9]+"}})
    assert refusal(main.post("/contact/NORA", {**NEEDED, "id": "NORA"}))[2] == "invalid_extra"
    assert done(main.post("/contact/NORA", {**NEEDED, "id": "42"}))
