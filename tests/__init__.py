"""The tests. ``tests/contract`` walks the contract row by row; the rest mirrors ``sandbox/``."""
