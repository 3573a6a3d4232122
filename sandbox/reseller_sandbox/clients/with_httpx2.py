"""Interception of httpx2, the successor of httpx with the same classes."""

from __future__ import annotations

from functools import partial

import httpx2

from reseller_sandbox.clients.httpx_transports import Library, Transports

_LIBRARY = Library(httpx2)

TRANSPORT = partial(Transports, _LIBRARY)
DETOURS = _LIBRARY.detours
