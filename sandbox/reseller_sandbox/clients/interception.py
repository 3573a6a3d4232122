"""The HTTP clients of this process, sent to a sandbox at the address that they usually use.

What httpx and requests do to reach the network is replaced while anybody intercepts, and put back after the
last. Which of several interceptions takes a request is looked up with each request.
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
from reseller_sandbox.registry.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.registry.text_checks import nearest

#: Where a request goes: scheme, host in its ASCII form, and port.
Origin: TypeAlias = tuple[str, str, int]

Others: TypeAlias = Literal["network", "refuse"]

#: The client libraries that can be intercepted, and the way to a sandbox that each has: the methods in the
#: module's ``DETOURS``, by which the library reaches the network, are those of the class, too.
CLIENTS = {"httpx": ("with_httpx", "SandboxTransport"), "requests": ("with_requests", "SandboxAdapter")}


class NetworkRefused(RuntimeError):
    """A request was about to go to the network where only a sandbox is to be reached."""


@dataclass(frozen=True, eq=False, slots=True)
class Interception:
    """Requests to ``origins`` go to a sandbox, by the way that each client library has there.

    ``ways`` are those by the name of the library; ``others`` is what becomes of all other requests.
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
    """Send the requests that httpx and requests make to ``urls`` to ``sandbox``, while the context lasts.

    Refuse with ``invalid_parameter``.
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
        stack.callback(lambda: _OWN.set(tuple(one for one in _OWN.get() if one is not made)))
        yield


@contextmanager
def _detoured(library: str, owner: type, name: str, made: Interception) -> Iterator[None]:
    """Have a method look at ``made`` too; the method is replaced for the first who asks."""
    with _LOCK:
        found = vars(owner)[name]
        if not hasattr(found, "interceptions"):
            found = _replaced(library, found)
            setattr(owner, name, found)
        found.interceptions = (*found.interceptions, made)
    try:
        yield
    finally:
        with _LOCK:
            found.interceptions = tuple(one for one in found.interceptions if one is not made)
            if not found.interceptions and vars(owner)[name] is found:
                setattr(owner, name, found.__wrapped__)


def _replaced(library: str, original: Callable[..., Any]) -> Any:
    """Return a method that does what ``original`` does, or, for an intercepted URL, the method of our way."""

    @wraps(original)
    def replaced(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        chosen = _chosen(str(request.url), found.interceptions)
        if chosen is None:
            return original(self, request, *args, **options)
        return getattr(chosen.ways[library], original.__name__)(request, *args, **options)

    found: Any = replaced
    found.interceptions = ()
    return found


def _chosen(url: str, known: tuple[Interception, ...]) -> Interception | None:
    """Return the interception that takes a request to ``url``: one of this thread's or task's own first.

    Any other thread is in all that there are, the latest first. Raise ``NetworkRefused`` where none takes
    the request and one of them refuses such requests.
    """
    own = tuple(one for one in _OWN.get() if one in known)
    rest = tuple(one for one in known if one not in own)
    origin = _origin(url)
    for one in (*reversed(own), *reversed(rest)):
        if origin in one.origins:
            return one
    if any(one.others == "refuse" for one in own or known):
        places = sorted({_written(place) for one in known for place in one.origins})
        raise NetworkRefused(
            f"a request to {_written(origin)} would have gone to the network, which others='refuse' forbids; "
            f"intercepted are {', '.join(places)}"
        )
    return None


def _given(url: str) -> Origin:
    """Return the origin that a user has named; refuse one with more to it."""
    try:
        parts = urlsplit(url)
        origin = _origin(url)
    except (ValueError, TypeError, AttributeError) as problem:
        raise _invalid(f"{url!r} is no URL: {problem}") from None
    if parts.scheme not in PORTS or not origin[1]:
        raise _invalid(f"{url!r} is no URL of a service, such as https://api.example.test")
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
