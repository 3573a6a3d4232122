"""Powers over records that go by a key: Python can tell them over, and ask whether one is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.refusals.rule import Category
from reseller_sandbox.powers.power import Power

R = TypeVar("R")


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

    def __contains__(self, key: object) -> bool:
        """Whether there is a record under a key."""
        get: Any = getattr(self, "get", None)
        if get is None:
            return any(getattr(one, "name", None) == key for one in self)
        try:
            get(key)
        except Refused as refused:
            if refused.rule.category is Category.NOT_FOUND:
                return False
            raise
        return True

    def _listed(self, **told: Any) -> Any:
        listed: Any = getattr(self, "list")  # noqa: B009  (each power declares its own)
        return listed(**told)
