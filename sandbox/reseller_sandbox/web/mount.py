"""Where an interface stands before it is loaded: many runs call one alone, and some worlds none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from reseller_sandbox.server.collector import without_collections
from reseller_sandbox.web.interface import Interface


class Mount:
    """An interface, loaded when it is first asked for, at the paths that it ``owns``, with a row or not.

    One ``for_clients`` a server loads before it takes connections: later it may have no descriptor left.
    """

    def __init__(
        self, owns: Callable[[str], bool], load: Callable[[], Interface], *, for_clients: bool = True
    ) -> None:
        self.owns = owns
        self.for_clients = for_clients
        self._load = load

    @cached_property
    def interface(self) -> Interface:
        """The interface."""
        with without_collections():
            return self._load()
