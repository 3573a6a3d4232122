"""What can be done to a world: each power is a class, each thing it does a typed method, told once.

From a method's signature and docstring follow the same method in Python, in this process and through a
remote sandbox; the row of the control interface with its document; and the command. A power may import the
engine (``worlds``) and what stands below it, and no word of HTTP. Begin with ``clock.py``.
"""
