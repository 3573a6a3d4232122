"""No control character gets into the registry: every text of every request of both interfaces is tried."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import InProcess, person
from tests.registry import REGISTRY, assert_unchanged, connect
from tests.v2 import client as v2
from tests.v2.works import CARD, CUSTOMER, WORKS
from tests.v3.test_bad_input import GOOD, ROWS, target_of

CARD_FIELDS = ("name", "company", "address", "city", "region", "zip", "country", "phone", "fax", "mail")
CONTROL = ["\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9f"]


def texts(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(body, dict):
        for key, value in body.items():
            yield from texts(value, (*path, key))
    elif isinstance(body, list):
        for number, value in enumerate(body):
            yield from texts(value, (*path, number))
    elif isinstance(body, str):
        yield path


def spoiled(body: Any, path: tuple[Any, ...], character: str) -> Any:
    """The body with the character inside of one of its texts, at its beginning and at its end."""
    body = deepcopy(body)
    inner = body
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = f"{character}{inner[path[-1]][:1]}{character}{inner[path[-1]][1:]}{character}"
    return body


BODIES = {**GOOD, **{name: ask.body for name, ask in WORKS.items() if ask.body}}
PLACES = [(name, path) for name, body in BODIES.items() for path in texts(body)]


def test_a_request_never_brings_a_control_character_into_the_registry(subtests: pytest.Subtests) -> None:
    """It is refused, or passed over where the field means nothing; a contact's or a customer's is refused."""
    registries = {True: Sandbox(REGISTRY), False: Sandbox(v2.REGISTRY)}
    for number, (operation, path) in enumerate(PLACES):
        sandbox, character = registries[operation in GOOD], CONTROL[number % len(CONTROL)]
        sandbox.reset(original=True)
        body = spoiled(BODIES[operation], path, character)
        if operation in GOOD:
            answer = connect(sandbox).call(ROWS[operation].method, target_of(ROWS[operation]), body)
        else:
            client = v2.Client(InProcess(sandbox.app), sandbox.accounts["main"].token)
            answer = WORKS[operation].having(body).send(client)
        with subtests.test(operation=operation, path=path, character=character):
            assert answer.status < 500
            if answer.status != 200:
                assert_unchanged(sandbox)
            if "contacts" in path or operation.startswith(("v2.customer", "v2.contact")):
                assert answer.status in (400, 404), answer.raw
            text = sandbox.export()
            unwanted = [sign for sign in CONTROL if sign != "\n"]
            assert not any(sign in text or f"\\x{ord(sign):02x}" in text.lower() for sign in unwanted)


def test_each_field_of_a_contact_and_a_customer_is_checked(tmp_path: Path, subtests: pytest.Subtests) -> None:
    sandbox = Sandbox(v2.REGISTRY)
    client, api, fixture = v2.connect(sandbox), connect(sandbox), tmp_path / "fixture.yaml"
    wire = {"company": "company-name", "address": "address1", "region": "state", "zip": "zipcode"}
    wire |= {"mail": "email"}
    for number, field in enumerate(CARD_FIELDS):
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
    fields = [field for field in CARD_FIELDS if field != "zip"]  # which is a number there
    for number, field in enumerate([*fields, "password", "post_adress", "lang"]):
        value = f"u{CONTROL[number % len(CONTROL)]}"
        with subtests.test(customer=field):
            for answer in (
                client.post("/customer", {**CUSTOMER, field: value}),
                client.put("/customer/7", {field: value}),
            ):
                assert v2.refusal(answer)[1] == f"Invalid {field}"


def test_no_pattern_matches_a_control_character(tmp_path: Path) -> None:
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
