"""What powers answer with: frozen records with a repr for people, in a failed assertion or at a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar

from msgspec import Struct

from reseller_sandbox.core.clock import wire

#: How many items of a list, and how much of a text, a repr shows.
_ITEMS, _LONGEST = 20, 400

#: Values that a repr leaves out.
_EMPTY: tuple[Any, ...] = (None, "", (), [], {}, False)


class Result(Struct, frozen=True, kw_only=True):
    """A record of an answer: frozen, its fields given by name, with a repr for people."""

    #: The fields that the repr leaves out.
    hidden: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        shown = [(name, getattr(self, name)) for name in self.__struct_fields__ if name not in self.hidden]
        inner = ", ".join(
            f"{name.removesuffix('_')}={_shown(value)}" for name, value in shown if not _is_empty(value)
        )
        return f"{type(self).__name__}({inner})"


def _is_empty(value: Any) -> bool:
    return any(value is one or (type(value) is type(one) and value == one) for one in _EMPTY)


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return wire(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
    if isinstance(value, Mapping):
        return f"{{{_several([f'{key}: {_shown(one)}' for key, one in value.items()])}}}"
    if isinstance(value, list | tuple):
        return f"[{_several([_shown(one) for one in value[:_ITEMS]], len(value) - _ITEMS)}]"
    return repr(value)


def _several(items: list[str], left: int = 0) -> str:
    return ", ".join([*items, *([f"and {left} more"] if left > 0 else [])])
