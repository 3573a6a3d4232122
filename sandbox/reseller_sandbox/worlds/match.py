"""Which requests of a journal are meant, and what sets the others apart from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from reseller_sandbox.core import refusals
from reseller_sandbox.core.clock import parse_instant, wire
from reseller_sandbox.core.names import BadName, normalise
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused, Rule
from reseller_sandbox.faults import Vocabulary
from reseller_sandbox.worlds.journal import FAULT, NO_OPERATION, OK, Entry
from reseller_sandbox.worlds.redact import MASK, is_secret

#: The outcomes that are no rule's name.
OUTCOMES = (OK, "refused", FAULT)

_MISSING = object()


class Miss(NamedTuple):
    """One thing about a request that is not as it was expected to be."""

    what: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a request has to be like; None leaves a thing open.

    ``operation``, ``domain``, ``method``, ``path`` and ``fault``, the name of one that struck, are patterns
    with ``*`` and ``?``. ``carried_out`` is whether the operation was done. ``outcome`` is what the client
    was told: ``ok``, which is to say that it was done and answered so, ``refused`` for any error, the
    error's name, ``fault`` where none of the interface's answers arrived, or an HTTP status (``404``,
    ``4xx``). ``since`` is an instant, or the number of the request after which it came. ``body`` is what
    the JSON body holds, among other things.
    """

    operation: str | None = None
    account: str | None = None
    domain: str | None = None
    outcome: str | None = None
    carried_out: bool | None = None
    fault: str | None = None
    since: datetime | int | None = None
    method: str | None = None
    path: str | None = None
    body: Any = None

    @classmethod
    def of(cls, words: Vocabulary | None = None, /, **given: Any) -> Match:
        """A match as it is written; refuses with ``invalid_parameter`` what nothing could be like.

        The operations there are stand in ``words``; without them any pattern will do.
        """
        wanted = {name: value for name, value in given.items() if value is not None}
        unknown = sorted(set(wanted) - set(cls.__slots__))
        if unknown:
            raise Refused(INVALID_PARAMETER, problems=f"{unknown[0]} is nothing to match; use {_known()}")
        if "operation" in wanted and words is not None:
            _require_operation(str(wanted["operation"]), words)
        if "since" in wanted:
            wanted["since"] = _since(wanted["since"])
        if "domain" in wanted:
            wanted["domain"] = _domain(str(wanted["domain"]))
        if "method" in wanted:
            wanted["method"] = str(wanted["method"]).upper()
        if "outcome" in wanted:
            wanted["outcome"] = _outcome(str(wanted["outcome"]), words)
        if "carried_out" in wanted:
            wanted["carried_out"] = _switch("carried_out", wanted["carried_out"])
        return cls(**wanted)

    def takes(self, entry: Entry) -> bool:
        """Whether ``entry`` is like this."""
        return next(self.misses(entry), None) is None

    def misses(self, entry: Entry) -> Iterator[Miss]:
        """What keeps ``entry`` from being like this."""
        yield from self._patterns(entry)
        if self.account is not None and entry.account != self.account:
            yield Miss("account", self.account, entry.account)
        if self.outcome is not None and not _came_to(entry, self.outcome):
            yield Miss("outcome", self.outcome, entry.outcome)
        if self.carried_out not in (None, entry.carried_out):
            yield Miss("carried_out", self.carried_out, entry.carried_out)
        if self.fault is not None and not any(fnmatchcase(rule.name, self.fault) for rule in entry.faults):
            yield Miss("fault", self.fault, entry.fault)
        if isinstance(self.since, datetime) and entry.at < self.since:
            yield Miss("since", wire(self.since), wire(entry.at))
        if isinstance(self.since, int) and entry.number <= self.since:
            yield Miss("since", f"r{self.since}", entry.id)
        if self.body is not None:
            yield from _body_misses(self.body, entry)

    def _patterns(self, entry: Entry) -> Iterator[Miss]:
        path = entry.target.partition("?")[0]
        for what, pattern, actual in (
            ("operation", self.operation, entry.operation),
            ("method", self.method, entry.method),
            ("path", self.path, path),
        ):
            if pattern is not None and not fnmatchcase(actual, pattern):
                yield Miss(what, pattern, actual)
        if self.domain is not None and not any(fnmatchcase(name, self.domain) for name in entry.domains):
            yield Miss("domain", self.domain, ", ".join(entry.domains) or None)


def rules() -> tuple[str, ...]:
    """The names of all rules."""
    return tuple(sorted(rule.code for rule in vars(refusals).values() if isinstance(rule, Rule)))


def _known() -> str:
    return ", ".join(Match.__slots__)


def _came_to(entry: Entry, outcome: str) -> bool:
    if outcome == "refused":
        return entry.outcome not in (OK, FAULT)
    if outcome[0].isdigit():
        return fnmatchcase(str(entry.status), outcome.replace("x", "?"))
    return entry.outcome == outcome


def _outcome(given: str, words: Vocabulary | None) -> str:
    injected = frozenset().union(*words.errors.values()) if words is not None else frozenset()
    known = (*OUTCOMES, *rules(), *sorted(injected))
    status = len(given) == 3 and given[0] in "12345" and (given[1:] == "xx" or given.isdecimal())
    if status or given in known:
        return given
    near = get_close_matches(given, known, 1, 0.5)
    hint = f"; the nearest is {near[0]}" if near else ""
    problem = f"outcome takes ok, refused, fault, an error's name or a status, not {given[:60]!r}{hint}"
    raise Refused(INVALID_PARAMETER, problems=problem)


def _switch(name: str, given: Any) -> bool:
    """True or false, or the word for it in a query string."""
    found = {"true": True, "false": False}.get(str(given).lower() if isinstance(given, bool) else str(given))
    if found is None:
        raise Refused(INVALID_PARAMETER, problems=f"{name} must be true or false")
    return found


def _require_operation(pattern: str, words: Vocabulary) -> None:
    if not any(fnmatchcase(operation, pattern) for operation in (NO_OPERATION, *words.operations)):
        near = get_close_matches(pattern[:60], sorted(words.operations), 1, 0.5)
        hint = f"; the nearest is {near[0]}" if near else ""
        raise Refused(INVALID_PARAMETER, problems=f"no operation matches {pattern[:60]!r}{hint}")


def _since(given: Any) -> datetime | int:
    if isinstance(given, datetime):
        return given
    text = str(given)
    digits = text.removeprefix("r")
    if text.startswith("r") and digits.isascii() and digits.isdigit() and len(digits) < 19:
        return int(digits)
    try:
        return parse_instant(text)
    except ValueError:
        problem = f"since takes an instant or the name of a request, not {text[:60]!r}"
        raise Refused(INVALID_PARAMETER, problems=problem) from None


def _domain(given: str) -> str:
    """A name as the journal has it; a pattern only in lower case."""
    try:
        return normalise(given)
    except BadName:
        return given.lower()


def _body_misses(expected: Any, entry: Entry) -> Iterator[Miss]:
    if entry.body_size is not None:
        yield Miss("body", "a body that the journal keeps whole", f"{entry.body_size} bytes")
        return
    try:
        actual = json.loads(entry.body, parse_float=Decimal) if entry.body.strip() else {}
    except (ValueError, RecursionError):
        yield Miss("body", "JSON", "something else")
        return
    yield from _differences("body", expected, actual)


def _differences(path: str, expected: Any, actual: Any) -> Iterator[Miss]:
    """Where ``actual`` does not hold what ``expected`` does; it may hold more keys, but not more items."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in expected:
            found = actual.get(key, _MISSING)
            if is_secret(str(key)):
                if found != expected[key]:
                    yield Miss(f"{path}.{key}", MASK, None if found is _MISSING else MASK)
            elif found is _MISSING:
                yield Miss(f"{path}.{key}", expected[key], None)
            else:
                yield from _differences(f"{path}.{key}", expected[key], found)
    elif _listed(expected) and _listed(actual) and len(expected) == len(actual):
        for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(f"{path}[{number}]", one, other)
    elif _number(expected) != _number(actual) or isinstance(expected, bool) is not isinstance(actual, bool):
        yield Miss(path, expected, actual)


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _number(value: Any) -> Any:
    return Decimal(str(value)) if isinstance(value, float) else value
