"""Tools that run a program over and over, each time against its own world, and look at the outcome.

``running`` runs a command in any language or a Python function; ``ground`` has the worlds; ``outcomes`` reads
the outcome of a run, and ``invariants`` says what must hold of it. ``defaults`` is for the pytest plugin too.
"""
