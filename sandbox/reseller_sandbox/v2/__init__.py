"""The v2.0 interface: token-authenticated, 27 operations under ``/V2.0``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reseller_sandbox.web.interfaces import PublicInterface, SignedRequest, UnsignedRequest

if TYPE_CHECKING:
    from reseller_sandbox.v2.interface import V2


def _load() -> type[V2]:
    from reseller_sandbox.v2.interface import V2  # late, because its operations are many modules

    return V2


def _sign(request: UnsignedRequest) -> SignedRequest:
    return SignedRequest({request.assumed.token_headers[0]: request.account.token})


INTERFACE = PublicInterface(
    name="v2",
    label="v2.0",
    # Some clients omit the V or the minor version.
    paths=r"/([Vv]?[0-9]+\.[0-9]+|[Vv]?2)(/|\Z)",
    address="/V2.0",
    load=_load,
    sign=_sign,
    credentials={"token": "v2.0 token"},
    name_path="/V2.0/domain/{name}",
)
