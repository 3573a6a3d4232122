"""Writes the reference pages of the manual from the declarations of the package: ``make reference``.

The wheel contains the written pages, but not this package.
"""
