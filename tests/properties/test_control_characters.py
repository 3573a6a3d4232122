"""No control character gets into the registry: every text of every request of both interfaces is tried."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import CARD_FIELDS
from reseller_sandbox.fixture import FixtureError, dumps, loads
from tests.clients import InProcess, person
from tests.registry import REGISTRY, connect
from tests.soundness import assert_sound
from tests.v2 import client as v2
from tests.v2.works import CARD, CUSTOMER, WORKS
from tests.v3.test_bad_input import GOOD, ROWS, target_of

CONTROL = ["\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9f"]


def texts(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all texts in a body."""
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


BODIES = [(name, GOOD[name]) for name in GOOD] + [(name, ask.body) for name, ask in WORKS.items() if ask.body]
PLACES = [(name, path) for name, body in BODIES for path in texts(body)]


@pytest.mark.parametrize(("operation", "path"), PLACES, ids=lambda part: str(part).replace("'", ""))
def test_no_text_of_a_request_brings_in_a_control_character(operation: str, path: tuple[Any, ...]) -> None:
    """It is refused, or passed over where the field means nothing; a contact's or a customer's is refused."""
    sandbox = Sandbox(REGISTRY if operation in GOOD else v2.REGISTRY)
    for character in CONTROL:
        before = sandbox.world.state
        body = spoiled(dict(BODIES)[operation], path, character)
        if operation in GOOD:
            answer = connect(sandbox).call(ROWS[operation].method, target_of(ROWS[operation]), body)
        else:
            client = v2.Client(InProcess(sandbox.app), sandbox.account("main").token)
            answer = WORKS[operation].having(body).send(client)
        assert answer.status < 500
        if answer.status != 200:
            assert sandbox.world.state is before
        assert_sound(sandbox.world.state)
        if "contacts" in path or operation.startswith(("v2.customer", "v2.contact")):
            assert answer.status in (400, 404), (character, answer.raw)


@pytest.mark.parametrize("character", CONTROL)
@pytest.mark.parametrize("field", CARD_FIELDS)
def test_every_field_of_a_card_is_looked_at(field: str, character: str) -> None:
    """In v3, in contacts and customers of v2.0, and in fixtures; the refusal names the field."""
    sandbox = Sandbox(v2.REGISTRY)
    client = v2.connect(sandbox)
    text = f"UA{character}"
    created = client.post("/contact/NEW", {**CARD, field: text})
    assert v2.refusal(created)[1] == f"Invalid value for extra param {field}"
    assert v2.refusal(client.put("/contact/OWNER", {**CARD, field: text}))[1] == "Invalid Param"
    if field != "zip":  # which is a number there
        assert v2.refusal(client.post("/customer", {**CUSTOMER, field: text}))[1] == f"Invalid {field}"
        assert v2.refusal(client.put("/customer/7", {field: text}))[1] == f"Invalid {field}"
    wire = {"company": "company-name", "address": "address1", "region": "state", "zip": "zipcode"}
    word = {**wire, "mail": "email"}.get(field, field)
    api = connect(sandbox)
    refused = api.post(
        "/v3/domains/setContacts/active.com", {"contacts": {"reg-contact": person(**{word: text})}}
    )
    assert refused.error == "invalid_contact"
    assert f"contacts.reg-contact.{word}" in refused.message
    quoted = "".join(f"\\x{ord(one):02x}" if one < " " or one > "\x7e" else one for one in text)
    with pytest.raises(FixtureError, match="holds a control character"):
        loads(f'contacts: {{C1: {{{field}: "{quoted}"}}}}')


@pytest.mark.parametrize("field", ["password", "post_adress", "lang"])
@pytest.mark.parametrize("character", CONTROL)
def test_what_a_customer_has_beside_a_card_is_looked_at(field: str, character: str) -> None:
    """At creation and in a change."""
    client = v2.connect(Sandbox(v2.REGISTRY))
    value = f"u{character}" if field == "lang" else f"a{character}b"
    for answer in (
        client.post("/customer", {**CUSTOMER, field: value}),
        client.put("/customer/7", {field: value}),
    ):
        assert v2.refusal(answer)[1] == f"Invalid {field}"


@pytest.mark.parametrize("character", CONTROL)
def test_no_pattern_lets_a_control_character_through(tmp_path: Path, character: str) -> None:
    """However wide: a licence's, an extra parameter's."""
    text = (
        v2.REGISTRY.read_text("utf-8").replace('"[0-9]{8}"', '"(?s:.*)"').replace('"[0-9]{6}"', '"(?s:.*)"')
    )
    assert "[0-9]" not in text
    fixture = tmp_path / "wide.yaml"
    fixture.write_text(text, "utf-8")
    client = v2.connect(Sandbox(fixture))
    extra = {**CARD, "tax_number": f"1{character}2"}
    assert v2.refusal(client.post("/contact/NEW", extra))[1] == "Invalid value for extra param tax_number"
    body = {**WORKS["v2.domain.register"].body, "license": f"1{character}2"}
    assert v2.refusal(client.post("/domain/new.com.ua", body))[1] == "Not the correct license"


def test_what_is_taken_can_be_written_as_a_fixture(sandbox: Sandbox) -> None:
    """And be read again: a fixture takes every text that a request can bring in."""
    api = connect(sandbox)
    odd = person("Ганна \u2028 名前 'q' \"r\" #: {}[]", address1=" leading", city="trailing ")
    assert api.post("/v3/domains/setContacts/active.com", {"contacts": {"reg-contact": odd}}).status == 200
    assert loads(dumps(sandbox.world.state, sandbox.clock.now)).state == sandbox.world.state
