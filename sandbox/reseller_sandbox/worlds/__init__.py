"""Worlds: each a registry with its own accounts, clock, assumptions and journal, found by its credentials."""

from reseller_sandbox.worlds.fixtures import Fixtures
from reseller_sandbox.worlds.journal import Entry, Journal
from reseller_sandbox.worlds.moment import Moment
from reseller_sandbox.worlds.registry import DEFAULT, Engine, Fork
from reseller_sandbox.worlds.world import Line, Outcome, World

__all__ = ["DEFAULT", "Engine", "Entry", "Fixtures", "Fork", "Journal", "Line", "Moment", "Outcome", "World"]
