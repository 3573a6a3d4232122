"""The way of one answer back to its client, over a real connection: sent, held back, cut or damaged.

All waiting here is asyncio's, so it costs neither a thread nor a lock, and it
ends as soon as the client leaves or the task is cancelled.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sandbox.web.transport import Close, Delivery, Garbage, Hang, Reset, Truncate, pieces

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

#: SO_LINGER on, for no time at all: closing such a socket sends a RST. Windows has shorts for ints.
LINGER_NOT = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)

#: How much of a body that nobody will read is taken off the client, and for how long.
SPILL_BYTES = 16 << 20
SPILL_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. Its headers are complete but for the connection's own."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Wire:
    """One request's connection: ASGI's two channels, and the transports beneath them."""

    def __init__(
        self, receive: Receive, send: Send, transport: asyncio.Transport, tcp: asyncio.Transport
    ) -> None:
        self.receive = receive
        self.send = send
        self._transport = transport
        self._tcp = tcp
        #: Whether the client may still be sending a body that nobody will read.
        self.unread = False

    async def carry(self, answer: Answer, delivery: Delivery) -> None:
        """Bring ``answer`` to the client in the way ``delivery`` says; returns when that is over."""
        if delivery.delay and await self.left(within=delivery.delay):
            return
        match delivery.cut:
            case None:
                await self._answer(answer, delivery)
            case Truncate(reset=reset):
                await self._answer(answer, delivery, whole=False)
                await self._reset() if reset else await self._close()
            case Garbage(raw):
                self._transport.write(raw)
                await self._close()
            case Hang(seconds):
                await self.left(within=seconds)
                await self._close()
            case Close():
                await self._close()
            case Reset():
                await self._reset()

    async def drop(self) -> None:
        """End the connection now, sent or not sent."""
        self._tcp.abort()
        await self.left()

    async def left(self, within: float | None = None) -> bool:
        """Whether the client has left ``within`` so many seconds; waits no longer than that."""
        try:
            async with asyncio.timeout(within):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return False
        return True

    async def _answer(self, answer: Answer, delivery: Delivery, whole: bool = True) -> None:
        await self.send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        parts = pieces(answer.body, delivery)
        last = len(parts) if self.unread or not whole else len(parts) - 1
        for number, part in enumerate(parts):
            if number and delivery.drip and await self.left(within=delivery.drip.pause):
                return
            await self.send({"type": "http.response.body", "body": part, "more_body": number < last})
        if self.unread and whole:
            await self._spill()
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _spill(self) -> None:
        """Read on to a point and throw it away: one who is cut off while sending may miss the answer."""
        spilled, more = 0, True
        with suppress(TimeoutError):
            async with asyncio.timeout(SPILL_SECONDS):
                while more and spilled < SPILL_BYTES:
                    message = await self.receive()
                    more = message.get("more_body", False)
                    spilled += len(message.get("body", b""))

    async def _close(self) -> None:
        # uvicorn would answer 500 for an application that returns before it has seen the connection end.
        self._transport.close()
        await self.left()

    async def _reset(self) -> None:
        # What is still in asyncio's buffers would be lost; what the kernel has may be on its way.
        while unsent(self._transport, self._tcp):
            await asyncio.sleep(0.001)
        self._tcp.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        await self.drop()


def tcp_beneath(transport: asyncio.Transport) -> asyncio.Transport:
    """The transport of the socket itself, under TLS too; for a connection that is open.

    Under TLS asyncio offers no way to it, and the outer transport's ``abort`` does
    nothing any more once that has been closed twice.
    """
    protocol = getattr(transport, "_ssl_protocol", None)
    return getattr(protocol, "_transport", None) or transport


def unsent(transport: asyncio.Transport, tcp: asyncio.Transport) -> int:
    """How many bytes are still to be handed to the kernel."""
    inner = tcp.get_write_buffer_size()
    if inner or transport is tcp or tcp.is_closing():
        return inner
    return transport.get_write_buffer_size()
