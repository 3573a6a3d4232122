"""The manual: written Markdown pages, and reference pages made from the declarations in the code.

A command prints it, the server serves it under ``/_sandbox/manual``, and a site can be built from it.
Nothing here is loaded before a page is requested. Begin with ``pages.py``.
"""
