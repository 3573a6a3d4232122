"""The command line: ``main`` is the command, and each of the other modules one part of it."""
