"""Contacts and codes: which are valid, which fields and roles may be left out, and who sees them."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, connect, contents, edit

D = "/v3/domains"
SET = f"{D}/setContacts/active.com"
ROLES = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")


def set_tech(api: Api, **fields: Any) -> Answer:
    """Give active.com another technical contact."""
    return api.post(SET, {"contacts": {"tech-contact": person(**fields)}})


def test_a_valid_contact_is_shown_and_an_invalid_contact_is_refused_by_field_and_value(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    fields: list[tuple[str, str | int, str]] = [
        ("phone", "+380.441234567", ""),
        ("phone", "441234567", "<country code>.<number>"),
        ("phone", "+44.12x", "<country code>.<number>"),
        ("fax", "1.2345678", ""),
        ("fax", "", ""),
        ("country", "gb", ""),
        ("country", "GBR", "two-letter country code"),
        ("email", "a+b@sub.example.com", ""),
        ("email", "nobody", "e-mail address"),
        ("email", "a b@example.com", "e-mail address"),
        ("name", "Ганна Îñtërnâtiønàl 名前", ""),
        ("name", "x" * 255, ""),
        ("name", "x" * 256, "longer than 255"),
        ("zipcode", 1001, ""),
    ]
    for field, value, problem in fields:
        before = contents(sandbox)
        with subtests.test(field=field, value=value):
            answer = set_tech(api, **{field: value})
            if not problem:
                shown = answer.json["domain"]["contacts"]["tech-contact"][field]
                assert shown == ("GB" if value == "gb" else str(value))
                continue
            assert answer.error == "invalid_contact"
            for part in (f"contacts.tech-contact.{field}", str(value)[:30], problem):
                assert part in answer.message
            assert contents(sandbox) == before


def test_contacts_of_a_wrong_type_or_role_or_without_a_field_are_refused_in_every_call(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    zipcode = "contacts.tech-contact.zipcode must be a string or an integer"
    wrong: list[Any] = [12.5, 12.0, -1, True, [1001], {}]
    cases: list[tuple[Any, str]] = [({"tech-contact": person(zipcode=sent)}, zipcode) for sent in wrong]
    for role, nearest in {
        "reg_contact": "did you mean reg-contact",
        "Tech-Contact": "did you mean tech-contact",
        "teh-contact": "did you mean tech-contact",
        "billing": "did you mean billing-contact",
        "owner": "there are reg-contact, admin-contact, tech-contact, billing-contact",
        "": "there are reg-contact",
        "x" * 10_000: "there are reg-contact",
    }.items():
        cases.append(({"reg-contact": person(), role: person()}, nearest))
    cases += [({"owner": sent}, "there are reg-contact") for sent in (person(), None, "Ann")]
    for fields in ({"nmae": "x"}, {}, person(email=""), person(phone=None)):
        lacking = next(field for field in person() if not fields.get(field))
        admin = {"reg-contact": person(), "admin-contact": fields}
        cases.append((admin, f"contacts.admin-contact.{lacking} is missing"))
    for sent, reason in cases:
        new = {"domain": {"domainName": "new.com", "contacts": sent}}
        asked = {"domain": {"domainName": "theirs.com", "contacts": sent}, "authCode": "let-me-in"}
        with subtests.test(sent=str(sent)[:100]):
            for answer in (
                api.post(SET, {"contacts": sent}),
                api.post("/v3/setContacts/active.com", {"contacts": sent}),
                api.post(f"{D}/createDomain", new),
                api.post(f"{D}/requestTransfer", asked),
            ):
                assert answer.error == "invalid_parameter", answer.raw
                assert reason in answer.message
                assert len(answer.message) < 500
    nothing: list[Any] = [{}, {"reg-contact": None}, None, []]
    assert {api.post(SET, {"contacts": sent}).error for sent in nothing} == {"invalid_parameter"}
    assert contents(sandbox) == before


def test_a_contact_may_be_sent_in_part_if_no_field_is_required(make: Make) -> None:
    sandbox = make(assume={"v3.contacts.fields": "none"})
    api = connect(sandbox, checked=False)
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


def test_an_unchanged_contact_field_need_not_be_valid_in_v3(sandbox: Sandbox, api: Api) -> None:
    edit(sandbox, {"accounts": {"main": {"contact": {"fax": "(044) 123-45-67"}}}})
    shown = set_tech(api, name="Tim").json["domain"]["contacts"]["tech-contact"]
    assert (shown["name"], shown["fax"]) == ("Tim", "(044) 123-45-67")


def test_roles_that_are_left_out_stay_and_equal_contacts_share_a_record(sandbox: Sandbox, api: Api) -> None:
    count = len(sandbox.contacts.list().contacts)
    ann = person("Ann", **dict.fromkeys(("company-name", "state", "fax"), ""))
    api.post(SET, {"contacts": dict.fromkeys(ROLES, ann)})
    after = contents(sandbox)
    shown = api.post(SET, {"contacts": dict.fromkeys(ROLES, ann)}).json["domain"]["contacts"]
    assert shown == dict.fromkeys(ROLES, ann)
    assert (len(sandbox.contacts.list().contacts), contents(sandbox)) == (count + 1, after)
    assert set_tech(api, name="Tim").json["domain"]["contacts"]["tech-contact"]["name"] == "Tim"
    assert set_tech(api, name="Ann").json["domain"]["contacts"] == shown
