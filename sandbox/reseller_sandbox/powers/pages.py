"""What the powers over records have in common: pages, keys, numbers, and how an entry is added."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, TypeVar

from reseller_sandbox.core.model import OUTSIDE
from reseller_sandbox.core.names import well_formed
from reseller_sandbox.core.outside import account_called
from reseller_sandbox.core.refusals import UNKNOWN_RECORD, Refused
from reseller_sandbox.core.state import State
from reseller_sandbox.core.texts import Must, plain
from reseller_sandbox.core.values import Kind, whole
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power

T = TypeVar("T")

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


def _key(given: Any) -> str:
    if isinstance(given, str) and _KEY.fullmatch(given):
        return plain(given)
    raise ValueError(
        Must("be 1 to 80 letters, digits, dots, hyphens and underscores, a letter or digit first")
    )


#: What a snapshot, a branch or a rule of faults is called: it needs no escape in a path.
Key = Annotated[str, Kind({"type": "string", "pattern": f"^{_KEY.pattern}$"}, _key)]

Limit = Annotated[int, whole(1, 1000), "How many to list."]
#: The number of an event in the line of all that changed a world, of a plan, an order or a movement of money.
Number = Annotated[int, whole(1, 10**15)]

#: How much of a stream is told.
PerSecond = Annotated[
    int,
    whole(1, 10**6),
    "Tell no more than so many a second, the latest, and how many others were missed: for whoever looks on.",
]

#: Where a stream of events begins.
Since = Annotated[
    int, whole(0, 10**15), "Begin with what came after the event of this number, as far as it is still known."
]

Start = Annotated[int, whole(0, 10**9), "Where the page starts, as the page before has said."]


def add(power: Power, section: str, key: object, entry: Mapping[str, Any]) -> None:
    """Add an entry of a fixture's section to the world; refuse with ``invalid_entry``."""
    door = here(power)
    told = {name.removesuffix("_"): value for name, value in entry.items()}
    door.worlds.add(door.world, section, key, told)


def keys_of(index: Any, owner: int | None) -> Iterator[tuple[int, int]]:
    """Return the keys of an index by account: those of ``owner``, or of every account of this service."""
    keys: Iterator[tuple[int, int]] = index.walk() if owner is None else index.beginning((owner,))
    return (key for key in keys if key[0] != OUTSIDE or owner == OUTSIDE)


def client_of(state: State, account: str | None) -> int | None:
    """Return the client id of the account of that name, or None for no name."""
    return account_called(state, account).client_id if account is not None else None


def latest(found: Sequence[T], limit: int) -> Sequence[T]:
    """Return the last ``limit`` of what was found."""
    return found[max(len(found) - limit, 0) :]


def page(found: Iterable[T], limit: int, start: int) -> tuple[tuple[T, ...], int | None]:
    """Return ``limit`` of what was found, from ``start`` on, and where the next page starts."""
    rows = tuple(islice(found, start, start + limit + 1))
    return rows[:limit], start + limit if len(rows) > limit else None


def as_kept(name: str) -> str:
    """Return a name as the registry keeps it, or in lower case where it is no valid name."""
    return well_formed(name) or name.lower()


def existing(record: T | None, kind: str, key: object) -> T:
    """Return what was looked up; refuse with ``unknown_record`` where nothing was found."""
    if record is None:
        raise Refused(UNKNOWN_RECORD, kind=kind, key=key)
    return record
