"""The tests of journals share what the tests of worlds share."""

from tests.worlds.conftest import main, sandbox, steer

__all__ = ["main", "sandbox", "steer"]
