"""The words that a match may use: operations, errors; and what is wrong with those that it does use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.core.globs import Glob, any_matches
from reseller_sandbox.core.matching import MATCH, NO_OPERATION, OUTCOMES, Match, is_status
from reseller_sandbox.core.refusals import RULES
from reseller_sandbox.core.signatures import Within
from reseller_sandbox.core.spelling import nearest


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The ids of operations, and the names of each interface's errors.

    An interface is called as the ids of its operations begin.
    """

    operations: frozenset[str]
    errors: Mapping[str, frozenset[str]]

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
    wrong = [f"{part} {problem}" for part, problem in unknown(match, words)]
    if wrong:
        raise Within(wrong)
    return match
