"""The manual as it is served: every page, by itself, with what a browser is allowed to do with it."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from posixpath import join, normpath

import pytest
from markdown_it import MarkdownIt

from reseller_sandbox import Sandbox
from reseller_sandbox.manual.pages import PICTURES, Manual, Written
from reseller_sandbox.manual.rendering import Renderer
from tests.clients import Api
from tests.registry import Make, connect

MANUAL = "/_sandbox/manual"
PAGES = Manual().pages


class Seen(HTMLParser):
    """What stands in a page: its links, its anchors, its pictures, its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.pictures: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what is of interest of a tag."""
        told = dict(attrs)
        self.tags.add(tag)
        self.links += [told["href"] or ""] if "href" in told else []
        self.anchors |= {told["id"] or ""} if "id" in told else set()
        if tag == "img":
            self.pictures[told.pop("src") or ""] = told["alt"] or ""
        assert not [name for name in told if name.startswith("on") or name in ("style", "src")]


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    """Every page by the path that it is served under, behind a world's prefix."""
    api = connect(Sandbox("empty"))
    paths = [MANUAL, f"{MANUAL}/settings", f"{MANUAL}/settings/", *(f"{MANUAL}/{name}" for name in PAGES)]
    return {path: api.send("GET", f"/_worlds/default{path}", []).raw.decode() for path in paths}


def test_every_link_leads_to_a_page_and_a_heading(documents: dict[str, str]) -> None:
    """From every page, whatever stands before the path and by whichever name it is asked for."""
    seen = {path: Seen(text) for path, text in documents.items()}
    for path, page in seen.items():
        for link in page.links:
            where, _, anchor = link.partition("#")
            found = normpath(join(path.rpartition("/")[0], where)) if where else path
            assert found in seen, f"{path} links to {link}"
            assert not anchor or anchor in seen[found].anchors, f"{path} links to {link}"
        listed = {normpath(join(path.rpartition("/")[0], link)) for link in page.links if "#" not in link}
        assert listed >= {f"{MANUAL}/{name}" for name in PAGES}


def test_every_picture_is_served(wire: Api, documents: dict[str, str]) -> None:
    """From beside the pages, each with words for those who cannot see it; they are all in use."""
    found = {
        normpath(join(path.rpartition("/")[0], source)): words
        for path, text in documents.items()
        for source, words in Seen(text).pictures.items()
    }
    assert set(found) == {f"{MANUAL}/{name}" for name in PICTURES}
    assert all(found.values())
    for path in found:
        answer = wire.send("GET", path, [])
        assert (answer.status, answer.headers["content-type"]) == (200, "image/webp")
        assert answer.raw[8:12] == b"WEBP"


def test_a_page_needs_nothing_else(documents: dict[str, str]) -> None:
    """No script and no file from elsewhere: it is read without the network."""
    for text in documents.values():
        assert text.startswith("<!doctype html>")
        assert not Seen(text).tags & {"script", "link", "iframe", "object", "form", "base"}


def test_a_browser_may_do_no_more_than_show_it(wire: Api) -> None:
    """The policy allows the page's own stylesheet and pictures, and nothing more."""
    answer = wire.send("GET", MANUAL, [])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; "
        r"frame-ancestors 'none'; img-src 'self'",
        policy,
    )
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "accept", "form"),
    [
        ("index", "*/*", "html"),
        ("index.md", "*/*", "markdown"),
        ("index", "text/markdown", "markdown"),
        ("index", "text/html,text/markdown;q=0.5", "html"),
        ("explanation/assumptions.md", "text/html", "markdown"),
        ("settings", "", "html"),
    ],
)
def test_a_page_is_html_or_markdown(wire: Api, path: str, accept: str, form: str) -> None:
    """As the ending or Accept has it; the Markdown is the page itself."""
    answer = wire.send("GET", f"{MANUAL}/{path}", [("Accept", accept)])
    assert (answer.status, answer.headers["content-type"]) == (200, f"text/{form}; charset=utf-8")
    if form == "markdown":
        assert answer.raw.decode() == PAGES[path.removesuffix(".md")].text


@pytest.mark.parametrize("path", ["nothing", "how-to/fault", "<script>", "../settings", "a" * 300, "%00"])
def test_an_unknown_page_is_refused(wire: Api, path: str) -> None:
    """With the nearest one, as every other refusal of control."""
    answer = wire.send("GET", f"{MANUAL}/{path}", [])
    assert (answer.status, answer.error) in {(404, "unknown_page"), (404, "unknown_path")}
    assert answer.headers["content-type"] == "application/json"
    if path == "how-to/fault":
        assert "the nearest is how-to/faults" in answer.message


def test_it_is_let_in_as_the_documents_are(make: Make) -> None:
    """Where control wants a token, the manual does, too."""
    api = connect(make(control_token="secret"))
    for path in (MANUAL, "/_sandbox/openapi/v3.json"):
        assert api.send("GET", path, []).error == "control_token_missing"
        assert api.send("GET", path, [("X-Sandbox-Token", "secret")]).status == 200


#: A page whose words would be markup.
HOSTILE = (
    "# <script>alert(1)</script> <b>x</b>\n\n"
    "<script>alert(1)</script> [a](javascript:alert(1))\n\n```<i>\n<b>\n```\n"
)


def test_words_that_look_like_markup_are_shown_as_they_are() -> None:
    """In the title, in prose, in blocks and in links."""
    manual = Manual()
    page = Written("<script>alert(1)</script>")
    manual.pages[page.name], page.text = page, HOSTILE
    manual.parts = lambda: iter([("<u>", [page])])  # type: ignore[method-assign]
    seen = Seen(Renderer(manual).render(page, ""))
    assert not seen.tags & {"script", "b", "i", "u"}
    assert not [link for link in seen.links if link.startswith("javascript")]


def test_whatever_is_declared_is_shown_as_it_is_written() -> None:
    """In a generated page every < and * of a declaration's words stays a character."""
    for page in PAGES.values():
        for token in MarkdownIt("commonmark").enable("table").parse(page.text):
            kinds = {child.type for child in token.children or ()}
            assert "html_inline" not in kinds, token.content
            assert token.type != "html_block", token.content


def test_nothing_of_it_is_loaded_before_it_is_asked_for() -> None:
    """A server starts without it."""
    code = (
        "import sys; from reseller_sandbox import Sandbox; client = Sandbox('empty').client()\n"
        "print([name for name in ('markdown_it', 'reseller_sandbox.manual.pages') if name in sys.modules])\n"
        "client.get('/_sandbox/manual'); print('markdown_it' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]
