"""The reseller API as data: operations, and the words that a match may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reseller_sandbox.registry.matching import MATCH, NO_OPERATION, OUTCOMES, Match, is_status
from reseller_sandbox.registry.patterns import Glob, any_matches
from reseller_sandbox.registry.refusals import RULES, Rule, Wording
from reseller_sandbox.registry.text_checks import nearest
from reseller_sandbox.registry.values import Mistake, Within


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ApiOperation:
    """One operation, as its row declares it.

    ``errors`` are those documented for it, by the names that faults know them by, each with the rules that
    become it. ``refuses`` are its rules in the order of the checks, ``shows_status`` is whether it only reads
    and its answer has the status of an order.
    """

    id: str
    method: str
    path: str
    refuses: Sequence[Rule]
    errors: Mapping[str, Sequence[Rule]]
    wording: Wording
    shows_status: bool

    @property
    def interface(self) -> str:
        """The interface's name, which its id begins with."""
        return self.id.partition(".")[0]


Contract = tuple[ApiOperation, ...]


class Vocabulary:
    """The ids of ``operations``, and the names of each interface's ``errors``: asked for when a word is used.

    An interface is called as the ids of its operations begin.
    """

    def __init__(
        self, operations: Callable[[], Iterable[str]], errors: Callable[[], Mapping[str, frozenset[str]]]
    ) -> None:
        self._operations = operations
        self._errors = errors

    @cached_property
    def operations(self) -> frozenset[str]:
        """The ids of operations."""
        return frozenset(self._operations())

    @cached_property
    def errors(self) -> Mapping[str, frozenset[str]]:
        """The names of each interface's errors."""
        return self._errors()

    def interfaces(self, globs: Iterable[Glob]) -> list[str]:
        """Return the interfaces that have an operation like one of ``globs``; all of them without any."""
        globs = tuple(globs)
        matched = {
            operation.partition(".")[0]
            for operation in self.operations
            if not globs or any_matches(globs, operation)
        }
        return sorted(matched)


def unknown(match: Match, words: Vocabulary | None) -> Iterator[tuple[str, str]]:
    """Say which operations and errors in ``match`` do not exist; without a vocabulary all are taken to."""
    if words is None:
        return
    for glob in match.operation or ():
        if not any(map(glob.matches, (NO_OPERATION, *words.operations))):
            yield "operation", f"matches no operation{nearest(glob.text, words.operations)}"
    for outcome in match.outcome or ():
        known = {*OUTCOMES, *RULES, *(error for errors in words.errors.values() for error in errors)}
        if outcome not in known and not is_status(outcome):
            hint = nearest(outcome, sorted(known))
            yield (
                "outcome",
                f"takes ok, refused, fault, an error's name or a status, not {outcome[:60]!r}{hint}",
            )


def read_match(given: Any, words: Vocabulary | None) -> Match:
    """Return the match that is written so; raise ``Within``, naming every mistake."""
    match = MATCH.read(given)
    wrong = [Mistake((part,), problem) for part, problem in unknown(match, words)]
    if wrong:
        raise Within(wrong)
    return match
