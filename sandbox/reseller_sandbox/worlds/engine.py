"""The worlds of one server: look-up by name or credentials, fork, and removal."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox import refusals as r
from reseller_sandbox.fixture import FixtureError, added
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.contract import Contract
from reseller_sandbox.registry.model import OUTSIDE, Account
from reseller_sandbox.registry.shards import ALONE, Shard
from reseller_sandbox.registry.state import State, account_with, own_accounts
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.kinds import Within
from reseller_sandbox.values.parameters import refused
from reseller_sandbox.worlds import timeline
from reseller_sandbox.worlds.credentials import Claim, Inherited, claims, renewed
from reseller_sandbox.worlds.fixtures import Fixtures, lasting, problems_line
from reseller_sandbox.worlds.journal import Tally
from reseller_sandbox.worlds.snapshot import EventLog, Snapshot, to
from reseller_sandbox.worlds.timeline import AT, seen
from reseller_sandbox.worlds.world import Checkpoint, World
from reseller_sandbox.worlds.world_dump import EngineDump, ReplayResult, WorldDump

#: The reason for rejecting an unknown credential.
NO_ACCOUNT = "nobody has it"

#: The maximum number of remembered credentials of deleted worlds.
MOST_REMEMBERED = 3000


class Index:
    """An index of worlds by the credentials of their accounts.

    A world keeps its claim on every key and token that it ever had, because a rewind can bring the credential
    back, and no other world may have it then. So at most one world has a key or a token.
    """

    def __init__(self) -> None:
        #: The world that has, or once had, each credential.
        self.claimants: dict[Claim, World] = {}
        #: Why the world of a credential no longer exists. An OrderedDict removes its oldest entry in constant
        #: time.
        self.ends: OrderedDict[str, str] = OrderedDict()

    def add(self, world: World) -> None:
        """Claim the present keys and tokens of ``world``, except those that another world has claimed."""
        for account in own_accounts(world.state):
            for claim in claims(account):
                self.claimants.setdefault(claim, world)

    def forget(self, world: World, end: str) -> None:
        """Remove the claims of a deleted world. Remember the reason ``end`` for later error messages."""
        end = f"it was of the world {world.name}, which {end}"
        for account in own_accounts(world.state):
            for credential in (account.key, account.token, account.secret):
                self.ends[credential] = end
                self.ends.move_to_end(credential)
        while len(self.ends) > MOST_REMEMBERED:
            self.ends.popitem(last=False)
        # Make a new dictionary, because other threads may be reading the old one.
        self.claimants = {claim: holder for claim, holder in self.claimants.items() if holder is not world}

    def is_taken(self, account: Account, by_other_than: World | None = None) -> bool:
        """Whether another world has or had the key or the token of ``account``."""
        return any(self.claimants.get(claim, by_other_than) is not by_other_than for claim in claims(account))


class Rejection(Struct, frozen=True):
    """The reason why a credential was rejected. It does not contain the credential.

    ``sender`` is the account that has the credential, if there is one.
    """

    reason: str
    sender: tuple[World, Account] | None = None


def rejection_in(world: World, credential: str, path_world: World | None) -> Rejection | None:
    """Return why ``credential`` is rejected, if it belongs to an account in ``world``, or else None.

    ``path_world`` is the world that the path selected.
    """
    for client_id in sorted(world.state.accounts):
        account = world.state.accounts[client_id]
        kind = {account.key: "key", account.token: "token", account.secret: "secret"}.get(credential)
        if kind is None and world is path_world:
            kind = world.inherited.kind_of(credential, client_id)
        if kind is None:
            continue
        if path_world not in (None, world):
            return Rejection(f"it is of the world {world.name}, and the path names another")
        if kind in account.revoked:
            return Rejection("it has been revoked", (world, account))
        return Rejection(f"it is the {_CALLED[kind]} of the account {account.name}", (world, account))
    return None


_CALLED: Mapping[str, str] = {"key": "API key", "token": "token", "secret": "secret"}


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COUNTED = re.compile(r"w[0-9]+")


class Fork(Struct, frozen=True, kw_only=True):
    """Parameters of a fork. A parameter that is None keeps the value of the source.

    The source is ``fixture`` (the name of a packaged fixture), ``state`` (the YAML of a fixture), or
    ``point`` of ``world`` (a world or its name). ``now`` is the start of the clock: the dates of a fixture
    are shifted, and the due events of a world take effect up to ``now``. ``seed`` determines generated codes
    and identifiers. Two worlds with the same seed generate the same ones.
    """

    world: World
    point: str = "now"
    fixture: str | None = None
    state: str | None = None
    name: str | None = None
    now: datetime | None = None
    frozen: bool | None = None
    assume: Mapping[str, object] | None = None
    seed: str | None = None

    def applied(self, begin: Snapshot) -> Snapshot:
        """Return the source snapshot ``begin`` with the parameters of this fork applied.

        Refuse with ``invalid_parameter`` if an assumption is invalid.
        """
        if self.now is not None and self.fixture is None and self.state is None:
            instant = self.now
            begin, _ = to(lambda _: instant)(begin)
        if self.frozen is not None:
            begin = replace(begin, clock=begin.clock.freeze() if self.frozen else begin.clock.run())
        if not self.assume:
            return begin
        try:
            return replace(begin, assumptions=begin.assumptions.with_values(self.assume))
        except Within as invalid:
            raise refused(invalid.problems, "assume") from None

    @property
    def parameters(self) -> dict[str, object]:
        """Return the source of the fork as the event log of the new world shows it."""
        if self.state is not None:
            return {"state": "given"}
        if self.fixture is not None:
            return {"fixture": self.fixture}
        return {"world": self.world.name, "point": self.point}


def require_name(name: str, bare: str) -> None:
    """Refuse an invalid world name.

    ``bare`` is the name without the prefix of its shard.
    """
    if not _NAME.fullmatch(name) or _COUNTED.fullmatch(bare):
        problem = (
            "name takes 1 to 40 letters, digits, hyphens and underscores, a letter or digit first, and not w "
            f"with a number, which worlds without a name are called; it is {name[:60]!r}"
        )
        raise Refused(r.INVALID_PARAMETER, problems=problem)


#: Minimum interval in seconds between two scans for idle worlds.
SWEEP = 1.0


class Engine:
    """The worlds of one server.

    A look-up takes constant time for any number of worlds. The headers that sign a request to this server
    begin with ``header_prefix``.
    """

    def __init__(
        self,
        default: World,
        fixtures: Fixtures | None = None,
        contract: Callable[[], Contract] = tuple,
        shard: Shard = ALONE,
        open_recording: Callable[[bytes], ReplayResult] | None = None,
        header_prefix: str = "",
    ) -> None:
        self.default = default
        self.header_prefix = header_prefix
        self.contract = contract
        self.open_recording = open_recording
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

    def restore(self, dump: EngineDump, others: Iterable[World]) -> None:
        """Take over the saved worlds in ``others``, and the other data of their engine from ``dump``."""
        self.seed, self._count = dump.seed, dump.count
        for world in others:
            self._take(world, world.used)
        worlds = self._by_name
        self._index.claimants |= {claim: worlds[name] for claim, name in dump.claims if name in worlds}
        self._index.ends |= dump.ends
        self.departed.take(dump.departed)

    def dump(self) -> EngineDump:
        """Return the worlds and credentials of this engine as a value that can be saved."""
        with self._lock:
            worlds, departed = list(self._by_name.values()), Tally.of(self.departed)
            claims = tuple((claim, world.name) for claim, world in self._index.claimants.items())
            count, ends = self._count, dict(self._index.ends)
        return EngineDump(self.seed, count, tuple(map(WorldDump.of, worlds)), claims, ends, departed)

    def __iter__(self) -> Iterator[World]:
        with self._lock:
            self._drop_idle()
            return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def get(self, name: str) -> World | None:
        """Return the world called ``name``, or None.

        A name with ``@`` and a point selects a view of its past: ``default@before:r3``.
        """
        bare, at, point = name.partition(AT)
        world = self._by_name.get(bare)
        present = world if world is not None and self._in_use(world) else None
        return seen(present, point) if at and present is not None else present

    def find(self, name: str) -> World:
        """Return the world called ``name``. Refuse with ``unknown_world``."""
        world = self.get(name)
        if world is None:
            raise self.unknown(name)
        return world

    def unknown(self, name: str) -> Refused:
        """Return the refusal for an unknown world."""
        elsewhere = self.shard.elsewhere(name)
        return Refused(r.UNKNOWN_WORLD, world=name[:80], elsewhere=elsewhere and f": {elsewhere}")

    def by_key(self, key: str, path_world: World | None = None) -> tuple[World, Account] | None:
        """Return the world and the account with the API key ``key``, or None.

        If the path selected a world (``path_world``), only that world's accounts count, also with
        inherited credentials.
        """
        return self._account(("key", key), path_world)

    def by_token(self, token: str, path_world: World | None = None) -> tuple[World, Account] | None:
        """Return the world and the account with the token ``token``, or None."""
        return self._account(("token", token), path_world)

    def _account(self, claim: Claim, path_world: World | None) -> tuple[World, Account] | None:
        if path_world is not None:
            account = path_world.inherited.account(claim, path_world.state)
            return None if account is None else (path_world, account)
        world = self._index.claimants.get(claim)
        account = None if world is None else account_with(world.state, *claim)
        return (world, account) if world is not None and account is not None and self._in_use(world) else None

    def rejection(self, credential: str, path_world: World | None = None) -> Rejection:
        """Return the reason why the key or token ``credential`` is rejected.

        ``path_world`` is the world that the path selected.
        """
        for world in (*([path_world] if path_world is not None else ()), *list(self._by_name.values())):
            known = rejection_in(world, credential, path_world)
            if known is not None and self._in_use(world):
                return known
        end = self._index.ends.get(credential)
        return Rejection(end or self.shard.elsewhere(credential) or NO_ACCOUNT)

    def fork(self, request: Fork) -> World:
        """Create the world that ``request`` describes. Give it its own credentials, and return it.

        The time grows only with the number of accounts. Refuse with ``too_many_worlds``, ``world_exists``,
        ``unknown_world``, ``invalid_fixture``, ``invalid_parameter``, ``too_many_faults``, and with
        ``set_back`` if ``now`` is before the time of the source.
        """
        self._may_take(request.name)
        source, inherited = self._source(request)
        begin = request.applied(replace(source, log=EventLog(self.limits.max_events)))
        with self._lock:
            name = self._may_take(request.name)
            number = self._count + 1
            state = self._with_credentials(begin.state, number)
            state = replace(state, seed=request.seed or f"{begin.state.seed}/{name}")
            world = World(name, replace(begin, state=state), self.limits, number)
            world.inherited = inherited.and_of(begin.state)
            self._count = number
            world.note("worlds.fork", request.parameters)
            self._take(world)
            return world

    def open(self, recording: bytes, name: str | None = None) -> tuple[World, ReplayResult]:
        """Replay a recording in a new world with its own credentials.

        Return the world and the result of the replay. Refuse with ``too_many_worlds``, ``world_exists``,
        ``invalid_parameter`` and ``too_many_faults``.
        """
        assert self.open_recording is not None, "this engine was made without open_recording"
        self._may_take(name)
        replay = self.open_recording(recording)
        kept = replay.world
        self._bounded(kept.snapshot)
        with self._lock:
            name = self._may_take(name)
            number = self._count + 1
            renewed = kept.with_credentials(self._with_credentials(kept.snapshot.state, number))
            world = replace(renewed, name=name, number=number, idle=0.0).opened(self.limits)
            self._count = number
            self._take(world)
            return world, replay

    def restart(self, world: World, begin: Snapshot) -> Checkpoint:
        """Restart ``world`` from ``begin``. Return the branch with its previous history.

        Credentials that another world has, or can go back to, are replaced by new ones. Refuse with
        ``too_many_faults`` and change nothing in this case.
        """
        begin = self._bounded(begin)
        with world.lock, self._lock:
            state = self._with_free_credentials(begin.state, world, own_accounts(begin.state))
            world.inherited = world.inherited.and_of(begin.state)
            return timeline.restart(world, replace(begin, state=state))

    def add(self, world: World, section: str, key: object, entry: Mapping[str, object]) -> None:
        """Add an entry of a fixture section to ``world``.

        No money moves and no event occurs. Credentials that another world has, or can go back to, are
        replaced by new ones. Refuse with ``invalid_entry`` and change nothing in this case.
        """
        with world.lock:
            world.settle()
            before = world.snapshot
            try:
                state = added(before.state, world.now(), before.assumptions, section, key, entry)
            except FixtureError as error:
                raise Refused(r.INVALID_ENTRY, problems=problems_line(error)) from None
            new = [state.accounts[number] for number in state.accounts if number not in before.state.accounts]
            with self._lock:
                state = self._with_free_credentials(state, world, new)
                world.snapshot = lasting(replace(before, state=state))

    def drop(self, name: str) -> None:
        """Delete a world. Refuse with ``unknown_world`` and ``default_world``."""
        with self._lock:
            world = self.find(name)
            if world is self.default:
                raise Refused(r.DEFAULT_WORLD)
            self._forget(world, "was deleted")

    def exercised(self) -> Tally:
        """Return the usage counts of all worlds, deleted ones included."""
        with self._lock:
            return Tally.of(self.departed, *(world.tally for world in self._by_name.values()))

    def forget_exercises(self) -> None:
        """Clear the usage counts of all worlds."""
        with self._lock:
            for tally in (self.departed, *(world.tally for world in self._by_name.values())):
                tally.clear()

    def idle(self, world: World) -> float:
        """Return how many seconds ``world`` has been unused, by the clock of the machine."""
        return stopwatch() - world.used

    def _may_take(self, name: str | None) -> str:
        """Return the full name for a new world. Refuse if ``name`` is taken or there are too many worlds."""
        with self._lock:
            if stopwatch() - self._swept > SWEEP or len(self._by_name) >= self.limits.max_worlds:
                self._drop_idle()
            if len(self._by_name) >= self.limits.max_worlds:
                raise Refused(
                    r.TOO_MANY_WORLDS,
                    count=len(self._by_name),
                    limit=self.limits.max_worlds,
                    setting="--max-worlds",
                )
            if name is None:
                return self.shard.unique(f"w{self._count + 1}")
            require_name(name, self.shard.bare(name))
            named = self.shard.named(name)
            if named in self._by_name:
                raise Refused(r.WORLD_EXISTS, world=named)
            return named

    def _source(self, request: Fork) -> tuple[Snapshot, Inherited]:
        """Return the snapshot that ``request`` copies, and the credentials of its world."""
        if request.state is not None:
            return self._bounded(self.fixtures.text(request.state, request.now)), Inherited()
        if request.fixture is not None:
            return self._bounded(self.fixtures.named(request.fixture, request.now)), Inherited()
        return timeline.point(request.world, request.point).snapshot, request.world.inherited

    def _bounded(self, begin: Snapshot) -> Snapshot:
        self.limits.require_room_for_faults(len(begin.faults.rules))
        return begin

    def _with_credentials(self, state: State, number: int) -> State:
        """Return ``state`` with new credentials for all accounts, unique among all worlds."""
        accounts = {client_id for client_id in state.accounts if client_id != OUTSIDE}
        return renewed(state, self.seed, number, self._index.is_taken, accounts, self.shard)

    def _with_free_credentials(self, state: State, world: World, accounts: Iterable[Account]) -> State:
        """Return ``state`` with new credentials for ``accounts`` that have credentials of another world."""

        is_taken = partial(self._index.is_taken, by_other_than=world)
        guarded = bool(self.shard.name) and world is not self.default
        others = {
            account.client_id
            for account in accounts
            if (guarded and not all(map(self.shard.owns, (account.key, account.token)))) or is_taken(account)
        }
        return renewed(state, self.seed, world.number, is_taken, others, self.shard)

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
            self._index.add(world)

    def _in_use(self, world: World) -> bool:
        """Return whether ``world`` still exists, and mark an existing world as used just now."""
        if self._drop_if_idle(world):
            return False
        world.used = stopwatch()
        return True

    def _drop_idle(self) -> None:
        self._swept = stopwatch()
        for world in list(self._by_name.values()):
            self._drop_if_idle(world)

    def _drop_if_idle(self, world: World) -> bool:
        """Delete ``world`` if it was unused for ``world_idle`` seconds. Return whether it was deleted."""
        limit = self.limits.world_idle
        if not limit or world is self.default or self.idle(world) <= limit:
            return False
        with self._lock:
            self._forget(world, f"nobody used for {limit:g} seconds (--world-idle)")
        return True
