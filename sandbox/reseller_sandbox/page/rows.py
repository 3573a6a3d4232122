"""The rows that serve the page: itself, its files, and what it knows of the resources.

Others let it in to a server that wants a control token (``session.py``), sign its requests (``signing.py``),
and show the documents (``reader.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from reseller_sandbox.control.resource import Resource
from reseller_sandbox.control_http.rows import ControlCall, PathName, about, extra_row
from reseller_sandbox.registry.refusals import UNKNOWN_PAGE, Refused
from reseller_sandbox.web.access_control import PAGE
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Answer
from reseller_sandbox.web.strict_json import write

FOLDER = Path(__file__).parent / "files"

#: The content types of the page's own files, by their endings; there are no others.
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

HTML, _JSON = "text/html; charset=utf-8", "application/json"

SAME_ORIGIN = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
NO_FRAMES = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#: What a browser is allowed to do with the page: nothing but what its own files do, with its own server.
POLICY = f"{SAME_ORIGIN}; {NO_FRAMES}; require-trusted-types-for 'script'; trusted-types 'none'"


class _FileAsked(Shape):
    file = PathName(metadata=about("A file of the page: its stylesheet, or a module."))


@cache
def _files(resources: tuple[type[Resource], ...]) -> Mapping[str, Answer]:
    """Return every file of the page, and what the resources declare, as answers."""
    from reseller_sandbox.page.declarations import lifecycle, operations, recorded

    found = {
        path.relative_to(FOLDER).as_posix(): Answer(200, path.read_bytes(), TYPES[path.suffix])
        for path in sorted(FOLDER.rglob("*.*"))
        if path.suffix in TYPES
    }
    told = {"lifecycle": lifecycle(), "operations": operations(resources), "requests": recorded()}
    return {**found, **{f"{name}.json": Answer(200, write(one), _JSON) for name, one in told.items()}}


@extra_row("page", "page", forms=("text/html",))
def page(call: ControlCall) -> Answer:
    """Return the page, to look at this sandbox in a browser.

    It stands at ``/`` as well, for whoever prefers HTML to JSON.
    """
    root = "../" if call.incoming.target.partition("?")[0].endswith(PAGE) else ""
    text = (FOLDER.parent / "page.html").read_text("utf-8").replace("{{ root }}", root)
    call.incoming.headers_out |= {"Content-Security-Policy": POLICY, "Vary": "Accept"}
    return sent(call, Answer(200, text.encode(), HTML))


@extra_row(
    *("page.file", "page/{file}", UNKNOWN_PAGE),
    path=_FileAsked(),
    forms=(*(kind.partition(";")[0] for kind in TYPES.values()), _JSON),
)
def file(call: ControlCall) -> Answer:
    """Return a file of the page."""
    name = call.arguments["file"]
    files = _files(tuple(call.control.resources.values()))
    if name not in files:
        raise Refused(UNKNOWN_PAGE, problem=f"the page has no file {name[:80]!r}")
    return sent(call, files[name])


def sent(call: ControlCall, answer: Answer) -> Answer:
    """Return an answer that a browser shows, with what it has to know of it."""
    call.incoming.headers_out |= {
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return answer
