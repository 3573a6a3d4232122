"""The delivery of the page: its files, its policy, the session of a browser, and the console's signatures."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
from http.cookies import SimpleCookie
from itertools import product
from typing import Any
from urllib.parse import urljoin

import pytest
from werkzeug.test import TestResponse

from reseller_sandbox import Sandbox
from tests.command import program, run
from tests.page.conftest import views
from tests.registry import REGISTRY

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGE = "/_sandbox/page"
SIGNATURE = "/_sandbox/signature"
BALANCE = {"account": "main", "target": "/v3/balance"}


def test_the_root_serves_the_page_to_browsers_and_addresses_to_curl() -> None:
    """No request for the page, its icon or the addresses is a request of the world."""
    sandbox, vary = Sandbox("empty"), "Accept, Accept-Encoding"
    client = sandbox.app.test_client()
    for accept in (BROWSER, "text/html", "text/*", "text/html;q=0.9, application/json;q=0.8"):
        answer = client.get("/", headers={"Accept": accept})
        assert (answer.status_code, answer.mimetype, answer.headers["Vary"]) == (200, "text/html", vary)
    for method in ("GET", "HEAD"):
        icon = client.open("/favicon.ico", method=method)
        assert (icon.status_code, icon.mimetype) == (200, "image/svg+xml")
    for accept in ("*/*", "text/plain", "text/html;q=0"):
        answer = client.get("/", headers={"Accept": accept, "Host": "localhost:8053"})
        assert (answer.status_code, answer.mimetype, answer.headers["Vary"]) == (200, "text/plain", vary)
        for path in re.findall(r"http://localhost:8053(/\S*)", answer.text):
            found = client.get(path.rstrip(","), headers={"Accept": BROWSER, "Host": "localhost:8053"})
            assert found.status_code in ((404,) if path in ("/v3", "/V2.0") else (200, 308)), path
            sandbox.reset()
    assert client.get("/health").json == client.get("/_sandbox/health").json
    assert sandbox.journal.list().requests == ()
    for accept in ("application/json", "text/html;q=0.5, application/json", "application/json, text/html"):
        root = client.get("/", headers={"Accept": accept, "Host": "localhost:8053"})
        assert (root.status_code, root.mimetype, root.headers["Vary"]) == (200, "application/json", vary)
        assert root.json["interfaces"]["v3"] == "http://localhost:8053/v3"
        assert client.get(root.json["documents"]["v3"]).status_code == 200
        assert client.get(root.json["health"]).status_code == 200
    assert sandbox.journal.list().requests == ()
    assert client.post("/", headers={"Accept": BROWSER}).status_code == 404


def test_signing_out_ends_only_the_session_of_that_browser() -> None:
    """Somebody who has copied the cookie cannot use it any more."""
    sandbox, token = Sandbox("empty", control_token="a-control-token"), {"X-Sandbox-Token": "a-control-token"}
    cookies = []
    for _ in range(2):
        begun = sandbox.app.test_client(use_cookies=False).post("/_sandbox/session", headers=token)
        cookies.append((begun.headers["Set-Cookie"].partition(";")[0], begun.json["change"]))
    assert cookies[0] != cookies[1]

    def statuses() -> list[int]:
        client = sandbox.app.test_client(use_cookies=False)
        return [
            client.get("/_sandbox/names", headers={"Cookie": cookie}).status_code for cookie, _ in cookies
        ]

    assert statuses() == [200, 200]
    (cookie, change), _ = cookies
    headers = {"Cookie": cookie, "X-Sandbox-Change": change}
    ended = sandbox.app.test_client(use_cookies=False).delete("/_sandbox/session", headers=headers)
    assert ended.status_code == 200
    assert statuses() == [401, 200]
    forged = cookies[1][0].replace(".", "0.", 1)
    cookies[:] = [(forged, ""), (cookie.partition("=")[0] + "=", "")]
    assert statuses() == [401, 401]


@pytest.mark.parametrize(
    "kind", ["text/html", "Text/HTML; charset=utf-8", "image/svg+xml", "application/xml"]
)
def test_a_document_of_a_canned_answer_or_a_fault_has_no_access_to_the_page(kind: str) -> None:
    sandbox = Sandbox("empty")
    client, policy = sandbox.app.test_client(), "Content-Security-Policy"
    sandbox.answers.add("/v3/hello", body="<script>", content_type=kind)
    sandbox.answers.add("/v3/own", body="<p>", content_type=kind, headers={policy: "img-src *"})
    sandbox.faults.add("error", status=503, body="<p>", content_type=kind, match={"path": "/v3/balance"})
    found = [
        client.get(path).headers.get(policy) for path in ("/v3/hello", "/v3/own", "/v3/balance", "/v3/x")
    ]
    assert found == ["sandbox", "sandbox, img-src *", "sandbox", None]


def test_a_copied_command_sends_a_body_that_begins_with_an_at_sign() -> None:
    with Sandbox("empty") as sandbox, sandbox.serve() as server:
        wish = {"method": "POST", "target": "/v3/none", "body": "@/etc/hostname"}
        copies = sandbox.app.test_client().post("/_sandbox/signature/copies", json=wish).json["copies"]
        run(*shlex.split(copies["Shell"])[1:], "--url", server.url)
        words = shlex.split(copies["curl"].replace("http://localhost/", f"{server.url}/"))
        subprocess.run([program(words[0]), *words[1:]], capture_output=True, timeout=60, check=False)
        assert [entry.request.body for entry in sandbox.journal.list().requests] == ["@/etc/hostname"] * 2


def test_the_page_loads_only_its_own_small_files() -> None:
    client = Sandbox("empty").app.test_client()
    packed = client.get(f"{PAGE}/page.js", headers={"Accept-Encoding": "br, gzip"})
    assert gzip.decompress(packed.data) == client.get(f"{PAGE}/page.js").data
    same = {"If-None-Match": packed.headers["ETag"]}
    answers = [client.get(f"{PAGE}/{name}", headers=same) for name in ("page.js", "style.css")]
    assert [(answer.status_code, bool(answer.data)) for answer in answers] == [(304, False), (200, True)]
    for path in ("/", PAGE):
        answer = client.get(path, headers={"Accept": BROWSER})
        policy, size = answer.headers["Content-Security-Policy"], len(answer.data)
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.findall(r"https?:", policy + answer.text)
        for link in set(re.findall(r'(?:href|src)="([^"#]+)"', answer.text)):
            found = client.get(urljoin(path, link))
            assert found.status_code == 200, link
            assert found.headers["X-Content-Type-Options"] == "nosniff"
            size += len(found.data) if "/page/" in link else 0
        assert size < 120_000
    for name in ("none.js", "../endpoints.py", "page.html", "%2e%2e/endpoints.py"):
        assert client.get(f"{PAGE}/{name}").status_code == 404, name
    for view in views():
        assert client.get(f"{PAGE}/views/{view}.js").status_code == 200


def test_every_control_operation_has_a_form_on_the_page() -> None:
    client = Sandbox("empty").app.test_client()
    for name, row in json.loads(client.get(f"{PAGE}/operations.json").data).items():
        assert row["about"], name
        assert all("shape" in parameter for parameter in row["parameters"])


def test_an_operation_is_written_as_a_command_and_as_code() -> None:
    """An unknown operation is left out."""
    diff = {"operation": "history.diff", "arguments": {"from": "start", "limit": 3}, "world": "w/1"}
    add = {"operation": "faults.add", "arguments": {"match": {"account": "a"}, "kind": "reset"}}
    asked = {"calls": [{"operation": "none.none"}, diff, add]}
    first, second = Sandbox("empty").app.test_client().post("/_sandbox/calls", json=asked).json["calls"]
    assert first["Shell"] == "reseller-sandbox history diff --world w/1 start --limit 3"
    assert first["Python"] == "connect('http://localhost', world='w/1').history.diff('start', limit=3)"
    assert "'http://localhost/_worlds/w%2F1/_sandbox/history/diff?from=start&limit=3'" in first["curl"]
    assert second["Shell"] == "reseller-sandbox faults add reset --match account=a"
    assert '"kind": "reset"' in second["curl"]


def _signed_in(sandbox: Sandbox) -> tuple[TestResponse, str]:
    """Send the token. Return the answer and the cookie that it sets."""
    headers = {"X-Sandbox-Token": "secret"}
    answer = sandbox.app.test_client(use_cookies=False).post("/_sandbox/session", headers=headers)
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
    assert "secret" not in cookie.value
    return answer, f"{cookie.key}={cookie.value}"


def test_a_session_needs_its_cookie_to_read_and_a_header_to_change() -> None:
    """Another site can link to the page and do nothing. Signing out deletes the cookie."""
    sandbox = Sandbox("empty", control_token="secret")
    client = sandbox.app.test_client(use_cookies=False)
    assert client.get("/", headers={"Accept": BROWSER}).status_code == 200
    assert client.get("/_sandbox/session").json["error"] == "control_token_missing"
    answer, text = _signed_in(sandbox)
    word, cookie = answer.json["change"], {"Cookie": text}
    assert client.get("/_sandbox/session", headers=cookie).json == {"instance": "", "change": word}
    assert client.get("/_sandbox/clock", headers=cookie).status_code == 200
    for forged in ({}, {"X-Sandbox-Change": "x"}, {"X-Sandbox-Change": ""}):
        refused = client.post("/_sandbox/clock/freeze", headers={**cookie, **forged})
        assert refused.json["error"] == "control_token_missing"
    assert client.post("/_sandbox/clock/freeze", headers={"X-Sandbox-Change": word}).status_code == 401
    both = {**cookie, "X-Sandbox-Change": word}
    assert client.post("/_sandbox/clock/run", headers=both).json["frozen"] is False
    elsewhere = {"Sec-Fetch-Site": "cross-site", **cookie}
    assert client.get("/", headers={"Accept": BROWSER, **elsewhere}).status_code == 200
    assert client.get("/_sandbox/clock", headers=elsewhere).json["error"] == "cross_site"
    ended = client.delete("/_sandbox/session", headers=both)
    assert "Max-Age=0" in ended.headers["Set-Cookie"]


def test_a_session_cookie_of_another_control_token_is_refused() -> None:
    _, cookie = _signed_in(Sandbox("empty", control_token="secret"))
    client = Sandbox("empty", control_token="other").app.test_client(use_cookies=False)
    for wrong in (cookie, cookie.partition("=")[0], "=;=", "sandbox_page_80=\xe9"):
        assert client.get("/_sandbox/clock", headers={"Cookie": wrong}).status_code == 401


def signed(sandbox: Sandbox, **parameters: Any) -> Any:
    return sandbox.app.test_client().post(SIGNATURE, json={**BALANCE, **parameters}).json


def test_page_signatures_follow_every_assumption_and_contain_no_secret(sandbox: Sandbox) -> None:
    targets = ("/v3/balance?a=1", "/_worlds/default/v3/balance")
    endpoints = ("any", "url", "path", "path_no_query")
    for endpoint, payload, target in product(endpoints, ("any", "raw", "empty_object"), targets):
        sandbox.assumptions.set({"v3.signature.endpoint": endpoint, "v3.signature.payload": payload})
        made = signed(sandbox, target=target)
        answer = sandbox.app.test_client().get(target, headers=made["headers"])
        assert answer.status_code == 200, (endpoint, payload, target)
        assert "".join(made["signed"]).startswith("main-key")
        assert "main-secret" not in str(made)


def test_signed_headers_follow_the_header_prefix_and_token_header(sandbox: Sandbox) -> None:
    sandbox.assumptions.set({"v2.token_headers": ["X-Other"]})
    v2 = signed(sandbox, target="/V2.0/customer")
    assert v2 == {"headers": {"X-Other": "main-token"}, "signed": []}
    v3 = signed(Sandbox(REGISTRY, header_prefix="X-OWN-"))
    assert v3["headers"].keys() == {"X-OWN-APIKEY", "X-OWN-SIGNATURE"}


def test_signing_refuses_wrong_input_and_callers_without_the_token(sandbox: Sandbox) -> None:
    assert signed(sandbox, account="nobody")["error"] == "unknown_account"
    for wrong in ({"interface": "v3"}, {"key": "x"}, {"body": 7}):
        assert signed(sandbox, **wrong)["error"] == "invalid_parameter", wrong
    client = Sandbox(REGISTRY, control_token="secret").app.test_client()
    assert client.post(SIGNATURE, json=BALANCE).json["error"] == "control_token_missing"
    elsewhere = {"Origin": "http://evil.example", "X-Sandbox-Token": "secret"}
    assert client.post(SIGNATURE, json=BALANCE, headers=elsewhere).json["error"] == "cross_site"
