"""Control characters in contacts, customers and what patterns match are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.clients import person
from tests.registry import connect
from tests.v2 import client as v2
from tests.v2.works import CARD, CUSTOMER, WORKS
from tests.wrong import CONTROL


def test_control_character_is_refused_in_each_field_of_a_contact_and_a_customer(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    sandbox = Sandbox(v2.REGISTRY)
    client, api, fixture = v2.connect(sandbox), connect(sandbox), tmp_path / "fixture.yaml"
    wire = {"company": "company-name", "address": "address1", "region": "state", "zip": "zipcode"}
    wire |= {"mail": "email"}
    for number, field in enumerate(CARD):
        character = CONTROL[number % len(CONTROL)]
        with subtests.test(field=field, character=character):
            text, word = f"UA{character}", wire.get(field, field)
            created = client.post("/contact/NEW", {**CARD, field: text})
            assert v2.refusal(created)[1] == f"Invalid value for extra param {field}"
            assert v2.refusal(client.put("/contact/OWNER", {**CARD, field: text}))[1] == "Invalid Param"
            contacts = {"contacts": {"reg-contact": person(**{word: text})}}
            answer = api.post("/v3/domains/setContacts/active.com", contacts)
            assert answer.error == "invalid_contact"
            assert f"contacts.reg-contact.{word}" in answer.message
            fixture.write_text(f'contacts: {{C1: {{{field}: "UA\\x{ord(character):02x}"}}}}', "utf-8")
            with pytest.raises(ValueError, match="contains a control character"):
                Sandbox(fixture)
    fields = [field for field in CARD if field != "zip"]  # which is a number there
    for number, field in enumerate([*fields, "password", "post_adress", "lang"]):
        value = f"u{CONTROL[number % len(CONTROL)]}"
        with subtests.test(customer=field):
            for answer in (
                client.post("/customer", {**CUSTOMER, field: value}),
                client.put("/customer/7", {field: value}),
            ):
                assert v2.refusal(answer)[1] == f"Invalid {field}"


def test_no_fixture_pattern_accepts_a_control_character(tmp_path: Path) -> None:
    text = v2.REGISTRY.read_text("utf-8")
    text = text.replace('"[0-9]{8}"', '"(?s:.*)"').replace('"[0-9]{6}"', '"(?s:.*)"')
    assert "[0-9]" not in text
    fixture = tmp_path / "wide.yaml"
    fixture.write_text(text, "utf-8")
    client = v2.connect(Sandbox(fixture))
    for character in CONTROL:
        extra = {**CARD, "tax_number": f"1{character}2"}
        assert v2.refusal(client.post("/contact/NEW", extra))[1] == "Invalid value for extra param tax_number"
        body = {**WORKS["v2.domain.register"].body, "license": f"1{character}2"}
        assert v2.refusal(client.post("/domain/new.com.ua", body))[1] == "Not the correct license"
