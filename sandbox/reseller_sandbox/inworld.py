"""A world's memory, for a test to hold: its journal and ledger, snapshots, branches, forks and fixtures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reseller_sandbox.core.words import Vocabulary, read_match
from reseller_sandbox.worlds import Engine, Entry, Line, World, diff, history_points, ledger, shown, verify
from reseller_sandbox.worlds.diff import Difference
from reseller_sandbox.worlds.explain import Explanation, explain
from reseller_sandbox.worlds.ledger import Ledger, Wanted


class InWorld:
    """What can be asked of one world and done to its past; the base of ``Sandbox``.

    Every refusal is a ``Refused`` that names the rule and says what would do.
    """

    world: World
    engine: Engine

    @property
    def journal(self) -> JournalView:
        """The requests that the world remembers."""
        return JournalView(self.world, self.engine.fixtures.words)

    @property
    def ledger(self) -> Ledger:
        """Every movement of money, with totals by order, operation, purpose and account."""
        return ledger.of(self.world)

    def movements(self, **wanted: Any) -> Ledger:
        """The movements of money that are ``wanted``; takes the fields of
        ``Wanted``."""
        return ledger.of(self.world, Wanted(**wanted))

    def snapshot(self, name: str) -> Line:
        """Keep this moment under ``name``."""
        return self.world.snapshot(name)

    def restore(self, name: str) -> Line:
        """Go back to a snapshot; answers the branch that keeps what was left behind."""
        return self.world.restore(name)

    def drop_snapshot(self, name: str) -> None:
        """Forget a snapshot."""
        self.world.drop_snapshot(name)

    def rewind(self, request: str, *, before: bool = True) -> Line:
        """Go back to before a request, or to just after it; answers the branch that keeps its future."""
        return self.world.rewind(request, before=before)

    def switch(self, branch: str) -> Line:
        """Take up a branch where it ended; answers the branch of what was left behind."""
        return self.world.switch(branch)

    def drop_branch(self, name: str) -> None:
        """Forget a branch."""
        self.world.drop_branch(name)

    @property
    def branches(self) -> Mapping[str, Line]:
        """The futures that were left behind, the oldest first."""
        return dict(self.world.branches)

    @property
    def snapshots(self) -> Mapping[str, Line]:
        """The moments that are kept under a name."""
        return dict(self.world.snapshots)

    def diff(self, earlier: str = "start", later: str = "now") -> Difference:
        """What differs between two points: ``start``, ``now``, ``before:r3``, ``after:r3``,
        ``snapshot:NAME``, ``branch:NAME``."""
        return diff.between(history_points.find(self.world, earlier), history_points.find(self.world, later))

    def export(self) -> str:
        """The whole world as a fixture in YAML."""
        return self.engine.fixtures.written(self.world.present())

    def load(self, fixture: str) -> Line:
        """Begin again as a fixture in YAML says; answers the branch that keeps what the world was."""
        return self.engine.load(self.world, fixture)

    def verify(
        self,
        match: Mapping[str, Any] | None = None,
        *,
        count: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> tuple[Entry, ...]:
        """Assert that requests like ``match`` came: ``count`` of them, within bounds, or one at least.

        ``match`` is written as that of a fault; answers the requests. The AssertionError says what came near.
        """
        wanted = read_match(match or {}, self.engine.fixtures.words)
        verdict = verify.count(self.world, wanted, exactly=count, least=at_least, most=at_most)
        return _asserted(verdict)

    def verify_in_order(self, *matches: Mapping[str, Any]) -> tuple[Entry, ...]:
        """Assert that requests like each of ``matches`` came one after another; answers them."""
        words = self.engine.fixtures.words
        wanted = [read_match(match, words, f"in_order[{at}]") for at, match in enumerate(matches)]
        return _asserted(verify.in_order(self.world, wanted))


class JournalView:
    """The requests that a world remembers, in the order in which they came."""

    def __init__(self, world: World, words: Vocabulary | None) -> None:
        self._world = world
        self._words = words

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._world.journal)

    def __len__(self) -> int:
        return len(self._world.journal)

    def __getitem__(self, at: int) -> Entry:
        return self._world.journal.entries[at]

    def get(self, request: str) -> Entry:
        """The request of that name."""
        return self._world.journal.get(request)

    def show(self, request: str) -> dict[str, Any]:
        """All that there is to say of a request, without its secrets."""
        return shown.entry(self.get(request))

    def find(self, **match: Any) -> tuple[Entry, ...]:
        """The requests that are like ``match``: the parts of a match."""
        return verify.find(self._world, read_match(match, self._words, ""))

    def count(self, **match: Any) -> int:
        """How many requests are like ``match``."""
        return len(self.find(**match))

    def why(self, request: str) -> Explanation | None:
        """Why a request was refused: the rule, the state it met, the nearest move that would be allowed."""
        return explain(self.get(request))

    def clear(self) -> None:
        """Forget every request."""
        self._world.forget_requests()


def _asserted(verdict: verify.Verdict) -> tuple[Entry, ...]:
    if not verdict.verified:
        raise AssertionError(verdict.explained())
    return verdict.found
