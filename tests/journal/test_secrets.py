"""No secret is in the journal, and a refusal has its rule, its state, and the nearest allowed request."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from time import monotonic
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox, replay
from tests.clients import Api, InProcess
from tests.recordings.recording import lines
from tests.registry import BASE, REGISTRY
from tests.worlds.control import Control, control, inside, money_of, register, renew


def _everything(steer: Control) -> str:
    """Return all that control shows of the past, without escapes."""
    match = {"match": {"operation": "v3.lockTransfer", "body": {"authCode": "no", "domain": {"x": 1}}}}
    answers = [steer.get(path) for path in ("journal", "history/diff", "ledger")]

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for key in value for text in (str(key), *texts(value[key]))]
        return [text for item in value for text in texts(item)] if isinstance(value, list) else [str(value)]

    return "\n".join(texts([*answers, steer.post("journal/verify", match)]))


def test_no_control_response_has_a_secret_of_a_request_or_a_world() -> None:
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
    secrets += [
        secret for account in sandbox.accounts.list().accounts for secret in (account.secret, account.token)
    ]
    secrets += [name.auth_code for name in sandbox.names.list(limit=1000).names if name.auth_code]
    shown = _everything(control(sandbox))
    assert [secret for secret in secrets if secret in shown] == []


def test_a_cut_body_keeps_no_part_of_a_secret() -> None:
    for size in (1, 13, 14, 15, 20, 30, 200):
        sandbox = Sandbox("empty", journal_body=size)
        code = {"authCode": "QQuiet-code", "padding": "y" * 5000}
        inside(sandbox).post("/v3/domains/setAuthcode/active.com", code)
        entry = control(sandbox).get("journal/r1")["request"]
        assert entry["cut"] > 5000
        assert len(str(entry["body"])) <= size + len("***")
        assert "QQui" not in _everything(control(sandbox))


def test_masking_changes_only_the_secrets_of_a_body(sandbox: Sandbox) -> None:
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
    bodies = [entry.request.body for entry in sandbox.journal.list().requests]
    assert dict(zip(cases, bodies, strict=True)) == cases


def test_a_body_that_is_costly_to_search_takes_a_moment(sandbox: Sandbox) -> None:
    """A pattern that goes back over a body would need minutes for each of these, or hours."""
    client, started = sandbox.client(), monotonic()
    for body in (b"--x\n" + b"name=" * 20_000, b' token=\\"' + b"\\" * 500_000, b"--x\nname=\r\n" * 20_000):
        assert client.post("/v3/nothing", data=body).status_code == 404
    assert monotonic() - started < 20


FORM = (
    b'a preamble\r\n--XX\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n'
    b"--XX\r\nContent-Disposition: form-data; name*=UTF-8''password\r\n\r\nhunter2\r\n"
    b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--XX--\r\n'
)


@pytest.mark.parametrize(
    "name", ["authInfo", "auth_info", "eppCode", "epp_code", "pw", "userPwd", "otp", "PIN"]
)
def test_each_name_of_a_secret_is_masked_in_journal_log_and_recording(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """In bodies, forms with files, paths that no route matches, headers of answers, changes and events."""
    sandbox, secret = Sandbox(REGISTRY), "hunter2"
    client, address = sandbox.client(), f"https://mary:{secret}@shop.example/"
    customer = {"name": "N", "mail": "n@example.com", "password": "a-password", "company": address}
    client.post("/V2.0/customer", json=customer)
    sandbox.answers.add("/v3/cookie", body={}, headers={"Set-Cookie": f"sid={secret}"})
    assert client.get("/v3/cookie").headers["Set-Cookie"] == f"sid={secret}"
    client.post("/v3/domains/renewDomain/active.com", json={name: secret, "spin": "seen"})
    client.post(
        "/v3/domains/renewDomain/active.com", data=FORM, content_type="multipart/form-data; boundary=XX"
    )
    refused = client.post(f"/v3/domains/{name}/active.com/{secret}", data=json.dumps(secret))
    assert secret not in refused.text
    steer = control(sandbox)
    shown = _everything(steer) + json.dumps(steer.get("events"))
    assert secret not in shown
    assert {"seen", "hello"} <= set(shown.split("\n"))
    requests = [step for step in lines(sandbox.recording.get().content) if step.get("step") == "request"]
    assert secret not in json.dumps(requests[1:])
    assert secret not in caplog.text


def test_a_recording_of_a_fork_has_only_the_used_credentials_of_its_source() -> None:
    sandbox = Sandbox(REGISTRY)
    main, other = sandbox.accounts["main"], sandbox.accounts["other"]
    fork = sandbox.fork(name="fork")
    path = "/_worlds/fork/V2.0/domain/active.com"
    assert sandbox.app.test_client().get(path, headers={"X-Auth-Token": main.token}).status_code == 200
    head, *_ = lines(content := fork.recording.get().content)
    assert (head["tokens"], head["keys"]) == ({main.token: main.client_id}, {})
    text = gzip.decompress(content).decode()
    assert [secret for secret in (main.secret, other.secret, other.token) if f'"{secret}"' in text] == []
    assert replay(content).identical


def test_a_query_parameter_is_masked_if_the_innermost_key_is_secret(sandbox: Sandbox) -> None:
    transport = InProcess(sandbox.app)
    names = ["password", "customer[password]", "a[b][auth_code]", "token[]", "codes[token][0]"]
    names += [quote(name, safe="") for name in names] + ["X-SVC-SIGNATURE"]
    targets = {f"/v3/balance?{name}=hunter2&page=1": f"/v3/balance?{name}=***&page=1" for name in names}
    targets |= {"/v3/balance?X-SVC-APIKEY=main-key": "/v3/balance?X-SVC-APIKEY=ma***ey"}
    for target in targets:
        transport("GET", target, [], b"")
    assert [entry.request.target for entry in sandbox.journal.list().requests] == [*targets.values()]


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


def test_the_journal_entry_of_an_unauthenticated_request_has_masked_headers(
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


def test_the_journal_shows_the_sandbox_headers_of_a_response(main: Api, steer: Control) -> None:
    answer = main.get("/v3/balance")
    kept = steer.get("journal/last")["answer"]["headers"]
    shown = {name.lower(): value for name, value in kept.items() if name.startswith("X-Sandbox-")}
    assert "v3.signature.endpoint=url" in shown["x-sandbox-signature"]
    assert shown == {name: value for name, value in answer.headers.items() if name.startswith("x-sandbox-")}


def test_the_journal_limits_the_size_of_request_headers(main: Api, steer: Control) -> None:
    main.send("GET", "/nowhere", [(f"X-Many-{number}", "a" * 5000) for number in range(300)])
    (entry,) = steer.get("journal")["requests"]
    assert 0 < len(str(entry["request"]["headers"])) < 16_000


def _refusal(steer: Control) -> dict[str, Any]:
    refusal = steer.get("journal")["requests"][-1]["refusal"]
    assert refusal is not None
    return dict(refusal)


def _met(refusal: dict[str, Any]) -> dict[str, Any]:
    return dict(refusal["met"]["domains"][0])


def test_the_refused_renewal_of_a_deleted_name_suggests_a_restore(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    """The explanation names the interface that has the operation."""
    message = renew(main, "redemption.com").message
    refusal = _refusal(steer)
    assert refusal["rule"] == "wrong_state"
    assert message.endswith("Possible actions: restore in v2.0, reading glue records.")
    assert refusal["allowed"] == "ask for its restore in v2.0 first, which makes it active"
    assert refusal["correction"] == {}
    met = _met(refusal)
    assert (met["domain"], met["holder"], met["stage"]) == ("redemption.com", "main", "redemption")
    assert met["due"] == "2026-03-28T12:00:00Z"
    client = sandbox.client()
    body = {"period": 1, "current_expiry_date": "2027-01-01"}
    answer = client.put("/V2.0/domain/redemption.com/renew", json=body)
    assert answer.headers["x-sandbox-refusal"].endswith("Possible actions: restore, reading glue records.")
    assert _refusal(steer)["allowed"] == "ask for its restore first, which makes it active"
    client.put("/V2.0/domain/overdue.com", json={"client_hold": 1})
    assert "domain edit is not possible. Possible actions: renewal, delete, " in _refusal(steer)["message"]
    client.put("/V2.0/domain/active.com/renew", json={**body, "current_expiry_date": "2001-01-01"})
    assert _refusal(steer)["facts"]["given"] == "2001-01-01"
    for name, more in {"active.com": "; it can be renewed", "arriving.com": ""}.items():
        client.put(f"/V2.0/domain/{name}/restore")
        refusal = _refusal(steer)
        assert refusal["allowed"] == f"it has not been removed, so there is nothing to restore{more}"
        assert refusal["allowed_at"] is None


OWN = "it is this account's already"
#: Requests of the account main, with the rule, the nearest allowed request, and when it is allowed.
EXPLAINED: list[tuple[str, Any, str, str, str | None]] = [
    ("POST lock/requested.com", None, "wrong_state", "wait for the activation", "2026-03-02"),
    ("POST lock/pending.com", None, "wrong_state", "wait for the release", "2026-03-03"),
    ("POST lock/arriving.com", None, "wrong_state", "wait for the transfer completion", "2026-03-04"),
    ("POST lock/overdue.com", None, "wrong_state", "ask for its renewal first, which makes it active", None),
    ("POST renewDomain/second.com", None, "transfer_pending", "its holder may approve", "2026-03-06"),
    ("POST rejectTransfer/active.com", None, "no_transfer", "another registrar has to", None),
    ("POST cancelTransfer/active.com", None, "no_transfer", "this account has to", None),
    ("POST createDomain", "theirs.com", "name_taken", "other holds it: ask for a transfer", None),
    ("POST createDomain", "gone.com", "name_taken", "it is released at ", "2026-04-04"),
    ("POST createDomain", "pending.com", "name_taken", "", "2026-03-03"),
    ("POST createDomain", "active.com", "name_taken", f"{OWN}: ask for its renewal", None),
    ("POST createDomain", "redemption.com", "name_taken", f"{OWN}: ask for its restore in v2.0", None),
    ("POST createDomain", "requested.com", "name_taken", OWN, None),
    ("GET getDomain/theirs.com", None, "domain_not_found", "other holds it: use that account", None),
    ("GET getDomain/elsewhere.com", None, "domain_not_found", "outside holds it: ask for a transfer", None),
    ("GET getDomain/nobodys.com", None, "domain_not_found", "nobody holds the name: register it", None),
    ("POST renewDomain/gold.com", {"purchaseCost": 1}, "price_mismatch", "send purchaseCost 300.00", None),
    ("POST createDomain", "short.shop", "period_too_short", "send at least 2 years", None),
    ("POST renewDomain/active.com", {"years": 11}, "period_too_long", "send at most ", None),
]  # fmt: skip


def test_a_refusal_names_the_nearest_allowed_request(
    sandbox: Sandbox, steer: Control, main: Api, subtests: pytest.Subtests
) -> None:
    sandbox.simulate.request_transfer("second.com", force=True)
    for request, body, rule, allowed, day in EXPLAINED:
        method, target = request.split()
        sent = {"domain": {"domainName": body}} if isinstance(body, str) else body
        with subtests.test(request=request, body=body):
            main.call(method, f"/v3/domains/{target}", sent)
            refusal = _refusal(steer)
            assert (refusal["rule"], refusal["allowed_at"]) == (rule, day and f"{day}T12:00:00Z")
            assert refusal["allowed"].startswith(allowed)


REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/v3/domains/lock/NAME", None),
    ("POST", "/v3/domains/renewDomain/NAME", None),
    ("POST", "/v3/domains/setNameservers/NAME", {"nameservers": ["ns1.example.net"]}),
    ("GET", "/v3/domains/glueRecords/NAME", None),
    ("POST", "/v3/domains/approveTransfer/NAME", None),
    ("POST", "/v3/domains/enableAutorenew/NAME", None),
    ("DELETE", "/V2.0/domain/NAME", None),
    ("PUT", "/V2.0/domain/NAME/restore", None),
]


def test_the_stage_refuses_a_request_only_until_the_instant_allowed_at(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """A second before that instant the stage still is the reason."""
    sandbox.assumptions.set({"v2.order_processing": "3600"})

    def refusal(at: Sandbox, method: str, path: str, body: Any) -> Any:
        at.client().open(path, method=method, json=body)
        return at.journal.list(limit=1).requests[0].refusal

    waited = 0
    for name in ("requested.com", "processing.com", "arriving.com", "overdue.com", "pending.com"):
        for method, target, body in REQUESTS:
            request = (method, target.replace("NAME", name), body)
            met = refusal(sandbox, *request)
            if met is None or met.rule != "wrong_state" or met.allowed_at is None:
                assert met is None or "wait for" not in met.allowed, met.allowed
                continue
            waited += 1
            with subtests.test(request=request), sandbox.fork(point="now") as fork:
                fork.clock.set(met.allowed_at - timedelta(seconds=1))
                assert refusal(fork, *request).rule == "wrong_state"
                fork.clock.set(met.allowed_at)
                then = refusal(fork, *request)
                assert then is None or then.rule != "wrong_state"
    assert waited > 15


def test_a_refusal_for_low_balance_shows_the_missing_amount(sandbox: Sandbox, steer: Control) -> None:
    register(inside(sandbox, "poor"), "dear.com")
    refusal = _refusal(steer)
    assert refusal["allowed"] == "top up the balance by 9.00 USD or more"
    assert (refusal["met"]["account"], refusal["met"]["balance"]) == ("poor", "1.00")
    sandbox.accounts.credit("poor", "9.00")
    assert register(inside(sandbox, "poor"), "dear.com").status == 200


def test_a_refusal_for_a_lock_shows_the_operation_that_removes_the_lock(steer: Control, main: Api) -> None:
    main.post("/v3/domains/lockUpdate/active.com")
    body = {"nameservers": ["ns1.elsewhere.net"]}
    assert main.post("/v3/domains/setNameservers/active.com", body).error == "locked"
    refusal = _refusal(steer)
    assert refusal["allowed"] == "clear client_update_prohibited with unlockUpdate first"
    assert _met(refusal)["flags"] == ["client_update_prohibited"]
    main.post("/v3/domains/unlockUpdate/active.com")
    assert main.post("/v3/domains/setNameservers/active.com", body).status == 200


def test_unmatched_requests_and_revoked_credentials_are_explained(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    """The credentials tell the account."""
    main.get("/v3/domains/getDomains/active.com")
    main.put("/v3/balance", {})
    sandbox.simulate.revoke_credentials("main")
    main.get("/v3/balance")
    sandbox.client().get("/V2.0/dom/x")
    rows = steer.get("journal")["requests"]
    assert [(row["operation"], row["account"], row["outcome"]) for row in rows] == [
        ("-", "main", "unknown_path"),
        ("-", "main", "method_not_allowed"),
        ("v3.balance", "main", "unknown_key"),
        ("-", "main", "unknown_path"),
    ]
    assert "GET /v3/domains/getDomain/{domainName}" in rows[0]["refusal"]["allowed"]
    assert "restore the credentials of main" in rows[2]["refusal"]["allowed"]
    sandbox.simulate.restore_credentials("main")
    assert money_of(main) == "10000.00"
    assert steer.get("journal")["requests"][-1]["refusal"] is None
