"""The door within the process that holds the worlds; the rows of HTTP go through it as well."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.registry.contract import Vocabulary
from reseller_sandbox.registry.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.timeline import AT, require_present


class UndeclaredRefusal(AssertionError):
    """A resource has refused by a rule that it does not declare: a bug in the resource."""


class LocalTransport:
    """Acts on ``world``, one of ``worlds``, in this process."""

    def __init__(self, worlds: Engine, world: World) -> None:
        self.worlds = worlds
        self.world = world

    def __str__(self) -> str:
        return f"world {self.name}"

    @property
    def name(self) -> str:
        """Return the name of its world."""
        return self.world.name

    @property
    def words(self) -> Vocabulary | None:
        """Return the operations that clients can call, and the errors that can answer them."""
        return self.worlds.fixtures.words

    @property
    def is_outdated(self) -> bool:
        """Whether its world has been deleted; another may have its name by now."""
        there = self.worlds.get(self.name.partition(AT)[0])
        return there is None or (there is not self.world and not self.world.is_past)

    def require_world(self) -> None:
        """Refuse with ``unknown_world`` if the world has been deleted."""
        if self.is_outdated:
            raise self.worlds.unknown(self.name)

    def entering(self, world: str) -> LocalTransport:
        """Return the door to another world of this process."""
        return LocalTransport(self.worlds, self.worlds.find(world))

    def close(self) -> None:
        """Do nothing: there is no connection to close."""

    def carry_out(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return the result of ``operation``; raise ``Refused``, or else ``UndeclaredRefusal``."""
        self.require_world()
        told = operation.read(given)
        resource = operation.resource(self)
        try:
            if operation.sort != "write" or told.get("dry_run"):
                return operation.call(resource, told)
            require_present(self.world)
            # Hold the lock until the action is logged: no reader sees an effect without its log entry.
            with (
                nullcontext() if operation.apart else self.world.undoing(Refused, journal=True),
                self.world.acting(operation.id, **operation.written(told)),
            ):
                return operation.call(resource, told)
        except Refused as refused:
            if self.world.is_past or refused.rule in (INVALID_PARAMETER, *operation.refuses):
                raise
            raise UndeclaredRefusal(f"{operation.id} refuses by {refused}") from refused


def local_transport(resource: Resource) -> LocalTransport:
    """Return the door of a resource whose body is running, which is always on the side of the world."""
    assert isinstance(resource._transport, LocalTransport)
    return resource._transport
