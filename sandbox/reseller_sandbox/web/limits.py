"""How large bodies may be: those of clients, and those of control, which carry whole worlds."""

from __future__ import annotations

import re

from msgspec import Struct

_CONTROL = re.compile(r"(/_worlds/[^/]*)?/_sandbox(/|$)")


def is_control(path: str) -> bool:
    """Whether a path is one of the control interface's, with or without a world's prefix."""
    return _CONTROL.match(path) is not None


class BodyLimits(Struct, frozen=True):
    """The limits in bytes."""

    clients: int
    control: int

    def of(self, path: str) -> int:
        """Return how many bytes a request to ``path``, with or without a world's prefix, may carry."""
        return self.control if is_control(path) else self.clients

    def setting(self, path: str) -> str:
        """Return the option that raises the limit."""
        return "--max-control-body" if is_control(path) else "--max-body"
