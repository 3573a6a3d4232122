"""The transport to a world of this process.

The HTTP interface uses this transport, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext

from reseller_sandbox.control.resource import Operation
from reseller_sandbox.refusals import INVALID_PARAMETER, OVER_SPEND_LIMIT, Refused
from reseller_sandbox.registry.contract import Vocabulary
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.timeline import AT


class UndeclaredRefusal(AssertionError):
    """Error for a bug: an operation raised a refusal that the operation does not declare."""


class InheritedWorld(RuntimeError):
    """A process uses the world of its parent process, of which a fork has made a copy."""

    def __init__(self, world: str) -> None:
        super().__init__(
            f"this process was forked from the one with the sandbox, so it has only a copy of world {world}. "
            "Read sandbox.url before the fork, and send the requests of this process to that address. In "
            "pytest, use --reseller-sandbox-mode=server"
        )


class LocalTransport:
    """Carries out operations on one world of this process."""

    def __init__(self, worlds: Engine, world: World) -> None:
        self.worlds = worlds
        self.world = world
        #: The id of the process that created this transport.
        self.process = os.getpid()

    def __str__(self) -> str:
        return f"world {self.name}"

    @property
    def name(self) -> str:
        """Return the name of the world."""
        return self.world.name

    @property
    def words(self) -> Vocabulary | None:
        """Return the operations that clients can call, and their possible errors."""
        return self.worlds.fixtures.words

    @property
    def is_outdated(self) -> bool:
        """Whether the world was deleted, even if another world now has the same name."""
        current = self.worlds.get(self.world.name.partition(AT)[0])
        return current is None or (current is not self.world and not self.world.is_past)

    def require_world(self) -> None:
        """Refuse with ``unknown_world`` if the world was deleted.

        Raise ``InheritedWorld`` in a process that was forked from the one that created this transport.
        """
        if self.process != os.getpid():
            raise InheritedWorld(self.name)
        if self.is_outdated:
            raise self.worlds.unknown(self.name)

    def entering(self, world: str) -> LocalTransport:
        """Return the transport to another world of this process."""
        return LocalTransport(self.worlds, self.worlds.find(world))

    def close(self) -> None:
        """Do nothing, because there is no connection to close."""

    def carry_out(self, operation: Operation, arguments: Mapping[str, object]) -> object:
        """Return the result of ``operation``. Raise ``Refused``.

        Raise ``UndeclaredRefusal`` if the operation does not declare the rule, and ``InheritedWorld`` in a
        forked process.
        """
        self.require_world()
        values = operation.read(arguments)
        resource = operation.resource(self)
        try:
            if operation.sort != "write" or values.get("dry_run"):
                return operation.call(resource, values)
            self.world.require_present()
            # Hold the lock until the action is logged, so that no reader sees an effect without its log
            # entry.
            with (
                nullcontext() if operation.apart else self.world.undoing(Refused, journal=True),
                self.world.acting(operation.id, **operation.dump(values)),
            ):
                return operation.call(resource, values)
        except Refused as refused:
            anywhere = (INVALID_PARAMETER, OVER_SPEND_LIMIT)
            if self.world.is_past or refused.rule in (*anywhere, *operation.refuses):
                raise
            raise UndeclaredRefusal(f"{operation.id} does not declare this refusal: {refused}") from refused
