"""The v3 interface: signature-authenticated, 27 operations under ``/v3``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reseller_sandbox.v3.signing import sign_request
from reseller_sandbox.web.interfaces import Example, PublicInterface

if TYPE_CHECKING:
    from reseller_sandbox.v3.interface import V3


def _load() -> type[V3]:
    from reseller_sandbox.v3.interface import V3  # late, because its operations are many modules

    return V3


INTERFACE = PublicInterface(
    name="v3",
    label="v3",
    paths=r"/v3(/|\Z)",
    address="/v3",
    load=_load,
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
