"""Fixtures: a strict YAML format for whole worlds, read with the place of every mistake, and written.

:mod:`sandbox.seeds.schema` describes the format.
"""

from sandbox.seeds.dump import dumps
from sandbox.seeds.load import Seed, find, load, loads
from sandbox.seeds.problems import FixtureError, Problem

__all__ = ["FixtureError", "Problem", "Seed", "dumps", "find", "load", "loads"]
