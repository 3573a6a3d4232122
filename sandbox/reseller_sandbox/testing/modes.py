"""Where the worlds of a test run live: in its process, in a server of its own, in one that runs already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from reseller_sandbox.core.signatures import declared
from reseller_sandbox.core.spelling import nearest
from reseller_sandbox.remote import There
from reseller_sandbox.settings import BadSetting, ServiceSettings, Settings
from reseller_sandbox.testing.watched import Watched, Watcher

#: The modes by name; an address is the third.
MODES = ("process", "server")

#: What is told to a server when it starts, and cannot be given to a world of it.
OF_A_SERVER = frozenset(one.name for one in declared(ServiceSettings))


#: A place for worlds: returns a seeded one, in which no test acts and which the stack gives up at the end of
#: the run. Of the mappings the first has all that is told, by the environment and a file too, and the second
#: what marks say alone. Raise ``BadSetting``, and ``Unreachable`` where no server answers.
Mode: TypeAlias = Callable[[ExitStack, Watcher, Mapping[str, Any], Mapping[str, Any]], Watched]


def mode_of(given: str) -> Mode:
    """Return the mode that an option names; raise ``BadSetting``."""
    if given == "process":
        return _in_process
    if given == "server":
        return _own_server
    parts = urlsplit(given)
    if parts.scheme in ("http", "https") and parts.netloc:
        return partial(_running, given)
    raise BadSetting(
        f"the mode must be process, server or the address of a server; it is {given[:80]!r}"
        f"{nearest(given, MODES)}"
    )


def _in_process(
    _stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], _marked: Mapping[str, Any]
) -> Watched:
    """Return the default world of a sandbox in the process of the tests, reached without a socket."""
    return Watched(**around).by(watcher)


def _own_server(
    stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], _marked: Mapping[str, Any]
) -> Watched:
    """Return the default world of a server that runs on a port of its own as long as the tests do."""
    sandbox = Watched(**around)
    server = stack.enter_context(sandbox.serve())
    door = There(server.url, token=sandbox.settings.control_token)
    stack.callback(door.close)
    return Watched.through(door, sandbox.header_prefix).by(watcher)


def _running(
    url: str, stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], marked: Mapping[str, Any]
) -> Watched:
    """Return a world like the one that a server at ``url`` began with, or one with the settings told."""
    late = sorted(OF_A_SERVER.intersection(marked))
    if late:
        raise BadSetting(
            f"{', '.join(late)}: a server is told so when it starts, and the one at {url} "
            "has started; take the mode process or server"
        )
    prefix = Settings(**around).header_prefix
    door = There(url, token=around.get("control_token"))
    stack.callback(door.close)
    theirs = Watched.through(door, prefix).by(watcher)
    told = {name: value for name, value in around.items() if name not in OF_A_SERVER}
    wanted = _as_told(told) if told else {"point": "start", "frozen": True}
    return stack.enter_context(theirs.fork(**wanted))


def _as_told(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a fork is told to be the world that ``settings`` describe, whatever the server has."""
    like = Watched(**settings)
    assumed = {one.name: one.value for one in like.assumptions.list().assumptions}
    return {"state": like.export(), "frozen": like.clock.frozen, "assume": assumed}
