"""What powers over records share: access by key, pages, the kinds of keys and numbers, matches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any, Generic, TypeVar

from reseller_sandbox.core import refusals
from reseller_sandbox.core.contract import read_match
from reseller_sandbox.core.matching import MATCH, Match, Matching
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.refusals.rule import Category
from reseller_sandbox.core.signatures import Within
from reseller_sandbox.core.texts import Must, plain
from reseller_sandbox.core.values import Kind, whole
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power, Retold

R = TypeVar("R")

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


def _key(given: Any) -> str:
    if isinstance(given, str) and _KEY.fullmatch(given):
        return plain(given)
    raise ValueError(
        Must("be 1 to 80 letters, digits, dots, hyphens and underscores, a letter or digit first")
    )


#: The name of a snapshot, a branch or a rule of faults: it needs no escape in a path.
Key = Annotated[str, Kind({"type": "string", "pattern": f"^{_KEY.pattern}$"}, _key)]

Limit = Annotated[int, whole(1, 1000), "How many to list."]
Start = Annotated[int, whole(0, 10**9), "Where the page starts, as the page before has said."]
#: The number of an event in the line of all that changed a world, of a plan, an order or a movement of money.
Number = Annotated[int, whole(1, 10**15)]

PerSecond = Annotated[
    int,
    whole(1, 10**6),
    "Tell no more than so many a second, the latest, and how many others were missed: for whoever looks on.",
]
Since = Annotated[
    int, whole(0, 10**15), "Begin with what came after the event of this number, as far as it is still known."
]

#: One object of the match language.
Wanted = Annotated[Matching, MATCH]


class MissingRecord(Retold, KeyError):
    """The refusal of ``[]`` where there is no record under the key: a ``KeyError`` as well."""

    __module__ = "reseller_sandbox"


class Keyed(Power, Generic[R]):
    """A power whose ``list`` has its records under the power's own name, perhaps a page after another.

    Where it has a ``get``, that finds a record by its key; elsewhere a record's ``name`` is its key.
    """

    def __iter__(self) -> Iterator[R]:
        """Yield every record, those of all pages."""
        power: Any = self
        found = power.list()
        yield from getattr(found, self.name)
        while getattr(found, "next", None) is not None:
            found = power.list(start=found.next)
            yield from getattr(found, self.name)

    def __getitem__(self, key: Any) -> R:
        """Return the record under a key. Raise a refusal that is a ``KeyError`` where there is none."""
        __tracebackhide__ = True
        get: Any = getattr(self, "get", None)
        if get is None:
            for record in self:
                if getattr(record, "name", None) == key:
                    return record
            raise KeyError(key)
        try:
            found: R = get(key)
        except Refused as refused:
            # The world may have been removed, which says nothing of the record.
            gone = refused.rule is refusals.UNKNOWN_WORLD and self.name != "worlds"
            if refused.rule.category is Category.NOT_FOUND and not gone:
                raise MissingRecord(refused.rule, refused.message, refused.remedy, **refused.facts) from None
            raise
        return found

    def __contains__(self, key: object) -> bool:
        """Whether there is a record under a key."""
        try:
            self[key]
        except KeyError:
            return False
        return True


def latest(found: Sequence[R], limit: int) -> Sequence[R]:
    """Return the last ``limit`` of the records found."""
    return found[max(len(found) - limit, 0) :]


def page(found: Iterable[R], limit: int, start: int) -> tuple[tuple[R, ...], int | None]:
    """Return ``limit`` of the records found, from ``start`` on, and where the next page starts."""
    rows = tuple(islice(found, start, start + limit + 1))
    return rows[:limit], start + limit if len(rows) > limit else None


def match_of(power: Power, told: Matching, place: str = "") -> Match:
    """Return the match that a power was told, under ``place``; refuse with ``invalid_parameter``."""
    try:
        return read_match(told, here(power).words)
    except Within as wrong:
        raise wrong.refused(place) from None
