"""The control interface under ``/_sandbox``: what the resources can do, over HTTP.

Its rows are made from the resources, a stream is sent as server-sent events, and ``documents.py`` serves the
OpenAPI documents of every interface. It may import ``resources`` and ``web``. Begin with ``rows.py``.
"""
