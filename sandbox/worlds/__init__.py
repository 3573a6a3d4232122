"""Worlds: each a registry with its own accounts, clock, assumptions and journal, found by its credentials."""

from sandbox.worlds.fixtures import Fixtures
from sandbox.worlds.journal import Entry, Journal
from sandbox.worlds.limits import Limits
from sandbox.worlds.moment import Moment, NothingDue, SetBack
from sandbox.worlds.registry import DEFAULT, Fork, Worlds
from sandbox.worlds.world import Line, Outcome, World

__all__ = [
    "DEFAULT",
    "Entry",
    "Fixtures",
    "Fork",
    "Journal",
    "Limits",
    "Line",
    "Moment",
    "NothingDue",
    "Outcome",
    "SetBack",
    "World",
    "Worlds",
]
