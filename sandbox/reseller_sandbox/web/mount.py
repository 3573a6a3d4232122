"""Where an interface stands before it is loaded: many runs call one alone, and some worlds none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from reseller_sandbox.server.collector import without_collections
from reseller_sandbox.web.interface import Interface


def below(root: str) -> Callable[[str], bool]:
    """Return whether a path is ``root`` or below it, as a function of the path."""
    return lambda path: path == root or path.startswith(f"{root}/")


class Mount:
    """An interface, loaded when it is first asked for, at the paths that it ``owns``, with a row or not."""

    def __init__(self, owns: Callable[[str], bool], load: Callable[[], Interface]) -> None:
        self.owns = owns
        self._load = load

    @cached_property
    def interface(self) -> Interface:
        """The interface."""
        with without_collections():
            return self._load()
