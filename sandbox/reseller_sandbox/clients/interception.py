"""Interception of client libraries: requests to the real service's URL go to a sandbox.

While an interception is active, the methods by which the libraries reach the network are replaced. They are
restored after the last one ends. Each request looks up its interception.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import idna

from reseller_sandbox.clients.caller import PORTS, AnySandbox, Detour, server_of
from reseller_sandbox.clients.detours import detoured
from reseller_sandbox.clients.fence import NetworkRefused, fenced
from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.values.text_checks import nearest

#: The origin of a URL: its scheme, its host in ASCII, and its port.
Origin: TypeAlias = tuple[str, str, int]

Others: TypeAlias = Literal["network", "refuse"]

#: Client libraries that can be intercepted. The library requests uses urllib3. Each library has a module
#: ``with_NAME``. In this module,
#: ``DETOURS`` are the library's methods that reach the network. ``TRANSPORT`` is the class that sends
#: requests to a sandbox.
CLIENTS = ("httpx", "httpx2", "urllib3", "aiohttp")


@dataclass(frozen=True, eq=False, slots=True)
class Interception:
    """Interception: requests to ``origins`` go to a sandbox.

    ``transports`` has the transport of each client library, by the name of the library. With ``others``, all
    other requests go to the network or are refused.
    """

    origins: frozenset[Origin]
    others: Others
    transports: dict[str, Any] = field(default_factory=dict)


#: The interceptions that were entered in this thread or task, the innermost last.
_OWN: ContextVar[tuple[Interception, ...]] = ContextVar("own", default=())


@contextmanager
def intercepting(
    sandbox: AnySandbox, urls: tuple[str, ...], others: Others, real_time: bool
) -> Iterator[None]:
    """While the context lasts, send requests for ``urls`` to ``sandbox`` instead.

    Refuse with ``invalid_parameter`` if ``urls`` or ``others`` is invalid.
    """
    if others not in ("network", "refuse"):
        near = nearest(str(others), ("network", "refuse"))
        raise _invalid(f"the parameter others must be 'network' or 'refuse', not {others!r}{near}")
    if not urls:
        raise _invalid(
            "the function intercept needs at least one URL of a service, such as https://api.example.test"
        )
    interception = Interception(frozenset(map(_parse_origin, urls)), others)
    with ExitStack() as stack:
        for library in CLIENTS:
            with suppress(ImportError):
                import_module(library)
                is_replaced = library == "urllib3" and find_spec("urllib3.backend") is not None
                name = "urllib3_future" if is_replaced else library
                adapter = import_module(f"reseller_sandbox.clients.with_{name}")
                interception.transports[library] = transport = adapter.TRANSPORT(sandbox, real_time=real_time)
                stack.callback(transport.close)
                for detour in adapter.DETOURS:
                    replacing = partial(_replaced, library, detour)
                    stack.enter_context(detoured(detour.owner, detour.name, interception, replacing))
        if others == "refuse":
            server = server_of(sandbox)
            hosts = [urlsplit(server.url).hostname or ""] if server is not None else []
            stack.enter_context(fenced(hosts, "others='refuse'"))
        _OWN.set((*_OWN.get(), interception))
        stack.callback(lambda: _OWN.set(tuple(entry for entry in _OWN.get() if entry is not interception)))
        yield


def _replaced(
    library: str, detour: Detour, original: Callable[..., object], known: Callable[[], tuple[Any, ...]]
) -> Callable[..., object]:
    """Return a replacement of the method ``original`` that intercepts requests."""

    @wraps(original)
    def replaced(self: object, *args: object, **options: object) -> object:
        chosen = _chosen(detour.url_of(self, *args, **options), known())
        if chosen is None:
            return original(self, *args, **options)
        return detour.call(chosen.transports[library], self, *args, **options)

    return replaced


def _chosen(url: str, known: tuple[Interception, ...]) -> Interception | None:
    """Return the interception that applies to a request to ``url``, or None.

    Interceptions of this thread or task come first, then all others. In each group, the latest comes first.
    Raise ``NetworkRefused`` if no interception applies and one of them refuses other requests.
    """
    own = tuple(entry for entry in _OWN.get() if entry in known)
    rest = tuple(entry for entry in known if entry not in own)
    origin = _origin(url)
    for entry in (*reversed(own), *reversed(rest)):
        if origin in entry.origins:
            return entry
    if any(entry.others == "refuse" for entry in own or known):
        places = sorted({_written(place) for entry in known for place in entry.origins})
        raise NetworkRefused(
            f"a request to {_written(origin)} would reach the network, which others='refuse' forbids. "
            f"Intercepted URLs: {', '.join(places)}"
        )
    return None


def _parse_origin(url: str) -> Origin:
    """Return the origin of a URL that the user passed. Refuse a URL with a path, query or user."""
    try:
        parts = urlsplit(url)
        origin = _origin(url)
    except (ValueError, TypeError, AttributeError) as problem:
        raise _invalid(f"{url!r} is not a URL: {problem}") from None
    if parts.scheme not in PORTS or not re.fullmatch(r"[\w.:%-]+", origin[1]):
        raise _invalid(f"{url!r} is not the URL of a service, such as https://api.example.test")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise _invalid(f"{url!r} has more than a scheme, a host and a port. Use {_written(origin)}")
    return origin


def _origin(url: str) -> Origin:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if not host.isascii():
        host = idna.encode(host, uts46=True).decode()
    return parts.scheme, host, parts.port or PORTS.get(parts.scheme, 0)


def _written(origin: Origin) -> str:
    scheme, host, port = origin
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + (f":{port}" if port != PORTS.get(scheme) else "")


def _invalid(problem: str) -> Refused:
    return Refused(INVALID_PARAMETER, problems=problem)
