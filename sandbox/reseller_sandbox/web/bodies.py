"""Reading a request's body as a JSON object, with a word for everything that can be wrong about it."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError

from reseller_sandbox.core.complaints import complaint
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, Refused
from reseller_sandbox.web.fields import problems
from reseller_sandbox.web.strict_json import BadJson, read

_LONGEST = 2000


def read_object(body: bytes) -> dict[str, Any]:
    """Return the object in ``body``, an empty one for nothing at all and for ``[]``.

    Refuses with ``malformed_body``.
    """
    try:
        value = read(body) if body.strip() else {}
    except BadJson as problem:
        raise Refused(MALFORMED_BODY, problem=str(problem)) from None
    if value == []:
        return {}
    if not isinstance(value, dict):
        raise Refused(MALFORMED_BODY, problem="it must be a JSON object")
    return value


def load(schema: Schema, given: Any) -> dict[str, Any]:
    """Return ``given`` read by ``schema``; refuses with ``invalid_parameter``, naming every mistake."""
    try:
        return dict(schema.load(given))
    except ValidationError as error:
        told = complaint([f"{path} {problem}" for path, problem in problems(error.messages, given)])
        raise Refused(INVALID_PARAMETER, problems=told[:_LONGEST]) from None
