"""The page of the additional response headers."""

from __future__ import annotations

from collections.abc import Iterator

from manual_reference.markdown import code, table
from manual_reference.pages import Resources
from reseller_sandbox.web.headers import TOLD


def page(_: Resources) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Headers of answers"
    yield "The headers that the sandbox adds to each response of the reseller API, for you and your tests."
    yield "A header that has nothing to say is left out. No real service has any of them."
    yield table(("header", "says"), ((code(name), told) for name, told in TOLD.items()))
