"""The rows that serve the page: itself, its files, and what it knows of the powers.

Others let it in to a server that wants a control token, sign its requests, and show the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from marshmallow import fields, validate

from reseller_sandbox.control.rows import ControlCall, Nothing, extra_row
from reseller_sandbox.core.outside import account_called
from reseller_sandbox.core.refusals import UNKNOWN_ACCOUNT, UNKNOWN_PAGE, Refused
from reseller_sandbox.powers.power import ROOT, Power
from reseller_sandbox.v3.signing import signed_headers, signed_url
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape, Text
from reseller_sandbox.web.gate import PAGE, Gate
from reseller_sandbox.web.interface import Answer, Interface
from reseller_sandbox.web.strict_json import write

FOLDER = Path(__file__).parent / "files"

#: The content types of the page's own files, by their endings; there are no others.
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

_HTML, _JSON = "text/html; charset=utf-8", "application/json"

_SAME_ORIGIN = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
_NO_FRAMES = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#: What a browser is allowed to do with the page: nothing but what its own files do, with its own server.
POLICY = f"{_SAME_ORIGIN}; {_NO_FRAMES}; require-trusted-types-for 'script'; trusted-types 'none'"

#: The same for Swagger UI, which has pictures within stylesheets and knows no trusted types.
_READER_POLICY = f"{_SAME_ORIGIN} data:; {_NO_FRAMES}"

#: Where Swagger UI shows the OpenAPI documents, if the extra ``page`` is installed.
READER = f"{ROOT}/reader"

_READER_FOLDER = Path(__file__).parent / "reader_files"

#: The reader's own files, and those of Swagger UI.
_OWN, _OTHERS = ("begin.js", "around.css"), ("swagger-ui-bundle.js", "swagger-ui.css")


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

    @cached_property
    def _files(self) -> Mapping[str, Answer]:
        """Every file of the page, and what the powers declare, as answers."""
        from reseller_sandbox.page.declarations import call_of, form_of, lifecycle, recorded

        found = {
            path.relative_to(FOLDER).as_posix(): Answer(200, path.read_bytes(), TYPES[path.suffix])
            for path in sorted(FOLDER.rglob("*.*"))
            if path.suffix in TYPES
        }
        operations = [one for power in self._powers.values() for one in power.operations()]
        told = {
            "lifecycle.json": lifecycle(),
            "powers.json": {one.id: call_of(one) for one in operations},
            **{f"powers/{one.id}.json": form_of(one) for one in operations},
            "requests.json": recorded(self._interfaces()),
        }
        return {**found, **{name: Answer(200, write(one), _JSON) for name, one in told.items()}}

    def page(self, call: ControlCall) -> Answer:
        """Return the page, to look at this sandbox in a browser.

        It stands at ``/`` as well, for whoever prefers HTML to JSON.
        """
        root = "../" if call.incoming.target.partition("?")[0].endswith(PAGE) else ""
        page = (FOLDER.parent / "page.html").read_text("utf-8").replace("{{ root }}", root)
        call.incoming.headers_out |= {"Content-Security-Policy": POLICY, "Vary": "Accept"}
        return sent(call, Answer(200, page.encode(), _HTML))

    def file(self, call: ControlCall) -> Answer:
        """Return a file of the page."""
        name = call.arguments["file"]
        if name not in self._files:
            raise Refused(UNKNOWN_PAGE, problem=f"the page has no file {name[:80]!r}")
        return sent(call, self._files[name])

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows."""
        forms = (*(kind.partition(";")[0] for kind in TYPES.values()), _JSON)
        return (
            extra_row("page", PAGE, self.page, forms=("text/html",)),
            extra_row(
                "page.file", f"{PAGE}/{{file}}", self.file, UNKNOWN_PAGE, path=_FileAsked(), forms=forms
            ),
        )


class ReaderFile(Shape):
    """A file of the reader."""

    file = fields.String(metadata={"description": "A file of Swagger UI."})


class ReaderChoice(Nothing):
    """What the reader opens."""

    document = fields.String(metadata={"description": "Which document it opens: v3, v2 or control."})


class ReaderRows:
    """The OpenAPI documents as a page to read: by Swagger UI, where the extra ``page`` is installed."""

    name = "reader"

    def show(self, call: ControlCall) -> Answer:
        """Return a page to read the OpenAPI documents in a browser."""
        call.incoming.headers_out |= {"Content-Security-Policy": _READER_POLICY}
        return sent(call, Answer(200, (_READER_FOLDER / "page.html").read_bytes(), _HTML))

    def file(self, call: ControlCall) -> Answer:
        """Return a file that the reader is made of."""
        name = call.arguments["file"]
        folder = _READER_FOLDER if name in _OWN else _swagger_ui() if name in _OTHERS else None
        if folder is None:
            raise Refused(UNKNOWN_PAGE, problem=f"the reader has no file {name[:80]!r}")
        return sent(call, Answer(200, (folder / name).read_bytes(), TYPES[Path(name).suffix]))

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows."""
        path, forms = f"{READER}/{{file}}", ("text/javascript", "text/css")
        return (
            extra_row("reader", READER, self.show, query=ReaderChoice(), forms=("text/html",), subject=self),
            extra_row(
                "reader.file", path, self.file, UNKNOWN_PAGE, path=ReaderFile(), forms=forms, subject=self
            ),
        )


def _swagger_ui() -> Path:
    """Return the folder of its files; refuse with ``unknown_page``."""
    found = find_spec("flask_swagger_ui")
    if found is None or found.origin is None:
        raise Refused(
            UNKNOWN_PAGE, problem="Swagger UI is not installed: pip install 'reseller-sandbox[page]'"
        )
    return Path(found.origin).parent / "dist"


class PageSession(Shape):
    """What the page has to know of its session."""

    change = fields.String(
        metadata={"description": "What X-Sandbox-Change carries in all that the page changes; or nothing."}
    )


class SessionRows:
    """The rows by which the page of a browser is let in to a server that wants a control token.

    The server's ``gate`` has let each request in before it gets here.
    """

    name = "session"

    def __init__(self, gate: Gate) -> None:
        self._pass = gate.page_pass

    def show(self, call: ControlCall) -> dict[str, Any]:  # noqa: ARG002
        """Return what the page has to send with all that it changes."""
        return {"change": self._pass.word if self._pass is not None else ""}

    def begin(self, call: ControlCall) -> dict[str, Any]:
        """Let the page of this browser in, which has shown the control token: from now on by a cookie."""
        if self._pass is not None:
            call.incoming.headers_out["Set-Cookie"] = self._pass.cookie(call.incoming)
        return self.show(call)

    def end(self, call: ControlCall) -> dict[str, Any]:
        """Let the page of this browser in no more without the control token."""
        if self._pass is not None:
            call.incoming.headers_out["Set-Cookie"] = self._pass.cookie(call.incoming, ended=True)
        return {"change": ""}

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows."""
        path, told = f"{ROOT}/session", {"answer": PageSession(), "subject": self}
        return (
            extra_row("session", path, self.show, **told),
            extra_row("session.begin", path, self.begin, method="POST", **told),
            extra_row("session.end", path, self.end, method="DELETE", **told),
        )


class UnsignedRequest(Nothing):
    """A request that is to be signed."""

    account = Text(
        required=True, metadata={"description": "Who sends it: an account's name, or its client id."}
    )
    interface = Text(
        required=True,
        validate=validate.OneOf(["v3", "v2"], error="must be v3 or v2"),
        metadata={"description": "Which generation it is for."},
    )
    target = Text(required=True, metadata={"description": "Its path, with its query."})
    body = Text(load_default="", metadata={"description": "Its body."})


class RequestSigned(Shape):
    """What signs a request."""

    headers = fields.Dict(Text(), Text(), metadata={"description": "What the request has to carry."})
    signed = fields.List(
        Text(),
        metadata={"description": "The texts that are signed, with nothing between them: key, URL and body."},
    )


class SignatureRows:
    """What the console signs: the headers of a request as an account of the world would send it.

    They are those that the sandbox would let in: by its assumptions, with names that begin with ``prefix``.
    """

    name = "signing"

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def sign(self, call: ControlCall) -> dict[str, Any]:
        """Return what a request has to carry so that it is let in; for v3 also the string that is signed.

        Nothing is sent, and the secret stays here.
        """
        given, world = call.arguments, call.door.world
        assumed, account = world.assumptions, account_called(world.present().state, given["account"])
        if given["interface"] == "v2":
            return {"headers": {assumed.token_headers[0]: account.token}, "signed": []}
        base = f"{call.incoming.scheme}://{call.incoming.headers.get('Host', '')}"
        where = signed_url(assumed, base, given["target"])
        body = given["body"] or ("{}" if assumed.signature_payload == "empty_object" else "")
        headers = signed_headers(account.key, account.secret, self._prefix, where, body.encode())
        return {"headers": headers, "signed": [account.key, where, body]}

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the one row."""
        told: dict[str, Any] = {"answer": RequestSigned(), "body": UnsignedRequest(), "only_reads": True}
        path = f"{ROOT}/signature"
        row = extra_row("signature", path, self.sign, UNKNOWN_ACCOUNT, method="POST", subject=self, **told)
        return (row,)


def sent(call: ControlCall, answer: Answer) -> Answer:
    """Return an answer that a browser shows, with what it has to know of it."""
    call.incoming.headers_out |= {
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return answer
