"""The registry itself: records, state, time, prices, refusals and operations.

It may import the standard library and small data structures, and knows nothing of HTTP, Flask or marshmallow.
Every operation takes a ``Draft``, and either returns what it found or raises ``Refused``; what it wrote takes
effect only when its caller commits the draft. Begin with ``lifecycle``, ``state`` and ``tables``.
"""
