"""The control interface under ``/_sandbox``: control operations over HTTP.

Each operation of a resource becomes an endpoint. Streams are sent as server-sent events. ``documents.py``
serves the OpenAPI documents of every interface. This package may import ``control`` and ``web``. Begin with
``endpoints.py``.
"""
