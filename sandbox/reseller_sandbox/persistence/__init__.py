"""Worlds kept in a file between two runs of a server.

``file`` is a locked file with a checksum, ``worlds`` writes worlds into it and reads them, ``keeper``
says when to save.
"""
