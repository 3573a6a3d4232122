"""Any input to v2.0 has a documented answer, never a server error, and never half a change."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Socket
from tests.registry import contents
from tests.thorough import tries
from tests.v2.client import FORM, REGISTRY, Client, connect
from tests.v2.works import WORKS, Ask

_CONTRACT = Path(__file__).parents[1] / "contract"
#: The sandbox's own refusals, which the contract does not have.
_TRANSPORT_RULES = {"invalid_host", "unknown_world", "body_too_large", "unsupported_media_type"}
_TRANSPORT_RULES |= {"malformed_body", "unknown_path", "method_not_allowed", "uri_too_long"}
WITH_BODY = [operation for operation, ask in WORKS.items() if ask.body]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        ["", " ", "0", "-1", "1e999", "\u0000", "\r\nX: y", "ns1.home.net", "MAIN", "x" * 5000, "é" * 300]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["array", "add", "del", "ip", "type", "0", "", "more"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)


@cache
def documented(operation: str) -> list[tuple[int, re.Pattern[str]]]:
    """The errors of an operation, as patterns."""
    errors = yaml.safe_load((_CONTRACT / "v2_errors.yaml").read_text("utf-8"))
    return [
        (
            error["code"],
            re.compile(re.sub(r"\\\{\\\{.*?\\\}\\\}", ".*", re.escape(error["message"])), re.DOTALL),
        )
        for error in errors
        if error["operations"] == "all" or operation in error["operations"]
    ]


def tame(sandbox: Sandbox, operation: str, ask: Ask, content_type: tuple[str, str] = JSON) -> Answer:
    """Send a request, and assert what holds of every answer."""
    before = contents(sandbox)
    client = connect(sandbox)
    client.own = [content_type]
    answer = client.call(ask.method, ask.path, ask.body)
    assert answer.status != 500, answer.raw
    if answer.status == 200:
        return answer
    assert contents(sandbox) == before
    rule = answer.headers["x-sandbox-refusal"].partition(":")[0]
    assert answer.headers["x-sandbox-refusal"].isascii()
    assert len(answer.headers["x-sandbox-refusal"]) <= 500
    if rule not in _TRANSPORT_RULES:
        said = answer.json["code"], answer.json["msg"]
        fits = [code for code, told in documented(operation) if code == said[0] and told.fullmatch(said[1])]
        assert fits, f"{operation} says {said}"
    return answer


@pytest.fixture(scope="module")
def world() -> Sandbox:
    """One sandbox for many examples; each begins with it anew."""
    return Sandbox(REGISTRY)


_ROLES = ("contact_admin", "contact_billing", "contact_registrant", "contact_tech")
_CARD = ("address", "city", "country", "mail", "name", "phone", "zip")

#: What each body is refused without; without an id, the mail says which customer is to change.
NEEDED = {
    "v2.customer.create": ("mail", "name"),
    "v2.customer.edit": ("mail",),
    "v2.contact.create": _CARD,
    "v2.contact.edit": _CARD,
    "v2.domain.register": (*_ROLES, "ns", "period"),
    "v2.domain.edit": (),
    "v2.domain.renew": ("current_expiry_date", "period"),
    "v2.transfer.request": ("transfer_code",),
    "v2.host.create": ("ip",),
    "v2.host.edit": ("ip",),
}


def test_a_body_is_refused_without_a_key_that_it_needs_and_by_its_name(
    world: Sandbox, subtests: pytest.Subtests
) -> None:
    for operation in WITH_BODY:
        with subtests.test(operation=operation):
            missing = set()
            for key in WORKS[operation].body:
                world.reset()
                answer = WORKS[operation].with_(**{key: None}).send(connect(world))
                if answer.status != 200:
                    missing.add(key)
                    assert answer.headers["x-sandbox-refusal"].startswith("missing_parameter: ")
            assert missing == set(NEEDED[operation])


@settings(max_examples=tries(80))
@given(operation=st.sampled_from(WITH_BODY), data=st.data())
def test_any_value_in_any_field_has_an_answer(world: Sandbox, operation: str, data: st.DataObject) -> None:
    world.reset()
    ask = WORKS[operation]
    keys = [*ask.body, "zip", "mail", "license", "lang"]
    changes = data.draw(st.dictionaries(st.sampled_from(keys), VALUES, min_size=1, max_size=3))
    tame(world, operation, ask.having({**ask.body, **changes}))


@settings(max_examples=tries(60))
@given(
    operation=st.sampled_from(WITH_BODY),
    body=st.one_of(VALUES, st.dictionaries(st.text(max_size=10), VALUES, max_size=4)),
)
def test_any_body_has_an_answer(world: Sandbox, operation: str, body: Any) -> None:
    world.reset()
    tame(world, operation, WORKS[operation].having(json.dumps(body).encode()))


@settings(max_examples=tries(60))
@given(
    operation=st.sampled_from([op for op in WORKS if op != "v2.domain.zones"]),
    text=st.one_of(
        st.text(min_size=1, max_size=30), st.sampled_from(["españa.com", "xn--.com", "a.b.com", "com", "."])
    ),
)
def test_any_text_in_the_path_has_an_answer(world: Sandbox, operation: str, text: str) -> None:
    world.reset()
    ask = WORKS[operation]
    segment = quote(text.encode("utf-8", "replace"), safe="")
    parts = ask.path.split("/")
    for at in (2, 4):
        if at < len(parts) and parts[at] not in ("check", "renew", "restore", "approve", "reject"):
            path = "/".join([*parts[:at], segment, *parts[at + 1 :]])
            tame(world, operation, ask.at(path))


@settings(max_examples=tries(60))
@given(
    operation=st.sampled_from(WITH_BODY),
    form=st.binary(max_size=60) | st.text("abns[]=&01%+i pdl", max_size=60).map(str.encode),
)
def test_any_form_has_an_answer(forms: Sandbox, operation: str, form: bytes) -> None:
    forms.reset()
    tame(forms, operation, WORKS[operation].having(form), FORM)


@pytest.fixture(scope="module")
def forms() -> Sandbox:
    """A sandbox that takes forms."""
    return Sandbox(REGISTRY, profile="observed", assume={"v2.domain_info.shape": "bare"})


def _keys(count: int) -> bytes:
    return json.dumps({f"k{n}": n for n in range(count)}).encode()


def _deep(depth: int) -> bytes:
    return b'{"ns": ' + b"[" * depth + b"]" * depth + b"}"


RAW = {
    "bad UTF-8": b'{"name": "\xff\xfe"}',
    "half a surrogate pair": b'{"name": "\\ud800"}',
    "a key twice": b'{"period": 1, "period": 2}',
    "NaN": b'{"period": NaN}',
    "many digits": b'{"period": ' + b"9" * 5000 + b"}",
    "a huge exponent": b'{"period": 1e400}',
    "deep": _deep(100),
    "very deep": _deep(100_000),
    "an array": b"[1, 2]",
    "a string": b'"name"',
    "cut off": b'{"name": "Nor',
    "NULs": b"\x00" * 10,
    "a long string": json.dumps(
        dict.fromkeys(("name", "ns", "period", "ip", "transfer_code"), "x" * 200_000)
    ).encode(),
    "a long array": json.dumps({"ns": ["a.b"] * 100_000, "ip": ["a"] * 100_000}).encode(),
    "many keys": _keys(3_000),
    "too large": b'{"name": "' + b"x" * (1 << 20) + b'"}',
}


def test_a_body_that_is_hard_to_read_has_an_answer(world: Sandbox, subtests: pytest.Subtests) -> None:
    pairs = [("v2.domain.register", kind) for kind in RAW]
    pairs += [(operation, kind) for at, operation in enumerate(WITH_BODY) for kind in [*RAW][at % 5 :: 5]]
    for operation, kind in pairs:
        with subtests.test(operation=operation, kind=kind):
            world.reset()
            answer = tame(world, operation, WORKS[operation].having(RAW[kind]))
            assert answer.status in (400, 413, 200)


def test_a_body_that_is_hard_to_read_is_answered_over_a_socket(world: Sandbox) -> None:
    with world.serve() as server:
        for raw in (*RAW.values(), _keys(50_000)):
            world.reset()
            socket = Socket(server.url)
            client = Client(socket, "main-token")
            assert client.post("/customer", raw).status in (400, 413)
            assert client.get("/customer/7").status == 200
            socket.close()
