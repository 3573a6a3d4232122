"""Where the worlds of a test run live: in its process, in a server of its own, in one that runs already."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Protocol
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


class Mode(Protocol):
    """A place for worlds."""

    def open(
        self, stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], marked: Mapping[str, Any]
    ) -> Watched:
        """Return a seeded world that no test acts in; ``stack`` gives it up at the end of the run.

        ``marked`` is what marks say, ``around`` all that is told, by the environment and a file too.
        Raises ``BadSetting``, and ``Unreachable`` where no server answers.
        """


def mode_of(given: str) -> Mode:
    """Return the mode that an option names; raise ``BadSetting``."""
    if given == "process":
        return InProcess()
    if given == "server":
        return OwnServer()
    parts = urlsplit(given)
    if parts.scheme in ("http", "https") and parts.netloc:
        return Running(given)
    raise BadSetting(
        f"the mode must be process, server or the address of a server; it is {given[:80]!r}"
        f"{nearest(given, MODES)}"
    )


class InProcess:
    """Worlds in the process of the tests, reached without a socket."""

    def open(
        self,
        stack: ExitStack,  # noqa: ARG002
        watcher: Watcher,
        around: Mapping[str, Any],
        marked: Mapping[str, Any],  # noqa: ARG002
    ) -> Watched:
        """Return the default world of a sandbox with these settings."""
        return Watched(**around).by(watcher)


class OwnServer:
    """Worlds of a server that runs on a port of its own as long as the tests do."""

    def open(
        self,
        stack: ExitStack,
        watcher: Watcher,
        around: Mapping[str, Any],
        marked: Mapping[str, Any],  # noqa: ARG002
    ) -> Watched:
        """Return the default world of a server with these settings."""
        sandbox = Watched(**around)
        server = stack.enter_context(sandbox.serve())
        door = There(server.url, token=sandbox.settings.control_token)
        stack.callback(door.close)
        return Watched.through(door).by(watcher)


class Running:
    """Worlds of a server that runs already, at ``url``."""

    def __init__(self, url: str) -> None:
        self.url = url

    def open(
        self, stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], marked: Mapping[str, Any]
    ) -> Watched:
        """Return a world like the one that the server began with, or one with the settings told."""
        late = sorted(OF_A_SERVER.intersection(marked))
        if late:
            raise BadSetting(
                f"{', '.join(late)}: a server is told so when it starts, and the one at {self.url} "
                "has started; take the mode process or server"
            )
        Settings(**around)
        door = There(self.url, token=around.get("control_token"))
        stack.callback(door.close)
        theirs = Watched.through(door).by(watcher)
        told = {name: value for name, value in around.items() if name not in OF_A_SERVER}
        wanted = _as_told(told) if told else {"point": "start", "frozen": True}
        return stack.enter_context(theirs.fork(**wanted))


def _as_told(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a fork is told to be the world that ``settings`` describe, whatever the server has."""
    like = Watched(**settings)
    assumed = {one.name: one.value for one in like.assumptions.list().assumptions}
    return {"state": like.export(), "frozen": like.clock.frozen, "assume": assumed}
