"""Renders pages of the manual as HTML. Only the search of a page needs scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from posixpath import dirname, join, normpath
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reseller_sandbox.manual.pages import FOLDER, Manual, Page, unique_anchor


class Heading(NamedTuple):
    """A heading below the title: its level, its anchor and its words."""

    level: int
    anchor: str
    words: str


class Renderer:
    """Renders the pages of a manual as HTML with relative links."""

    def __init__(self, manual: Manual) -> None:
        self.manual = manual
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        self._template = environment.from_string((FOLDER / "page.html").read_text("utf-8"))

    @cached_property
    def style(self) -> str:
        """The stylesheet of all pages."""
        return (FOLDER / "style.css").read_text("utf-8")

    @cached_property
    def policy(self) -> str:
        """The content security policy: only the stylesheet, and parts of the same server."""
        digest = base64.b64encode(hashlib.sha256(self.style.encode()).digest()).decode()
        return (
            f"default-src 'none'; style-src 'sha256-{digest}'; script-src 'self'; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self'"
        )

    def render(self, page: Page, root: str) -> str:
        """Return the HTML of ``page``. ``root`` is the relative path to the folder of all pages."""
        tokens = self._markdown.parse(page.text)
        headings = [*_add_anchors(tokens)]
        _rewrite_links(tokens, page, root)
        body = self._markdown.renderer.render(_frame_tables(tokens), self._markdown.options, {})
        pages = [None, *self.manual.pages.values(), None]
        at = pages.index(page)
        return self._template.render(
            page=page,
            root=root,
            style=self.style,
            parts=self.manual.parts,
            body=body.replace("<pre>", '<pre tabindex="0">'),  # scrollable with the keyboard
            before=pages[at - 1],
            after=pages[at + 1],
            headings=headings,
        )


def _add_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give each heading a unique anchor, and yield the headings below the title."""
    taken: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        inline = tokens[at + 1]
        words = "".join(child.content for child in inline.children or ())
        anchor = unique_anchor(words, taken)
        token.attrSet("id", anchor)
        level = int(token.tag[1:])
        if level > 1:
            mark = Token("link_open", "a", 1, {"class": "anchor", "href": f"#{anchor}", "aria-label": "Link"})
            sign = Token("text", "", 0, content="#")
            inline.children = [*(inline.children or ()), mark, sign, Token("link_close", "a", -1)]
            yield Heading(level, anchor, words)


def _rewrite_links(tokens: Sequence[Token], page: Page, root: str) -> None:
    """Replace the file names in links and pictures with the addresses under which they are served."""
    for token in tokens:
        for child in token.children or ():
            href = str(child.attrs.get("href", ""))
            if child.type == "link_open" and "://" not in href and ".md" in href:
                child.attrSet("href", _target(href, page, root))
            if child.type == "image":
                child.attrSet("src", _target(str(child.attrs["src"]), page, root))


def _target(href: str, page: Page, root: str) -> str:
    """Return the address of the page or picture to which ``href`` links."""
    path, _, anchor = href.partition("#")
    name = normpath(join(dirname(page.name), path)).removesuffix(".md")
    return f"{root}{name}" + (f"#{anchor}" if anchor else "")


def _frame_tables(tokens: Sequence[Token]) -> list[Token]:
    """Return ``tokens`` with each table in a scrollable box, and with output blocks marked."""
    framed: list[Token] = []
    for at, token in enumerate(tokens):
        if token.type == "fence" and token.info == "text" and at and tokens[at - 1].info == "sh":
            token.attrSet("class", "output")
        if token.type == "table_open":
            framed.append(Token("paragraph_open", "div", 1, {"class": "table", "tabindex": "0"}, block=True))
        framed.append(token)
        if token.type == "table_close":
            framed.append(Token("paragraph_close", "div", -1, block=True))
    return framed
