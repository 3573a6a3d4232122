"""What can be done to a world: each power is a class, and each of its operations one typed method.

From a method's signature and docstring follow the same method in Python, in this process and through a
remote sandbox; the row of the control interface with its document; and the command. A power may import the
engine (``worlds``) and the packages below it, and knows nothing of HTTP. Begin with ``clock.py``.
"""
