"""The delivery of the page: its files, its policy, and the session of a browser."""

from __future__ import annotations

import json
import re
from http.cookies import SimpleCookie
from urllib.parse import urljoin

from werkzeug.test import TestResponse

from reseller_sandbox import Sandbox
from tests.page.conftest import views

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGE = "/_sandbox/page"


def test_a_browser_gets_the_page_and_its_icon() -> None:
    """At the address of the server. These are no requests of the world."""
    sandbox = Sandbox("empty")
    client = sandbox.app.test_client()
    for accept in (BROWSER, "text/html", "text/*", "text/html;q=0.9, application/json;q=0.8"):
        answer = client.get("/", headers={"Accept": accept})
        assert (answer.status_code, answer.mimetype) == (200, "text/html")
        assert answer.headers["Vary"] == "Accept"
    for method in ("GET", "HEAD"):
        icon = client.open("/favicon.ico", method=method)
        assert (icon.status_code, icon.mimetype) == (200, "image/svg+xml")
    assert sandbox.journal.find().requests == ()


def test_a_program_gets_the_answer_to_an_unknown_path() -> None:
    for accept in ("*/*", "application/json", "application/json, text/html", "text/html;q=0"):
        root, nothing = (
            Sandbox("empty").app.test_client().get(path, headers={"Accept": accept})
            for path in ("/", "/nothing")
        )
        assert (root.status_code, nothing.status_code) == (404, 404)
        assert root.data == nothing.data.replace(b"/nothing", b"/")
        assert dict(root.headers) == {**nothing.headers, "Content-Length": str(len(root.data))}
    assert Sandbox("empty").app.test_client().post("/", headers={"Accept": BROWSER}).status_code == 404


def test_the_page_loads_only_its_own_small_files() -> None:
    client = Sandbox("empty").app.test_client()
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
    for name in ("none.js", "../rows.py", "page.html", "%2e%2e/rows.py"):
        assert client.get(f"{PAGE}/{name}").status_code == 404, name


def test_each_operation_has_a_form_and_each_view_a_file() -> None:
    client = Sandbox("empty").app.test_client()
    for name, row in json.loads(client.get(f"{PAGE}/powers.json").data).items():
        form = json.loads(client.get(f"{PAGE}/powers/{name}.json").data)
        names = [parameter["name"] for parameter in form["parameters"]]
        assert names == [parameter["name"] for parameter in row["parameters"]]
        assert all("shape" in parameter for parameter in form["parameters"])
    for view in views():
        assert client.get(f"{PAGE}/views/{view}.js").status_code == 200


def _signed_in(sandbox: Sandbox) -> tuple[TestResponse, str]:
    """Send the token. Return the answer and the cookie that it sets."""
    headers = {"X-Sandbox-Token": "secret"}
    answer = sandbox.app.test_client(use_cookies=False).post("/_sandbox/session", headers=headers)
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert "secret" not in cookie.value
    return answer, f"{cookie.key}={cookie.value}"


def test_a_browser_sends_the_token_once() -> None:
    """With the cookie the page reads. To change something it sends the word of the session too."""
    sandbox = Sandbox("empty", control_token="secret")
    client = sandbox.app.test_client(use_cookies=False)
    assert client.get("/", headers={"Accept": BROWSER}).status_code == 200
    assert client.get("/_sandbox/session").json["error"] == "control_token_missing"
    answer, cookie = _signed_in(sandbox)
    word = answer.json["change"]
    assert client.get("/_sandbox/session", headers={"Cookie": cookie}).json == {"change": word}
    assert client.get("/_sandbox/clock", headers={"Cookie": cookie}).status_code == 200
    for forged in ({}, {"X-Sandbox-Change": "x"}, {"X-Sandbox-Change": ""}):
        refused = client.post("/_sandbox/clock/freeze", headers={"Cookie": cookie, **forged})
        assert refused.json["error"] == "control_token_missing"
    assert client.post("/_sandbox/clock/freeze", headers={"X-Sandbox-Change": word}).status_code == 401
    done = client.post("/_sandbox/clock/run", headers={"Cookie": cookie, "X-Sandbox-Change": word})
    assert done.json["frozen"] is False


def test_a_cookie_of_another_token_is_refused() -> None:
    _, cookie = _signed_in(Sandbox("empty", control_token="secret"))
    client = Sandbox("empty", control_token="other").app.test_client(use_cookies=False)
    for given in (cookie, cookie.partition("=")[0], "=;=", "sandbox_page_80=\xe9"):
        assert client.get("/_sandbox/clock", headers={"Cookie": given}).status_code == 401


def test_another_site_can_link_to_the_page_and_do_nothing() -> None:
    sandbox = Sandbox("empty", control_token="secret")
    _, cookie = _signed_in(sandbox)
    client = sandbox.app.test_client(use_cookies=False)
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Cookie": cookie}
    assert client.get("/", headers={"Accept": BROWSER, **elsewhere}).status_code == 200
    assert client.get("/_sandbox/clock", headers=elsewhere).json["error"] == "cross_site"


def test_signing_out_deletes_the_cookie() -> None:
    sandbox = Sandbox("empty", control_token="secret")
    answer, cookie = _signed_in(sandbox)
    headers = {"Cookie": cookie, "X-Sandbox-Change": answer.json["change"]}
    ended = sandbox.app.test_client(use_cookies=False).delete("/_sandbox/session", headers=headers)
    assert "Max-Age=0" in ended.headers["Set-Cookie"]
