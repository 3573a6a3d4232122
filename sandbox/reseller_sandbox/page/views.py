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
)
