"""The words that a match may use: operations, errors; and what is wrong with those that it does use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from reseller_sandbox.core import refusals
from reseller_sandbox.core.globs import Glob, any_matches
from reseller_sandbox.core.matching import NO_OPERATION, OUTCOMES, Match, is_status
from reseller_sandbox.core.parts import Problems, read
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused, Rule
from reseller_sandbox.core.spelling import nearest


@dataclass(frozen=True, slots=True)
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


@cache
def rules() -> frozenset[str]:
    """Return the names of all rules by which something is refused."""
    return frozenset(rule.code for rule in vars(refusals).values() if isinstance(rule, Rule))


def unknown(match: Match, words: Vocabulary | None) -> Iterator[tuple[str, str]]:
    """Say which operations and errors in ``match`` do not exist; without a vocabulary all are taken to."""
    if words is None:
        return
    for glob in match.operation or ():
        if not any(map(glob.matches, (NO_OPERATION, *words.operations))):
            yield "operation", f"matches no operation{nearest(glob.text, words.operations)}"
    known = {*OUTCOMES, *rules(), *(error for errors in words.errors.values() for error in errors)}
    for outcome in match.outcome or ():
        if outcome not in known and not is_status(outcome):
            hint = nearest(outcome, sorted(known))
            yield (
                "outcome",
                f"takes ok, refused, fault, an error's name or a status, not {outcome[:60]!r}{hint}",
            )


def read_match(given: Mapping[str, Any], words: Vocabulary | None, place: str = "match") -> Match:
    """Read a match as it is written; refuse with ``invalid_parameter``, naming every mistake."""
    problems = Problems()
    match = match_in(given, words, place, problems)
    if match is None:
        raise Refused(INVALID_PARAMETER, problems="; ".join(problems.found))
    return match


def match_in(given: Any, words: Vocabulary | None, place: str, problems: Problems) -> Match | None:
    """Return the match that is written at ``place``; None after mistakes, which are noted in ``problems``."""
    match = read(Match, given, place, problems)
    wrong = list(unknown(match, words)) if match is not None else []
    for part, problem in wrong:
        problems.add(f"{place}.{part}" if place else part, problem)
    return None if wrong else match
