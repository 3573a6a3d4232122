"""Secrets in requests: the sandbox's own stay, others are replaced by what the sandbox answers alike.

Its own are the credentials of its accounts, the signatures made with them, and what the registry holds of the
names that a request is about: codes and passwords. Any other secret is unknown to the registry, and so is
what stands for it: of the same length, with digits for digits and letters for letters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from operator import is_
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any
from urllib.parse import quote, unquote_plus

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.core.matching import MATCH
from reseller_sandbox.core.patterns import Glob
from reseller_sandbox.core.refusals import SIGNATURE_MISMATCH, UNKNOWN_KEY, UNKNOWN_TOKEN
from reseller_sandbox.core.state import Draft, State, held_order
from reseller_sandbox.faults import FaultRule, reading
from reseller_sandbox.server.secrecy import host_masked, is_secret, key_masked, text_masked
from reseller_sandbox.worlds import Entry, Moment, World, plain, redact
from reseller_sandbox.worlds.credentials import NOBODYS

#: How the names of the elements end that sign a request.
_KEY, _SIGNATURE = "-apikey", "-signature"

#: What makes a text a pattern where a match has it.
_PATTERN = frozenset("*?")


class Clean(Struct):
    """A request without the secrets of others: ``replaced`` are the places of those, ``stood`` what stands
    for each.

    ``anew`` is whether what was signed has been changed. ``beyond`` is why it cannot be done again without
    them, if it cannot.
    """

    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    replaced: list[str] = field(default_factory=list)
    stood: dict[str, str] = field(default_factory=dict)
    anew: bool = False
    beyond: str = ""

    def answer(self, raw: bytes) -> bytes:
        """Return an answer with what stands for the secrets in it, where they are whole words and no keys.

        Messages show unknown keys and tokens masked.
        """
        masked = {key_masked(secret): key_masked(instead) for secret, instead in self.stood.items()}
        for secret, instead in (self.stood | masked).items():
            if len(secret) >= redact.SHORTEST:
                told = re.escape(secret.encode("utf-8", "surrogatepass"))
                by = instead.encode().replace(b"\\", rb"\\")
                raw = re.sub(rb"(?<!\w)%b(?!\w|\"\s*:)" % told, by, raw)
        return raw


def credentials_of(world: World, *states: State) -> frozenset[str]:
    """Return the credentials of a world's accounts, those that they have inherited among them."""
    accounts = [account for state in states for account in state.accounts.values()]
    own = {word for one in accounts for word in (one.key, one.secret, one.token)}
    return frozenset(own | set(world.inherited.keys) | set(world.inherited.tokens))


class StandIns:
    """What the controls were told, without the secrets of others: a fault or a plan may look for one.

    What stands for such a secret is the same all through a capsule, in requests too. Whether it is one of the
    sandbox's ``own`` is decided once, when it is first told.
    """

    def __init__(self, credentials: frozenset[str]) -> None:
        self.credentials = credentials
        self.stood: dict[str, str] = {}
        self._own = set(credentials)

    def call(
        self, given: Mapping[str, Any], state: Callable[[], State], *, looks: bool = True
    ) -> dict[str, Any]:
        """Return what a control call was told; ``state`` is the one that it led to.

        With ``looks``, what is a secret by its looks is none of the registry's, which would have it in plain.
        """
        if any(one not in self._own and one not in self.stood for one in redact.secrets_in(given)):
            self._own |= set(held_in(state())) - self.stood.keys()
        clean = Clean("", (), b"", stood=self.stood)
        place = _Place(clean, self._is_own, lambda text: stand_in(text, len(self.stood)), looks=looks)
        return {name: place.below(name, value) for name, value in given.items()}

    def moment(self, moment: Moment) -> Moment:
        """Return a moment of which the faults and the plans look for what stands for a secret."""
        state, book = moment.state, moment.faults
        rules = tuple(self._rule(one, state) for one in book.rules)
        draft = Draft(state, moment.clock.instant, moment.assumptions, "")
        for plan in state.plans.values():
            told = {} if plan.after is None else MATCH.write(plan.after)
            if (clean := self.call(told, lambda: state)) != told:
                draft.put(replace(plan, after=MATCH.read(clean)))
        if all(map(is_, rules, book.rules)) and draft.state is state:
            return moment
        return replace(moment, state=draft.made(), faults=replace(book, rules=rules))

    def _rule(self, rule: FaultRule, state: State) -> FaultRule:
        told = reading.given(rule)
        clean = self.call(told, lambda: state)
        return rule if clean == told else reading.read_rules([{"name": rule.name, **clean}], None)[0].rule

    def _is_own(self, text: str) -> bool:
        """Whether a text is one of the sandbox's own secrets, or a pattern of some."""
        pattern = None if text in self._own else _pattern(text)
        return text in self._own or (pattern is not None and any(map(pattern.matches, self._own)))

    def alike(self, secret: str) -> str:
        """Return what stands for a secret that something looks for by a pattern, and is found by it too."""
        for pattern, instead in self.stood.items():
            if (glob := _pattern(pattern)) is not None and glob.matches(secret):
                return instead.replace("*", "x").replace("?", "x")
        return ""


def _pattern(text: str) -> Glob | None:
    """Return the pattern that a text is where a match has it, if it is one."""
    with suppress(ValueError):
        return None if _PATTERN.isdisjoint(text) else Glob(text)
    return None


def cleaned(entry: Entry, told: StandIns) -> Clean:
    """Return a request without secrets that are not the sandbox's own."""
    own = (told.credentials | frozenset(_held(entry))) - told.stood.keys()
    found = Clean(entry.raw_target, (), entry.body, stood=dict(told.stood))
    pairs = [(spelt(name), value) for name, value in entry.sent.items()]
    key = next((value for name, value in pairs if name.endswith(_KEY)), None)
    elements = [one.partition("=") for one in entry.raw_target.partition("?")[2].split("&")]
    for name, _, value in elements:
        key = value if key is None and unquote_plus(name).lower().endswith(_KEY) else key
    headers = _Place(found, own.__contains__, told.alike, is_signed=key in own)
    found.headers = tuple((name, headers.text(spelt(name), value)) for name, value in entry.sent.items())
    found.target = _target(entry.raw_target, headers)
    found.body = _body(entry.body, headers)
    if found.body != entry.body:
        length = str(len(found.body))
        found.headers = tuple(
            (name, length if spelt(name) == "content-length" else value) for name, value in found.headers
        )
    rule = entry.refused.rule if entry.refused is not None else None
    found.anew = (found.target, found.body) != (entry.raw_target, entry.body) and key in own
    if rule is SIGNATURE_MISMATCH and found.anew:
        found.beyond = "a secret was taken out of it, and its signature was wrong"
    reason = str(entry.refused.facts.get("reason", NOBODYS)) if entry.refused is not None else NOBODYS
    if rule in (UNKNOWN_KEY, UNKNOWN_TOKEN) and NOBODYS not in reason:
        found.beyond = "it came with the credentials of another world"
    return found


def held_in(state: State) -> Iterator[str]:
    """Yield the secrets of all that the registry holds, and is going to hold."""
    for record in chain(state.orders.values(), state.customers.values(), state.plans.values()):
        yield from filter(None, plain.secrets_of(record))


def _held(entry: Entry) -> Iterator[str]:
    """Yield the secrets that the registry holds of what a request is about, before it or after."""
    for change in entry.changes:
        for record in (change.before, change.after):
            yield from filter(None, plain.secrets_of(record))
    for moment in (entry.before, entry.after):
        state = moment.state
        for name in entry.domains:
            if (order := held_order(state, name)) is not None:
                yield from filter(None, plain.secrets_of(order))
    yield from redact.secrets_in(redact.read(entry.answer))


class _Place:
    """Replaces the secrets of one request, each by the same wherever it stands."""

    def __init__(
        self,
        found: Clean,
        is_own: Callable[[str], bool],
        alike: Callable[[str], str],
        *,
        is_signed: bool = False,
        looks: bool = True,
    ) -> None:
        self.found = found
        self._is_own = is_own
        self._alike = alike
        self._is_signed = is_signed
        self._looks = looks

    def text(self, name: str, value: str) -> str:
        """Return the value of a header or of an element of the query."""
        lower = name.lower()
        if not value or self._is_own(value) or (self._is_signed and lower.endswith(_SIGNATURE)):
            return value
        if is_secret(name) or lower.endswith(_KEY):
            return self.instead(name, value)
        return self._masked(name, host_masked(value) if lower == "host" else text_masked(value), value)

    def value(self, given: Any, name: str = "") -> Any:
        """Return a JSON value; what stands below the name of a secret is one."""
        if isinstance(given, Mapping):
            return {
                key: self.value(inner, name) if name else self.below(str(key), inner)
                for key, inner in given.items()
            }
        if isinstance(given, list | tuple):
            return [self.value(inner, name) for inner in given]
        if given is None or isinstance(given, bool) or given == "" or self._is_own(str(given)):
            return given
        if not name:
            by_looks = self._looks and isinstance(given, str)
            return self._masked("body", text_masked(given), given) if by_looks else given
        if isinstance(given, str):
            return self.instead(name, given)
        digits, mark, exponent = str(given).lower().partition("e")
        return type(given)(self.instead(name, digits) + mark + exponent)

    def below(self, name: str, given: Any) -> Any:
        """Return a JSON value that goes under ``name``."""
        return self.value(given, name if is_secret(name) or name.lower().endswith(_KEY) else "")

    def _masked(self, name: str, masked: str, text: str) -> str:
        """Return a text without what is a secret by its looks."""
        if masked == text:
            return text
        self.found.replaced.append(name)
        return self.found.stood.setdefault(text, self._alike(text) or masked)

    def instead(self, name: str, secret: str) -> str:
        """Return what stands for a secret."""
        self.found.replaced.append(name)
        stood = self.found.stood
        return stood.setdefault(secret, self._alike(secret) or stand_in(secret, len(stood)))


def stand_in(secret: str, number: int = 0) -> str:
    """Return a text of the same length and the same kinds of characters, the ``number``-th such.

    One without letters and digits, such as ``***``, hides nothing, and stays.
    """
    if not any(map(str.isalnum, secret)):
        return secret
    drawn = sha256(f"{number}: {len(secret)}".encode()).digest()
    made = "".join(_like(one, drawn[at % len(drawn)] + at) for at, one in enumerate(secret))
    return made if made != secret else stand_in(secret, number + 1)


def _like(one: str, drawn: int) -> str:
    for letters in (digits[1:], ascii_lowercase, ascii_uppercase):
        if one in letters or (one == "0" and letters == digits[1:]):
            return letters[drawn % len(letters)]
    return one if one.isascii() else "äö"[drawn % 2]


def spelt(name: str) -> str:
    """Return a header's name with hyphens, in lower case, however WSGI has spelt it."""
    return name.replace("_", "-").lower()


def _target(target: str, place: _Place) -> str:
    path, mark, query = target.partition("?")
    return text_masked(path) + mark + "&".join(_element(one, place) for one in query.split("&"))


def _element(element: str, place: _Place) -> str:
    name, mark, value = element.partition("=")
    shown = unquote_plus(value)
    clean = place.text(unquote_plus(name), shown)
    return element if clean == shown else f"{name}{mark}{quote(clean, safe='*')}"


def _body(body: bytes, place: _Place) -> bytes:
    """Return a body with its secrets replaced, as it is where it has none of others."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        read = redact.read(body)
        if read is None or redact.masked(read) == read:
            return body
        place.found.beyond = "a secret was taken out of its body, which is not JSON"
        return redact.shortened(body, len(body))
    clean = place.value(told)
    if clean == told:
        return body
    for secret, instead in place.found.stood.items():  # so that all else stays as it was written
        for ascii_alone in (True, False):
            body = body.replace(_quoted(secret, ascii_alone), _quoted(instead, ascii_alone))
    return body if json.loads(body) == clean else json.dumps(clean, ensure_ascii=False).encode()


def _quoted(text: str, ascii_alone: bool) -> bytes:
    return json.dumps(text, ensure_ascii=ascii_alone).encode("utf-8", "surrogatepass")
