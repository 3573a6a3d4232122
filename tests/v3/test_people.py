"""Contacts and codes: which are good, what becomes of those left out, and who sees them."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import order_of

D = "/v3/domains"
SET = f"{D}/setContacts/active.com"


def set_one(api: Api, **fields: Any):  # type: ignore[no-untyped-def]
    """Give active.com another technical contact."""
    return api.post(SET, {"contacts": {"tech-contact": fields}})


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
        {"email": "", "phone": "", "country": ""},
    ],
)
def test_good_contacts(api: Api, fields: dict[str, str]) -> None:
    """Every field may be left out or empty; a country comes back in capitals."""
    answer = set_one(api, **fields)
    assert answer.status == 200, answer.raw
    shown = answer.json["domain"]["contacts"]["tech-contact"]
    for field, value in fields.items():
        assert shown[field] == (value.upper() if field == "country" else value)
    assert all(value == "" for field, value in shown.items() if field not in fields)


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
    first = api.post(SET, {"contacts": {"reg-contact": {"name": "Ann"}, "tech-contact": {"name": "Tom"}}})
    second = api.post(SET, {"contacts": {"tech-contact": {"name": "Tim"}}})
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
    same = {role: {"name": "Ann"} for role in roles}
    api.post(SET, {"contacts": same})
    after = sandbox.world.state
    api.post(SET, {"contacts": same})
    assert len(after.contacts) == before + 1
    assert sandbox.world.state == after


def test_no_contacts_change_nothing(sandbox: Sandbox, api: Api) -> None:
    """An empty object is an answer without a change."""
    before = order_of(sandbox, "active.com")
    assert api.post(SET, {"contacts": {}}).status == 200
    assert order_of(sandbox, "active.com") == before


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
