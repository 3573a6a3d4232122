"""The worlds of one server: found by name or by credentials, forked, and dropped when nobody uses them."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.fixture import FixtureError, added
from reseller_sandbox.registry.assumptions import BadAssumption
from reseller_sandbox.registry.clock import stopwatch
from reseller_sandbox.registry.contract import Contract
from reseller_sandbox.registry.model import DEFAULT, OUTSIDE, Account
from reseller_sandbox.registry.refusals import (
    DEFAULT_WORLD,
    INVALID_ENTRY,
    INVALID_PARAMETER,
    TOO_MANY_WORLDS,
    UNKNOWN_WORLD,
    WORLD_EXISTS,
    Refused,
)
from reseller_sandbox.registry.shards import ALONE, Shard
from reseller_sandbox.registry.state import State, own_accounts
from reseller_sandbox.worlds import timeline
from reseller_sandbox.worlds.credentials import Claim, Inherited, claims, renewed
from reseller_sandbox.worlds.eventlog import EventLog
from reseller_sandbox.worlds.fixtures import Fixtures, lasting, told
from reseller_sandbox.worlds.journal import Tally
from reseller_sandbox.worlds.snapshot import Snapshot, to
from reseller_sandbox.worlds.timeline import AT, seen
from reseller_sandbox.worlds.world import Checkpoint, World
from reseller_sandbox.worlds.world_dump import EngineDump, ReplayResult, WorldDump

#: Why a credential lets nobody in of which nothing is known.
NOBODYS = "nobody has it"

#: How many credentials of former worlds are remembered.
MOST_REMEMBERED = 3000


class Index:
    """Which worlds have a credential, revoked or not, the oldest first. Tuples: a look-up needs no lock.

    A world keeps its claim on every credential that it ever had: it can go back to where it had it, and no
    other world is to have it by then.
    """

    def __init__(self) -> None:
        self.keys: dict[str, tuple[World, ...]] = {}
        self.tokens: dict[str, tuple[World, ...]] = {}
        self.secrets: dict[str, tuple[World, ...]] = {}
        self._held: dict[World, list[tuple[str, str, str]]] = {}
        self._claims: dict[Claim, World] = {}
        self._claimed: dict[World, list[Claim]] = {}
        self._ends: OrderedDict[str, str] = OrderedDict()  # whose oldest is found at once, as a dict's is not

    @property
    def _kinds(self) -> tuple[dict[str, tuple[World, ...]], ...]:
        return self.keys, self.tokens, self.secrets

    def add(self, world: World) -> None:
        """Take up the credentials that ``world`` has now."""
        accounts = own_accounts(world.state)
        self._held[world] = held = [(one.key, one.token, one.secret) for one in accounts]
        kinds = self._kinds
        for words in held:
            for found, word in zip(kinds, words, strict=True):
                others = found.get(word)
                if others is None:
                    found[word] = (world,)
                elif world not in others:  # where two accounts of the world have one secret
                    found[word] = _in_order((*others, world))
        for account in accounts:
            for claim in claims(account):
                if claim not in self._claims:
                    self._claim(claim, world)

    def _claim(self, claim: Claim, world: World) -> None:
        self._claims[claim] = world
        self._claimed.setdefault(world, []).append(claim)

    def _drop_claims(self, world: World) -> None:
        for claim in self._claimed.pop(world, ()):
            if self._claims.get(claim) is world:
                del self._claims[claim]

    def remove(self, world: World) -> None:
        """Forget the credentials that ``world`` had until now, but not its claim on them."""
        for words in self._held.pop(world, ()):
            for found, word in zip(self._kinds, words, strict=True):
                rest = tuple(one for one in found.get(word, ()) if one is not world)
                if rest:
                    found[word] = rest
                else:
                    found.pop(word, None)

    def holders(self, credential: str) -> Iterator[World]:
        """Yield the worlds that have it, be it as a key, a token or a secret."""
        for found in self._kinds:
            yield from found.get(credential, ())

    def forget(self, world: World, end: str) -> None:
        """Forget a world that is there no longer, but for how it came to its ``end``; what it had is free."""
        became = f"it was of the world {world.name}, which {end}"
        for credential in chain.from_iterable(self._held.get(world, ())):
            self._ends[credential] = became
            self._ends.move_to_end(credential)
        while len(self._ends) > MOST_REMEMBERED:
            self._ends.popitem(last=False)
        self.remove(world)
        self._drop_claims(world)

    def begin_again(self, world: World) -> None:
        """Drop the claims of a world that can go back to nothing on all but what it has now."""
        self._drop_claims(world)
        self.remove(world)
        self.add(world)

    def remembered(self) -> tuple[tuple[tuple[Claim, str], ...], Mapping[str, str]]:
        """Return the claims, each with the name of its world, and the ends of former worlds."""
        return tuple((claim, world.name) for claim, world in self._claims.items()), dict(self._ends)

    def recall(
        self, claims: Iterable[tuple[Claim, str]], ends: Mapping[str, str], worlds: Mapping[str, World]
    ) -> None:
        """Take up what another index remembered; ``worlds`` are those there are, by name."""
        for claim, name in claims:
            if name in worlds:
                self._claim(claim, worlds[name])
        self._ends |= ends

    def what_became_of(self, credential: str) -> str:
        """Return what became of the world that a credential was of; an empty text where that is unknown."""
        return self._ends.get(credential, "")

    def is_taken(self, account: Account, by_other_than: World | None = None) -> bool:
        """Whether a world other than that has or has had the key or the token of ``account``."""
        key, token = claims(account)
        known = self._claims
        return (
            known.get(key, by_other_than) is not by_other_than
            or known.get(token, by_other_than) is not by_other_than
        )


class Stranger(Struct, frozen=True):
    """Why a credential is refused, in words that do not repeat it, and the account that has it, if any."""

    reason: str
    sender: tuple[World, Account] | None = None


def somebodys(world: World, credential: str, there: World | None) -> Stranger | None:
    """Return what a credential is that an account of ``world`` has, if one does.

    ``there`` is the world that the path chose.
    """
    for client_id in sorted(world.state.accounts):
        account = world.state.accounts[client_id]
        kind = {account.key: "key", account.token: "token", account.secret: "secret"}.get(credential)
        if kind is None and world is there:
            kind = world.inherited.kind_of(credential, client_id)
        if kind is None:
            continue
        if there not in (None, world):
            return Stranger(f"it is of the world {world.name}, and the path names another")
        if kind in account.revoked:
            return Stranger("it has been revoked", (world, account))
        return Stranger(f"it is the {_CALLED[kind]} of the account {account.name}", (world, account))
    return None


_CALLED = {"key": "v3 API key", "token": "v2.0 token", "secret": "v3 secret"}


def _in_order(worlds: Iterable[World]) -> tuple[World, ...]:
    return tuple(sorted(worlds, key=lambda one: one.number))


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COUNTED = re.compile(r"w[0-9]+")


class Fork(Struct, frozen=True, kw_only=True):
    """What a new world is to be; None leaves a thing as its source has it.

    Its source is ``fixture`` (a packaged fixture's name), ``state`` (the YAML of one),
    or ``point`` of ``world`` (a world, or its name). ``now`` is where its clock begins: a fixture's dates
    move along, a world's events happen on the way there. ``seed`` is what codes and identifiers are drawn
    from, where two worlds are to draw the same.
    """

    world: World | str = DEFAULT
    point: str = "now"
    fixture: str | None = None
    state: str | None = None
    name: str | None = None
    now: datetime | None = None
    frozen: bool | None = None
    assume: Mapping[str, object] | None = None
    seed: str | None = None

    def applied(self, begin: Snapshot) -> Snapshot:
        """Return the source's moment with what else is wanted; refuse with ``invalid_parameter``."""
        if self.now is not None and self.fixture is None and self.state is None:
            instant = self.now
            begin, _ = to(lambda _: instant)(begin)
        if self.frozen is not None:
            begin = replace(begin, clock=begin.clock.freeze() if self.frozen else begin.clock.run())
        if not self.assume:
            return begin
        try:
            return replace(begin, assumptions=begin.assumptions.with_values(self.assume))
        except BadAssumption as problem:
            raise Refused(INVALID_PARAMETER, problems=f"assume: {problem}") from None

    @property
    def told(self) -> dict[str, object]:
        """Return what a new world's own event log says of where it came from."""
        source = self.world if isinstance(self.world, str) else self.world.name
        if self.state is not None:
            return {"state": "given"}
        if self.fixture is not None:
            return {"fixture": self.fixture}
        return {"world": source, "point": self.point}


def require_name(name: str, bare: str) -> None:
    """Refuse a name that no world can have; ``bare`` is it without what its shard puts before it."""
    if not _NAME.fullmatch(name) or _COUNTED.fullmatch(bare):
        problem = (
            "name takes 1 to 40 letters, digits, hyphens and underscores, a letter or digit first, and not w "
            f"with a number, which worlds without a name are called; it is {name[:60]!r}"
        )
        raise Refused(INVALID_PARAMETER, problems=problem)


#: How many seconds pass at least between two looks for idle worlds that nobody has asked for.
SWEEP = 1.0


class Engine:
    """The worlds of one server. Looking one up takes the same time however many there are."""

    def __init__(
        self,
        default: World,
        fixtures: Fixtures | None = None,
        contract: Callable[[], Contract] = tuple,
        shard: Shard = ALONE,
        relive: Callable[[bytes], ReplayResult] | None = None,
    ) -> None:
        self.default = default
        self.contract = contract
        self.relive = relive
        self.shard = shard
        self.limits = default.limits
        self.fixtures = fixtures or Fixtures(default.assumptions, default.clock.frozen)
        self.seed = default.state.seed
        self._count = 0
        self._swept = stopwatch()
        self._by_name: dict[str, World] = {}
        self.departed = Tally()
        self._lock = threading.RLock()
        self._index = Index()
        self._take(default)

    def go_on(self, kept: EngineDump, others: Iterable[World]) -> None:
        """Go on where another engine was, which had ``others`` beside the default world."""
        self.seed, self._count = kept.seed, kept.count
        for world in others:
            self._take(world, world.used)
        self._index.recall(kept.claims, kept.ends, self._by_name)
        self.departed.take(kept.departed)

    def kept(self) -> EngineDump:
        """Return what there is now, as a value."""
        with self._lock:
            worlds, departed = list(self._by_name.values()), Tally.of(self.departed)
            count, remembered = self._count, self._index.remembered()
        return EngineDump(self.seed, count, tuple(map(WorldDump.of, worlds)), *remembered, departed)

    def __iter__(self) -> Iterator[World]:
        with self._lock:
            self._drop_idle()
            return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def get(self, name: str) -> World | None:
        """Return the world of that name, if there is one; after an ``@`` stands a point of its past."""
        bare, at, point = name.partition(AT)
        world = self._by_name.get(bare)
        found = world if world is not None and self._in_use(world) else None
        return seen(found, point) if at and found is not None else found

    def find(self, name: str) -> World:
        """Return the world of that name; refuse with ``unknown_world``."""
        world = self.get(name)
        if world is None:
            raise self.unknown(name)
        return world

    def unknown(self, name: str) -> Refused:
        """Return the refusal of a world that is not there."""
        elsewhere = self.shard.elsewhere(name)
        return Refused(UNKNOWN_WORLD, world=name[:80], elsewhere=elsewhere and f": {elsewhere}")

    def by_key(self, key: str) -> tuple[World, Account] | None:
        """Return the account with this API key, and its world."""
        return self._account(key, self._index.keys, "account_by_key")

    def by_token(self, token: str) -> tuple[World, Account] | None:
        """Return the account with this v2.0 token, and its world."""
        return self._account(token, self._index.tokens, "account_by_token")

    def _account(
        self, credential: str, holders: Mapping[str, tuple[World, ...]], found_by: str
    ) -> tuple[World, Account] | None:
        for world in holders.get(credential, ()):
            client_id = getattr(world.state, found_by).get(credential)
            if client_id is not None and self._in_use(world):
                return world, world.state.accounts[client_id]
        return None

    def stranger(self, credential: str, there: World | None = None) -> Stranger:
        """Return why a key or token lets nobody in; ``there`` is the world that the path chose."""
        for world in (*([there] if there is not None else ()), *self._index.holders(credential)):
            known = somebodys(world, credential, there)
            if known is not None and self._in_use(world):
                return known
        became = self._index.what_became_of(credential)
        return Stranger(became or self.shard.elsewhere(credential) or NOBODYS)

    def fork(self, wanted: Fork | None = None) -> World:
        """Return a new world with credentials of its own, in time that grows with its accounts alone.

        Refuse with ``too_many_worlds``, ``world_exists``, ``unknown_world``, ``invalid_fixture``,
        ``invalid_parameter``, ``too_many_faults``, and with ``set_back`` when ``now`` is past at its source.
        """
        wanted = wanted or Fork()
        self._may_take(wanted.name)
        source = replace(self._source(wanted), log=EventLog(self.limits.max_events))
        begin, inherited = wanted.applied(source), self._inherited(wanted)
        with self._lock:
            name = self._may_take(wanted.name)
            number = self._count + 1
            state = self._with_credentials(begin.state, number)
            state = replace(state, seed=wanted.seed or f"{begin.state.seed}/{name}")
            world = World(name, replace(begin, state=state), self.limits, number)
            world.inherited = inherited.and_of(begin.state)
            self._count = number
            world.note("worlds.fork", wanted.told)
            self._take(world)
            return world

    def open(self, recording: bytes, name: str | None = None) -> tuple[World, ReplayResult]:
        """Return a new world that lives a recording's past again, with credentials of its own, and how it
        went.

        Refuse with ``too_many_worlds``, ``world_exists``, ``invalid_parameter`` and ``too_many_faults``.
        """
        assert self.relive is not None, "what makes this engine does not say how a recording is opened"
        self._may_take(name)
        relived = self.relive(recording)
        kept = relived.world
        self._bounded(kept.snapshot)
        with self._lock:
            name = self._may_take(name)
            number = self._count + 1
            renewed = kept.with_credentials(self._with_credentials(kept.snapshot.state, number))
            world = replace(renewed, name=name, number=number, idle=0.0).opened(self.limits)
            self._count = number
            self._take(world)
            return world, relived

    def load(self, world: World, text: str | Mapping[str, Any]) -> Checkpoint:
        """Let ``world`` begin again as a fixture says; return the branch that keeps what it was.

        Credentials that another world has, or can go back to, are replaced by new ones. Refuse with
        ``invalid_fixture`` and ``too_many_faults``, and then nothing has changed.
        """
        return self.begin_again(world, self.fixtures.text(text))

    def begin_again(self, world: World, begin: Snapshot) -> Checkpoint:
        """Let ``world`` begin again at a first moment, as ``load`` does; refuse with ``too_many_faults``."""
        begin = self._bounded(begin)
        with world.lock, self._lock:
            state = self._with_free_credentials(begin.state, world, own_accounts(begin.state))
            world.inherited = world.inherited.and_of(begin.state)
            return timeline.begin_again(world, replace(begin, state=state))

    def add(self, world: World, section: str, key: object, entry: Mapping[str, Any]) -> None:
        """Build an entry of a fixture's section onto ``world``; no money moves, nothing is played.

        Credentials that another world has, or can go back to, are replaced by new ones. Refuse with
        ``invalid_entry``, and then nothing has changed.
        """
        with world.lock, self._lock:
            world.settle()
            before = world.snapshot
            try:
                state = added(before.state, world.now(), before.assumptions, section, key, entry)
            except FixtureError as error:
                raise Refused(INVALID_ENTRY, problems=told(error)) from None
            new = [state.accounts[number] for number in state.accounts if number not in before.state.accounts]
            state = self._with_free_credentials(state, world, new)
            world.snapshot = lasting(replace(before, state=state))

    def drop(self, name: str) -> None:
        """Delete a world; refuse with ``unknown_world`` and ``default_world``."""
        with self._lock:
            world = self.find(name)
            if world is self.default:
                raise Refused(DEFAULT_WORLD)
            self._forget(world, "was deleted")

    def start_over(self) -> None:
        """Be as at the start: no forks, and the default world at its first moment, whatever it has loaded."""
        with self._lock:
            for world in list(self._by_name.values()):
                if world is not self.default:
                    self._forget(world, "was deleted")
            self._count = 0
            self.forget_exercises()
        timeline.reset(self.default, original=True)
        self.default.inherited = Inherited()
        self._index.begin_again(self.default)

    def exercised(self) -> Tally:
        """Return what has been exercised in every world, those among them that are gone."""
        with self._lock:
            return Tally.of(self.departed, *(world.tally for world in self._by_name.values()))

    def forget_exercises(self) -> None:
        """Forget what has been exercised in every world."""
        with self._lock:
            for one in (self.departed, *(world.tally for world in self._by_name.values())):
                one.clear()

    def idle(self, world: World) -> float:
        """Return for how many seconds of the machine's time nobody has used ``world``."""
        return stopwatch() - world.used

    def _may_take(self, name: str | None) -> str:
        """Return the name of the next world; refuse where there may be none, or not of that name."""
        with self._lock:
            if stopwatch() - self._swept > SWEEP or len(self._by_name) >= self.limits.max_worlds:
                self._drop_idle()
            if len(self._by_name) >= self.limits.max_worlds:
                raise Refused(
                    TOO_MANY_WORLDS,
                    count=len(self._by_name),
                    limit=self.limits.max_worlds,
                    setting="--max-worlds",
                )
            if name is None:
                return self.shard.unique(f"w{self._count + 1}")
            require_name(name, self.shard.bare(name))
            named = self.shard.named(name)
            if named in self._by_name:
                raise Refused(WORLD_EXISTS, world=named)
            return named

    def _source(self, wanted: Fork) -> Snapshot:
        if wanted.state is not None:
            return self._bounded(self.fixtures.text(wanted.state, wanted.now))
        if wanted.fixture is not None:
            return self._bounded(self.fixtures.named(wanted.fixture, wanted.now))
        return timeline.point(self._origin(wanted), wanted.point)

    def _origin(self, wanted: Fork) -> World:
        return self.find(wanted.world) if isinstance(wanted.world, str) else wanted.world

    def _bounded(self, begin: Snapshot) -> Snapshot:
        self.limits.require_room_for_faults(len(begin.faults.rules))
        return begin

    def _with_credentials(self, state: State, number: int) -> State:
        """Return ``state`` with new credentials, free in every world, for all accounts."""
        accounts = {one for one in state.accounts if one != OUTSIDE}
        return renewed(state, self.seed, number, self._index.is_taken, accounts, self.shard)

    def _with_free_credentials(self, state: State, world: World, accounts: Iterable[Account]) -> State:
        """Return ``state`` for ``world``, with new credentials in place of those of other worlds."""

        def is_taken(account: Account) -> bool:
            return self._index.is_taken(account, by_other_than=world)

        def is_foreign(account: Account) -> bool:
            return not all(map(self.shard.owns, (account.key, account.token)))

        guarded = bool(self.shard.name) and world is not self.default
        others = {one.client_id for one in accounts if (guarded and is_foreign(one)) or is_taken(one)}
        return renewed(state, self.seed, world.number, is_taken, others, self.shard)

    def _inherited(self, wanted: Fork) -> Inherited:
        if wanted.fixture is not None or wanted.state is not None:
            return Inherited()
        return self._origin(wanted).inherited

    def _take(self, world: World, used: float | None = None) -> None:
        self._by_name[world.name] = world
        world.used = stopwatch() if used is None else used
        world.when_credentials_change = self._reindex
        self._reindex(world)

    def _forget(self, world: World, end: str) -> None:
        world.when_credentials_change = None
        self._index.forget(world, end)
        if self._by_name.pop(world.name, None) is not None:
            self.departed.take(world.tally)
        world.feed.end()

    def _reindex(self, world: World) -> None:
        with self._lock:
            self._index.remove(world)
            self._index.add(world)

    def _in_use(self, world: World) -> bool:
        """Whether ``world`` is still there, which using it keeps it."""
        if self._drop_if_idle(world):
            return False
        world.used = stopwatch()
        return True

    def _drop_idle(self) -> None:
        self._swept = stopwatch()
        for world in list(self._by_name.values()):
            self._drop_if_idle(world)

    def _drop_if_idle(self, world: World) -> bool:
        """Forget ``world`` if nobody has used it for too long; return whether that is so."""
        limit = self.limits.world_idle
        if not limit or world is self.default or self.idle(world) <= limit:
            return False
        with self._lock:
            self._forget(world, f"nobody used for {limit:g} seconds (--world-idle)")
        return True
