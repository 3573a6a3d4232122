"""Which names a request is about, whatever its operation and whoever reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reseller_sandbox.core.names import BadName, normalise
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.web.bodies import read_object
from reseller_sandbox.web.generation import Incoming

_KEYS = ("domainName", "domain_name")


def subjects(incoming: Incoming) -> tuple[str, ...]:
    """The names in a request's path and body, as the registry keeps them; what is no name is left out."""
    return tuple(dict.fromkeys(_well_formed(_texts(incoming))))


def _texts(incoming: Incoming) -> Iterable[Any]:
    yield from (incoming.arguments.get(key) for key in _KEYS)
    if not incoming.body:
        return
    try:
        body = read_object(incoming.body)
    except Refused:
        return
    inner = body.get("domain")
    for holder in (body, inner if isinstance(inner, dict) else {}):
        yield from (holder.get(key) for key in _KEYS)
    many = body.get("domainNames")
    yield from many if isinstance(many, list) else ()


def _well_formed(texts: Iterable[Any]) -> Iterable[str]:
    for text in texts:
        if isinstance(text, str):
            try:
                yield normalise(text)
            except BadName:
                continue
