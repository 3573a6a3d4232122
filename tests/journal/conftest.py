"""The clients of the tests of journals."""

from tests.worlds.conftest import main, steer

__all__ = ["main", "steer"]
