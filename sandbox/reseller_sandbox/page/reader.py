"""The OpenAPI documents as a page to read: by Swagger UI, where the extra ``page`` is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from marshmallow import fields

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_PAGE, Refused
from reseller_sandbox.page.rows import TYPES, sent
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Answer

READER = "/_sandbox/reader"

_FOLDER = Path(__file__).parent / "reader_files"

#: The files of its own, and what it takes of Swagger UI.
_OWN, _OTHERS = ("begin.js", "around.css"), ("swagger-ui-bundle.js", "swagger-ui.css")

_HTML = "text/html; charset=utf-8"

#: As for the page, but for pictures within stylesheets and for trusted types, which Swagger UI knows not.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "connect")),
        "img-src 'self' data:",
        *(f"{what} 'none'" for what in ("base-uri", "form-action", "frame-ancestors")),
    )
)


class ReaderFile(Shape):
    """A file of the reader."""

    file = fields.String(metadata={"description": "A file of Swagger UI."})


class ReaderChoice(Nothing):
    """What the reader opens."""

    document = fields.String(metadata={"description": "Which document it opens: v3, v2 or control."})


class ReaderRows:
    """The rows of the reader and of the files that it is made of, which come from another package."""

    def show(self, call: ControlCall) -> Answer:
        """Return a page to read the OpenAPI documents in a browser."""
        call.incoming.headers_out |= {"Content-Security-Policy": _POLICY}
        return sent(call, Answer(200, (_FOLDER / "page.html").read_bytes(), _HTML))

    def file(self, call: ControlCall) -> Answer:
        """Return a file that the reader is made of."""
        name = call.arguments["file"]
        folder = _FOLDER if name in _OWN else _swagger_ui() if name in _OTHERS else None
        if folder is None:
            raise Refused(UNKNOWN_PAGE, problem=f"the reader has no file {name[:80]!r}")
        return sent(call, Answer(200, (folder / name).read_bytes(), TYPES[Path(name).suffix]))

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows."""
        return (
            Endpoint(
                id="control.reader",
                method="GET",
                paths=(READER,),
                handle=self.show,
                answer=Nothing(),
                query=ReaderChoice(),
                refuses=(INVALID_PARAMETER,),
                forms=("text/html",),
            ),
            Endpoint(
                id="control.reader.file",
                method="GET",
                paths=(f"{READER}/{{file}}",),
                handle=self.file,
                answer=Nothing(),
                query=Nothing(),
                path=ReaderFile(),
                refuses=(INVALID_PARAMETER, UNKNOWN_PAGE),
                forms=("text/javascript", "text/css"),
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
