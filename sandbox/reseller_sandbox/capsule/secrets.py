"""Secrets in requests: the sandbox's own stay, others are replaced by what the sandbox answers alike.

Its own are the credentials of its accounts, the signatures made with them, and what the registry holds of the
names that a request is about: codes and passwords. Any other secret is unknown to the registry, and so is
what stands for it: of the same length, with digits for digits and letters for letters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from hashlib import sha256
from itertools import chain
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any
from urllib.parse import quote, unquote_plus

from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.core.lookups import held_order
from reseller_sandbox.core.refusals import SIGNATURE_MISMATCH, UNKNOWN_KEY, UNKNOWN_TOKEN
from reseller_sandbox.core.state import State
from reseller_sandbox.server.secrecy import host_masked, is_secret, text_masked
from reseller_sandbox.worlds import Entry, World, plain, redact
from reseller_sandbox.worlds.credentials import NOBODYS

#: How the names of the elements end that sign a request.
_KEY, _SIGNATURE = "-apikey", "-signature"


@dataclass(slots=True)
class Clean:
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
        """Return an answer with what stands for the secrets in it."""
        for secret, instead in self.stood.items():
            if len(secret) >= redact.SHORTEST:
                raw = raw.replace(secret.encode("utf-8", "surrogatepass"), instead.encode())
        return raw


def credentials_of(world: World, *states: State) -> frozenset[str]:
    """Return the credentials of a world's accounts, those that they have inherited among them."""
    accounts = [account for state in states for account in state.accounts.values()]
    own = {word for one in accounts for word in (one.key, one.secret, one.token)}
    return frozenset(own | set(world.inherited.keys) | set(world.inherited.tokens))


def cleaned(entry: Entry, credentials: frozenset[str]) -> Clean:
    """Return a request without secrets that are not the sandbox's own."""
    own = credentials | frozenset(_held(entry))
    found = Clean(entry.raw_target, (), entry.body)
    pairs = [(spelt(name), value) for name, value in entry.sent.items()]
    key = next((value for name, value in pairs if name.endswith(_KEY)), None)
    elements = [one.partition("=") for one in entry.raw_target.partition("?")[2].split("&")]
    for name, _, value in elements:
        key = value if key is None and unquote_plus(name).lower().endswith(_KEY) else key
    headers = _Place(found, own, is_signed=key in own)
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


def told_without_secrets(given: Mapping[str, Any], own: Callable[[], frozenset[str]]) -> dict[str, Any]:
    """Return what a control call was told; what stands for a secret that is none of its ``own`` is in it."""
    told = any(True for _ in redact.secrets_in(given))
    place = _Place(Clean("", (), b""), own() if told else frozenset(), is_signed=False)
    return {name: place.value(value, name if is_secret(name) else "") for name, value in given.items()}


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

    def __init__(self, found: Clean, own: frozenset[str], *, is_signed: bool) -> None:
        self.found = found
        self._own = own
        self._is_signed = is_signed

    def text(self, name: str, value: str) -> str:
        """Return the value of a header or of an element of the query."""
        lower = name.lower()
        if not value or value in self._own or (self._is_signed and lower.endswith(_SIGNATURE)):
            return value
        if is_secret(name) or lower.endswith(_KEY):
            return self.instead(name, value)
        return self._masked(name, host_masked(value) if lower == "host" else text_masked(value), value)

    def value(self, given: Any, name: str = "") -> Any:
        """Return a JSON value; what stands below the name of a secret is one."""
        if isinstance(given, Mapping):
            return {
                key: self.value(inner, name or (key if is_secret(str(key)) else ""))
                for key, inner in given.items()
            }
        if isinstance(given, list | tuple):
            return [self.value(inner, name) for inner in given]
        if given is None or isinstance(given, bool) or given == "" or str(given) in self._own:
            return given
        if not name:
            return self._masked("body", text_masked(given), given) if isinstance(given, str) else given
        instead = self.instead(name, str(given))
        return instead if isinstance(given, str) else type(given)(instead)

    def _masked(self, name: str, masked: str, text: str) -> str:
        """Return a text without what is a secret by its looks."""
        if masked != text:
            self.found.replaced.append(name)
            self.found.stood[text] = masked
        return masked

    def instead(self, name: str, secret: str) -> str:
        """Return what stands for a secret."""
        self.found.replaced.append(name)
        return self.found.stood.setdefault(secret, stand_in(secret, len(self.found.stood)))


def stand_in(secret: str, number: int = 0) -> str:
    """Return a text of the same length and the same kinds of characters, the ``number``-th such."""
    drawn = sha256(f"{number}: {len(secret)}".encode()).digest()
    made = "".join(_like(one, drawn[at % len(drawn)] + at) for at, one in enumerate(secret))
    return made if made != secret else stand_in(secret, number + 1)


def _like(one: str, drawn: int) -> str:
    for letters in (digits[1:], ascii_lowercase, ascii_uppercase):
        if one in letters or (one == "0" and letters == digits[1:]):
            return letters[drawn % len(letters)]
    return one if one.isascii() else "ä"


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
