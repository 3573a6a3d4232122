"""Command line: ``main`` is the command, and each other module is one part of it."""
