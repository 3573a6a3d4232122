"""A fence around this process: Python refuses to look up or connect to other machines.

The functions of Python that look up names, connect, and send datagrams are replaced while a fence stands. So
the fence holds for every library that opens its sockets in Python. Libraries that open sockets in C, such as
pycurl, pass.
"""

from __future__ import annotations

import socket
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from ipaddress import ip_address
from traceback import walk_stack
from typing import Any, TypeAlias

from reseller_sandbox.clients.detours import detoured

#: A function that returns the host and the port in the arguments of a call. If the host is None, the call is
#: allowed.
Target: TypeAlias = Callable[..., tuple[Any, Any]]


class NetworkRefused(RuntimeError):
    """A request would reach the network, but an interception or a fence allows only requests to a sandbox."""


@dataclass(eq=False)
class Fence:
    """Fence that allows this machine and ``hosts``. The setting ``rule`` forbids all other hosts."""

    hosts: frozenset[str]
    rule: str
    addresses: set[str] = field(default_factory=set)

    def require(self, host: str, port: object) -> None:
        """Raise ``NetworkRefused`` if the fence does not allow ``host``."""
        if not (_is_here(host) or host.lower() in self.hosts or host in self.addresses):
            raise NetworkRefused(f"{_library()} tried to reach {host}:{port}, which {self.rule} forbids")


@contextmanager
def fenced(hosts: Iterable[str], rule: str) -> Iterator[None]:
    """During the context, refuse lookups and connections to hosts other than ``hosts``, in all threads."""
    import asyncio  # Import late, so that tests without a fence start faster.

    fence = Fence(frozenset(host.lower() for host in hosts), rule)
    with ExitStack() as stack:
        for owner, name, target in (
            (socket, "getaddrinfo", _looked_up),
            (socket, "gethostbyname", _looked_up),
            (socket, "gethostbyname_ex", _looked_up),
            (socket, "gethostbyaddr", _looked_up),
            (socket, "getnameinfo", _named),
            # Check this lookup before asyncio runs it in another thread, in which the calling library is
            # unknown.
            (asyncio.BaseEventLoop, "getaddrinfo", lambda _, *args, **options: _looked_up(*args, **options)),
            (asyncio.BaseEventLoop, "getnameinfo", lambda _, *args, **__: _named(*args)),
            (socket.socket, "connect", _connected),
            (socket.socket, "connect_ex", _connected),
            (socket.socket, "sendto", _sent),
            (socket.socket, "sendmsg", _sent_as_parts),
        ):
            stack.enter_context(detoured(owner, name, fence, partial(_guarded, target)))
        yield


def _guarded(
    target: Target, original: Callable[..., Any], fences: Callable[[], tuple[Any, ...]]
) -> Callable[..., object]:
    """Return a replacement of ``original`` that each of ``fences`` can refuse."""

    @wraps(original)
    def guarded(*args: Any, **options: object) -> object:
        host, port = target(*args, **options)
        host = host.decode("idna") if isinstance(host, bytes) else host
        for fence in fences() if host else ():
            fence.require(str(host), port)
        result = original(*args, **options)
        # Allow the addresses of an allowed host: a client looks them up, and then connects to an address.
        if original is _GETADDRINFO and host:
            for fence in fences():
                fence.addresses.update(str(entry[4][0]) for entry in result)
        return result

    return guarded


_GETADDRINFO = socket.getaddrinfo


def _looked_up(host: object, port: object = "", *_: object, **__: object) -> tuple[object, object]:
    return host, port


def _named(address: object, *_: object) -> tuple[object, object]:
    return address[:2] if isinstance(address, tuple) and len(address) > 1 else (None, None)


def _sent(sock: socket.socket, _: object, *flags_and_address: object) -> tuple[object, object]:
    """Return the target of ``sendto(bytes, address)`` or ``sendto(bytes, flags, address)``."""
    return _connected(sock, flags_and_address[-1] if flags_and_address else None)


def _sent_as_parts(
    sock: socket.socket, _: object, __: object = (), ___: int = 0, address: object = None
) -> tuple[object, object]:
    """Return the target of ``sendmsg``. Without an address, the socket is connected, which was checked."""
    return _connected(sock, address)


def _connected(sock: socket.socket, address: object) -> tuple[object, object]:
    is_internet = sock.family in (socket.AF_INET, socket.AF_INET6)
    return (address[0], address[1]) if is_internet and isinstance(address, tuple) else (None, None)


def _is_here(host: str) -> bool:
    """Whether ``host`` is this machine: by name, by a loopback address, or by ``0.0.0.0``."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host.lower() in ("localhost", socket.gethostname().lower())
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def _library() -> str:
    """Return the library that tries to connect, such as ``httpx`` or ``urllib.request``."""
    paths = sysconfig.get_paths()
    libraries = tuple(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    name = "socket"
    for frame, _ in walk_stack(None):
        module = str(frame.f_globals.get("__name__"))
        if module.startswith("reseller_sandbox."):
            continue
        if not frame.f_code.co_filename.startswith(libraries):
            break
        name = module
    package = name.partition(".")[0]
    return name if package in sys.stdlib_module_names else package
