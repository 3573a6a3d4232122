"""What the request log says of a request."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote_plus

_SECRET = ("SIGNATURE", "TOKEN")
_PLAIN = "".join(map(chr, range(0x20, 0x7F)))


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request and its answer. ``target`` is as it was sent, with signatures and tokens masked.

    ``status`` is what the application answered, whatever became of that on its
    way; ``size`` its body's length in bytes; ``note`` the application's own words.
    """

    method: str
    target: str
    status: int
    duration_seconds: float
    size: int
    note: str


def masked(target: str) -> str:
    """Return a request target with ``***`` for the value of every query element …SIGNATURE or …TOKEN.

    Bytes that were sent as they are, which Latin-1 letters stand for in it, are percent-encoded, and so is
    what cannot be printed.
    """
    if not (target.isascii() and target.isprintable()):
        target = quote(target, _PLAIN, "latin-1", "replace")
    path, mark, query = target.partition("?")
    if not mark:
        return target
    return path + mark + "&".join(map(_masked, query.split("&")))


def _masked(element: str) -> str:
    name, mark, _ = element.partition("=")
    return f"{name}=***" if mark and unquote_plus(name).upper().endswith(_SECRET) else element
