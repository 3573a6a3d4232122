"""What stands in a recording: its head, and the steps of a world's past, each a line in the file.

The fields of each class are the keys of its line.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from reseller_sandbox.registry.values import INSTANT
from reseller_sandbox.worlds import Entry

Count = Annotated[int, Meta(ge=0, le=10**15)]
Seconds = Annotated[float, Meta(ge=0, le=10**15)]


class Raw(bytes):
    """Bytes that are a text in the file if they are UTF-8, and otherwise an object with ``base64``."""


class _Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the file, in which no other keys can stand."""


class _Step(
    _Line, frozen=True, kw_only=True, tag_field="step", tag=lambda name: name.removesuffix("Step").lower()
):
    """A step: its ``number`` in the world's line, and the time that the clock showed."""

    number: Count
    at: datetime

    def __post_init__(self) -> None:
        force_setattr(self, "at", INSTANT.read(self.at))


class RecordingHead(_Line, frozen=True, kw_only=True):
    """Whose past it is: ``by`` is the version of the sandbox, ``default`` whether the world was the default
    one.

    ``number`` is the world's among those of its server and ``seed`` that of the server: both are in the
    credentials that are made anew. ``keys`` and ``tokens`` are the credentials that its accounts had where
    the world comes from. ``notes`` say what of the past the recording cannot tell.
    """

    by: str
    world: str
    settings: dict[str, Any]
    keys: dict[str, tuple[Count, str]]
    tokens: dict[str, Count]
    default: bool = True
    number: Count = 0
    seed: str = ""
    notes: tuple[str, ...] = ()


class StateStep(_Step, frozen=True, kw_only=True):
    """What the world was when this number had been given away: a fixture. ``why`` is for those past the
    first.
    """

    fixture: str
    why: str = ""


class RecordedRequest(_Line, frozen=True, kw_only=True):
    """A request as it came. ``replaced`` are the places of secrets that others stand for; it has to be
    signed ``anew`` where they were among what is signed."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: Raw = Raw()
    scheme: str = "http"
    port: str = ""
    replaced: tuple[str, ...] = ()
    anew: bool = False


class RecordedResponse(_Line, frozen=True, kw_only=True):
    """What the client was told, and which faults had a hand in it.

    The ``body`` is the beginning of an answer that is longer, of which ``size`` and ``digest`` (SHA-256) are.
    """

    status: Count
    outcome: str
    faults: tuple[str, ...] = ()
    held_up: Seconds = 0.0
    body: Raw = Raw()
    size: Count | None = None
    digest: str = ""


class WaitingStep(_Step, frozen=True, kw_only=True):
    """A request came that a fault put off; what came of it is told under the same name ``waits``, if
    anything.
    """

    waits: str
    sent: RecordedRequest


class RequestStep(_Step, frozen=True, kw_only=True):
    """A request took effect: one that has just been ``sent``, or one that ``waits``.

    ``beyond`` is why it cannot be done again, where it cannot; then a ``StateStep`` follows.
    """

    id: str
    operation: str
    came: RecordedResponse
    sent: RecordedRequest | None = None
    waits: str | None = None
    beyond: str = ""


class CallStep(_Step, frozen=True, kw_only=True):
    """A resource was used; ``at`` is what the clock showed after that. ``past`` is whether it only led here.

    A rewind, for one, is not done again: what it left behind is not told.
    """

    call: str
    given: dict[str, Any]
    past: bool = False


class EventsStep(_Step, frozen=True, kw_only=True):
    """Something happened by itself, or by a scheduled action."""

    event: str
    subject: str


class EndStep(_Step, frozen=True, kw_only=True):
    """Where the world stood at last; ``digest`` (SHA-256) is that of the world as a fixture."""

    frozen: bool
    requests: Count
    digest: str


Step = StateStep | WaitingStep | RequestStep | CallStep | EventsStep | EndStep


class RecordedWorld(Struct, frozen=True):
    """A world's past: what it began with, what came then, and where that led."""

    head: RecordingHead
    steps: tuple[Step, ...]


#: So much of a long answer is told, beside its digest.
_KEPT = 4096


def came(entry: Entry, answer: bytes | None = None) -> RecordedResponse:
    """Return what came of a request, which a replay compares; ``answer`` is without the secrets of others."""
    body, size = entry.answer if answer is None else answer, entry.answer_size
    is_long = len(body) > _KEPT
    return RecordedResponse(
        status=entry.status,
        outcome=entry.outcome,
        faults=entry.fault_names,
        held_up=entry.held_up,
        body=Raw(body[:_KEPT]),
        size=len(body) if is_long and size is None else size,
        digest=sha256(body).hexdigest() if is_long else "",
    )
