"""Contacts and codes: which are good, what becomes of those left out, and who sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, connect, order_of, write

D = "/v3/domains"
SET = f"{D}/setContacts/active.com"


def set_one(api: Api, **fields: Any) -> Answer:
    """Give active.com another technical contact."""
    return api.post(SET, {"contacts": {"tech-contact": person(**fields)}})


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"phone": "+380.441234567"},
        {"phone": "380.441234567", "fax": "1.2345678"},
        {"country": "gb"},
        {"email": "a+b@sub.example.com"},
        {"name": "Ганна Îñtërnâtiønàl 名前"},
        {"name": "x" * 255},
        {"fax": "", "company-name": "", "state": ""},
        {"zipcode": 1001},
        {"zipcode": "SW1A 1AA"},
    ],
)
def test_good_contacts(api: Api, fields: dict[str, Any]) -> None:
    """A country comes back in capitals, a zip code as a string; the rest as it was sent."""
    answer = set_one(api, **fields)
    assert answer.status == 200, answer.raw
    shown = answer.json["domain"]["contacts"]["tech-contact"]
    for field, value in person(**fields).items():
        assert shown[field] == (value.upper() if field == "country" else str(value))


@pytest.mark.parametrize("zipcode", [12.5, 12.0, -1, True, [1001], {"code": 1001}])
def test_a_zip_code_is_a_text_or_a_whole_number(api: Api, sandbox: Sandbox, zipcode: Any) -> None:
    """Nothing else, in any of the calls that take contacts."""
    before = sandbox.world.state
    for answer in calls(api, {"tech-contact": person(zipcode=zipcode)}):
        assert answer.error == "invalid_parameter"
        assert "contacts.tech-contact.zipcode must be a string or a whole number" in answer.message
    assert sandbox.world.state is before


def calls(api: Api, contacts: Any) -> list[Answer]:
    """Each call that takes contacts, with these."""
    return [
        api.post(SET, {"contacts": contacts}),
        api.post("/v3/setContacts/active.com", {"contacts": contacts}),
        api.post(f"{D}/createDomain", {"domain": {"domainName": "new.com", "contacts": contacts}}),
        api.post(
            f"{D}/requestTransfer",
            {"domain": {"domainName": "theirs.com", "contacts": contacts}, "authCode": "let-me-in"},
        ),
    ]


@pytest.mark.parametrize(
    ("role", "told"),
    [
        ("registrant-contact", "the nearest is reg-contact"),
        ("reg_contact", "the nearest is reg-contact"),
        ("Tech-Contact", "the nearest is tech-contact"),
        ("teh-contact", "the nearest is tech-contact"),
        ("billing", "the nearest is billing-contact"),
        ("owner", "there are reg-contact, admin-contact, tech-contact, billing-contact"),
        ("", "there are reg-contact"),
        ("x" * 10_000, "there are reg-contact"),
    ],
)
@pytest.mark.parametrize("value", [person(), {}, None, "Ann"])
def test_a_role_that_is_none_is_refused_with_the_nearest(
    api: Api, sandbox: Sandbox, role: str, told: str, value: Any
) -> None:
    """In every call that takes contacts, alone or beside a good one, whatever stands under it."""
    before = sandbox.world.state
    for contacts in ({role: value}, {"reg-contact": person(), role: value}):
        for answer in calls(api, contacts):
            assert answer.error == "invalid_parameter", answer.raw
            assert told in answer.message
            assert len(answer.message) < 300
    assert sandbox.world.state is before


@pytest.mark.parametrize("contacts", [{}, {"reg-contact": None}, None, []])
def test_contacts_without_a_role_are_refused(api: Api, sandbox: Sandbox, contacts: Any) -> None:
    """setContacts has something to set; the other calls may go without."""
    before = sandbox.world.state
    answer = api.post(SET, {"contacts": contacts})
    assert answer.error == "invalid_parameter"
    assert "contacts" in answer.message
    assert sandbox.world.state is before


@pytest.mark.parametrize("fields", [{"nmae": "x"}, {}, {"name": "x"}, person(email=""), person(phone=None)])
def test_a_contact_that_lacks_a_field_is_refused(api: Api, sandbox: Sandbox, fields: Any) -> None:
    """A typo empties nothing, in any of the calls that take contacts; each missing field is named."""
    before = sandbox.world.state
    missing = [field for field in person() if not fields.get(field)]
    for answer in calls(api, {"reg-contact": person(), "admin-contact": fields}):
        assert answer.error == "invalid_parameter"
        for field in missing:
            assert f"contacts.admin-contact.{field} is missing" in answer.message
    assert sandbox.world.state is before


def test_a_contact_may_be_given_in_part_where_no_field_is_needed(make: Make) -> None:
    """What it leaves out stays, so that a typo changes nothing; a new order begins with empty fields."""
    sandbox = make(assume={"v3.contacts.fields": "none"})
    api = connect(sandbox)
    kept = api.get(f"{D}/getDomain/active.com").json["domain"]["contacts"]["reg-contact"]
    before = order_of(sandbox, "active.com")
    for nothing in ({"nmae": "x"}, {}):
        assert api.post(SET, {"contacts": {"reg-contact": nothing}}).status == 200
        assert order_of(sandbox, "active.com") == before
    changed = api.post(SET, {"contacts": {"reg-contact": {"city": "Lviv", "email": ""}}}).json["domain"]
    assert changed["contacts"]["reg-contact"] == {**kept, "city": "Lviv", "email": ""}
    body = {"domain": {"domainName": "new.com", "contacts": {"reg-contact": {"name": "Ann"}}}}
    new = api.post(f"{D}/createDomain", body).json["domain"]["contacts"]["reg-contact"]
    assert new == {**dict.fromkeys(kept, ""), "name": "Ann"}


def test_what_a_contact_keeps_is_not_held_against_it(sandbox: Sandbox, api: Api) -> None:
    """A fax number that v2.0 took stays where v3 leaves it out, though v3 would not take it."""
    made = api.post(SET, {"contacts": {"tech-contact": person()}})
    assert made.status == 200
    handle = order_of(sandbox, "active.com").contacts.tech
    contact = sandbox.world.state.contacts[handle]
    write(sandbox, replace(contact, card=replace(contact.card, fax="(044) 123-45-67")))
    shown = set_one(api, name="Tim").json["domain"]["contacts"]["tech-contact"]
    assert (shown["name"], shown["fax"]) == ("Tim", "(044) 123-45-67")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("phone", "441234567", "<country code>.<number>"),
        ("phone", "+44.12x", "<country code>.<number>"),
        ("fax", "44-1234567", "<country code>.<number>"),
        ("country", "GBR", "two-letter country code"),
        ("country", "1A", "two-letter country code"),
        ("email", "nobody", "e-mail address"),
        ("email", "a@b", "e-mail address"),
        ("email", "a b@example.com", "e-mail address"),
        ("name", "x" * 256, "longer than 255"),
    ],
)
def test_bad_contacts_are_refused_by_field(
    api: Api, sandbox: Sandbox, field: str, value: str, told: str
) -> None:
    """Under the names of the wire, and with the value."""
    before = sandbox.world.state
    answer = set_one(api, **{field: value})
    assert answer.error == "invalid_contact"
    assert f"contacts.tech-contact.{field}" in answer.message
    assert value[:30] in answer.message
    assert told in answer.message
    assert sandbox.world.state is before


def test_roles_that_are_left_out_stay(api: Api) -> None:
    """Only those sent are changed."""
    first = api.post(SET, {"contacts": {"reg-contact": person("Ann"), "tech-contact": person("Tom")}})
    second = api.post(SET, {"contacts": {"tech-contact": person("Tim")}})
    names = {role: card["name"] for role, card in second.json["domain"]["contacts"].items()}
    assert names == {
        "reg-contact": "Ann",
        "admin-contact": "Main Holder",
        "tech-contact": "Tim",
        "billing-contact": "Main Holder",
    }
    assert first.json["domain"]["contacts"]["reg-contact"] == second.json["domain"]["contacts"]["reg-contact"]


def test_the_same_card_is_one_contact(sandbox: Sandbox, api: Api) -> None:
    """Four roles with one card, and once more the same, make one record."""
    before = len(sandbox.world.state.contacts)
    roles = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
    same = {role: person("Ann", **dict.fromkeys(("company-name", "state", "fax"), "")) for role in roles}
    api.post(SET, {"contacts": same})
    after = sandbox.world.state
    api.post(SET, {"contacts": same})
    assert len(after.contacts) == before + 1
    assert sandbox.world.state == after


def test_accounts_see_their_own(api: Api, other: Api) -> None:
    """Names, codes and lists of one account are no other's."""
    for target in ("getDomain", "getAuthcode", "glueRecords"):
        assert other.get(f"{D}/{target}/active.com").error == "domain_not_found"
        assert api.get(f"{D}/{target}/theirs.com").error == "domain_not_found"
    mine = {one["domainName"] for one in api.get(D).json["domains"]}
    theirs = {one["domainName"] for one in other.get(D).json["domains"]}
    assert mine & theirs == {"leaving.com"}, "which is on its way from one to the other"


@pytest.mark.parametrize("code", ["abcd", "x" * 64, "!\"#$%&'()~", "12 34"])
def test_good_codes(api: Api, code: str) -> None:
    """From 4 to 64 printable ASCII characters."""
    assert api.post(f"{D}/setAuthcode/active.com", {"authCode": code}).json["authCode"] == code


@pytest.mark.parametrize("code", ["", "abc", "x" * 65, "pässword", "a\nbcd", "abc\x7f", 123])
def test_bad_codes(api: Api, code: Any) -> None:
    """Told what a good one is, and not repeated."""
    answer = api.post(f"{D}/setAuthcode/active.com", {"authCode": code})
    assert answer.error == "invalid_auth_code"
    assert "4 to 64 printable ASCII characters" in answer.message
