"""Interception of httpx and requests: requests to a service's usual address go to a sandbox.

While an interception is active, the methods by which httpx and requests reach the network are replaced. They
are restored after the last one ends. Each request looks up its interception.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import idna

from reseller_sandbox.clients.caller import PORTS, AnySandbox
from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.values.text_checks import nearest

#: Where a request goes: scheme, host in its ASCII form, and port.
Origin: TypeAlias = tuple[str, str, int]

Others: TypeAlias = Literal["network", "refuse"]

#: The client libraries that can be intercepted, each with a module and the class of its transport. The class
#: has the same methods as ``DETOURS`` in the module, by which the library reaches the network.
CLIENTS = {"httpx": ("with_httpx", "SandboxTransport"), "requests": ("with_requests", "SandboxAdapter")}


class NetworkRefused(RuntimeError):
    """Error for a request to the network while only a sandbox is allowed."""


@dataclass(frozen=True, eq=False, slots=True)
class Interception:
    """Interception of requests to ``origins``, which go to a sandbox.

    ``ways`` has the transport of each client library, by the name of the library. ``others`` is the treatment
    of all other requests.
    """

    origins: frozenset[Origin]
    others: Others
    ways: dict[str, Any] = field(default_factory=dict)


#: The interceptions that were entered in this thread or task, the innermost last.
_OWN: ContextVar[tuple[Interception, ...]] = ContextVar("own", default=())

_LOCK = threading.Lock()


@contextmanager
def intercepting(
    sandbox: AnySandbox, urls: tuple[str, ...], others: Others, real_time: bool
) -> Iterator[None]:
    """Redirect the requests of httpx and requests to ``urls`` to ``sandbox`` while the context lasts.

    Refuse with ``invalid_parameter`` if ``urls`` or ``others`` is invalid.
    """
    if others not in ("network", "refuse"):
        near = nearest(str(others), ("network", "refuse"))
        raise _invalid(f"others takes network or refuse, and not {others!r}{near}")
    if not urls:
        raise _invalid("intercept takes the URLs that the clients use, such as https://api.example.test")
    made = Interception(frozenset(map(_given, urls)), others)
    with ExitStack() as stack:
        for library, (module, kind) in CLIENTS.items():
            with suppress(ImportError):
                import_module(library)
                ours = import_module(f"reseller_sandbox.clients.{module}")
                made.ways[library] = way = getattr(ours, kind)(sandbox, real_time=real_time)
                stack.callback(way.close)
                for owner, name in ours.DETOURS:
                    stack.enter_context(_detoured(library, owner, name, made))
        _OWN.set((*_OWN.get(), made))
        stack.callback(lambda: _OWN.set(tuple(entry for entry in _OWN.get() if entry is not made)))
        yield


@contextmanager
def _detoured(library: str, owner: type, name: str, made: Interception) -> Iterator[None]:
    """Add ``made`` to the interceptions of a method. The first interception replaces the method."""
    with _LOCK:
        method = vars(owner)[name]
        if not hasattr(method, "interceptions"):
            method = _replaced(library, method)
            setattr(owner, name, method)
        method.interceptions = (*method.interceptions, made)
    try:
        yield
    finally:
        with _LOCK:
            method.interceptions = tuple(entry for entry in method.interceptions if entry is not made)
            if not method.interceptions and vars(owner)[name] is method:
                setattr(owner, name, method.__wrapped__)


def _replaced(library: str, original: Callable[..., Any]) -> Any:
    """Return a method that calls our transport for an intercepted URL, and ``original`` for others."""

    @wraps(original)
    def replaced(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        chosen = _chosen(str(request.url), method.interceptions)
        if chosen is None:
            return original(self, request, *args, **options)
        return getattr(chosen.ways[library], original.__name__)(request, *args, **options)

    method: Any = replaced
    method.interceptions = ()
    return method


def _chosen(url: str, known: tuple[Interception, ...]) -> Interception | None:
    """Return the interception that takes a request to ``url``, or None.

    Interceptions of this thread or task come first, then all others. In each group, the latest comes first.
    Raise ``NetworkRefused`` if none takes the request and an applicable interception refuses other requests.
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
            f"a request to {_written(origin)} would have gone to the network, which others='refuse' forbids; "
            f"intercepted are {', '.join(places)}"
        )
    return None


def _given(url: str) -> Origin:
    """Return the origin of a user's URL. Refuse a URL with a path, a query or a user."""
    try:
        parts = urlsplit(url)
        origin = _origin(url)
    except (ValueError, TypeError, AttributeError) as problem:
        raise _invalid(f"{url!r} is not a URL: {problem}") from None
    if parts.scheme not in PORTS or not origin[1]:
        raise _invalid(f"{url!r} is not the URL of a service, such as https://api.example.test")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise _invalid(f"{url!r} has more than a scheme, a host and a port: name {_written(origin)}")
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
