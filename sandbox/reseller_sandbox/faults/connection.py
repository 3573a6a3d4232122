"""Kinds that strike the connection: the client gets no answer, or half of one, or none that is HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reseller_sandbox.faults.kind import Kind, Phase, Target, Turn
from reseller_sandbox.faults.parameters import Length, Number, Switch, Text, parameter

#: What comes for an answer unless a rule says otherwise: bytes that are no HTTP in any reading.
NOISE = b"\x16\x00\xff\xfe this is no HTTP \x00\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang(Kind):
    """No answer comes, and the connection stays open.

    Before: the operation never takes effect. After: it has.
    """

    name: ClassVar[str] = "hang"

    seconds: float | None = parameter(
        Length(), "After how long the connection is closed; never, unless given.", default=None
    )

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Leave it hanging."""
        target.hang(self.seconds)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Kind):
    """A TCP reset comes in place of an answer."""

    name: ClassVar[str] = "reset"

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Reset the connection."""
        target.reset()
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(Kind):
    """The connection is closed in the ordinary way, without an answer."""

    name: ClassVar[str] = "close"

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Close the connection."""
        target.close()
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate(Kind):
    """The answer's head announces its whole body, and the connection ends within that."""

    name: ClassVar[str] = "truncate"
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    keep: int | None = parameter(
        Number(0, 1 << 30, whole=True),
        "How many bytes of the body come; half of it, unless given.",
        default=None,
    )
    reset: bool = parameter(Switch(), "Whether the connection ends with a reset.", default=False)

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Cut the answer short."""
        target.truncate(self.keep, self.reset)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbage(Kind):
    """Bytes that are no HTTP come in place of an answer; then the connection is closed."""

    name: ClassVar[str] = "garbage"

    text: str | None = parameter(Text(), "What comes, in UTF-8.", default=None)
    hex: str | None = parameter(Text("hexadecimal digits"), "What comes, byte by byte.", default=None)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """At most one way to say it, and that a good one."""
        if self.text is not None and self.hex is not None:
            yield "hex", "does not go with text"
        try:
            bytes.fromhex(self.hex or "")
        except ValueError:
            yield "hex", "must be hexadecimal digits"

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Send it."""
        if self.hex is not None:
            target.garbage(bytes.fromhex(self.hex))
        else:
            target.garbage(NOISE if self.text is None else self.text.encode())
        return True
