"""The v2.0 interface: authenticated by token, and the only one with customers, restores and zones."""

from __future__ import annotations

import re

#: Some clients leave the V or the minor version out.
_OWN_PATH = re.compile(r"/([Vv]?[0-9]+\.[0-9]+|[Vv]?2)(/|$)")


def owns(path: str) -> bool:
    """Whether a path is under a version such as ``/V2.0``, or under something that is meant as one."""
    return _OWN_PATH.match(path) is not None
