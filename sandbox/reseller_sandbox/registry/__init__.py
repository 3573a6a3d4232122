"""The simulated domain registry: its records, life cycle, prices and operations.

It may import the standard library and small data structures, but not HTTP, Flask or marshmallow. Every
operation takes a ``Draft``, and either returns its result or raises ``Refused``. Writes take effect when the
caller commits the draft. Begin with ``lifecycle``, ``state`` and ``indexes``.
"""
