"""Worlds kept in a file between two runs of a server.

``file`` is a locked file of checked blocks, ``worlds`` writes worlds into it and reads them, ``keeper``
says when to save.
"""
