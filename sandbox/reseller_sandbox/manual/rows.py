"""The manual over HTTP: rows of the control interface, as the OpenAPI documents are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from marshmallow import fields

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_PAGE, Refused
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Answer

if TYPE_CHECKING:
    from reseller_sandbox.manual.pages import Manual
    from reseller_sandbox.manual.rendering import Renderer

_HTML, _MARKDOWN, _PICTURE = "text/html", "text/markdown", "image/webp"


class _Name(fields.Raw):
    """A page's name, which may have a slash in it."""

    shape: Mapping[str, object] = {"type": "string"}
    route = "rest"


class _Asked(Shape):
    page = _Name(
        metadata={"description": "A page's name; with .md at its end, the page is Markdown. Or a picture's."}
    )


class ManualRows:
    """The rows of one server's manual. What pages are made with is loaded when the first is asked for."""

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str], bytes] = {}

    @cached_property
    def _manual(self) -> Manual:
        from reseller_sandbox.manual.pages import Manual

        return Manual()

    @cached_property
    def _renderer(self) -> Renderer:
        from reseller_sandbox.manual.rendering import Renderer

        return Renderer(self._manual)

    def show(self, call: ControlCall) -> Answer:
        """Return a page of the manual, the first one where none is named.

        It is HTML, or Markdown: for a name that ends with .md, and where Accept names text/markdown and not
        text/html. The pictures that pages show have names as well.
        """
        name = call.arguments.get("page", "")
        accepted = call.incoming.headers.get("Accept", "")
        plain = name.endswith(".md") or (_MARKDOWN in accepted and _HTML not in accepted)
        from reseller_sandbox.manual.pages import PICTURES

        if name in PICTURES:
            return Answer(200, PICTURES[name].read_bytes(), _PICTURE)
        body = self._body(name, plain)
        call.incoming.headers_out |= {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}
        if plain:
            return Answer(200, body, f"{_MARKDOWN}; charset=utf-8")
        call.incoming.headers_out |= {
            "Content-Security-Policy": self._renderer.policy,
            "Referrer-Policy": "no-referrer",
        }
        return Answer(200, body, f"{_HTML}; charset=utf-8")

    def _body(self, name: str, plain: bool) -> bytes:
        from reseller_sandbox.manual.pages import UnknownPage

        try:
            page = self._manual.page(name)
        except UnknownPage as problem:
            raise Refused(UNKNOWN_PAGE, problem=str(problem)) from None
        if plain:
            return page.text.encode()
        root = "../" * name.count("/") if name else "manual/"
        if (page.name, root) not in self._shown:
            self._shown[page.name, root] = self._renderer.render(page, root).encode()
        return self._shown[page.name, root]

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows: the first page, and every page by its name."""
        return (self._row("manual", "/_sandbox/manual"), self._row("manual.page", "/_sandbox/manual/{page}"))

    def _row(self, name: str, path: str) -> Endpoint:
        named = "{" in path
        return Endpoint(
            id=f"control.{name}",
            method="GET",
            paths=(path,),
            handle=self.show,
            answer=Nothing(),
            query=Nothing(),
            path=_Asked() if named else None,
            refuses=(INVALID_PARAMETER, *((UNKNOWN_PAGE,) if named else ())),
            lengthy_from=0,
            forms=(_HTML, _MARKDOWN, *((_PICTURE,) if named else ())),
        )
