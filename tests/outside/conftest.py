"""A player of the rest of the world, over the same kind of socket as the clients'."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients import Socket
from tests.outside.player import Player


@pytest.fixture
def player(url: str) -> Iterator[Player]:
    """The control interface of ``served`` over a real socket."""
    socket = Socket(url)
    yield Player(socket)
    socket.close()
