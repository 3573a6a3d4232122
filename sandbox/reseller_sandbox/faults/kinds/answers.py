"""Fault kinds that replace or change a response."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from msgspec.structs import replace

from reseller_sandbox.faults.kind import (
    Effect,
    Effects,
    FaultContext,
    FaultKind,
    FaultRequest,
    NamedError,
    Phase,
    RawAnswer,
    Window,
)
from reseller_sandbox.refusals import RATE_LIMITED, SYNONYMS
from reseller_sandbox.values.clock import real_now
from reseller_sandbox.values.kinds import (
    ANYTHING,
    DAY,
    SWITCH,
    TEXT,
    Kind,
    Mistake,
    choice,
    span,
    table,
    whole,
)
from reseller_sandbox.values.patterns import DROPPED, PATH, Path
from reseller_sandbox.values.text_checks import close, did_you_mean, shortened

_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_HEADER = re.compile(_TOKEN)
_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_MEDIA_TYPE = re.compile(
    rf"{_TOKEN}/{_TOKEN}(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|\"[ !#-\[\]-~]*\"))*", re.ASCII
)

#: Headers that a rule cannot set, because the server sets them.
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


def _header_name(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not _HEADER.fullmatch(value):
        raise ValueError("is not a valid header name")
    if value.lower() in _FRAMING or value.lower().startswith("x-sandbox-"):
        remedy = ", from content_type" if value.lower() == "content-type" else ""
        raise ValueError(f"cannot be set: the server sets that header{remedy}")
    return value


def _header_value(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not (not value or _VALUE.fullmatch(value)):
        raise ValueError(f"must be a string of at most {_LONGEST} printable characters")
    return value


def _media_type(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not _MEDIA_TYPE.fullmatch(value):
        raise ValueError("must be a media type such as text/html; charset=utf-8")
    return value


FACTS = table(TEXT, ANYTHING)
HEADERS = table(
    Kind({"type": "string"}, _header_name),
    Kind({"type": "string"}, _header_value),
    1,
    _MOST,
    says="an object of names and values",
)
MEDIA_TYPE = Kind({"type": "string"}, _media_type, says="a media type")


_STATUS = whole(200, 599)
_PHRASES = {status.name.lower(): status.value for status in HTTPStatus}


def _status(value: object) -> int:
    """Read an HTTP status. The error for the name of a status suggests its number."""
    try:
        return _STATUS.read(value)
    except ValueError as problem:
        if not isinstance(value, str):
            raise
        named = {synonym: code for code, words in SYNONYMS.items() for synonym in words if code in _PHRASES}
        word = re.sub(r"[\s-]+", "_", value.lower())
        near = [value] if value.isdecimal() else [named[word]] if word in named else close(word, _PHRASES)
        hint = did_you_mean([str(_PHRASES.get(name, name)) for name in near])
        raise ValueError(f"{problem}, not {shortened(value)}{hint}") from None


class Error(FaultKind, frozen=True, kw_only=True):
    """Return an error: a documented error by its name, or an arbitrary status and body.

    In the phase ``before``, the operation does not take effect. In the phase ``after``, the operation takes
    effect, although the response is an error.

    Args:
        error: The error to return.
        facts: Values for the placeholders in the error's message.
        status: The HTTP status. Default: the documented status of the error.
        body: The body for a raw status. A string is sent unchanged, any other value as JSON.
        content_type: The body's media type. Default: text/html or application/json.
        headers: Headers of the response.
        retry_after: Seconds for a Retry-After header.
    """

    effect: ClassVar[Effect] = "injected"
    synonyms: ClassVar[tuple[str, ...]] = ("fail", "failure", "exception", "status", "refuse")

    error: Annotated[str | None, replace(TEXT, says="the name of a rule, or a documented message")] = None
    facts: Annotated[dict[str, Any] | None, FACTS] = None
    status: Annotated[int | None, replace(_STATUS, read=_status)] = None
    body: Annotated[Any, ANYTHING] = None
    content_type: Annotated[str | None, MEDIA_TYPE] = None
    headers: Annotated[dict[str, str] | None, HEADERS] = None
    retry_after: Annotated[int | None, whole(0, DAY)] = None

    def mistakes(self) -> Iterator[Mistake]:
        """Require an error or a raw status. Reject parameters that are only for the other one."""
        if self.error is None and self.status is None:
            yield Mistake((), "requires an error or a status")
        for key in ("body", "content_type") if self.error is not None else ("facts",):
            if getattr(self, key) is not None:
                yield Mistake(
                    (key,), f"is not allowed with {'an error' if self.error is not None else 'a raw status'}"
                )
        if self.retry_after is not None and "retry-after" in map(str.lower, self.headers or ()):
            yield Mistake(("retry_after",), "is not allowed with a header of that name")

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        headers = tuple((self.headers or {}).items())
        if self.retry_after is not None:
            headers = (*headers, ("Retry-After", str(self.retry_after)))
        if self.error is not None:
            return replace(so_far, instead=NamedError(self.error, self.facts or {}, self.status, headers))
        assert self.status is not None
        return replace(so_far, instead=RawAnswer(self.status, self.body, self.content_type, headers))


class Mutate(FaultKind, frozen=True, kw_only=True):
    """Change, remove or add a value in the JSON response, or change its type.

    Args:
        path: The path of the value in the response.
        value: The new value.
        drop: Whether to remove the value.
        type: The new type. The value is converted as far as possible.
        add: A value to add under a key that is not there, or after the last item of an array. Existing
            values stay.
    """

    synonyms: ClassVar[tuple[str, ...]] = ("modify", "change", "replace")
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    path: Annotated[Path, PATH]
    value: Annotated[Any, ANYTHING] = None
    drop: Annotated[bool, SWITCH] = False
    type: Annotated[str | None, choice("string", "number", "boolean", "null", "array", "object")] = None
    add: Annotated[Any, ANYTHING] = None

    def mistakes(self) -> Iterator[Mistake]:
        """Require exactly one of the parameters value, drop, type and add. A path of add ends with a key."""
        if (self.value is not None) + self.drop + (self.type is not None) + (self.add is not None) != 1:
            yield Mistake(
                (), "requires exactly one of value, drop, type and add; for null, use the type null"
            )
        if self.add is not None and self.path.steps[-1] == "*":
            yield Mistake(("path",), "must end with a key or an index, not with *, to add a value")

    def apply(self, so_far: Effects, context: FaultContext) -> Effects | None:  # noqa: ARG002
        if self.add is not None:
            answer, changed = self.path.add(so_far.answer, self.add)
        else:
            answer, changed = self.path.change(so_far.answer, self._edited)
        return replace(so_far, answer=answer) if changed else None

    def _edited(self, value: object) -> object:
        if self.drop:
            return DROPPED
        return _RETYPED[self.type](value) if self.type is not None else self.value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _number(value: object) -> object:
    try:
        number = Decimal(str(int(value) if isinstance(value, bool) else value))
    except InvalidOperation:
        return 0
    return int(number) if number == number.to_integral_value() else number


_RETYPED: Mapping[str, Callable[[object], object]] = {
    "string": _text,
    "number": _number,
    "boolean": bool,
    "null": lambda _: None,
    "array": lambda value: [value],
    "object": lambda value: {"value": value},
}


#: The shortest window, in seconds.
SHORTEST = 0.001


class RateLimit(FaultKind, frozen=True, kw_only=True):
    """Allow a number of requests per time window. Answer further requests with 429.

    The 429 response has a Retry-After header. A window begins with the first request after the end of the
    previous window. The limit does not count requests that this fault answers with 429.

    Args:
        limit: The number of allowed requests per window.
        window: The length of the time window.
        time: The clock that measures the window: the world's or the machine's.
        per: Whether each account has its own limit, or all accounts share one.
    """

    effect: ClassVar[Effect] = "injected"
    synonyms: ClassVar[tuple[str, ...]] = ("throttle", "quota", "too_many_requests")
    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    limit: Annotated[int, whole(0, 10**6)]
    window: Annotated[float, span(SHORTEST)] = 60
    time: Annotated[str, choice("world", "real")] = "world"
    per: Annotated[str, choice("account", "rule")] = "account"

    def applies(self, request: FaultRequest) -> bool:
        """Whether the limit can count ``request``. A limit per account requires an account."""
        return self.per == "rule" or request.account is not None

    def apply(self, so_far: Effects, context: FaultContext) -> Effects | None:
        now = context.now if self.time == "world" else real_now()
        windows, length = context.windows or {}, timedelta(seconds=self.window)
        key = context.request.account or "" if self.per == "account" else ""
        current = windows.get(key)
        if current is None or not current.began <= now < current.began + length:
            current = Window(now, 0)
        if current.used < self.limit:
            context.windows = {**windows, key: Window(current.began, current.used + 1)}
            return None
        left = max(1, math.ceil((current.began + length - now).total_seconds()))
        facts = {"limit": self.limit, "window": f"{self.window:g}", "left": left}
        refusal = NamedError(RATE_LIMITED.code, facts, 429, (("Retry-After", str(left)),))
        return replace(so_far, instead=refusal)
