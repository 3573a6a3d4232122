"""Writes the reference pages of the manual from the declarations of the package: ``make reference``.

The wheel has the pages, and nothing of this.
"""
