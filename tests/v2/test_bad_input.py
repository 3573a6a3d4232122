"""Any input to v2.0 has a documented answer, never a server error, and never half a change."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer
from tests.registry import contents
from tests.thorough import tries
from tests.v2.client import FORM, REGISTRY, connect
from tests.v2.works import CARD, ROLES, WORKS, Ask, documented_errors, pattern
from tests.wrong import BROKEN_BODIES, PARTS, spoiled

#: The sandbox's own refusals, which the contract does not have.
TRANSPORT_RULES = {"malformed_body", "unknown_path", "method_not_allowed", "uri_too_long"}
WITH_BODY = [operation for operation, ask in WORKS.items() if ask.body]
#: The keys without which each body is refused; without an id, the mail says which customer is to change.
NEEDED = {
    "v2.customer.create": {"mail", "name"},
    "v2.customer.edit": {"mail"},
    **dict.fromkeys(("v2.contact.create", "v2.contact.edit"), {*CARD} - {"company", "fax", "region"}),
    "v2.domain.register": {*ROLES, "ns", "period"},
    "v2.domain.edit": set(),
    "v2.domain.renew": {"current_expiry_date", "period"},
    "v2.transfer.request": {"transfer_code"},
    "v2.host.create": {"ip"},
    "v2.host.edit": {"ip"},
}


def send(sandbox: Sandbox, operation: str, ask: Ask, content_type: tuple[str, str] = JSON) -> Answer:
    """Send a request to a world as it began, and assert the properties of every answer."""
    sandbox.reset()
    before = contents(sandbox)
    client = connect(sandbox)
    client.own = [content_type]
    answer = client.call(ask.method, ask.path, ask.body)
    assert answer.status != 500, answer.raw
    if answer.status == 200:
        return answer
    assert contents(sandbox) == before
    header = answer.headers["x-sandbox-refusal"]
    assert header.isascii()
    assert len(header) <= 500
    if header.partition(":")[0] not in TRANSPORT_RULES:
        body = answer.json
        errors = [
            error
            for (name, error), code in documented_errors().items()
            if (name, code) == (operation, body["code"])
        ]
        assert any(pattern(error).fullmatch(body["msg"]) for error in errors), answer.raw
    return answer


@pytest.mark.parametrize("operation", WITH_BODY)
def test_a_body_without_a_required_key_or_with_any_value_has_a_documented_answer(
    sandbox: Sandbox, operation: str
) -> None:
    """Each value of a body is replaced by every eleventh wrong value, at another offset for each place."""
    ask, missing = WORKS[operation], set()
    for key in ask.body:
        answer = send(sandbox, operation, ask.with_(**{key: None}))
        if answer.status != 200:
            missing.add(key)
            assert answer.headers["x-sandbox-refusal"].startswith("missing_parameter: ")
    assert missing == NEEDED[operation]
    for _, body in islice(spoiled(ask.body), 0, None, 11):
        send(sandbox, operation, ask.having(body))


def test_any_text_in_the_path_has_a_documented_answer(sandbox: Sandbox, subtests) -> None:
    places = [
        (operation, parts, at)
        for operation, parts in ((operation, ask.path.split("/")) for operation, ask in WORKS.items())
        for at in (2, 4)
        if at < len(parts) and parts[at] not in ("check", "renew", "restore", "approve", "reject", "popular")
    ]
    for number, (operation, parts, at) in enumerate(places):
        for text in ("espa%C3%B1a.com", "a.b.com", *PARTS[number % 7 :: 7]):
            with subtests.test(operation=operation, at=at, text=text):
                send(sandbox, operation, WORKS[operation].at("/".join([*parts[:at], text, *parts[at + 1 :]])))


@pytest.fixture(scope="module")
def forms() -> Sandbox:
    return Sandbox(REGISTRY, profile="observed", assume={"v2.domain_info.shape": "bare"})


@settings(max_examples=tries(25))
@given(
    operation=st.sampled_from(WITH_BODY),
    form=st.binary(max_size=60) | st.text("abns[]=&01%+i pdl", max_size=60).map(str.encode),
)
def test_any_form_has_a_documented_answer(forms: Sandbox, operation: str, form: bytes) -> None:
    send(forms, operation, WORKS[operation].having(form), FORM)


def test_a_broken_body_is_refused_by_every_operation(sandbox: Sandbox, subtests) -> None:
    for number, (kind, raw) in enumerate(BROKEN_BODIES.items()):
        operation = WITH_BODY[number % len(WITH_BODY)]
        with subtests.test(operation=operation, kind=kind):
            answer = send(sandbox, operation, WORKS[operation].having(raw))
            assert (answer.status, answer.json["msg"][:19]) == (400, "The body is invalid")
