"""What the request log says of a request."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote_plus

_SECRET = ("SIGNATURE", "TOKEN")


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
    """A request target in which the value of every query element named …SIGNATURE or …TOKEN is ``***``."""
    path, mark, query = target.partition("?")
    if not mark:
        return target
    return path + mark + "&".join(map(_masked, query.split("&")))


def _masked(element: str) -> str:
    name, mark, _ = element.partition("=")
    return f"{name}=***" if mark and unquote_plus(name).upper().endswith(_SECRET) else element
