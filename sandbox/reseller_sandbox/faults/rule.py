"""A rule: which requests it matches, when it strikes, and what kind of fault it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.faults.kind import Asked, Kind, Luck, Phase
from reseller_sandbox.faults.parameters import Choice, Instant, Number, Several, Switch, Text, parameter
from reseller_sandbox.faults.paths import Path, TakesParts

#: A thousand matches a second for a year.
MANY = 10**11

_GLOB = "a glob such as "


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which requests a rule matches: those that all of its parts agree to."""

    operation: tuple[str, ...] | None = parameter(
        Several(Text(_GLOB + "v3.* or v2.domain.renew")), "The operation's id.", default=None
    )
    domain: tuple[str, ...] | None = parameter(
        Several(Text(_GLOB + "*.com")),
        "A name that the request is about, in either of its forms.",
        default=None,
    )
    account: tuple[str, ...] | None = parameter(
        Several(Text(_GLOB + "main")), "The name of the account that asks.", default=None
    )
    method: tuple[str, ...] | None = parameter(Several(Text("a method")), "The HTTP method.", default=None)
    path: tuple[str, ...] | None = parameter(
        Several(Text(_GLOB + "/v3/domains/*")), "The path, without the query.", default=None
    )
    body: tuple[tuple[Path, Any], ...] | None = parameter(
        TakesParts(), "What stands in the request's JSON body.", default=None
    )
    changed: bool | None = parameter(
        Switch(), "In phase after: whether the request has changed anything.", default=None
    )

    def __call__(self, asked: Asked) -> bool:
        """Whether ``asked`` is such a request."""
        return (
            (self.operation is None or _any(self.operation, asked.operation))
            and (self.method is None or asked.method.upper() in map(str.upper, self.method))
            and (self.account is None or _any(self.account, asked.account))
            and (self.path is None or _any(self.path, asked.path))
            and (self.changed is None or self.changed is asked.changed)
            and (self.domain is None or self._names(asked.domains))
            and (self.body is None or self._body(asked.body))
        )

    def _names(self, names: Iterable[str]) -> bool:
        globs = [glob.lower() for glob in self.domain or ()]
        return any(_any(globs, form) for name in names for form in (name, to_unicode(name)))

    def _body(self, body: Any) -> bool:
        return all(any(_same(wanted, found) for found in path.find(body)) for path, wanted in self.body or ())


def _any(globs: Iterable[str], text: str) -> bool:
    return any(fnmatchcase(text, glob) for glob in globs)


def _same(wanted: Any, found: Any) -> bool:
    """Whether ``found`` is what was wanted: an object may hold more keys, and texts are globs."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(key in found and _same(value, found[key]) for key, value in wanted.items())
    if isinstance(wanted, str) and isinstance(found, str):
        return fnmatchcase(found, wanted)
    return isinstance(wanted, bool) is isinstance(found, bool) and bool(wanted == found)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When a rule strikes among the requests that it matches, and for how long it is in force."""

    phase: Phase | None = parameter(
        Choice(("before", "after")), "Before or after the operation takes effect.", default=None
    )
    nth: tuple[int, ...] | None = parameter(
        Several(Number(1, MANY, whole=True)), "Which of the matches are struck, counted from 1.", default=None
    )
    every: int | None = parameter(
        Number(1, MANY, whole=True), "Strike each match whose number is a multiple of this.", default=None
    )
    times: int | None = parameter(
        Number(1, MANY, whole=True), "After how many strikes the rule is spent.", default=None
    )
    chance: float | None = parameter(
        Number(0, 1), "The chance of each match to be struck, drawn from the world's seed.", default=None
    )
    since: datetime | None = parameter(
        Instant(), "The instant from which the rule is in force.", default=None, key="from"
    )
    until: datetime | None = parameter(Instant(), "The instant from which the rule is spent.", default=None)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the parts together."""
        if self.since is not None and self.until is not None and self.until <= self.since:
            yield "until", "must be later than from"

    def in_force(self, struck: int, now: datetime) -> bool:
        """Whether the rule is in force at ``now``, having struck so many times."""
        return (self.since is None or self.since <= now) and not self.spent(struck, now)

    def spent(self, struck: int, now: datetime) -> bool:
        """Whether it will not strike again."""
        return (self.times is not None and struck >= self.times) or (
            self.until is not None and self.until <= now
        )

    def strikes(self, match: int, luck: Luck) -> bool:
        """Whether the match of that number is to be struck."""
        return (
            (self.nth is None or match in self.nth)
            and (self.every is None or match % self.every == 0)
            and (self.chance is None or luck.fraction("strike") < self.chance)
        )


@dataclass(frozen=True, slots=True)
class FaultRule:
    """A named rule."""

    name: str
    kind: Kind
    match: Match = field(default_factory=Match)
    when: When = field(default_factory=When)

    @property
    def phase(self) -> Phase:
        """The phase it strikes in."""
        return self.when.phase or self.kind.phases[0]
