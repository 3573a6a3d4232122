"""The checks of contact details in v3, in v2.0 and of customers: ``contacts.checks`` strict or loose."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import person
from tests.registry import Make, connect, contents
from tests.v2.client import connect as connect_v2
from tests.v2.client import refusal
from tests.v2.works import CARD, CUSTOMER

SET = "/v3/domains/setContacts/active.com"
LONG = "a" * 65
#: Values that no registry takes, with words of the message about them.
REFUSED = {
    "country": dict.fromkeys(["UK", "EN", "ZZ", "zz", "XX"], "ISO 3166"),
    "phone": {
        "999.441234567": "country code 999, which no country has",
        "+0.441234567": "country code 0",
        "380.4412345678901": "too long for a number of the country code 380",
        "1.5551234": "too short for a number of the country code 1",
        "380.441": "too short for a number of the country code 380",
    },
    "mail": {
        "ann@example..com": "empty label",
        "ann@.example.com": "empty label",
        "ann@-example.com": "inner hyphens",
        "ann@example-.com": "inner hyphens",
        "ann@exam_ple.com": "letters, digits",
        "ann@example.123": "number",
        f"{LONG}@example.com": "more than 64 characters before the @",
        ".ann@example.com": "before the @",
        "an..n@example.com": "before the @",
        "an<n>@example.com": "before the @",
    },
}
ACCEPTED = {
    "country": ["UA", "gb", "US", "AX", "AQ"],
    "phone": [
        "380.441234567",
        "+380.441234567",
        "1.5551234567",
        "44.2079460000",
        "39.0612345678",
        "49.891234",
    ],
    "mail": ["o'neil+tag@example.com", "иван@пример.укр", "ann@xn--bcher-kva.com", f"{'a' * 64}@example.com"],
}
BLANK = (" ", "\u00a0", "\u3000", "\u200b", "\u3164", "\u2800")
V3 = {"country": "country", "phone": "phone", "mail": "email"}


def sent(sandbox: Sandbox, field: str, value: str) -> dict[str, Any]:
    """Send a field in each request that takes contact details. Return the messages of the refusals."""
    v2 = connect_v2(sandbox)
    card, customer = {**CARD, field: value}, {**CUSTOMER, "customer_id": None, field: value}
    changes = {"customer_id": 7, field: value}
    created = v2.post("/customer", customer)
    sandbox.reset()  # the mail of a customer is unique
    return {
        "v2 customer": created,
        "v3": connect(sandbox, checked=False).post(
            SET, {"contacts": {"reg-contact": person(**{V3[field]: value})}}
        ),
        "v2 contact": v2.post("/contact/CHECKED", card),
        "v2 contact edit": v2.put("/contact/OWNER", card),
        "v2 customer edit": v2.put("/customer/7", changes),
    }


@pytest.mark.parametrize("field", REFUSED)
@pytest.mark.parametrize("checks", ["strict", "loose"])
def test_values_that_no_registry_takes_are_refused_everywhere(make: Make, field: str, checks: str) -> None:
    for value, words in REFUSED[field].items():
        sandbox = make(assume={"contacts.checks": checks})
        before = contents(sandbox)
        for place, answer in sent(sandbox, field, value).items():
            if checks == "loose":
                assert answer.status == 200, (place, value, answer.raw)
                continue
            says = answer.message if place == "v3" else answer.headers["x-sandbox-refusal"]
            assert answer.status == 400, (place, value, answer.raw)
            assert words in says, (place, value, says)
            assert answer.assumptions.get("contacts.checks") == "strict"
        assert (contents(sandbox) == before) is (checks == "strict")


@pytest.mark.parametrize("field", ACCEPTED)
def test_values_of_real_contacts_are_accepted(make: Make, field: str) -> None:
    for value in ACCEPTED[field]:
        for place, answer in sent(make(), field, value).items():
            assert answer.status == 200, (place, value, answer.raw)


@pytest.mark.parametrize("phone", ["+380 44 123-45-67", "00380441234567", "(044) 123-45-67", "0441234567"])
def test_v2_accepts_common_forms_of_a_number_of_the_country(sandbox: Sandbox, phone: str) -> None:
    assert (
        connect_v2(sandbox).post("/contact/CHECKED", {**CARD, "country": "UA", "phone": phone}).status == 200
    )


@pytest.mark.parametrize("phone", ["380.441234567x12", "380.441234567 ext. 12", "+380.441234567#12"])
def test_an_extension_is_named(sandbox: Sandbox, phone: str) -> None:
    answers = sent(sandbox, "phone", phone)
    assert "has an extension, which a contact cannot have" in answers["v3"].message
    assert "has an extension" in answers["v2 contact"].headers["x-sandbox-refusal"]


@pytest.mark.parametrize("blank", BLANK)
def test_a_blank_field_is_a_missing_field(make: Make, blank: str) -> None:
    sandbox = make()
    api, v2 = connect(sandbox), connect_v2(sandbox)
    before = contents(sandbox)
    for field in person():
        answer = api.post(SET, {"contacts": {"reg-contact": person(**{field: blank})}})
        assert answer.message == f"contacts.reg-contact.{field} is missing."
    for field in ("name", "city", "zip"):
        answer = v2.post("/contact/CHECKED", {**CARD, field: blank})
        assert refusal(answer)[:2] == (400, f"Not enough parameter: {field}")
    for field in ("name", "mail"):
        answer = v2.post("/customer", {**CUSTOMER, field: blank})
        assert refusal(answer)[:2] == (400, f"Invalid {field}")
        assert v2.put("/customer/7", {"customer_id": 7, field: blank}).status == 400
    assert contents(sandbox) == before
    loose = make(assume={"contacts.checks": "loose"})
    person_ = person(name=blank)
    assert connect(loose).post(SET, {"contacts": {"reg-contact": person_}}).error is None
