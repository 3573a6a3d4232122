"""No secret is in any answer of the journal: not in bodies, texts, changes, differences or near misses."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.server.secrecy import target_masked, text_masked
from reseller_sandbox.worlds import redact
from tests.clients import JSON, Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.thorough import tries
from tests.worlds.control import Control, control, inside

_CODES = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*"), min_size=8, max_size=20
)


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key in value for text in (str(key), *_texts(value[key]))]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)]


def _everything(steer: Control) -> list[str]:
    """Every text in all that control says of the past."""
    match = {"match": {"operation": "v3.lockTransfer", "body": {"authCode": "no", "domain": {"x": 1}}}}
    return [
        text
        for answer in (
            steer.get("journal"),
            steer.get("history/diff"),
            steer.get("ledger"),
            steer.post("journal/verify", match),
        )
        for text in _texts(answer)
    ]


def _v2(sandbox: Sandbox, method: str, path: str, body: Any) -> None:
    headers = [("X-Auth-Token", sandbox.account().token), JSON]
    InProcess(sandbox.app)(method, f"/V2.0/{path}", headers, json.dumps(body).encode())


@settings(max_examples=tries(25))
@given(code=_CODES, password=_CODES)
def test_no_secret_in_any_answer(code: str, password: str) -> None:
    """Codes, passwords, tokens, secrets and signatures: however they came in, and however they went out."""
    code, password = f"K{code}", f"P{password}"
    sandbox = Sandbox(REGISTRY)
    main, other = inside(sandbox), inside(sandbox, "other")
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": code})
    main.post("/v3/domains/setAuthcode/second.com", {"authcode": code})
    main.get("/v3/domains/getAuthcode/active.com")
    other.post("/v3/domains/requestTransfer", {"domain": {"domainName": "active.com"}, "authCode": code})
    _v2(sandbox, "POST", "domain/theirs.com/transfer", {"transfer_code": code})
    customer = {"name": "N", "mail": "n@example.com", "password": password, "country": "UA"}
    _v2(sandbox, "POST", "customer", customer)
    wrong = Api(main.transport, BASE, main.key, "wrong-secret")
    wrong.post("/v3/domains/setAuthcode/active.com", {"authCode": code})
    wrong.post("/v3/domains/setAuthcode/active.com", json.dumps({"authCode": code}).encode() + b" " * 300)
    broken = json.dumps({"authCode": code}).encode()[:-2]
    main.post("/v3/domains/setAuthcode/active.com", broken)
    form = f"transfer_code={password.encode().hex()}".encode()
    main.post("/v3/domains/setAuthcode/active.com", form)
    assert len(sandbox.world.journal) >= 9
    seen = _everything(control(sandbox))
    held = [account for account in sandbox.world.state.accounts.values() if account.secret]
    secrets = [code, password, password.encode().hex(), *(one.secret for one in held)]
    secrets += [one.token for one in held]
    secrets += [order.auth_code for order in sandbox.world.state.orders.values() if order.auth_code]
    for secret in secrets:
        assert not [text for text in seen if secret in text], secret


@settings(max_examples=tries(25))
@given(code=_CODES, size=st.integers(1, 120))
def test_no_part_of_a_secret_stays_where_a_body_is_cut(code: str, size: int) -> None:
    """A body that is kept in part is cut after its secrets were masked."""
    sandbox = Sandbox(REGISTRY, journal_body=size)
    inside(sandbox).post("/v3/domains/setAuthcode/active.com", {"authCode": f"QQ{code}", "x": "y" * 200})
    assert not [text for text in _everything(control(sandbox)) if "QQ" + code[:4] in text]


def test_a_signature_in_the_query_is_masked(sandbox: Sandbox, steer: Control) -> None:
    """A request may carry its signature in the query; the journal shows that it did, and not which."""
    query = f"X-SVC-APIKEY={sandbox.account().key}&X-SVC-SIGNATURE={'f00d' * 16}"
    InProcess(sandbox.app)("GET", f"/v3/balance?{query}", [], b"")
    [entry] = steer.get("journal")["requests"]
    assert entry["request"]["target"] == "/v3/balance?X-SVC-APIKEY=ma***ey&X-SVC-SIGNATURE=***"


def test_what_is_no_secret_is_shown(steer: Control, main: Api) -> None:
    """Masking takes the secret alone: the rest of the body is there to be read."""
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "sesame", "domainName": "active.com"})
    [entry] = steer.get("journal")["requests"]
    assert entry["request"]["body"] == {"authCode": "***", "domainName": "active.com"}
    assert entry["answer"]["body"] == {"domainName": "active.com", "authCode": "***"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"authCode": "let me in", "years": 2}', '{"authCode": ***, "years": 2}'),
        ('{"auth_code":"a\\"b","x":1', '{"auth_code":***,"x":1'),
        ("password: hunter2", "password: ***"),
        ("customer[password]=hunter2&x=1", "customer[password]=***&x=1"),
        ("password[0]=hunter2", "password[0]=***"),
        ('sent "{\\"transfer_code\\": \\"c0de\\"}" twice', 'sent "{\\"transfer_code\\": ***\\"}" twice'),
        ("set v3.signature.endpoint=url to take it", "set v3.signature.endpoint=url to take it"),
        ("made with the secret of the account main, not of other", None),
    ],
)
def test_masking_within_a_text(text: str, shown: str | None) -> None:
    """What follows the name of a secret is masked; words that only speak of secrets are not."""
    assert text_masked(text) == (shown or text)


@pytest.mark.parametrize(
    "name", ["password", "customer[password]", "a[b][auth_code]", "token[]", "codes[token][0]"]
)
def test_an_element_of_a_form_is_secret_by_its_innermost_name(name: str) -> None:
    """In a query and in a body, encoded or not."""
    for spelt in (name, quote(name, safe="")):
        assert target_masked(f"/v3/balance?{spelt}=hunter2&page=1") == f"/v3/balance?{spelt}=***&page=1"
        assert redact.masked(redact.read(f"{spelt}=hunter2&page=1".encode())) == {name: "***", "page": "1"}
    assert redact.masked(redact.read(b"tokens[0]=2&password_age[days]=3")) == {
        "tokens[0]": "2",
        "password_age[days]": "3",
    }


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"", None),
        (b"  ", None),
        (b'{"a": NaN}', {"a": "NaN"}),
        (b"a=1&b=2&b=3", {"a": "1", "b": ["2", "3"]}),
        (b"plain words", "plain words"),
        (b'{"\\u0061uthCode": "x"', "<21 bytes that are not JSON>"),
        (b"[" * 100_000, "[" * 100_000),
    ],
)
def test_reading_a_body(raw: bytes, value: Any) -> None:
    """JSON, a form, or text; what could hide a name is only counted."""
    assert redact.read(raw) == value
