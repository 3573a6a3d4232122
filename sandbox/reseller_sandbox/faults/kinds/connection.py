"""Kinds that end the connection, without an answer or within one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec.structs import replace

from reseller_sandbox.faults.kind import Effects, FaultContext, FaultKind, Phase
from reseller_sandbox.registry.values import SWITCH, free_text, whole
from reseller_sandbox.server import delivery


class Reset(FaultKind, frozen=True, kw_only=True):
    """A TCP reset comes in place of an answer."""

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.TcpReset())


class Close(FaultKind, frozen=True, kw_only=True):
    """The connection is closed in the ordinary way, without an answer."""

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.TcpClose())


class Truncate(FaultKind, frozen=True, kw_only=True):
    """The answer's head announces the whole body, and the connection ends in the middle of it.

    Args:
        keep: How many bytes of the body come, all but one at most; half of it, unless given.
        reset: Whether the connection ends with a reset.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    keep: Annotated[int | None, whole(0, 1 << 30)] = None
    reset: Annotated[bool, SWITCH] = False

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.CutShort(self.keep, self.reset))


#: What comes unless a rule says otherwise; no parser takes it for HTTP.
NOISE = b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"


class Garbage(FaultKind, frozen=True, kw_only=True):
    """Bytes that are not HTTP come in place of an answer; then the connection is closed.

    Args:
        text: What comes, in UTF-8.
        hex: What comes, byte by byte.
    """

    text: Annotated[str | None, free_text("text")] = None
    hex: Annotated[str | None, free_text("hexadecimal digits")] = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Require at most one of text and hex, and hexadecimal digits there."""
        if self.text is not None and self.hex is not None:
            yield "hex", "does not go with text"
        try:
            bytes.fromhex(self.hex or "")
        except ValueError:
            yield "hex", "must be hexadecimal digits"

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects:  # noqa: ARG002
        raw = NOISE if self.text is None else self.text.encode()
        return replace(so_far, cut=delivery.RawBytes(raw if self.hex is None else bytes.fromhex(self.hex)))
