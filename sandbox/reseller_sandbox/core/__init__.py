"""The registry itself: records, state, time, prices, refusals and operations.

Nothing in here knows of HTTP, Flask or marshmallow. Every operation takes a
``Draft``, and either returns what it found or raises
``Refused``; what it wrote takes effect only when
its caller commits the draft.
"""
