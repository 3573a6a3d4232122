"""The kind ``garbage``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec.structs import replace

from reseller_sandbox.core.values import free_text
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Turn
from reseller_sandbox.server import delivery

#: What comes unless a rule says otherwise; no parser takes it for HTTP.
NOISE = b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"


class Garbage(FaultKind, frozen=True, kw_only=True):
    """Bytes that are not HTTP come in place of an answer; then the connection is closed."""

    text: Annotated[str | None, free_text("text"), "What comes, in UTF-8."] = None
    hex: Annotated[str | None, free_text("hexadecimal digits"), "What comes, byte by byte."] = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Require at most one of text and hex, and hexadecimal digits there."""
        if self.text is not None and self.hex is not None:
            yield "hex", "does not go with text"
        try:
            bytes.fromhex(self.hex or "")
        except ValueError:
            yield "hex", "must be hexadecimal digits"

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        raw = NOISE if self.text is None else self.text.encode()
        return replace(so_far, cut=delivery.RawBytes(raw if self.hex is None else bytes.fromhex(self.hex)))
