"""The operations and errors of the reseller API, and the reading of conditions on requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reseller_sandbox.refusals import RULES, SYNONYMS, Rule, Wording
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.values.kinds import Mistake, Within
from reseller_sandbox.values.matching import CANNED, MATCH, NO_OPERATION, OUTCOMES, Match, is_status
from reseller_sandbox.values.patterns import Glob, any_matches
from reseller_sandbox.values.text_checks import nearest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ApiOperation:
    """One operation of the reseller API, such as ``v3.createDomain``.

    ``errors`` maps the name of each documented error to the rules that produce it. ``refuses`` holds the
    operation's rules in the order of its checks. ``shows_status`` is true if the operation only reads and its
    response contains the status of an order. ``label`` is the name of the operation's interface for people,
    and ``package`` its package.

    ``reads`` is true if the operation changes nothing, and ``lists_names`` if it lists the account's names.
    ``orders`` is the purpose of the order that it places, or None. ``price`` holds the places of the order's
    price in a request: a key of the body, ``object.key``, or ``?key`` of the query. ``guard`` is the key of
    the body that prevents a repeated order, or empty.
    """

    id: str
    method: str
    path: str
    refuses: Sequence[Rule]
    errors: Mapping[str, Sequence[Rule]]
    wording: Wording
    shows_status: bool
    label: str
    package: str
    reads: bool
    lists_names: bool
    orders: Purpose | None
    price: tuple[str, ...]
    guard: str

    @property
    def interface(self) -> str:
        """The name of the operation's interface: ``v3`` in ``v3.createDomain``."""
        return self.id.partition(".")[0]


Contract = tuple[ApiOperation, ...]


class Vocabulary:
    """The operations and errors of the contract. Conditions on requests can only name these.

    Ids and names are computed on first use. ``errors`` maps the name of an interface (``v3``) to its errors.
    ``operation_at`` returns the operation that takes a method and a path, or None.
    """

    def __init__(
        self,
        operations: Callable[[], Iterable[str]],
        errors: Callable[[], Mapping[str, frozenset[str]]],
        operation_at: Callable[[str, str], str | None],
    ) -> None:
        self._operations = operations
        self._errors = errors
        self.operation_at = operation_at

    @cached_property
    def operations(self) -> frozenset[str]:
        """The ids of all operations."""
        return frozenset(self._operations())

    @cached_property
    def errors(self) -> Mapping[str, frozenset[str]]:
        """The names of the documented errors of each interface."""
        return self._errors()

    def interfaces(self, globs: Iterable[Glob]) -> list[str]:
        """Return the interfaces with an operation that matches one of ``globs``.

        Without globs, return all interfaces.
        """
        globs = tuple(globs)
        matched = {
            operation.partition(".")[0]
            for operation in self.operations
            if not globs or any_matches(globs, operation)
        }
        return sorted(matched)


def unknown(match: Match, words: Vocabulary | None) -> Iterator[Mistake]:
    """Yield a mistake for each operation and outcome in ``match`` that does not exist.

    Without ``words``, accept every operation and outcome.
    """
    if words is None:
        return
    for glob in match.get("operation", ()):
        if not glob.text.startswith(CANNED) and not any(map(glob.matches, (NO_OPERATION, *words.operations))):
            yield Mistake(("operation",), f"matches no operation{nearest(glob.text, words.operations)}")
    for outcome in match.get("outcome", ()):
        known = {*OUTCOMES, *RULES, *(error for errors in words.errors.values() for error in errors)}
        if outcome not in known and not is_status(outcome):
            hint = nearest(outcome, sorted(known), SYNONYMS)
            words_of_outcome = "ok, refused, fault, the name of an error, or a status"
            yield Mistake(("outcome",), f"must be {words_of_outcome}, not {outcome[:60]!r}{hint}")


def read_match(value: Any, words: Vocabulary | None) -> Match:
    """Read conditions on requests. Raise ``Within`` with all mistakes."""
    match = MATCH.read(value)
    if wrong := [*unknown(match, words)]:
        raise Within(wrong)
    return match
