"""The views of the page, in the order of its menu."""

from __future__ import annotations

from typing import NamedTuple


class ViewRow(NamedTuple):
    """A view: its name, which its file and its address have as well, its title, and what it is for."""

    name: str
    title: str
    about: str


VIEWS = (
    ViewRow("journal", "Journal", "Requests and what came of them, as they come."),
    ViewRow("names", "Names", "The names of the registry, and all that is known of each."),
    ViewRow("travel", "Travel", "The world's past: look at it, go back to it, compare two points."),
    ViewRow("faults", "Faults", "What makes requests fail: presets, rules and what they struck."),
    ViewRow("outside", "Other side", "What strangers, registrars and registries do: now, or planned."),
    ViewRow("money", "Money", "Balances over time, every movement, and advice."),
    ViewRow("console", "Console", "Any operation, filled in, signed and sent."),
    ViewRow("assumptions", "Assumptions", "What the contract leaves open, and what it means here."),
    ViewRow("worlds", "Worlds", "All worlds: fork, drop, compare, save and open them."),
)
