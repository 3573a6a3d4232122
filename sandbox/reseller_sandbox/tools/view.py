"""What a program says that it has ordered, which is held against the registry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reseller_sandbox.core.names import BadName, normalise
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.environment import VIEW


class OrderSaid(NamedTuple):
    """A name that a program believes to have ordered, and perhaps the day it believes that to expire on."""

    name: str
    expires: str | None = None


class BadView(BadSetting):
    """What a program says that it has ordered cannot be read."""


def view_in(file: Path) -> tuple[OrderSaid, ...] | None:
    """Return what a file says, None where there is no file; raise ``BadView``."""
    try:
        return read_view(json.loads(file.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as problem:
        raise BadView(f"what the program wrote to {VIEW} cannot be read: {problem}") from None


def read_view(said: Any) -> tuple[OrderSaid, ...]:
    """Return the orders of a list; raise ValueError, which says what is wrong and where."""
    if not isinstance(said, list | tuple):
        raise ValueError("it must be a list")
    return tuple(_order(number, one) for number, one in enumerate(said))


def _order(number: int, said: Any) -> OrderSaid:
    if not isinstance(said, Mapping) or not isinstance(said.get("name"), str):
        raise ValueError(f"[{number}] must be an object with a name")
    if strange := [key for key in said if key not in OrderSaid._fields]:
        raise ValueError(f"[{number}] has {strange[0]!r}, and takes name and expires")
    expires = said.get("expires")
    if expires is not None and (not isinstance(expires, str) or len(expires) < len("2026-01-15")):
        raise ValueError(f"[{number}].expires must be a day such as 2026-01-15")
    try:
        return OrderSaid(normalise(said["name"]), expires[:10] if expires is not None else None)
    except BadName as problem:
        raise ValueError(f"[{number}].name: {problem}") from None
