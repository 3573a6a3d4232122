"""A world's memory, for a test to hold: its snapshots, branches, forks and fixtures."""

from __future__ import annotations

from collections.abc import Mapping

from reseller_sandbox.worlds import Engine, Line, World, diff, history_points
from reseller_sandbox.worlds.diff import Difference


class InWorld:
    """What can be asked of one world and done to its past; the base of ``Sandbox``.

    Every refusal is a ``Refused`` that names the rule and says what would do.
    """

    world: World
    engine: Engine

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
