"""Tools that run a program over and over, each time against a world of its own, and look at what it left.

``running`` runs a command in any language or a Python function; ``ground`` has the worlds; ``environment``
is what a command is told; ``asking`` is how a command line asks for all of it.
"""
