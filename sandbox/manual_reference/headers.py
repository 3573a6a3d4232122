"""The reference page of the response headers that the sandbox adds."""

from __future__ import annotations

from collections.abc import Iterator

from manual_reference.markdown import code, table
from reseller_sandbox.web.interfaces import public_interfaces


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Response headers"
    yield "Headers that the sandbox adds to responses of the reseller API, for you and your tests."
    yield "A header that would have no value is omitted. Real services do not send these headers."
    headers = {name: text for each in public_interfaces() for name, text in each.load().headers.items()}
    yield table(("header", "description"), ((code(name), text) for name, text in headers.items()))
