"""Worlds kept in a file between two runs of a server.

``file`` is a row of checked blocks, ``codec`` turns objects into blocks and back, ``kinds`` declares which
objects there may be, ``states`` writes a state as what it changes in another, ``keeper`` says when to save.
"""
