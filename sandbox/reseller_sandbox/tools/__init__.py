"""Tools that run a program repeatedly in its own worlds, and compare outcomes.

``running`` runs a command in any language or a Python function. ``environment_setup`` provides the worlds.
``outcomes`` reads the outcome of a run, and ``invariants`` checks the outcome. ``defaults`` is for the pytest
plugin, too.
"""
