"""The way of one answer back to its client, over a real connection: sent, held back, cut or damaged.

All waiting here is asyncio's, so it costs neither a thread nor a lock, and it
ends as soon as the client leaves or the task is cancelled.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

if sys.platform == "linux":
    import fcntl
    import termios

from reseller_sandbox.server.delivery import (
    HEARTBEAT,
    HEARTBEAT_BYTES,
    CutShort,
    Delivery,
    RawBytes,
    Silence,
    Stream,
    TcpClose,
    TcpReset,
    pieces,
)
from reseller_sandbox.server.messages import WireAnswer

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

#: SO_LINGER on, for no time at all: closing such a socket sends a RST. Windows has shorts for ints.
LINGER_NOT = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)

#: How many bytes are handed to a connection at once. It copies them, and meanwhile no request is served.
PIECE = 1 << 18

#: How much of a body that nobody will read is taken off the client, and for how long.
SPILL_BYTES = 16 << 20
SPILL_SECONDS = 2.0


class Wire:
    """One request's connection: ASGI's two channels, and the transports beneath them."""

    def __init__(self, receive: Receive, send: Send, state: Mapping[str, Any]) -> None:
        self.send = send
        self._receive = receive
        self._transport: asyncio.Transport = state["transport"]
        self._tcp: asyncio.Transport = state["tcp"]
        self._invites: bool = state["invites"]
        #: Whether there may be more of the request's body to receive.
        self.unread = False

    def invite(self) -> None:
        """Ask for the body, if the client waits for ``100 Continue``."""
        if self._invites:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def receive(self) -> Any:
        """Return ASGI's next message on the request: more of its body, or that the client has left."""
        message = await self._receive()
        self.unread = message.get("more_body", False)
        return message

    async def carry(self, answer: WireAnswer, delivery: Delivery) -> None:
        """Bring ``answer`` to the client in the way ``delivery`` says; return when that is over."""
        if delivery.delay and await self.left(within=delivery.delay):
            return
        match delivery.cut:
            case None:
                await self._answer(answer, delivery)
            case CutShort(reset=reset):
                await self._answer(answer, delivery, whole=False)
                await self._reset() if reset else await self._close()
            case RawBytes(raw):
                self._transport.write(raw)
                await self._close()
            case Silence(seconds):
                await self.left(within=seconds)
                await self._close()
            case TcpClose():
                await self._close()
            case TcpReset():
                await self._reset()

    async def follow(self, answer: WireAnswer, stream: Stream) -> None:
        """Send the head of ``answer`` and then what comes of ``stream``, while there is a client."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def call() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.set)

        stream.when_news(call)
        headers = [header for header in answer.headers if header[0] != b"content-length"]
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        left = asyncio.ensure_future(self.left())
        left.add_done_callback(lambda _: news.set())
        try:
            while not left.done():
                news.clear()
                ended, piece = stream.ended, stream.piece()
                if piece:
                    await self.send({"type": "http.response.body", "body": piece, "more_body": True})
                if ended:
                    break
                await asyncio.sleep(stream.pause)
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await news.wait()
                except TimeoutError:
                    await self.send(
                        {"type": "http.response.body", "body": HEARTBEAT_BYTES, "more_body": True}
                    )
        finally:
            left.cancel()
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def finish(self, last: bytes) -> None:
        """End an answer that goes on with ``last``, or at once where the client does not read."""
        if unsent(self._transport, self._tcp):
            await self.drop()
        else:
            await self.send({"type": "http.response.body", "body": last, "more_body": False})

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

    async def _answer(self, answer: WireAnswer, delivery: Delivery, whole: bool = True) -> None:
        await self.send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        parts = pieces(answer.body, delivery)
        end = len(parts) if self.unread or not whole else len(parts) - 1
        for number, part in enumerate(parts):
            if number and delivery.drip and await self.left(within=delivery.drip.pause):
                return
            for start in range(0, len(part) or 1, PIECE):
                more = number < end or start + PIECE < len(part)
                piece = part[start : start + PIECE]
                await self.send({"type": "http.response.body", "body": piece, "more_body": more})
        if whole and end == len(parts):
            await self._spill()
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _spill(self) -> None:
        """Read on to a point and throw it away: one who is cut off while sending may miss the answer."""
        spilled = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(SPILL_SECONDS):
                while self.unread and spilled < SPILL_BYTES:
                    spilled += len((await self.receive()).get("body", b""))

    async def _close(self) -> None:
        # uvicorn would answer 500 for an application that returns before it has seen the connection end.
        self._transport.close()
        await self.left()

    async def _reset(self) -> None:
        # A RST overtakes what was written before it, in our buffers and in the kernel's.
        sock = self._tcp.get_extra_info("socket")
        while not self._tcp.is_closing() and (unsent(self._transport, self._tcp) or unacknowledged(sock)):
            await asyncio.sleep(0.001)
        if not self._tcp.is_closing():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        await self.drop()


def tcp_beneath(transport: asyncio.Transport) -> asyncio.Transport:
    """Return the transport of the socket itself, under TLS too; the connection has to be open.

    Under TLS asyncio offers no way to it, and the outer transport's ``abort`` does
    nothing any more once that has been closed twice.
    """
    protocol = getattr(transport, "_ssl_protocol", None)
    return getattr(protocol, "_transport", None) or transport


def unsent(transport: asyncio.Transport, tcp: asyncio.Transport) -> int:
    """Return how many bytes are still to be handed to the kernel."""
    inner = tcp.get_write_buffer_size()
    if inner or transport is tcp or tcp.is_closing():
        return inner
    return transport.get_write_buffer_size()


def unacknowledged(sock: socket.socket) -> int:
    """Return how many bytes the kernel keeps until the peer confirms them; 0 where it does not tell."""
    if sys.platform != "linux":
        return 0
    kept = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4))
    return int.from_bytes(kept, sys.byteorder)
