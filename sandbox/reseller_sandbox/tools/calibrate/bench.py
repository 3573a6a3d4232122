"""The bench (a sandbox that answers a request in any given state). The assumption values to try."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, yaml
from msgspec.structs import replace

from reseller_sandbox import fixture
from reseller_sandbox.clients.caller import described
from reseller_sandbox.registry.assumptions import (
    HEADERS,
    KEY,
    SECONDS,
    VERSIONS,
    WORD,
    Assumptions,
    alternative_values,
    kinds,
)
from reseller_sandbox.registry.model import Account
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.server.wsgi import call
from reseller_sandbox.settings import DEFAULT_URL, Settings
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange
from reseller_sandbox.values.clock import WorldClock
from reseller_sandbox.web.interfaces import UnsignedRequest, interface_of, public_interfaces
from reseller_sandbox.worlds import Snapshot

#: The values to try for each assumption. The default comes first.
Candidates = Mapping[str, Sequence[Any]]

#: Values of some assumptions, by name.
Values = Mapping[str, Any]

_Tried = TypeVar("_Tried")

#: Placeholders for all words, versions and headers that the transcripts do not contain. An observed value is
#: determined only if it explains exchanges that the placeholder does not explain.
OTHER_WORD, OTHER_VERSION, OTHER_HEADER = "some-other-word", "V9999.9", "X-Some-Other-Header"

#: The processing time in seconds that stands for every processing time other than the default.
SOME_TIME = 3600

#: All placeholders.
PLACEHOLDERS = frozenset({OTHER_WORD, OTHER_VERSION, OTHER_HEADER, SOME_TIME})

#: Maximum number of observed words to try. Maximum number of observed versions, and also of observed headers,
#: to try.
_MOST_WORDS, _MOST_LISTED = 12, 2

_TOKEN_HEADER = re.compile(r"[a-z][a-z0-9-]*(?:token|auth)[a-z0-9-]*", re.IGNORECASE)

#: The version at the beginning of a path. Only requests with a version are authenticated by a token.
VERSION_IN_PATH = re.compile(r"/([Vv][0-9]{1,4}\.[0-9]{1,4})/")

_HOST = DEFAULT_URL.partition("//")[2]

#: The contents of ``states.yaml``. The comments in that file explain them.
PARTS: Mapping[str, Any] = yaml.decode(Path(__file__).with_name("states.yaml").read_bytes())

#: The account that sends all requests.
ACCOUNT: Mapping[str, Any] = PARTS["account"]

#: The credentials that a request is tried with: valid ones, invalid ones, none.
RIGHT, WRONG, NONE = "right", "wrong", "none"


class TriedAnswer(Struct, frozen=True):
    """A response of the sandbox, with the operation and the domain names of the request.

    ``rests_on`` are the names of the assumptions that the response depends on.
    """

    status: int
    answer: Any
    rests_on: Sequence[str]
    operation: str
    names: tuple[str, ...]


class Bench:
    """A sandbox that answers a request in any given state.

    With a fixture ``start``, the sandbox begins with the names of that fixture. Otherwise, it has no names.
    """

    #: The snapshot before the first request.
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
        accounts = sorted(self.begin.state.accounts.values(), key=lambda account: account.client_id)
        # Other registrars have no key, so they cannot send requests.
        self._accounts = [account for account in accounts if account.key]
        # Disable the callback, because all states have the same credentials.
        self._sandbox.world.when_credentials_change = None

    def snapshot(self, state: Mapping[str, object], at: datetime) -> Snapshot | None:
        """Return a candidate state as a snapshot, None if the state is not a valid fixture."""
        try:
            seed = fixture.loads(state, now=at)
        except fixture.FixtureError:
            return None
        return Snapshot(seed.state, WorldClock(seed.now), self._defaults)

    @property
    def snapshot_now(self) -> Snapshot:
        """The snapshot after the last request."""
        return self._sandbox.world.snapshot

    def placeholders(self, exchange: ObservedExchange) -> Mapping[str, object]:
        """Return the values of the placeholders in a request's path, such as ``{id}`` in ``/name/{id}``."""
        with self._sandbox.app.test_request_context(exchange.path, method=exchange.method) as context:
            return context.request.view_args or {}

    def senders(self, exchange: ObservedExchange) -> Sequence[Account]:
        """Return the accounts that can have sent a request: all, if its credentials are masked."""
        if exchange.is_anonymous:
            return self._accounts
        sent = exchange.credentials
        known = [each for each in self._accounts if each.key in sent or each.token in sent]
        return (known or self._accounts)[:1]

    def ask(
        self,
        exchange: ObservedExchange,
        snapshot: Snapshot,
        values: Values,
        credentials: str = RIGHT,
        sender: Account | None = None,
    ) -> TriedAnswer:
        """Put the sandbox into the state ``snapshot`` with the assumptions ``values``. Send a request."""
        world = self._sandbox.world
        world.snapshot = replace(snapshot, assumptions=self._defaults.with_values(values))
        account = sender or self.senders(exchange)[0]
        kind = exchange.headers.get("content-type", "application/json" if exchange.body else "")
        headers = [("host", _HOST), ("content-type", kind), ("content-length", "")]
        headers += _credentials(exchange, credentials, account)
        environ = described(
            exchange.method,
            "http",
            _HOST.rpartition(":")[2],
            exchange.target.encode("latin-1", "replace"),
            [(name.encode(), value.encode()) for name, value in headers],
            exchange.body,
        )
        answer = call(self._sandbox.app, environ)
        entry = world.journal.entries[-1]
        return TriedAnswer(
            answer.status,
            json.loads(answer.body) if answer.body else None,
            [name for name, _ in entry.assumed if name not in hints().unseen],
            entry.operation,
            entry.domains,
        )


def has_bad_credentials(exchange: ObservedExchange) -> bool:
    """Whether the service refused the credentials of a request."""
    return exchange.refusal in hints().refused_credentials


def _credentials(exchange: ObservedExchange, credentials: str, account: Account) -> Iterator[tuple[str, str]]:
    if credentials == NONE:
        return
    if credentials == WRONG:
        account = replace(account, key="another-key", token="another-token")
    target = exchange.target
    interface = interface_of(target, public_interfaces())
    if interface is None:
        return
    unsigned = UnsignedRequest(
        account, Assumptions(), Settings.header_prefix, DEFAULT_URL, target, exchange.body
    )
    for name, value in interface.sign(unsigned).headers.items():
        # The service may read the token from another header, so send it in each token header of the exchange.
        names = (token_headers(exchange) if value == account.token else []) or [name]
        yield from ((each.lower(), value) for each in names)


def registry_of(name_or_path: str) -> dict[str, object]:
    """Return the zones and the names of other registrars in a fixture. Raise ``FixtureError``."""
    seed = fixture.load(fixture.find(name_or_path))
    entries: dict[str, Any] = yaml.decode(fixture.dumps(seed))
    return {"zones": entries["zones"], "taken": entries.get("taken", {})}


def _is_word(text: str) -> bool:
    try:
        return bool(WORD.read(text))
    except ValueError:
        return False


def candidates(exchanges: Sequence[ObservedExchange]) -> dict[str, tuple[object, ...]]:
    """Return, for each assumption, the values that the exchanges can confirm or rule out."""
    defaults = Assumptions().values()
    values: dict[str, tuple[Any, ...]] = {}
    statuses = (status for exchange in exchanges for status in _statuses(exchange) if _is_word(status))
    keys = (key for exchange in exchanges for key in exchange.asked if _is_word(key))
    words, keys_sent = (list(dict.fromkeys(each))[:_MOST_WORDS] for each in (statuses, keys))
    versioned = [(version, each) for each in exchanges if (version := VERSION_IN_PATH.match(each.path))]
    versions = [version[1].upper() for version, _ in versioned]
    headers = [header for _, exchange in versioned for header in token_headers(exchange)]
    for name, kind in kinds().items():
        default: Any = defaults[name]
        if name in hints().unseen:
            continue
        if enum := kind.shape.get("enum"):
            values[name] = tuple(dict.fromkeys((default, *enum)))
        elif kind is WORD or kind is KEY:
            observed = words if kind is WORD else keys_sent
            values[name] = tuple(dict.fromkeys((default, *observed, OTHER_WORD)))
        elif kind is VERSIONS:
            values[name] = _combinations(default[0], versions, OTHER_VERSION)
        elif kind is HEADERS:
            values[name] = _combinations(default[0], headers, OTHER_HEADER)
        elif kind is SECONDS:
            values[name] = (default, SOME_TIME)
        else:
            values[name] = (default, *alternative_values()[name])
    return values


def branches(
    alive: Candidates,
    carry_out: Callable[[Values], tuple[_Tried, Iterable[str]]],
    begin: Values | None = None,
) -> Iterator[tuple[_Tried, dict[str, object], Iterable[str]]]:
    """Call ``carry_out`` with each combination of values that matters. Yield each result and its values.

    A result depends on few assumptions, so only the values of those are varied. The values in ``begin`` are
    fixed.
    """
    first = {name: values[0] for name, values in alive.items()}
    waiting = [dict(begin or {})]
    while waiting:
        fixed = waiting.pop()
        result, rests_on = carry_out(first | fixed)
        for name in rests_on:
            if name not in fixed:
                waiting += [{**fixed, name: value} for value in alive[name][1:]]
                fixed[name] = first[name]
        yield result, fixed, rests_on


def token_headers(exchange: ObservedExchange) -> list[str]:
    """Return the headers of a request that can carry a token, in title case."""
    names = (name for name in exchange.headers if name != "authorization")
    return [name.title() for name in names if _TOKEN_HEADER.fullmatch(name)]


def _combinations(default: str, observed: Iterable[str], other: str) -> tuple[tuple[str, ...], ...]:
    """Return every combination of the default, the observed values and the placeholder ``other``."""
    more = [word for word in dict.fromkeys(observed) if word.lower() != default.lower()][:_MOST_LISTED]
    words = (default, *more, other)
    return tuple(chosen for size in range(1, len(words) + 1) for chosen in combinations(words, size))


def _statuses(exchange: ObservedExchange) -> Iterator[str]:
    """Yield the status word of each checked name in an answer, such as the word for an available name."""
    for results in map(exchange.answered.get, hints().batches.values()):
        for result in results if isinstance(results, list) else ():
            status = hints().field(result, "status") if isinstance(result, Mapping) else None
            if isinstance(status, str):
                yield status
