"""Fault kinds that end the connection before or during the response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec.structs import replace

from reseller_sandbox.faults.kind import Effect, Effects, FaultContext, FaultKind, Phase
from reseller_sandbox.server import delivery
from reseller_sandbox.values.kinds import RAW_TEXT, SWITCH, Mistake, whole


class Reset(FaultKind, frozen=True, kw_only=True):
    """Reset the TCP connection instead of sending a response."""

    effect: ClassVar[Effect] = "lost"
    synonyms: ClassVar[tuple[str, ...]] = ("rst", "abort")

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.TcpReset())


class Close(FaultKind, frozen=True, kw_only=True):
    """Close the connection normally, without a response."""

    effect: ClassVar[Effect] = "lost"
    synonyms: ClassVar[tuple[str, ...]] = ("disconnect", "drop", "hangup", "eof")

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.TcpClose())


class Truncate(FaultKind, frozen=True, kw_only=True):
    """Send only the first part of the body, then end the connection.

    The response announces the length of the whole body in the header Content-Length.

    Args:
        keep: Number of bytes of the body to send. The last byte is never sent. Default: half of the body.
        reset: Whether to end the connection with a TCP reset instead of a normal close.
    """

    effect: ClassVar[Effect] = "lost"
    synonyms: ClassVar[tuple[str, ...]] = ("cut", "partial", "incomplete")
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    keep: Annotated[int | None, whole(0, 1 << 30)] = None
    reset: Annotated[bool, SWITCH] = False

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.CutShort(self.keep, self.reset))


class StaleConnection(FaultKind, frozen=True, kw_only=True):
    """Send the response, then end the idle connection. The client's next request on it fails.

    The client cannot see that the connection has ended until it sends the request. The request has no effect.
    A client that opens a connection for each request does not notice this fault.
    """

    synonyms: ClassVar[tuple[str, ...]] = ("keep_alive", "idle_close", "dead_connection")
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, stale=True)


#: The default bytes of the fault ``garbage``. No HTTP parser accepts these bytes.
NOISE = b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"


class Garbage(FaultKind, frozen=True, kw_only=True):
    """Send bytes that are not HTTP in place of a response, then close the connection.

    Args:
        text: The bytes as text, sent in UTF-8.
        hex: The bytes in hexadecimal.
    """

    effect: ClassVar[Effect] = "lost"
    synonyms: ClassVar[tuple[str, ...]] = ("corrupt", "noise", "malformed")

    text: Annotated[str | None, replace(RAW_TEXT, says="text")] = None
    hex: Annotated[str | None, replace(RAW_TEXT, says="hexadecimal digits")] = None

    def mistakes(self) -> Iterator[Mistake]:
        """Require at most one of text and hex, and valid hexadecimal digits in hex."""
        if self.text is not None and self.hex is not None:
            yield Mistake(("hex",), "is not allowed with text")
        try:
            bytes.fromhex(self.hex or "")
        except ValueError:
            yield Mistake(("hex",), "must be hexadecimal digits")

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        raw = NOISE if self.text is None else self.text.encode()
        return replace(so_far, cut=delivery.RawBytes(raw if self.hex is None else bytes.fromhex(self.hex)))
