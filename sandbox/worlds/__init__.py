"""Worlds: each a registry with its own accounts, clock, assumptions and journal, found by its credentials."""

from sandbox.worlds.journal import Entry, Journal
from sandbox.worlds.moment import Moment, NothingDue, SetBack
from sandbox.worlds.registry import DEFAULT, Worlds
from sandbox.worlds.world import Branch, Outcome, World

__all__ = [
    "DEFAULT",
    "Branch",
    "Entry",
    "Journal",
    "Moment",
    "NothingDue",
    "Outcome",
    "SetBack",
    "World",
    "Worlds",
]
