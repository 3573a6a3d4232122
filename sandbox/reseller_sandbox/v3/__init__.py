"""The v3 interface: 27 operations under ``/v3``. Clients sign their requests."""

from __future__ import annotations

from importlib import import_module

from reseller_sandbox.v3.signing import sign_request
from reseller_sandbox.web.interfaces import Example, PublicInterface

INTERFACE = PublicInterface(
    name="v3",
    label="v3",
    paths=r"/v3(/|\Z)",
    address="/v3",
    load=lambda: import_module("reseller_sandbox.v3.interface").V3,  # Loaded late: V3 has many modules.
    sign=sign_request,
    credentials={"key": "v3 key", "secret": "v3 secret"},
    examples=(
        Example("GET", "/v3/balance"),
        Example(
            "POST",
            "/v3/domains/checkAvailability",
            '{"domainNames":["example-to-check.com","example-to-check.net"]}',
        ),
    ),
    name_path="/v3/domains/getDomain/{name}",
)
