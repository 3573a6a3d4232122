"""Tools that run a program repeatedly in its own worlds, and compare outcomes.

``running`` runs a command in any language or a Python function, each time in a fork of one world.
``outcomes`` reads the outcome of a run, ``invariants`` checks the outcome, and ``report`` has the common
parts of reports. ``defaults`` is for the pytest plugin, too.
"""
