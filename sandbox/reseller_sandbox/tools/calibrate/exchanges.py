"""Exchanges: what a program asked of a service and what that answered, whatever file tells of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct, field

from reseller_sandbox.core.clock import parse_instant
from reseller_sandbox.core.signatures import Quiet

#: Where the reseller API begins in a path; what stands before it is the service's own.
_OWN = re.compile(r"/(?:v3/(?:domains|balance|setContacts)|[Vv][0-9]+\.[0-9]+/(?:domain|contact|customer))\b")
_CREDENTIAL = re.compile(r"[^=]*(?:API-?_?KEY|SIGNATURE|TOKEN)(?:=|$)", re.IGNORECASE)


class UnusableTranscript(ValueError):
    """A file cannot be used as a transcript; the message says where and why."""


class ObservedExchange(Quiet, frozen=True, kw_only=True):
    """A request and its answer; ``place`` is the file and where in it. Headers have lower-case names."""

    place: str
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    at: datetime
    status: int
    answer: Any

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    @property
    def asked(self) -> Mapping[str, Any]:
        """The object in the body, or the fields of a form; nothing where the body is something else."""
        try:
            found = json.loads(self.body) if self.body else {}
        except (ValueError, RecursionError):
            found = dict(parse_qsl(self.body.decode("utf-8", "replace")))
        return found if isinstance(found, dict) else {}

    @property
    def refusal(self) -> Any:
        """The error or the message in the answer, by which it is refused where it is; None without either."""
        return (
            (self.answer.get("error") or self.answer.get("msg")) if isinstance(self.answer, Mapping) else None
        )

    @property
    def credentials(self) -> list[str]:
        """What its headers say of who asks: the key, or the token."""
        return [value for name, value in self.headers.items() if name.endswith(("apikey", "token"))]


class Transcript(Struct, frozen=True):
    """What a file tells: the exchanges, and those that say nothing here, with the reason."""

    exchanges: Sequence[ObservedExchange]
    passed_over: Sequence[tuple[str, str]] = ()

    @classmethod
    def of(
        cls, told: Iterable[Any], place: str, read: Callable[[Any, str], ObservedExchange | str]
    ) -> Transcript:
        """Return what the entries of a file tell; ``read`` returns an exchange, or why there is none.

        It gets an entry and where that stands: ``place`` with a number.
        """
        found: list[ObservedExchange] = []
        passed_over: list[tuple[str, str]] = []
        for number, one in enumerate(told, 1):
            where = f"{place} {number}"
            exchange = read(one, where)
            if isinstance(exchange, str):
                passed_over.append((where, exchange))
            else:
                found.append(exchange)
        return cls(found, passed_over)


def own_target(target: str) -> str | None:
    """Return a request target from where the API begins in it; None where it is something else's.

    The elements of the query that prove who asks are left out.
    """
    path, _, query = target.encode("utf-8", "replace").decode().partition("?")
    found = _OWN.search(path)
    if found is None:
        return None
    kept = "&".join(one for one in query.split("&") if one and not _CREDENTIAL.match(one))
    return path[found.start() :] + (f"?{kept}" if kept else "")


def instant(told: object) -> datetime | None:
    """Return the instant that a text stands for, in whole seconds; None for anything else."""
    if not isinstance(told, str):
        return None
    try:
        return parse_instant(told).replace(microsecond=0)
    except ValueError:
        return None
