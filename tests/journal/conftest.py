"""The tests of journals share what the tests of worlds share."""

from tests.worlds.conftest import _kept, main, sandbox, steer

__all__ = ["_kept", "main", "sandbox", "steer"]
