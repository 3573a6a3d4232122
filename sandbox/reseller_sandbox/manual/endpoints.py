"""The routes of the control interface that serve the manual."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from marshmallow import fields

from reseller_sandbox.control_http.endpoints import ControlCall, PathName, about, extra_endpoint
from reseller_sandbox.manual.pages import FOLDER, PICTURES, Manual, UnknownPage
from reseller_sandbox.manual.search import Section, find, sections
from reseller_sandbox.refusals import UNKNOWN_PAGE, Refused
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Answer

if TYPE_CHECKING:
    from reseller_sandbox.manual.rendering import Renderer

#: Script of the search box, and the maximum number of sections that a search returns.
SCRIPT, SHOWN = "search.js", 20

_HTML, _MARKDOWN, _PICTURE = "text/html", "text/markdown", "image/webp"
_SCRIPT = "text/javascript"


class _PagePath(Shape):
    page = PathName(
        metadata=about("Name of a page, with .md for Markdown, or name of a picture or of the search script.")
    )


@cache
def _renderer() -> Renderer:
    from reseller_sandbox.manual.rendering import Renderer  # markdown-it is slow to import

    return Renderer(Manual())


@cache
def _sections() -> list[Section]:
    return sections(_renderer().manual)


@cache
def _html(name: str, root: str) -> bytes:
    return _renderer().render(_renderer().manual.page(name), root).encode()


def _show(call: ControlCall) -> Answer:
    """Return a page of the manual, by default the first one.

    The page is Markdown if its name ends with .md, or if Accept names text/markdown and not text/html.
    Otherwise, it is HTML. Pictures and the script of the search are served by name as well.
    """
    name = call.arguments.get("page", "")
    if name in PICTURES:
        return Answer(200, PICTURES[name].read_bytes(), _PICTURE)
    if name == SCRIPT:
        return Answer(200, (FOLDER / name).read_bytes(), f"{_SCRIPT}; charset=utf-8")
    try:
        page = _renderer().manual.page(name)
    except UnknownPage as problem:
        raise Refused(UNKNOWN_PAGE, problem=str(problem)) from None
    accepted = call.request.headers.get("Accept", "")
    call.request.headers_out |= {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}
    if name.endswith(".md") or (_MARKDOWN in accepted and _HTML not in accepted):
        return Answer(200, page.text.encode(), f"{_MARKDOWN}; charset=utf-8")
    call.request.headers_out |= {
        "Content-Security-Policy": _renderer().policy,
        "Referrer-Policy": "no-referrer",
    }
    root = "../" * name.count("/") if name else "manual/"
    return Answer(200, _html(page.name, root), f"{_HTML}; charset=utf-8")


class _Wanted(Shape):
    words = fields.String(required=True, metadata=about("Words to search for."))


class _Section(Shape):
    page = fields.String(metadata=about("Name of the page."))
    title = fields.String(metadata=about("Title of the page."))
    heading = fields.String(metadata=about("Heading of the section."))
    anchor = fields.String(metadata=about("Anchor of the section on its page."))


class _Found(Shape):
    sections = fields.List(fields.Nested(_Section), metadata=about("Sections that fit, the best first."))


@extra_endpoint("manual.search", "manual/search", query=_Wanted(), answer=_Found(), lengthy_from=0)
def _find(call: ControlCall) -> dict[str, object]:
    """Return the sections of the manual that fit the words, the best first."""
    return {"sections": find(call.arguments["words"], _sections())[:SHOWN]}


_first = extra_endpoint("manual", "manual", lengthy_from=0, forms=(_HTML, _MARKDOWN))(_show)
_page = extra_endpoint(
    *("manual.page", "manual/{page}", UNKNOWN_PAGE),
    path=_PagePath(),
    lengthy_from=0,
    forms=(_HTML, _MARKDOWN, _PICTURE, _SCRIPT),
)(_show)
