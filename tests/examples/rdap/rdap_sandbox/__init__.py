"""RDAP (RFC 9082 and 9083) over the registry of the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reseller_sandbox.web.interfaces import Example, PublicInterface

if TYPE_CHECKING:
    from rdap_sandbox.interface import Rdap


def _load() -> type[Rdap]:
    from rdap_sandbox.interface import Rdap

    return Rdap


INTERFACE = PublicInterface(
    name="rdap",
    label="RDAP",
    paths=r"/rdap(/|\Z)",
    address="/rdap",
    load=_load,
    examples=(Example("GET", "/rdap/help"),),
    name_path="/rdap/domain/{name}",
)
