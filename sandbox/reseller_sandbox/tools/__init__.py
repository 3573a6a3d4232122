"""Tools that run a program many times, each time in a new world, and compare the outcomes.

``running`` runs a command in any language or a Python function, each time in a fork of one world.
``outcomes`` reads the outcome of a run, ``invariants`` checks the outcome, and ``report`` has the common
parts of reports. ``defaults`` is for the pytest plugin, too.
"""
