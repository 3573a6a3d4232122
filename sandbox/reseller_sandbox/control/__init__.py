"""The control interface under ``/_sandbox``: what the powers can do, over HTTP.

Its rows are made from the powers, a stream is sent as server-sent events, and ``documents.py`` serves the
OpenAPI documents of every interface. It may import ``powers`` and ``web``. Begin with ``rows.py``.
"""
