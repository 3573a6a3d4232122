"""Reading what a request says by a schema, with a word for everything that can be wrong about it."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError

from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.core.texts import complaint
from reseller_sandbox.web.fields import problems

_LONGEST = 2000


def load(schema: Schema, given: Any) -> dict[str, Any]:
    """Return ``given`` read by ``schema``; refuse with ``invalid_parameter``, naming every mistake."""
    try:
        return dict(schema.load(given))
    except ValidationError as error:
        told = complaint([f"{path} {problem}" for path, problem in problems(error.messages, given)])
        raise Refused(INVALID_PARAMETER, problems=told[:_LONGEST]) from None
