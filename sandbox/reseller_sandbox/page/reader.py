"""The reader: a page that shows the OpenAPI documents in Swagger UI, if the extra ``page`` is installed."""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from pathlib import Path

from marshmallow import fields

from reseller_sandbox.control_http.endpoints import ControlCall, Nothing, about, extra_endpoint
from reseller_sandbox.page.endpoints import HTML, NO_FRAMES, SAME_ORIGIN, TYPES, sent
from reseller_sandbox.refusals import UNKNOWN_PAGE, Refused
from reseller_sandbox.values.extras import needs
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Answer

#: Content security policy. Swagger UI needs ``data:`` images and does not support trusted types.
POLICY = f"{SAME_ORIGIN} data:; {NO_FRAMES}"

_FOLDER = Path(__file__).parent / "reader_files"

#: Names of the reader's own files, and of the files that it takes from Swagger UI.
_OWN, _OTHERS = ("begin.js", "around.css"), ("swagger-ui-bundle.js", "swagger-ui.css")


class ReaderFile(Shape):
    """The name of a file that the reader loads."""

    file = fields.String(metadata=about("Name of a file of the reader or of Swagger UI."))


class ReaderChoice(Nothing):
    """The OpenAPI document that the reader opens."""

    document = fields.String(
        metadata=about("Document to open, by the name of its interface. Default: the first one.")
    )


@extra_endpoint("reader", "reader", query=ReaderChoice(), forms=("text/html",))
def show(call: ControlCall) -> Answer:
    """Return the page on which people read the OpenAPI documents in a browser."""
    call.request.headers_out |= {"Content-Security-Policy": POLICY}
    labels = {**{each.name: each.label for each in call.control.public}, "control": "Control"}
    links = (f'<a href="reader?document={name}">{escape(label)}</a>' for name, label in labels.items())
    text = (_FOLDER / "page.html").read_text("utf-8").replace("{{ documents }}", "\n".join(links))
    return sent(call, Answer(200, text.encode(), HTML))


@extra_endpoint(
    *("reader.file", "reader/{file}", UNKNOWN_PAGE), path=ReaderFile(), forms=("text/javascript", "text/css")
)
def file(call: ControlCall) -> Answer:
    """Return a script or stylesheet of the reader."""
    name = call.arguments["file"]
    if name not in (*_OWN, *_OTHERS):
        raise Refused(UNKNOWN_PAGE, problem=f"the reader has no file {name[:80]!r}")
    folder = _FOLDER if name in _OWN else _swagger_ui()
    return sent(call, Answer(200, (folder / name).read_bytes(), TYPES[Path(name).suffix]))


def _swagger_ui() -> Path:
    """Return the folder of Swagger UI's files, or raise ``unknown_page``."""
    package = find_spec("flask_swagger_ui")
    if package is None or package.origin is None:
        raise Refused(UNKNOWN_PAGE, problem=needs("Swagger UI", "flask-swagger-ui"))
    return Path(package.origin).parent / "dist"
