"""The operations and errors of the reseller API, and the reading of conditions on requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

from msgspec import Struct

from reseller_sandbox.refusals import RULES, SYNONYMS, Rule, Wording
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.values.kinds import Mistake, Within
from reseller_sandbox.values.matching import CANNED, MATCH, NO_OPERATION, OUTCOMES, Match, is_status
from reseller_sandbox.values.patterns import (
    ITEM,
    Glob,
    Path,
    Place,
    any_matches,
    nearest_places,
    place_text,
    places,
)
from reseller_sandbox.values.text_checks import COMPARED, abridged, cut, did_you_mean, nearest

#: The maximum number of keys that a message lists.
_MOST_KEYS = 10

#: The number of parts of an expected body that are compared with the schemas, because each takes 50 µs.
_MOST_PARTS = 500


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

Part = Literal["request", "answer"]


class JsonPlaces(Struct, frozen=True):
    """The places that the JSON body of a request to an operation can have, and those of its answer."""

    request: frozenset[Place]
    answer: frozenset[Place]


@dataclass(eq=False)
class Vocabulary:
    """The operations and errors of the contract. Conditions on requests can only name these.

    ``find_operations`` returns the ids of all operations, and ``find_errors`` the names of the errors of each
    interface (``v3``). Both are called on first use. ``operation_at`` returns the operation that takes a
    method and a path, or None. ``places`` returns the places in requests and answers of an operation, under
    any assumptions.
    """

    find_operations: Callable[[], Iterable[str]]
    find_errors: Callable[[], Mapping[str, frozenset[str]]]
    operation_at: Callable[[str, str], str | None]
    places: Callable[[str], JsonPlaces]

    @cached_property
    def operations(self) -> frozenset[str]:
        """The ids of all operations."""
        return frozenset(self.find_operations())

    @cached_property
    def errors(self) -> Mapping[str, frozenset[str]]:
        """The names of the documented errors of each interface."""
        return self.find_errors()

    @property
    def all_errors(self) -> frozenset[str]:
        """The names of the documented errors of all interfaces."""
        return frozenset().union(*self.errors.values())

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


#: The places in calls of each canned answer, by operation id. None stands for canned answers that can change.
Canned = Mapping[str, JsonPlaces] | None


def never_sent(match: Match, words: Vocabulary | None, canned: Canned = None) -> Iterator[Mistake]:
    """Yield a mistake for each path into the body that no request to a matched operation can have."""
    for path, expected in match.get("body", {}).items():
        for below in islice(dict.fromkeys(places(expected)), _MOST_PARTS):
            steps = (*path.steps, *("*" if key == ITEM else key for key in below))
            whole = Path(place_text((path.text, *below)), steps)
            if problem := never_found(whole, "request", match, words, canned):
                yield Mistake(("body", cut(whole.text, COMPARED)), problem)
                break


def never_found(
    path: Path, part: Part, match: Match, words: Vocabulary | None, canned: Canned, *, beside: bool = False
) -> str:
    """Return the problem of a ``path`` that no request, or no answer, of a matched operation can have.

    Return "" if one of them can have it. ``beside`` is that of ``Path.is_among``. Requests and answers
    beyond the contract count if ``canned`` holds their places.
    """
    globs = match.get("operation", ())
    if words is None or (canned is None and _may_be_canned(globs)):
        return ""
    matched = [name for name in sorted(words.operations) if not globs or any_matches(globs, name)]
    by_operation = {name: getattr(words.places(name), part) for name in matched}
    by_operation |= {
        name: getattr(own, part)
        for name, own in (canned or {}).items()
        if not globs or any_matches(globs, name)
    }
    known = frozenset[Place]().union(*by_operation.values())
    if not by_operation or any(path.is_among(places, beside=beside) for places in by_operation.values()):
        return ""
    of = next(iter(by_operation)) if len(by_operation) == 1 else "the operations that the rule matches"
    if not known:
        return f"is in no {part} of {of}, because none has a JSON body"
    hint = did_you_mean(nearest_places(path.text, known))
    keys = sorted(place_text(place) for place in known if len(place) == 1)
    return f"is in no {part} of {of}{hint or f'; its keys are {abridged(keys, _MOST_KEYS)}'}"


def _may_be_canned(globs: Sequence[Glob]) -> bool:
    """Whether ``globs`` can match the operation id of a canned answer. Without globs, all ids match."""
    heads = [re.split(r"[*?]", glob.text, maxsplit=1)[0] for glob in globs] or [""]
    return any(CANNED.startswith(head) or head.startswith(CANNED) for head in heads)


def read_match(value: object, words: Vocabulary | None, *, to_come: bool = False) -> Match:
    """Read conditions on requests. Raise ``Within`` with all mistakes.

    With ``to_come``, the conditions are on future requests, and a body must be one that clients can send.
    """
    match = MATCH.read(value)
    if wrong := [*unknown(match, words), *(never_sent(match, words) if to_come else ())]:
        raise Within(wrong)
    return match
