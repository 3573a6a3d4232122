"""Kinds of values: how parameters, fixture keys and settings are read, compared and spelled."""
