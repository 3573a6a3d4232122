"""A sandbox that tries a request in any state, and the assumption values to try."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes
from wsgiref.util import setup_testing_defaults

import yaml
from msgspec import Struct
from msgspec.structs import replace
from werkzeug.test import run_wsgi_app

from reseller_sandbox import fixture
from reseller_sandbox.registry.assumptions import Assumptions, kinds
from reseller_sandbox.registry.assumptions.assumption_spec import WORD
from reseller_sandbox.registry.model import Account
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.server.wsgi import environ_key
from reseller_sandbox.settings import DEFAULT_URL
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange
from reseller_sandbox.v3.signing import sign
from reseller_sandbox.values.clock import WorldClock
from reseller_sandbox.web.headers import ASSUMPTIONS
from reseller_sandbox.worlds import Snapshot

#: By assumption, the values to try, the default first.
Candidates = Mapping[str, Sequence[Any]]

#: Values of some assumptions, by name.
Values = Mapping[str, Any]

_Tried = TypeVar("_Tried")

#: Placeholders for every word, version and header that was not observed. An observed value is determined only
#: if the placeholder explains less.
OTHER_WORD, OTHER_VERSION, OTHER_HEADER = "some-other-word", "V9999.9", "X-Some-Other-Header"

#: The processing time of an order that is not immediate, in seconds.
SOME_TIME = 3600

VERSIONS, TOKEN_HEADERS, SECONDS = "v2.versions", "v2.token_headers", "v2.order_processing"

#: Assumptions about signatures, which no answer shows without the secret.
UNSEEN = ("v3.signature.endpoint", "v3.signature.payload", "v3.signature.query")

#: The most observed words, and the most observed versions or headers, to try beside the default.
_MOST_WORDS, _MOST_LISTED = 12, 2

_TOKEN_HEADER = re.compile(r"[a-z][a-z0-9-]*(?:token|auth)[a-z0-9-]*", re.IGNORECASE)
_VERSION = re.compile(r"/([Vv][0-9]{1,4}\.[0-9]{1,4})/")

_HOST = DEFAULT_URL.partition("//")[2]

#: The account that sends all requests.
ACCOUNT: Mapping[str, Any] = {
    "client_id": 1001,
    "key": "calibrating-key",
    "secret": "calibrating-secret",
    "token": "calibrating-token",
    "balance": "1000000.00",
    "contact": {
        "name": "Ann Account",
        "address": "1 Main Street",
        "city": "Kyiv",
        "region": "Kyiv",
        "company": "Works",
        "zip": "01001",
        "country": "UA",
        "phone": "+380.441234567",
        "fax": "+380.441234568",
        "mail": "ann@example.com",
    },
    "nameservers": ["ns1.example.net", "ns2.example.net"],
}

#: Credentials to try with a request: valid, invalid, none.
RIGHT, WRONG, NONE = "right", "wrong", "none"


class TriedAnswer(Struct, frozen=True):
    """A response of the sandbox, with the operation and the names of its request.

    ``rests_on`` are the assumptions that the response depends on.
    """

    status: int
    answer: Any
    rests_on: Sequence[str]
    operation: str
    names: tuple[str, ...]


class Bench:
    """Tries requests in candidate states, or in states after the fixture ``start``."""

    #: The snapshot at the start.
    begin: Snapshot

    def __init__(self, start: str = "") -> None:
        self._defaults = Assumptions()
        if start:
            self._sandbox = Sandbox(start, journal=1, frozen=True)
            self.begin = replace(self._sandbox.world.snapshot, assumptions=self._defaults)
        else:
            self._sandbox = Sandbox("empty", journal=1)
            snapshot = self.snapshot({"accounts": {"main": ACCOUNT}}, self._sandbox.clock.now)
            assert snapshot is not None
            self._sandbox.world.snapshot = self.begin = snapshot
        known = sorted(self.begin.state.accounts.values(), key=lambda account: account.client_id)
        self._accounts = [account for account in known if account.key]  # because other registrars have no key
        self._sandbox.world.when_credentials_change = None  # because all scenes share the credentials

    def snapshot(self, scene: Mapping[str, Any], at: datetime) -> Snapshot | None:
        """Return the snapshot that a scene (a fixture) describes.

        Return None if the scene is not a valid fixture.
        """
        try:
            seed = fixture.loads(scene, now=at)
        except fixture.FixtureError:
            return None
        return Snapshot(seed.state, WorldClock(seed.now), self._defaults)

    @property
    def snapshot_now(self) -> Snapshot:
        """The snapshot after the last request."""
        return self._sandbox.world.snapshot

    def ask(
        self, one: ObservedExchange, snapshot: Snapshot, values: Mapping[str, Any], credentials: str = RIGHT
    ) -> TriedAnswer:
        """Return the sandbox's response to the request of an exchange."""
        world = self._sandbox.world
        world.snapshot = replace(snapshot, assumptions=self._defaults.with_values(values))
        chunks, status, headers = run_wsgi_app(
            self._sandbox.app, _environment(one, credentials, self._who(one))
        )
        raw = b"".join(chunks)
        entry = world.journal.entries[-1]
        assumed = headers.get(ASSUMPTIONS, "")
        rests_on = [pair.partition("=")[0] for pair in assumed.split(", ") if pair]
        return TriedAnswer(
            int(status.partition(" ")[0]),
            json.loads(raw) if raw else None,
            [name for name in rests_on if name not in UNSEEN],
            entry.operation,
            entry.domains,
        )

    def _who(self, one: ObservedExchange) -> Account:
        """Return the account whose credential a request carries, or the first account."""
        sent = one.credentials
        return next(
            (each for each in self._accounts if each.key in sent or each.token in sent), self._accounts[0]
        )


def is_locked_out(one: ObservedExchange) -> bool:
    """Whether the service refused the credentials of a request."""
    return isinstance(one.refusal, str) and one.refusal in _LOCKED_OUT


#: The errors of refused credentials, in both generations.
_LOCKED_OUT = frozenset(
    ("credentials_missing", "unknown_key", "signature_mismatch", "Token not found", "Authorization failed")
)


def _environment(one: ObservedExchange, credentials: str, account: Account) -> dict[str, Any]:
    path, _, query = one.target.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": one.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": one.target,
        "SERVER_PORT": _HOST.rpartition(":")[2],
        "HTTP_HOST": _HOST,
        "CONTENT_TYPE": one.headers.get("content-type", "application/json" if one.body else ""),
        "CONTENT_LENGTH": str(len(one.body)),
        "wsgi.input": io.BytesIO(one.body),
    }
    setup_testing_defaults(environ)
    for name, value in _credentials(one, credentials, account):
        environ[environ_key(name)] = value
    return environ


def _credentials(one: ObservedExchange, credentials: str, account: Account) -> Iterator[tuple[str, str]]:
    if credentials == NONE:
        return
    wrong = credentials == WRONG
    if one.target.startswith("/v3"):
        text = f"{account.key}{DEFAULT_URL}".encode() + one.target.encode("latin-1", "replace") + one.body
        yield "X-SVC-APIKEY", "somebody-else" if wrong else account.key
        yield "X-SVC-SIGNATURE", sign(account.secret, text).decode()
        return
    for name in token_headers(one) or ["X-Auth-Token"]:
        yield name, "somebody-elses" if wrong else account.token


def zones_of(name_or_path: str) -> dict[str, Any]:
    """Return the zones of a fixture in fixture format. Raise ``FixtureError``."""
    seed = fixture.load(fixture.find(name_or_path))
    zones: dict[str, Any] = yaml.safe_load(fixture.dumps(seed.state, seed.now))["zones"]
    return zones


def _is_word(text: str) -> bool:
    try:
        return bool(WORD.read(text))
    except ValueError:
        return False


def candidates(exchanges: Sequence[ObservedExchange]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each assumption that the exchanges can distinguish."""
    defaults = Assumptions().values()
    found: dict[str, tuple[Any, ...]] = {}
    seen = _distinct(word for one in exchanges for word in _words(one.answer) if _is_word(word))
    keys = _distinct(key for one in exchanges for key in one.asked if _is_word(key))
    for name, kind in kinds().items():
        if name in UNSEEN:
            continue
        if values := kind.shape.get("enum"):
            found[name] = tuple(dict.fromkeys((defaults[name], *values)))
        elif kind is WORD:
            words = keys if name == "v2.license" else seen
            found[name] = tuple(dict.fromkeys((defaults[name], *words[:_MOST_WORDS], OTHER_WORD)))
    asked = (version[1].upper() for one in exchanges if (version := _VERSION.match(one.path)))
    found[VERSIONS] = _lists("V2.0", _distinct(asked), OTHER_VERSION)
    sent = (name for one in exchanges if _VERSION.match(one.path) for name in token_headers(one))
    found[TOKEN_HEADERS] = _lists("X-Auth-Token", _distinct(sent), OTHER_HEADER)
    found[SECONDS] = (0, SOME_TIME)
    return found


def branches(
    alive: Candidates, tried: Callable[[Values], tuple[_Tried, Iterable[str]]], begin: Values | None = None
) -> Iterator[tuple[_Tried, dict[str, Any], Iterable[str]]]:
    """Yield each result of ``tried``, with its assumption values and dependencies.

    A result depends on few assumptions. So only those are varied, one after another. The values of ``begin``
    stay.
    """
    first = {name: values[0] for name, values in alive.items()}
    waiting = [dict(begin or {})]
    while waiting:
        fixed = waiting.pop()
        made, rests_on = tried(first | fixed)
        for name in rests_on:
            if name not in fixed:
                waiting += [{**fixed, name: value} for value in alive[name][1:]]
                fixed[name] = first[name]
        yield made, fixed, rests_on


def token_headers(one: ObservedExchange) -> list[str]:
    """Return the headers of a request that can carry a token, in title case."""
    return [name.title() for name in one.headers if _TOKEN_HEADER.fullmatch(name) and name != "authorization"]


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _lists(default: str, seen: Iterable[str], other: str) -> tuple[tuple[str, ...], ...]:
    """Return every combination of the default, the observed values and another value."""
    more = [word for word in seen if word.lower() != default.lower()][:_MOST_LISTED]
    known = (default, *more, other)
    sizes = range(1, len(known) + 1)
    return tuple(words for size in sizes for words in combinations(known, size))


def _words(answer: Any) -> Iterable[str]:
    """Yield the availability words in an answer."""
    results = answer.get("results") if isinstance(answer, Mapping) else None
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping) and isinstance(result.get("status"), str):
            yield result["status"]
