"""The routes that serve the page, its files and its declarations.

Other modules authenticate the page with a control token (``page_session.py``), sign requests
(``signing.py``), write operations as code (``calls.py``), and show the OpenAPI documents (``reader.py``).
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from marshmallow import fields
from msgspec.structs import replace
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header, parse_etags

from reseller_sandbox.control.resource import Resource
from reseller_sandbox.control_http.endpoints import ControlCall, PathName, about, extra_endpoint
from reseller_sandbox.refusals import UNKNOWN_PAGE, Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.server.json_text import load_json
from reseller_sandbox.web.access_control import PAGE
from reseller_sandbox.web.encoding import accepts_gzip
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Answer, write
from reseller_sandbox.web.interfaces import PublicInterface

FOLDER = Path(__file__).parent / "files"

#: The content types of the page's files, by suffix.
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

HTML, _JSON = "text/html; charset=utf-8", "application/json"

SAME_ORIGIN = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
NO_FRAMES = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#: Content security policy: the page may load files only from its own server, and send requests only to it.
POLICY = f"{SAME_ORIGIN}; {NO_FRAMES}; require-trusted-types-for 'script'; trusted-types 'none'"


class _FilePath(Shape):
    file = PathName(metadata=about("Name of a file of the page, such as a stylesheet or a module."))


class ConsoleRequests(Shape):
    """The requests that the page's console can send."""

    requests = fields.List(fields.Dict(), metadata=about("Each request with its fields and an example."))


@cache
def _files(
    resources: tuple[type[Resource], ...], interfaces: tuple[PublicInterface, ...]
) -> Mapping[str, Answer]:
    """Return the responses for the page's files and for the declarations, by file name."""
    from reseller_sandbox.page.declarations import declared, lifecycle, operations

    files = {
        path.relative_to(FOLDER).as_posix(): Answer(200, path.read_bytes(), TYPES[path.suffix])
        for path in sorted(FOLDER.rglob("*.*"))
        if path.suffix in TYPES
    }
    declarations = {
        "lifecycle": lifecycle(),
        "operations": operations(resources),
        "interfaces": declared(interfaces),
    }
    return files | {f"{name}.json": Answer(200, write(part), _JSON) for name, part in declarations.items()}


@extra_endpoint("page", "page", forms=("text/html",))
def page(call: ControlCall) -> Answer:
    """Return the page that shows this sandbox in a browser.

    The page is also at ``/`` for clients that prefer HTML to JSON.
    """
    root = "../" if call.request.target.partition("?")[0].endswith(PAGE) else ""
    text = (FOLDER.parent / "page.html").read_text("utf-8").replace("{{ root }}", root)
    call.request.headers_out |= {"Content-Security-Policy": POLICY, "Vary": "Accept"}
    return sent(call, Answer(200, text.encode(), HTML))


@extra_endpoint("page.addresses", "page/addresses", forms=("text/plain", _JSON))
def addresses(call: ControlCall) -> Answer:
    """Return the addresses of this server as text, or as JSON for clients that name JSON first.

    They are also at ``/`` for clients that do not prefer HTML.
    """
    request = call.request
    request.headers_out["Vary"] = "Accept"
    documents = (*(each.name for each in call.control.public), "control")
    accepted = parse_accept_header(request.headers.get("Accept", ""), MIMEAccept)
    is_first = accepted.best in ("application/json", "application/*")
    if is_first and accepted["application/json"] >= accepted["text/plain"]:
        listed = {
            "interfaces": {each.name: f"{request.base}{each.address}" for each in call.control.public},
            "health": f"{request.base}/health",
            "page": f"{request.base}/",
            "manual": f"{request.base}/_sandbox/manual",
            "documents": {name: f"{request.base}/_sandbox/openapi/{name}.json" for name in documents},
        }
        return sent(call, Answer(200, write(listed), _JSON))
    text = "\n".join(
        (
            "reseller-sandbox, a sandbox of the reseller API",
            "",
            *(f"{each.label:<10} {request.base}{each.address}" for each in call.control.public),
            f"health     {request.base}/health",
            f"page       {request.base}/ (in a browser)",
            f"manual     {request.base}/_sandbox/manual",
            f"documents  {request.base}/_sandbox/openapi/{', '.join(f'{name}.json' for name in documents)}",
            "",
        )
    )
    return sent(call, Answer(200, text.encode(), "text/plain; charset=utf-8"))


@extra_endpoint("forms", "forms", answer=ConsoleRequests(), lengthy_from=0)
def forms(call: ControlCall) -> Answer:
    """Return the requests that the page's console can send, each with its fields and an example."""
    from reseller_sandbox.page import declarations

    documents: dict[str, Any] = {
        each.name: load_json(call.control.document(f"{each.name}.json", Assumptions()))
        for each in call.control.public
    }
    listed = [request for pair in documents.items() for request in declarations.requests(*pair)]
    return sent(call, Answer(200, write({"requests": listed}), _JSON))


@extra_endpoint(
    *("page.file", "page/{file}", UNKNOWN_PAGE),
    path=_FilePath(),
    forms=(*(kind.partition(";")[0] for kind in TYPES.values()), _JSON),
)
def file(call: ControlCall) -> Answer:
    """Return a script, a stylesheet, a picture or a declaration of the page."""
    name = call.arguments["file"]
    files = _files(tuple(call.control.resources.values()), call.control.public)
    if name not in files:
        raise Refused(UNKNOWN_PAGE, problem=f"the page has no file {name[:80]!r}")
    return sent(call, files[name])


def sent(call: ControlCall, answer: Answer) -> Answer:
    """Return ``answer`` as a browser needs it: with caching headers, and compressed if accepted.

    If the browser already has the same content, return status 304 without a body.
    """
    received, sending = call.request.headers, call.request.headers_out
    tag, compressed = _compressed(answer.content)
    sending |= {
        "Cache-Control": "no-cache",
        "ETag": f'W/"{tag}"',
        "Referrer-Policy": "no-referrer",
        "Vary": ", ".join(filter(None, (sending.get("Vary"), "Accept-Encoding"))),
        "X-Content-Type-Options": "nosniff",
    }
    if parse_etags(received.get("If-None-Match")).contains_weak(tag):
        return replace(answer, status=304, body=b"")
    if not accepts_gzip(received.get("Accept-Encoding", "")):
        return answer
    sending["Content-Encoding"] = "gzip"
    return replace(answer, body=compressed)


@lru_cache(maxsize=128)  # The page and the reader together have fewer files.
def _compressed(content: bytes) -> tuple[str, bytes]:
    """Return the entity tag of a file, and its compressed form."""
    return hashlib.sha256(content).hexdigest()[:16], gzip.compress(content, mtime=0)
