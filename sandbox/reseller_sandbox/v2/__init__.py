"""The v2.0 interface: 27 operations under ``/V2.0``. Clients authenticate with a token."""

from __future__ import annotations

from importlib import import_module

from reseller_sandbox.web.interfaces import PublicInterface, SignedRequest

INTERFACE = PublicInterface(
    name="v2",
    label="v2.0",
    # Also match paths without V, without a minor version or with another word as the version, because some
    # clients send them.
    paths=r"/([Vv]?[0-9]+\.[0-9]+|[Vv]?2)(/|\Z)|(/(?!v3/|_)[^/]+)?/(customer|contact|domain)(/|\Z)",
    address="/V2.0",
    load=lambda: import_module("reseller_sandbox.v2.interface").V2,  # Loaded late: V2 has many modules.
    sign=lambda request: SignedRequest({request.assumed.token_headers[0]: request.account.token}),
    credentials={"token": "v2.0 token"},
    name_path="/V2.0/domain/{name}",
)
