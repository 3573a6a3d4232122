"""The manual as it is served: every page, by itself, with what a browser is allowed to do with it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from posixpath import join, normpath

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.manual import FOLDER, pages
from tests.registry import Make, connect

MANUAL = "/_sandbox/manual"


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
    paths = [MANUAL, f"{MANUAL}/settings", f"{MANUAL}/settings/", *(f"{MANUAL}/{name}" for name in pages())]
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
        assert listed >= {f"{MANUAL}/{name}" for name in pages()}


def test_every_picture_is_served(wire: Api, documents: dict[str, str]) -> None:
    """From beside the pages, each with words for those who cannot see it; they are all in use."""
    found = {
        normpath(join(path.rpartition("/")[0], source)): words
        for path, text in documents.items()
        for source, words in Seen(text).pictures.items()
    }
    pictures = {path.name for path in FOLDER.rglob("*.webp")}
    assert {path.rpartition("/")[2] for path in found} == pictures
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


def test_a_page_is_html_or_markdown(wire: Api, subtests: pytest.Subtests) -> None:
    """As the ending or Accept has it; the Markdown is the page itself."""
    for path, accept, form in (
        ("index", "*/*", "html"),
        ("index", "text/markdown", "markdown"),
        ("index", "text/html,text/markdown;q=0.5", "html"),
        ("explanation/assumptions.md", "text/html", "markdown"),
        ("settings", "", "html"),
    ):
        with subtests.test(path, accept=accept):
            answer = wire.send("GET", f"{MANUAL}/{path}", [("Accept", accept)])
            assert (answer.status, answer.headers["content-type"]) == (200, f"text/{form}; charset=utf-8")
            if form == "markdown":
                assert answer.raw.decode() == pages()[path.removesuffix(".md")]


def test_an_unknown_page_is_refused_with_the_nearest(wire: Api, subtests: pytest.Subtests) -> None:
    for path in ("nothing", "how-to/fault", "<script>", "../settings", "a" * 300, "%00"):
        with subtests.test(path):
            answer = wire.send("GET", f"{MANUAL}/{path}", [])
            assert (answer.status, answer.error) in {(404, "unknown_page"), (404, "unknown_path")}
            assert "how-to" not in path or "the nearest is how-to/faults" in answer.message


def test_the_manual_wants_the_control_token(make: Make) -> None:
    api = connect(make(control_token="secret"))
    for path in (MANUAL, "/_sandbox/openapi/v3.json"):
        assert api.send("GET", path, []).error == "control_token_missing"
        assert api.send("GET", path, [("X-Sandbox-Token", "secret")]).status == 200
