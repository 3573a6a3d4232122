"""Worlds: each has a registry, accounts, a clock, assumptions and a journal.

A request reaches a world by its credentials or by its path.
"""

from reseller_sandbox.worlds.engine import Engine, Fork
from reseller_sandbox.worlds.fixtures import Fixtures
from reseller_sandbox.worlds.journal import UNCHECKED, Entry
from reseller_sandbox.worlds.snapshot import Snapshot
from reseller_sandbox.worlds.world import Checkpoint, World

__all__ = ["UNCHECKED", "Checkpoint", "Engine", "Entry", "Fixtures", "Fork", "Snapshot", "World"]
