"""The kind ``error``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from msgspec.structs import replace

from reseller_sandbox.core.complaints import Must
from reseller_sandbox.core.values import ANYTHING, DAY, MAPPING, Kind, free_text, mapping, whole
from reseller_sandbox.faults.effects import Effects, NamedError, RawAnswer
from reseller_sandbox.faults.kind import FaultKind, Turn

_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_HEADER = re.compile(_TOKEN)
_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_MEDIA_TYPE = re.compile(
    rf"{_TOKEN}/{_TOKEN}(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|\"[ !#-\[\]-~]*\"))*", re.ASCII
)

#: What the server says of an answer, and a rule cannot.
_FRAMING = (
    "connection",
    "content-length",
    "content-type",
    "date",
    "keep-alive",
    "transfer-encoding",
    "upgrade",
)
_LONGEST = 1000
_MOST = 50


def _headers(given: Any) -> dict[str, str]:
    """Read headers by name; each has a name and a value that HTTP can carry."""
    found = mapping(given)
    if not 0 < len(found) <= _MOST:
        raise ValueError(f"has more than {_MOST} keys" if found else "is empty")
    for name, value in found.items():
        if not _HEADER.fullmatch(name) or len(name) > _LONGEST:
            raise ValueError(f"has no header's name in {name[:40]!r}")
        if name.lower() in _FRAMING or name.lower().startswith("x-sandbox-"):
            raise ValueError(f"cannot say {name}, which the server says itself")
        if not isinstance(value, str) or len(value) > _LONGEST or not (not value or _VALUE.fullmatch(value)):
            raise ValueError(f"has a value for {name} that is not up to {_LONGEST} printable characters")
    return found


def _facts(given: Any) -> dict[str, Any]:
    return dict(ANYTHING.read(mapping(given)))


def _media_type(given: Any) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST or not _MEDIA_TYPE.fullmatch(given):
        raise ValueError(Must("be a media type such as text/html; charset=utf-8"))
    return given


FACTS = Kind(MAPPING.shape, _facts, says=MAPPING.says)
HEADERS = Kind(MAPPING.shape, _headers, says="an object of names and values")
MEDIA_TYPE = Kind({"type": "string"}, _media_type, says="a media type")


class Error(FaultKind, frozen=True, kw_only=True):
    """An error comes: a documented one by its name, or a raw status and body.

    Before: the operation does not take effect. After: it has, although the answer says otherwise.
    """

    error: Annotated[
        str | None,
        free_text("the name of a rule, or a message as v2.0 documents it"),
        "The error that comes.",
    ] = None
    facts: Annotated[dict[str, Any] | None, FACTS, "What fills the blanks of the error's message."] = None
    status: Annotated[int | None, whole(200, 599), "The HTTP status; the error's own, unless given."] = None
    body: Annotated[
        Any, ANYTHING, "The body that goes with a raw status: text as it is, anything else as JSON."
    ] = None
    content_type: Annotated[
        str | None, MEDIA_TYPE, "The body's type; text/html or application/json, unless given."
    ] = None
    headers: Annotated[dict[str, str] | None, HEADERS, "Headers of the answer."] = None
    retry_after: Annotated[int | None, whole(0, DAY), "Seconds for a Retry-After header."] = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Require a name or a status, and with each what belongs to it."""
        if self.error is None and self.status is None:
            yield "", "takes an error, or a status with a body"
        for key in ("body", "content_type") if self.error is not None else ("facts",):
            if getattr(self, key) is not None:
                yield key, f"does not go with {'an error' if self.error is not None else 'a raw status'}"
        if self.retry_after is not None and "retry-after" in map(str.lower, self.headers or ()):
            yield "retry_after", "does not go with a header of that name"

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        headers = tuple((self.headers or {}).items())
        if self.retry_after is not None:
            headers = (*headers, ("Retry-After", str(self.retry_after)))
        if self.error is not None:
            return replace(so_far, instead=NamedError(self.error, self.facts or {}, self.status, headers))
        assert self.status is not None
        return replace(so_far, instead=RawAnswer(self.status, self.body, self.content_type, headers))
