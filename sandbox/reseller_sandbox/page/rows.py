"""The rows that serve the page: itself, its files, and what it knows of the powers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from marshmallow import fields

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_PAGE, Refused
from reseller_sandbox.page.views import VIEWS
from reseller_sandbox.powers.power import Power
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.gate import PAGE
from reseller_sandbox.web.interface import Answer, Interface
from reseller_sandbox.web.strict_json import write

FOLDER = Path(__file__).parent / "files"

#: The content types of the page's own files, by their endings; there are no others.
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

#: What a browser is allowed to do with the page: nothing but what its own files do, with its own server.
POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")),
        *(f"{what} 'none'" for what in ("base-uri", "form-action", "frame-ancestors")),
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)

_JSON = "application/json"

#: What a module imports as it begins.
_IMPORTED = re.compile(r'^import [^;]*"(\.[^"]+)"', re.MULTILINE)


class _FileName(fields.Raw):
    """A file's name, which may have a slash in it."""

    shape: Mapping[str, object] = {"type": "string"}
    route = "rest"


class _FileAsked(Shape):
    file = _FileName(metadata={"description": "A file of the page: its stylesheet, or a module."})


class PageRows:
    """The rows of one server's page. What it is made of is read when somebody first looks at it."""

    def __init__(
        self, powers: Mapping[str, type[Power]], interfaces: Callable[[], Iterable[Interface]]
    ) -> None:
        self._powers = powers
        self._interfaces = interfaces
        self._shown: dict[str, bytes] = {}

    @cached_property
    def _files(self) -> Mapping[str, Answer]:
        """Every file of the page, and what the powers declare, as answers."""
        from reseller_sandbox.page.declarations import declared, forms, lifecycle, recorded

        found = {
            path.relative_to(FOLDER).as_posix(): Answer(200, path.read_bytes(), TYPES[path.suffix])
            for path in sorted(FOLDER.rglob("*.*"))
            if path.suffix in TYPES
        }
        told = {
            "lifecycle.json": lifecycle(),
            "powers.json": declared(self._powers.values()),
            **{f"powers/{one}.json": form for one, form in forms(self._powers.values()).items()},
            "requests.json": recorded(self._interfaces()),
        }
        return {**found, **{name: Answer(200, write(one), _JSON) for name, one in told.items()}}

    def page(self, call: ControlCall) -> Answer:
        """Return the page, to look at this sandbox in a browser.

        It stands at ``/`` as well, for whoever prefers HTML to JSON.
        """
        root = "../" if call.incoming.target.partition("?")[0].endswith(PAGE) else ""
        if root not in self._shown:
            self._shown[root] = self._rendered(root)
        call.incoming.headers_out |= {"Content-Security-Policy": POLICY, "Vary": "Accept"}
        return sent(call, Answer(200, self._shown[root], "text/html; charset=utf-8"))

    def _rendered(self, root: str) -> bytes:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        loader = PackageLoader("reseller_sandbox.page", "")
        template = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        modules = dict.fromkeys((*_with_its_own("page.js"), *_with_its_own(f"views/{VIEWS[0].name}.js")))
        page = template.get_template("page.html")
        return page.render(root=root, views=VIEWS, modules=modules).encode()

    def file(self, call: ControlCall) -> Answer:
        """Return a file of the page."""
        name = call.arguments["file"]
        if name not in self._files:
            raise Refused(UNKNOWN_PAGE, problem=f"the page has no file {name[:80]!r}")
        return sent(call, self._files[name])

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows."""
        return (
            Endpoint(
                id="control.page",
                method="GET",
                paths=(PAGE,),
                handle=self.page,
                answer=Nothing(),
                query=Nothing(),
                refuses=(INVALID_PARAMETER,),
                forms=("text/html",),
            ),
            Endpoint(
                id="control.page.file",
                method="GET",
                paths=(f"{PAGE}/{{file}}",),
                handle=self.file,
                answer=Nothing(),
                query=Nothing(),
                path=_FileAsked(),
                refuses=(INVALID_PARAMETER, UNKNOWN_PAGE),
                forms=(*(kind.partition(";")[0] for kind in TYPES.values()), _JSON),
            ),
        )


def _with_its_own(module: str) -> Iterator[str]:
    """Yield a module of the page, and those that it imports as it begins, and theirs."""
    found = [module]
    for one in found:
        yield one
        imported = _IMPORTED.findall((FOLDER / one).read_text("utf-8"))
        names = (posixpath.normpath(f"{posixpath.dirname(one)}/{name}") for name in imported)
        found += [name.lstrip("/") for name in names if name.lstrip("/") not in found]


def sent(call: ControlCall, answer: Answer) -> Answer:
    """Return an answer that a browser shows, with what it has to know of it."""
    call.incoming.headers_out |= {
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return answer
