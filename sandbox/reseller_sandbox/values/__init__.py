"""Kinds of values: reading, comparing and writing of parameters, fixture keys and settings."""
