"""Powers over records that go by a key: Python can tell them over, and ask whether one is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from reseller_sandbox.core.refusals import UNKNOWN_WORLD, Refused
from reseller_sandbox.core.refusals.rule import Category
from reseller_sandbox.powers.power import Power

R = TypeVar("R")


class MissingRecord(Refused, KeyError):
    """The refusal of ``[]`` where there is no record under the key: a ``KeyError`` as well."""

    __module__ = "reseller_sandbox"

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.rule, **refused.facts)
        self._message, self._remedy = refused.message, refused.remedy

    @property
    def message(self) -> str:
        """The sentence of the refusal."""
        return self._message

    @property
    def remedy(self) -> str:
        """The remedy of the refusal."""
        return self._remedy


class Keyed(Power, Generic[R]):
    """A power whose ``list`` has its records under the power's own name, perhaps a page after another.

    Where it has a ``get``, that finds a record by its key; elsewhere a record's ``name`` is its key.
    """

    def __iter__(self) -> Iterator[R]:
        """Yield every record, those of all pages."""
        told: dict[str, Any] = {}
        while told.get("start", 0) is not None:
            found = self._listed(**told)
            yield from getattr(found, self.name)
            told = {"start": getattr(found, "next", None)}

    def __getitem__(self, key: Any) -> R:
        """Return the record under a key. Raise a refusal that is a ``KeyError`` where there is none."""
        __tracebackhide__ = True
        get: Any = getattr(self, "get", None)
        if get is None:
            return {getattr(record, "name", None): record for record in self}[key]
        try:
            found: R = get(key)
        except Refused as refused:
            if self._is_missing(refused):
                raise MissingRecord(refused) from None
            raise
        return found

    def __contains__(self, key: object) -> bool:
        """Whether there is a record under a key."""
        get: Any = getattr(self, "get", None)
        if get is None:
            return any(getattr(one, "name", None) == key for one in self)
        try:
            get(key)
        except Refused as refused:
            if self._is_missing(refused):
                return False
            raise
        return True

    def _is_missing(self, refused: Refused) -> bool:
        """Whether a refusal says that there is no such record. A removed world is another matter."""
        gone = refused.rule is UNKNOWN_WORLD and self.name != "worlds"
        return refused.rule.category is Category.NOT_FOUND and not gone

    def _listed(self, **told: Any) -> Any:
        listed: Any = getattr(self, "list")  # noqa: B009  (each power declares its own)
        return listed(**told)
