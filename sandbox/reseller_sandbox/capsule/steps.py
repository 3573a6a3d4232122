"""What stands in a capsule: its head, and the steps of a world's past, each a line in the file.

The fields of each class are the keys of its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

from msgspec import Struct

from reseller_sandbox.capsule.kinds import Count, Keys, Line, Lines, Pairs, Raw, Seconds, Tokens, Told
from reseller_sandbox.core.signatures import record
from reseller_sandbox.core.values import INSTANT, SWITCH
from reseller_sandbox.worlds import Entry


class CapsuleHead(Struct, frozen=True, kw_only=True):
    """Whose past it is: ``by`` is the version of the sandbox, ``default`` whether the world was the default
    one.

    ``number`` is the world's among those of its server and ``seed`` that of the server: both are in the
    credentials that are made anew. ``keys`` and ``tokens`` are the credentials that its accounts had where
    the world comes from. ``notes`` say what of the past the capsule cannot tell.
    """

    by: Line
    world: Line
    settings: Told
    keys: Keys
    tokens: Tokens
    default: Annotated[bool, SWITCH] = True
    number: Count = 0
    seed: Line = ""
    notes: Lines = ()


class StandStep(Struct, frozen=True, kw_only=True):
    """What the world was when this number had been given away: a fixture. ``why`` is for those past the
    first.
    """

    number: Count
    at: Annotated[datetime, INSTANT]
    fixture: Line
    why: Line = ""


class AsSent(Struct, frozen=True, kw_only=True):
    """A request as it came. ``replaced`` are the places of secrets that others stand for; it has to be
    signed ``anew`` where they were among what is signed."""

    method: Line
    target: Line
    headers: Pairs = ()
    body: Raw = b""
    scheme: Line = "http"
    port: Line = ""
    replaced: Lines = ()
    anew: Annotated[bool, SWITCH] = False


_SENT = record(AsSent)


class CameOfIt(Struct, frozen=True, kw_only=True):
    """What the client was told, and which faults had a hand in it.

    The ``body`` is the beginning of an answer that is longer, of which ``size`` and ``digest`` (SHA-256) are.
    """

    status: Count
    outcome: Line
    faults: Lines = ()
    held_up: Seconds = 0.0
    body: Raw = b""
    size: Count | None = None
    digest: Line = ""


_CAME = record(CameOfIt)


class WaitingStep(Struct, frozen=True, kw_only=True):
    """A request came that a fault put off; what came of it is told under the same name ``waits``, if
    anything.
    """

    number: Count
    at: Annotated[datetime, INSTANT]
    waits: Line
    sent: Annotated[AsSent, _SENT]


class RequestStep(Struct, frozen=True, kw_only=True):
    """A request took effect: one that has just been ``sent``, or one that ``waits``.

    ``beyond`` is why it cannot be done again, where it cannot; then a ``StandStep`` follows.
    """

    number: Count
    at: Annotated[datetime, INSTANT]
    id: Line
    operation: Line
    came: Annotated[CameOfIt, _CAME]
    sent: Annotated[AsSent, _SENT] | None = None
    waits: Line | None = None
    beyond: Line = ""


class CallStep(Struct, frozen=True, kw_only=True):
    """A power was used; ``at`` is what the clock showed after that. ``past`` is whether it only led here.

    A rewind, for one, is not done again: what it left behind is not told.
    """

    number: Count
    at: Annotated[datetime, INSTANT]
    call: Line
    given: Told
    past: Annotated[bool, SWITCH] = False


class FiredStep(Struct, frozen=True, kw_only=True):
    """Something happened by itself, or by a plan."""

    number: Count
    at: Annotated[datetime, INSTANT]
    event: Line
    subject: Line


class EndStep(Struct, frozen=True, kw_only=True):
    """Where the world stood at last; ``digest`` (SHA-256) is that of the world as a fixture."""

    number: Count
    at: Annotated[datetime, INSTANT]
    frozen: Annotated[bool, SWITCH]
    requests: Count
    digest: Line


Step = StandStep | WaitingStep | RequestStep | CallStep | FiredStep | EndStep

#: The kinds of steps, as their lines begin.
STEPS: Mapping[str, Any] = {
    "stand": StandStep,
    "waiting": WaitingStep,
    "request": RequestStep,
    "call": CallStep,
    "fired": FiredStep,
    "end": EndStep,
}


class Recording(Struct, frozen=True):
    """A world's past: what it began with, what came then, and where that led."""

    head: CapsuleHead
    steps: tuple[Step, ...]


#: So much of a long answer is told, beside its digest.
_KEPT = 4096


def came(entry: Entry, answer: bytes | None = None) -> CameOfIt:
    """Return what came of a request, which a replay compares; ``answer`` is without the secrets of others."""
    body, size = entry.answer if answer is None else answer, entry.answer_size
    is_long = len(body) > _KEPT
    return CameOfIt(
        status=entry.status,
        outcome=entry.outcome,
        faults=entry.struck_by,
        held_up=entry.held_up,
        body=body[:_KEPT],
        size=len(body) if is_long and size is None else size,
        digest=sha256(body).hexdigest() if is_long else "",
    )
