"""The interfaces that clients call: those of this package, and those of other packages.

Each interface is one package with one ``PublicInterface``, which declares all that the other packages need.
Other packages register theirs by an entry point, or a user names them in the setting ``interfaces``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.settings import BadSetting

if TYPE_CHECKING:
    from reseller_sandbox.web.interface import Interface

#: The interfaces of this package, v3 first. No other module outside ``v3`` and ``v2`` names these interfaces.
OWN = ("reseller_sandbox.v3:INTERFACE", "reseller_sandbox.v2:INTERFACE")

#: The group of entry points by which other packages register interfaces.
GROUP = "reseller_sandbox.interfaces"


class Credentials(Protocol):
    """The credentials of an account."""

    @property
    def key(self) -> str:
        """The API key."""

    @property
    def secret(self) -> str:
        """The secret that signs requests."""

    @property
    def token(self) -> str:
        """The API token."""


class UnsignedRequest(Struct, frozen=True):
    """A request that needs the credentials of an account.

    ``assumed`` are the assumptions of its world. ``header_prefix`` is the setting of the server. ``base`` is
    the URL of the server, and ``target`` the path with the query.
    """

    account: Credentials
    assumed: Assumptions
    header_prefix: str
    base: str
    target: str
    body: bytes


class SignedRequest(Struct, frozen=True):
    """The headers that authenticate a request, and the parts of the signed string in their order."""

    headers: dict[str, str]
    signed: tuple[str, ...] = ()


class Example(Struct, frozen=True):
    """A sample request for a new user of the interface."""

    method: str
    path: str
    body: str = ""


class PublicInterface(Struct, frozen=True, kw_only=True, eq=False):
    """The declaration of an interface that clients call.

    ``name`` is the first part of its operations' ids, and the name of its OpenAPI document. ``label`` is its
    name for people. ``paths`` is a regular expression that matches the beginning of its paths. ``address`` is
    the common beginning of its paths, as people write it. ``load`` returns its class, late because a class
    has many modules.

    ``sign`` returns the headers of a request. By default, requests need no credentials. ``credentials`` are
    the headings of the account's credentials, by field. ``examples`` are requests to try first. ``name_path``
    is the path of the request that shows a domain, with the placeholder ``{name}``.
    """

    name: str
    label: str
    paths: str
    address: str
    load: Callable[[], type[Interface]]
    sign: Callable[[UnsignedRequest], SignedRequest] = lambda _: SignedRequest({})
    credentials: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    name_path: str = ""

    def owns(self, target: str) -> bool:
        """Whether a request target belongs to the interface, with or without a world's prefix."""
        path = re.sub(r"^/_worlds/[^/]+", "", target.partition("?")[0])
        return re.match(self.paths, path) is not None


def named_interface(name: str) -> PublicInterface:
    """Return the interface at ``package.module:NAME``. Raise ValueError if there is none."""
    module, _, attribute = name.partition(":")
    try:
        interface: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as problem:
        raise BadSetting(f"interface {name[:80]!r} cannot be loaded: {problem}") from None
    if not isinstance(interface, PublicInterface):
        raise BadSetting(f"interface {name[:80]!r} is not a PublicInterface")
    return interface


@cache
def public_interfaces(more: tuple[str, ...] = ()) -> tuple[PublicInterface, ...]:
    """Return the interfaces that clients call: ours, those of entry points, and those named in ``more``.

    Raise ``BadSetting`` for an interface that cannot be loaded, or a second one with the same name.
    """
    registered = (entry.value for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name))
    by_name: dict[str, PublicInterface] = {}
    for name in dict.fromkeys((*OWN, *registered, *more)):
        interface = named_interface(name)
        if interface.name in by_name:
            raise BadSetting(f"interface {name[:80]!r} has the name {interface.name!r} of another interface")
        by_name[interface.name] = interface
    return tuple(by_name.values())


def interface_of(target: str, interfaces: Iterable[PublicInterface]) -> PublicInterface | None:
    """Return the interface to which a request target belongs, or None."""
    return next((interface for interface in interfaces if interface.owns(target)), None)
