"""How the page is served: to whom, with which files, and who may come in with it."""

from __future__ import annotations

import json
import re
from http.cookies import SimpleCookie
from urllib.parse import urljoin

import pytest
from werkzeug.test import TestResponse

from reseller_sandbox import Sandbox
from reseller_sandbox.page.rows import FOLDER, TYPES
from reseller_sandbox.page.views import VIEWS

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGE = "/_sandbox/page"


@pytest.mark.parametrize(
    "accept", [BROWSER, "text/html", "text/*", "text/html;q=0.9, application/json;q=0.8"]
)
def test_a_browser_finds_the_page(accept: str) -> None:
    """At the address of the server, and a request for it is none of the world's."""
    sandbox = Sandbox("empty")
    answer = sandbox.app.test_client().get("/", headers={"Accept": accept})
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert answer.headers["Vary"] == "Accept"
    assert sandbox.journal.find().requests == ()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_finds_an_icon_by_itself(method: str) -> None:
    """Whatever answer it shows; that is none of the world's requests, and takes no number from those."""
    sandbox = Sandbox("empty")
    answer = sandbox.app.test_client().open("/favicon.ico", method=method)
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")
    assert sandbox.journal.find().requests == ()


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "application/json, text/html", "text/html;q=0"]
)
def test_a_program_gets_the_answer_of_a_path_that_is_none(accept: str) -> None:
    """Whether it says what it takes or not, and to any other method as well."""
    told = [
        Sandbox("empty").app.test_client().get(path, headers={"Accept": accept} if accept else {})
        for path in ("/", "/nothing")
    ]
    assert [one.status_code for one in told] == [404, 404]
    assert told[0].data == told[1].data.replace(b"/nothing", b"/")
    assert dict(told[0].headers) == {**told[1].headers, "Content-Length": str(len(told[0].data))}
    assert Sandbox("empty").app.test_client().post("/", headers={"Accept": BROWSER}).status_code == 404


def test_the_page_loads_its_own_files_alone() -> None:
    """Each that it names is there, as what it is; together they are small; nothing else is allowed."""
    client = Sandbox("empty").app.test_client()
    for path in ("/", PAGE):
        answer = client.get(path, headers={"Accept": BROWSER})
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.findall(r"https?:", policy + answer.text)
        for link in re.findall(r'(?:href|src)="([^"#]+)"', answer.text):
            found = client.get(urljoin(path, link))
            assert found.status_code == 200, link
            assert found.headers["X-Content-Type-Options"] == "nosniff"
    files = [path for path in FOLDER.rglob("*.*") if path.suffix in TYPES]
    assert sum(path.stat().st_size for path in files) < 150_000
    for file in files:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|https?://(?!www\.w3\.org)", file.read_text()
        )


def test_the_first_look_is_light() -> None:
    """What the page names, and what it learns as it begins: forms and other views come when they open."""
    client = Sandbox("empty").app.test_client()
    page = client.get("/", headers={"Accept": BROWSER})
    links = set(re.findall(r'(?:href|src)="(_sandbox/page/[^"]+)"', page.text))
    assert "_sandbox/page/views/journal.js" in links
    sizes = [len(client.get(f"/{link}").data) for link in (*links, "_sandbox/page/powers.json")]
    assert len(page.data) + sum(sizes) < 120_000


def test_every_operation_has_its_form() -> None:
    """In a file of its own, with every parameter that is named at first."""
    client = Sandbox("empty").app.test_client()
    for name, called in json.loads(client.get(f"{PAGE}/powers.json").data).items():
        form = json.loads(client.get(f"{PAGE}/powers/{name}.json").data)
        assert [one["name"] for one in form["parameters"]] == [one["name"] for one in called["parameters"]]
        assert all("shape" in one for one in form["parameters"])


def test_every_view_has_its_file() -> None:
    """And a link in the menu."""
    text = Sandbox("empty").app.test_client().get("/", headers={"Accept": BROWSER}).text
    for view in VIEWS:
        assert (FOLDER / "views" / f"{view.name}.js").is_file()
        assert f'href="#/{view.name}"' in text


def test_modules_import_what_they_use_and_export_what_others_import() -> None:
    """Whatever else they hold is loaded in vain."""
    imported, exported = set(), set()
    for file in FOLDER.rglob("*.js"):
        text = file.read_text()
        exported |= set(
            re.findall(r"^export (?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE)
        )
        for names in re.findall(r"^import \{ (.*) \}", text, re.MULTILINE):
            for name, own in re.findall(r"(\w+)(?: as (\w+))?", names):
                imported.add(name)
                assert len(re.findall(rf"\b{own or name}\b", text)) > 1, f"{file.name} does not use {name}"
    assert imported
    assert exported <= imported


@pytest.mark.parametrize("name", ["none.js", "../rows.py", "page.html", "%2e%2e/rows.py"])
def test_there_are_no_other_files(name: str) -> None:
    """Whatever a path says."""
    assert Sandbox("empty").app.test_client().get(f"{PAGE}/{name}").status_code == 404


def _signed_in(sandbox: Sandbox) -> tuple[TestResponse, str]:
    """The answer to the token, and the cookie that it sets."""
    headers = {"X-Sandbox-Token": "secret"}
    answer = sandbox.app.test_client(use_cookies=False).post("/_sandbox/session", headers=headers)
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert "secret" not in cookie.value
    return answer, f"{cookie.key}={cookie.value}"


def test_the_token_is_asked_for_once() -> None:
    """With the cookie the page may look; what changes something carries the word that goes with it."""
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


def test_a_cookie_of_another_token_lets_nobody_in() -> None:
    """Nor does one that is no cookie at all."""
    _, cookie = _signed_in(Sandbox("empty", control_token="secret"))
    client = Sandbox("empty", control_token="other").app.test_client(use_cookies=False)
    for given in (cookie, cookie.partition("=")[0], "=;=", "sandbox_page_80=\xe9"):
        assert client.get("/_sandbox/clock", headers={"Cookie": given}).status_code == 401


def test_a_page_elsewhere_can_lead_to_the_page_and_do_nothing() -> None:
    """A link from another site opens it; what such a site asks of control is refused, cookie or not."""
    sandbox = Sandbox("empty", control_token="secret")
    _, cookie = _signed_in(sandbox)
    client = sandbox.app.test_client(use_cookies=False)
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Cookie": cookie}
    assert client.get("/", headers={"Accept": BROWSER, **elsewhere}).status_code == 200
    assert client.get("/_sandbox/clock", headers=elsewhere).json["error"] == "cross_site"


def test_signing_out_takes_the_cookie_away() -> None:
    """The browser is told to forget it."""
    sandbox = Sandbox("empty", control_token="secret")
    answer, cookie = _signed_in(sandbox)
    headers = {"Cookie": cookie, "X-Sandbox-Change": answer.json["change"]}
    ended = sandbox.app.test_client(use_cookies=False).delete("/_sandbox/session", headers=headers)
    assert "Max-Age=0" in ended.headers["Set-Cookie"]
