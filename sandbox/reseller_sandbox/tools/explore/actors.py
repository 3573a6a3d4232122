"""Whose a request is: the workers of a program, told apart by what their requests carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from reseller_sandbox.tools.explore.turnstile import HeldRequest

#: The actor of requests that carry neither a name nor a credential.
NOBODY = "nobody"


class Actors:
    """The workers of one run.

    The name that a request carries itself goes first, then the account whose credential it carries. Where
    several workers have the same, the second is called after it with a ``-2``, and so on; their later
    requests are told apart by the connection or the thread, and a new one of these belongs to the worker who
    got the latest answer, since all others that are known wait. Nothing depends on which came first.
    """

    def __init__(self) -> None:
        self._of: dict[HeldRequest, str] = {}
        self._bases: dict[str, str] = {}
        self._lines: dict[object, str] = {}
        self._last = ""

    def __len__(self) -> int:
        return len(self._bases)

    def name(self, waiting: Iterable[HeldRequest]) -> dict[str, HeldRequest]:
        """Return the requests that wait by their actors; what it says of new ones may change yet."""
        held = list(waiting)
        named = {self._of[one]: one for one in held if one in self._of}
        new = sorted(
            (one for one in held if one not in self._of), key=lambda one: (_base(one), one.rank, one.text)
        )
        strange = []
        for one in new:
            actor = self._lines.get(one.line, "")
            if actor in named or self._bases.get(actor) != _base(one):
                strange.append(one)
            else:
                named[actor] = one
        for one in strange:
            named[self._free(_base(one), named)] = one
        return named

    def _free(self, base: str, taken: Mapping[str, object]) -> str:
        known = [actor for actor, its in self._bases.items() if its == base]
        free = [actor for actor in known if actor not in taken]
        if self._last in free:
            return self._last
        if free:
            return free[0]
        names = (base if number == 1 else f"{base}-{number}" for number in count(1))
        return next(name for name in names if name not in taken and name not in self._bases)

    def settle(self, named: Mapping[str, HeldRequest], answered: str) -> None:
        """Take for granted what ``name`` has said; ``answered`` is the one who gets an answer next."""
        for actor, one in named.items():
            self._of[one] = actor
            self._bases[actor] = _base(one)
            self._lines[one.line] = actor
        self._last = answered


def _base(one: HeldRequest) -> str:
    return one.named or one.account or NOBODY
