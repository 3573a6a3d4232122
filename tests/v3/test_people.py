"""Contacts and codes: which are valid, which fields and roles may be left out, and who sees them."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, connect, contents, edit

D = "/v3/domains"
SET = f"{D}/setContacts/active.com"
WRONG_ZIPCODES: list[Any] = [12.5, 12.0, -1, True, [1001], {}]
NOTHING: list[Any] = [{}, {"reg-contact": None}, None, []]


def set_tech(api: Api, **fields: Any) -> Answer:
    """Give active.com another technical contact."""
    return api.post(SET, {"contacts": {"tech-contact": person(**fields)}})


def calls(api: Api, contacts: Any) -> list[Answer]:
    """Send these contacts in each of the calls that take contacts."""
    return [
        api.post(SET, {"contacts": contacts}),
        api.post("/v3/setContacts/active.com", {"contacts": contacts}),
        api.post(f"{D}/createDomain", {"domain": {"domainName": "new.com", "contacts": contacts}}),
        api.post(
            f"{D}/requestTransfer",
            {"domain": {"domainName": "theirs.com", "contacts": contacts}, "authCode": "let-me-in"},
        ),
    ]


def test_a_valid_contact_is_shown_with_a_country_in_capitals(api: Api, subtests: pytest.Subtests) -> None:
    for fields in [
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
    ]:
        with subtests.test(fields=fields):
            answer = set_tech(api, **fields)
            assert answer.status == 200, answer.raw
            shown = answer.json["domain"]["contacts"]["tech-contact"]
            for field, value in person(**fields).items():
                assert shown[field] == (value.upper() if field == "country" else str(value))


def test_an_invalid_contact_is_refused_by_field_and_value(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    for field, value, expected in [
        ("phone", "441234567", "<country code>.<number>"),
        ("phone", "+44.12x", "<country code>.<number>"),
        ("fax", "44-1234567", "<country code>.<number>"),
        ("country", "GBR", "two-letter country code"),
        ("country", "1A", "two-letter country code"),
        ("email", "nobody", "e-mail address"),
        ("email", "a@b", "e-mail address"),
        ("email", "a b@example.com", "e-mail address"),
        ("name", "x" * 256, "longer than 255"),
    ]:
        with subtests.test(field=field, value=value):
            answer = set_tech(api, **{field: value})
            assert answer.error == "invalid_contact"
            for part in (f"contacts.tech-contact.{field}", value[:30], expected):
                assert part in answer.message
    assert contents(sandbox) == before


def test_contacts_of_a_wrong_type_or_role_or_without_a_field_are_refused_in_every_call(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    zipcode = "contacts.tech-contact.zipcode must be a string or a whole number"
    cases: list[tuple[Any, str]] = [
        ({"tech-contact": person(zipcode=sent)}, zipcode) for sent in WRONG_ZIPCODES
    ]
    for role, nearest in {
        "registrant-contact": "the nearest is reg-contact",
        "reg_contact": "the nearest is reg-contact",
        "Tech-Contact": "the nearest is tech-contact",
        "teh-contact": "the nearest is tech-contact",
        "billing": "the nearest is billing-contact",
        "owner": "there are reg-contact, admin-contact, tech-contact, billing-contact",
        "": "there are reg-contact",
        "x" * 10_000: "there are reg-contact",
    }.items():
        cases.append(({"reg-contact": person(), role: person()}, nearest))
    cases += [({"owner": sent}, "there are reg-contact") for sent in (person(), {}, None, "Ann")]
    for fields in ({"nmae": "x"}, {}, {"name": "x"}, person(email=""), person(phone=None)):
        for field in person():
            if not fields.get(field):
                admin = {"reg-contact": person(), "admin-contact": fields}
                cases.append((admin, f"contacts.admin-contact.{field} is missing"))
    for sent, reason in cases:
        with subtests.test(sent=str(sent)[:100]):
            for answer in calls(api, sent):
                assert answer.error == "invalid_parameter", answer.raw
                assert reason in answer.message
                assert len(answer.message) < 500
    for sent in NOTHING:
        assert api.post(SET, {"contacts": sent}).error == "invalid_parameter", "nothing to set"
    assert contents(sandbox) == before


def test_a_contact_may_be_sent_in_part_if_no_field_is_required(make: Make) -> None:
    sandbox = make(assume={"v3.contacts.fields": "none"})
    api = connect(sandbox)
    kept = api.get(f"{D}/getDomain/active.com").json["domain"]["contacts"]["reg-contact"]
    before = contents(sandbox)
    for nothing in ({"nmae": "x"}, {}):
        assert api.post(SET, {"contacts": {"reg-contact": nothing}}).status == 200
        assert contents(sandbox) == before
    changed = api.post(SET, {"contacts": {"reg-contact": {"city": "Lviv", "email": ""}}}).json["domain"]
    assert changed["contacts"]["reg-contact"] == {**kept, "city": "Lviv", "email": ""}
    body = {"domain": {"domainName": "new.com", "contacts": {"reg-contact": {"name": "Ann"}}}}
    new = api.post(f"{D}/createDomain", body).json["domain"]["contacts"]["reg-contact"]
    assert new == {**dict.fromkeys(kept, ""), "name": "Ann"}


def test_a_field_that_is_kept_need_not_be_valid_in_v3(sandbox: Sandbox, api: Api) -> None:
    edit(sandbox, {"accounts": {"main": {"contact": {"fax": "(044) 123-45-67"}}}})
    shown = set_tech(api, name="Tim").json["domain"]["contacts"]["tech-contact"]
    assert (shown["name"], shown["fax"]) == ("Tim", "(044) 123-45-67")


def test_roles_that_are_left_out_stay(api: Api) -> None:
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


def test_equal_contacts_are_one_record(sandbox: Sandbox, api: Api) -> None:
    before = len(sandbox.contacts.list().contacts)
    roles = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
    same = {role: person("Ann", **dict.fromkeys(("company-name", "state", "fax"), "")) for role in roles}
    api.post(SET, {"contacts": same})
    after = contents(sandbox)
    api.post(SET, {"contacts": same})
    assert len(sandbox.contacts.list().contacts) == before + 1
    assert contents(sandbox) == after


def test_an_account_sees_only_its_own_names(api: Api, other: Api) -> None:
    for target in ("getDomain", "getAuthcode", "glueRecords"):
        assert other.get(f"{D}/{target}/active.com").error == "domain_not_found"
        assert api.get(f"{D}/{target}/theirs.com").error == "domain_not_found"
    mine = {one["domainName"] for one in api.get(D).json["domains"]}
    theirs = {one["domainName"] for one in other.get(D).json["domains"]}
    assert mine & theirs == {"leaving.com"}, "on its way from one account to the other"


def test_a_code_has_4_to_64_printable_ascii_characters(api: Api) -> None:
    target = f"{D}/setAuthcode/active.com"
    for code in ("abcd", "x" * 64, "!\"#$%&'()~", "12 34"):
        assert api.post(target, {"authCode": code}).json["authCode"] == code
    for wrong in ("", "abc", "x" * 65, "pässword", "a\nbcd", "abc\x7f", 123):
        answer = api.post(target, {"authCode": wrong})
        assert answer.error == "invalid_auth_code", wrong
        assert "4 to 64 printable ASCII characters" in answer.message
        assert not wrong or str(wrong) not in answer.message.replace("ASCII", "")
