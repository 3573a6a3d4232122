"""The manual: pages of Markdown beside these files, and reference pages that are made from the declarations.

It is printed by a command, served under ``/_sandbox/manual``, and written out for a site. Nothing here is
loaded before somebody asks for a page. Begin with ``pages.py``.
"""
