"""The journal shows no secret: not in bodies, headers, targets, changes, differences or near misses."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.worlds.control import Control, control, inside


def _everything(steer: Control) -> str:
    """Return all that control shows of the past, without escapes."""
    match = {"match": {"operation": "v3.lockTransfer", "body": {"authCode": "no", "domain": {"x": 1}}}}
    answers = [steer.get(path) for path in ("journal", "history/diff", "ledger")]

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for key in value for text in (str(key), *texts(value[key]))]
        return [text for item in value for text in texts(item)] if isinstance(value, list) else [str(value)]

    return "\n".join(texts([*answers, steer.post("journal/verify", match)]))


def test_no_answer_has_a_secret_of_a_request_or_of_the_world() -> None:
    """Codes, passwords, tokens, secrets and signatures, in requests and in answers."""
    sandbox, code, password = Sandbox(REGISTRY), "K{code'\"0815", "P<word>&4711"
    main, other, v2 = inside(sandbox), inside(sandbox, "other"), sandbox.client()
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": code})
    main.get("/v3/domains/getAuthcode/active.com")
    other.post("/v3/domains/requestTransfer", {"domain": {"domainName": "active.com"}, "authCode": code})
    v2.post("/V2.0/domain/theirs.com/transfer", json={"transfer_code": code})
    v2.post("/V2.0/customer", json={"name": "N", "mail": "n@example.com", "password": password})
    wrong = Api(main.transport, BASE, main.key, "wrong-secret")
    body = json.dumps({"authCode": code}).encode()
    form = f"transfer_code={password.encode().hex()}".encode()
    for api, sent in ((wrong, body), (wrong, body + b" " * 300), (main, body[:-2]), (main, form)):
        api.post("/v3/domains/setAuthcode/active.com", sent)
    assert sandbox.journal.count() == 9
    secrets = [code, password, password.encode().hex()]
    secrets += [secret for one in sandbox.accounts.list().accounts for secret in (one.secret, one.token)]
    secrets += [name.auth_code for name in sandbox.names.list(limit=1000).names if name.auth_code]
    shown = _everything(control(sandbox))
    assert [secret for secret in secrets if secret in shown] == []


def test_no_part_of_a_secret_is_kept_where_a_body_is_cut() -> None:
    for size in (1, 13, 14, 15, 20, 30, 200):
        sandbox = Sandbox("empty", journal_body=size)
        code = {"authCode": "QQuiet-code", "padding": "y" * 5000}
        inside(sandbox).post("/v3/domains/setAuthcode/active.com", code)
        entry = control(sandbox).get("journal/r1")["request"]
        assert entry["cut"] > 5000
        assert len(str(entry["body"])) <= size + len("***")
        assert "QQui" not in _everything(control(sandbox))


def test_only_the_secret_of_a_body_is_masked(sandbox: Sandbox) -> None:
    """A body is JSON, a form, or text. A body that could hide a name is only counted."""
    cases: dict[bytes, Any] = {
        b'{"authCode": "sesame", "domainName": "a.com"}': {"authCode": "***", "domainName": "a.com"},
        b'{"customer": [{"password": "hunter2"}]}': {"customer": [{"password": "***"}]},
        b'{"authCode": "let me in", "years": 2} x': '{"authCode": ***, "years": 2} x',
        b'{"auth_code":"a\\"b","x":1': '{"auth_code":***,"x":1',
        b"password: hunter2": "password: ***",
        b"customer[password]=hunter2&x=1": {"customer[password]": "***", "x": "1"},
        b"tokens[0]=2&password_age[days]=3": {"tokens[0]": "2", "password_age[days]": "3"},
        b'sent "{\\"transfer_code\\": \\"c0de\\"}" twice': 'sent "{\\"transfer_code\\": ***\\"}" twice',
        b"set v3.signature.endpoint=url to take it": "set v3.signature.endpoint=url to take it",
        b"": None,
        b'{"a": NaN}': {"a": "NaN"},
        b"a=1&b=2&b=3": {"a": "1", "b": ["2", "3"]},
        b'{"\\u0061uthCode": "x"': "<21 bytes that are not JSON>",
        b"[" * 100_000: "[" * 65_536,
    }
    client = sandbox.client()
    for body in cases:
        client.post("/v3/domains/createDomains", data=body, content_type="application/json")
    found = [entry.request.body for entry in sandbox.journal.find().requests]
    assert dict(zip(cases, found, strict=True)) == cases


def test_a_parameter_of_a_target_is_secret_by_its_innermost_name(sandbox: Sandbox) -> None:
    transport = InProcess(sandbox.app)
    names = ["password", "customer[password]", "a[b][auth_code]", "token[]", "codes[token][0]"]
    names += [quote(name, safe="") for name in names] + ["X-SVC-SIGNATURE"]
    targets = {f"/v3/balance?{name}=hunter2&page=1": f"/v3/balance?{name}=***&page=1" for name in names}
    targets |= {"/v3/balance?X-SVC-APIKEY=main-key": "/v3/balance?X-SVC-APIKEY=ma***ey"}
    for target in targets:
        transport("GET", target, [], b"")
    assert [entry.request.target for entry in sandbox.journal.find().requests] == [*targets.values()]


#: Requests that are refused before an operation, and the operation and outcome in their entries.
REFUSED: list[tuple[str, dict[str, str], str, str]] = [
    ("GET /v3/balanse", {}, "-", "unknown_path"),
    ("POST /v3/balance", {}, "-", "method_not_allowed"),
    ("GET /robots.txt", {}, "-", "unknown_path"),
    ("GET /_worlds/nowhere/v3/balance", {}, "v3.balance", "unknown_world"),
    ("GET /v3/balance", {}, "v3.balance", "credentials_missing"),
    ("GET /v3/balance", {"X-SVC-APIKEY": "no", "X-SVC-SIGNATURE": "0"}, "v3.balance", "unknown_key"),
    ("GET /v3/balance?X-SVC-APIKEY=main-key&X-SVC-SIGNATURE=0", {}, "v3.balance", "signature_mismatch"),
    ("GET /V2.0/customer/1", {}, "v2.customer.info", "token_missing"),
    ("GET /V2.0/customer/1", {"X-Auth-Token": "no"}, "v2.customer.info", "unknown_token"),
    ("GET /V9.0/customer/1", {"X-Auth-Token": "no"}, "v2.customer.info", "version_not_served"),
    ("GET /V2.0/customers", {}, "-", "unknown_path"),
]
SECRETS = {"Authorization": "Bearer tell-nobody-1", "X-Note": '{"secret": "tell-nobody-2"}'}


def test_a_request_that_is_not_authenticated_has_an_entry_with_masked_headers(
    main: Api, steer: Control, subtests: pytest.Subtests
) -> None:
    for request, sent, operation, outcome in REFUSED:
        with subtests.test(request, sent=sent):
            method, target = request.split()
            answer = main.send(method, target, [*(SECRETS | sent).items()])
            entry = steer.get(f"journal/{answer.headers['x-sandbox-request']}")
            assert entry["status"] == answer.status
            assert (entry["operation"], entry["outcome"]) == (operation, outcome)
            assert f"{entry['method']} {entry['path']}" == request.partition("?")[0]
            headers = {name.lower() for name in entry["request"]["headers"]}
            assert {name.lower() for name in SECRETS | sent} <= headers
            assert "tell-nobody" not in str(entry)
            assert entry["refusal"]["rule"] == outcome


def test_headers_are_kept_within_bounds(main: Api, steer: Control) -> None:
    main.send("GET", "/nowhere", [(f"X-Many-{number}", "a" * 5000) for number in range(300)])
    (entry,) = steer.get("journal")["requests"]
    assert 0 < len(str(entry["request"]["headers"])) < 16_000
