"""uvicorn, as it is used here: silent, and quick to stop."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import uvicorn

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.bridge import Bridge, unsent
from reseller_sandbox.server.protocol import Protocol

log = logging.getLogger("reseller_sandbox")

#: What the machine says when it has nothing left to make a connection of.
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

#: For how many seconds it is not said again. asyncio tries again after one.
SILENCE = 0.9

#: How many connections asyncio accepts in a row. It does not stop at one that fails: each tells of it.
ACCEPTED_IN_A_ROW = 64

#: How long an unused connection is kept, in seconds: a client's pool should be the first to give it up.
KEEP_ALIVE = 75


class Listener(uvicorn.Server):
    """Serves ``bridge`` until it is asked to stop, from whichever thread or signal handler.

    ``grace`` is how many seconds it then lets the requests in flight take, ``backlog`` how many
    connections may wait to be accepted.
    """

    def __init__(self, bridge: Bridge, *, grace: float, limit_connections: int | None, backlog: int) -> None:
        config = uvicorn.Config(
            bridge,
            http=Protocol,
            ws="none",
            loop="asyncio",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            date_header=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limit_connections,
            timeout_keep_alive=KEEP_ALIVE,
        )
        super().__init__(config)
        self.bridge = bridge
        self.grace = grace
        self.backlog = backlog
        self.patient = True
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._complained = -SILENCE

    def stop(self, *, patient: bool) -> None:
        """Ask it to stop. If ``patient``, it waits for delayed and dripping answers, if the grace suffices.

        Asked a second time it waits for nothing.
        """
        self.force_exit = self.should_exit
        self.should_exit, self.patient = True, patient
        if self._loop is not None:
            with suppress(RuntimeError):  # It has stopped, and its loop is closed.
                self._loop.call_soon_threadsafe(self._woken.set)

    async def listen(
        self, sockets: Mapping[socket.socket, ssl.SSLContext | None], ready: Callable[[], None]
    ) -> None:
        """Serve on ``sockets``, calling ``ready`` once it does, until asked to stop.

        Those with a context speak TLS.
        """
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._complain)
        self.config.load()
        self.servers = [
            await self._loop.create_server(
                self._connection, sock=sock, ssl=context, backlog=ACCEPTED_IN_A_ROW
            )
            for sock, context in sockets.items()
        ]
        for sock in sockets:
            sock.listen(self.backlog)
        ready()
        if not self.should_exit:
            await self._woken.wait()
        await self.shutdown(list(sockets))

    def _connection(self) -> Protocol:
        return Protocol(config=self.config, server_state=self.server_state, app_state={})

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, let what is in flight finish, and drop the rest.

        uvicorn's own looks only ten times a second whether it is done.
        """
        await self._stop_accepting()
        for sock in sockets or ():
            sock.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        latest = stopwatch() + self.grace
        await self._until(lambda: self._finished(latest), self.grace)
        for task in list(self.server_state.tasks):
            task.cancel()
        connections: set[Any] = self.server_state.connections
        for connection in list(connections):
            connection.tcp.abort()
        await self._until(lambda: not connections, self.grace)

    async def _stop_accepting(self) -> None:
        # asyncio would lose track of a connection that it has accepted but not set up when the server
        # closes; so let it accept no more, and get done with those.
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows has another way to accept, and not this gap.
            for sock in (sock for server in self.servers for sock in server.sockets):
                loop.remove_reader(sock)
        for _ in range(3):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()

    def _complain(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Say in the log, on one line, what went wrong outside any request."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in EXHAUSTED:
            if stopwatch() - self._complained >= SILENCE:
                self._complained = stopwatch()
                served = len(self.server_state.connections)
                log.error("%s: with %s connections served, others have to wait", error.strerror, served)
        elif not self.should_exit:
            trace = error if log.isEnabledFor(logging.DEBUG) else None
            log.error("%s: %r", context["message"], error, exc_info=trace)

    def _finished(self, latest: float) -> bool:
        """Whether nothing is left that is worth waiting for, which only what ends by ``latest`` is."""
        if self.force_exit:
            return True
        for task, over in list(self.bridge.held.items()):
            if not self.patient or over > latest:
                task.cancel()
        connections: set[Any] = self.server_state.connections
        return not (self.server_state.tasks or self.bridge.turns) and not any(
            unsent(one.transport, one.tcp) for one in connections
        )

    async def _until(self, done: Callable[[], bool], seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not done():
                    await asyncio.sleep(0.001)
