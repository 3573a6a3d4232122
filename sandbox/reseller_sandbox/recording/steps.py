"""The contents of a recording: its head and its steps, one line each.

The fields of each class are the keys of its line.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from reseller_sandbox.values.kinds import INSTANT
from reseller_sandbox.worlds import Entry

#: The version of the format. Increase it if the meaning of a line changes.
VERSION = 4

Count = Annotated[int, Meta(ge=0, le=10**15)]
Seconds = Annotated[float, Meta(ge=0, le=10**15)]


class Raw(bytes):
    """Bytes, written as a string if they are UTF-8, else as an object with ``base64``."""


class _Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line or a part of a line. It allows no unknown keys."""


class _Step(
    _Line, frozen=True, kw_only=True, tag_field="step", tag=lambda name: name.removesuffix("Step").lower()
):
    """A step: its ``number`` in the sequence of the world, and the time of its clock."""

    number: Count
    at: datetime

    def __post_init__(self) -> None:
        force_setattr(self, "at", INSTANT.read(self.at))


class RecordingHead(_Line, frozen=True, kw_only=True, tag_field="recording", tag=VERSION):
    """The head of a recording: the version of the sandbox (``by``) and the world.

    ``default`` is whether the world was the default one. ``number`` is the number of the world on its server
    and ``seed`` the seed of that server. New credentials depend on both. ``keys`` and ``tokens`` are the
    credentials that the accounts inherited from the source world. ``notes`` list the parts of the past that
    are missing.
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
    """The state of the world after this number, as a fixture.

    ``why`` is the reason for a second or later state, because the steps before it are missing or cannot be
    repeated.
    """

    fixture: str
    why: str = ""


class RecordedRequest(_Line, frozen=True, kw_only=True):
    """A request as it was received, with the secrets of other services masked."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: Raw = Raw()
    scheme: str = "http"
    port: str = ""


class RecordedResponse(_Line, frozen=True, kw_only=True):
    """The result for the client, and the faults that applied.

    For a long response, ``body`` holds only its beginning. ``size`` and ``digest`` (SHA-256) describe the
    whole.
    """

    status: Count
    outcome: str
    faults: tuple[str, ...] = ()
    held_up: Seconds = 0.0
    body: Raw = Raw()
    size: Count | None = None
    digest: str = ""


class WaitingStep(_Step, frozen=True, kw_only=True):
    """A request arrived, and a fault deferred it.

    A later ``RequestStep`` with the same ``waits`` has the result, if there was one.
    """

    waits: str
    sent: RecordedRequest


class RequestStep(_Step, frozen=True, kw_only=True):
    """A request took effect: a new one (``sent``) or a deferred one (``waits``).

    ``skipped`` is why the request cannot be repeated, or empty. If it is set, a ``StateStep`` follows.
    """

    id: str
    operation: str
    result: RecordedResponse
    sent: RecordedRequest | None = None
    waits: str | None = None
    skipped: str = ""


class CallStep(_Step, frozen=True, kw_only=True):
    """A control operation was called. ``at`` is the time of the clock after the call.

    ``past`` is whether a replay skips the call, because only its result matters. An example is a rewind: the
    recording does not contain the history that it left.
    """

    call: str
    parameters: dict[str, Any]
    past: bool = False


class EventsStep(_Step, frozen=True, kw_only=True):
    """A timed event occurred, or a scheduled action was applied."""

    event: str
    subject: str


class EndStep(_Step, frozen=True, kw_only=True):
    """The final state of the world.

    ``digest`` is the SHA-256 of the world as a fixture.
    """

    frozen: bool
    requests: Count
    digest: str


Step = StateStep | WaitingStep | RequestStep | CallStep | EventsStep | EndStep


class RecordedWorld(Struct, frozen=True):
    """The past of a world: the head, then the steps from its first state to the end."""

    head: RecordingHead
    steps: tuple[Step, ...]


#: The number of bytes kept of a long response, beside its digest.
_KEPT = 4096


def response_of(entry: Entry, answer: bytes | None = None) -> RecordedResponse:
    """Return the response of ``entry`` for comparison in a replay.

    ``answer`` replaces the body with one without secrets of other services.
    """
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
