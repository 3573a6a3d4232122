"""The v3 interface: signature-authenticated, 27 operations under ``/v3``."""

from __future__ import annotations


def owns(path: str) -> bool:
    """Whether a path is under ``/v3``."""
    return path == "/v3" or path.startswith("/v3/")
