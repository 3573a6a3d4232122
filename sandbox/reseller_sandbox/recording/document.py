"""The file format of recordings: JSON lines, compressed by gzip and read strictly.

The first line is the head with the version of the format. Each other line is a step. The last step is the
end. The fields of each class are the keys of its line.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import INSTANT, Kind
from reseller_sandbox.values.packing import GZIP, BadPacking, count_values, unpacked
from reseller_sandbox.worlds import Entry

#: The version of the format. Increase it if the meaning of a line changes.
VERSION = 4

Count = Annotated[int, Meta(ge=0, le=10**15)]
Seconds = Annotated[float, Meta(ge=0, le=10**15)]


class Raw(bytes):
    """Bytes, written as a string if they are UTF-8, else as an object with ``base64``."""


class _Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A line or a part of a line. It allows no unknown keys."""


class _Step(
    _Line, frozen=True, kw_only=True, tag_field="step", tag=lambda name: name.removesuffix("Step").lower()
):
    """A step: its ``number`` in the sequence of the world, and the time of the world (``at``)."""

    number: Count
    at: datetime

    def __post_init__(self) -> None:
        force_setattr(self, "at", INSTANT.read(self.at))


class RecordingHead(_Line, frozen=True, kw_only=True, tag_field="recording", tag=VERSION):
    """The head of a recording: the version of the sandbox (``by``) and the world.

    ``default`` is whether the world was the default one. ``number`` is the number of the world on its server
    and ``seed`` the seed of that server. New credentials depend on both. ``keys`` and ``tokens`` are the
    credentials that the accounts inherited from the source world, as far as requests used them. ``notes``
    list the parts of the past that are missing.
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
    """The state of the world after the step ``number``, as a fixture.

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
    """The response that the client got, and the faults that applied.

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


#: The maximum number of bytes of a response's body in a recording. A longer body also has its digest.
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


#: The maximum size of an unpacked recording in bytes. A small file can have less: ``SMALL`` bytes, and
#: ``RATIO`` more for each of its own bytes. Text that repeats itself in the window of gzip has that ratio.
MOST, SMALL, RATIO = 1 << 28, 1 << 24, 150

#: The maximum number of JSON values in a recording. The values of a fixture in it are counted by themselves:
#: ``_VALUES`` for a small file, and ``_PER_BYTE`` more for each of its bytes. A world has 0.5 of them.
MOST_VALUES, _VALUES, _PER_BYTE = 2_000_000, 200_000, 2

#: The header of a new recording: without time, name and system.
_BEGINNING = GZIP + b"\x08\x00\x00\x00\x00\x00\x02\xff"


class BadRecording(ValueError):
    """A file is not a recording, or is damaged. The message says where and why."""


class _Unread(BadRecording):
    """A line does not have the fields and types of this version."""


def _content(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return value.read_bytes() if isinstance(value, Path) else b64decode(value, validate=True)
    except OSError as problem:
        raise ValueError(f"cannot be read: {problem}") from None
    except (TypeError, ValueError):
        raise ValueError("must be a file's content in Base64") from None


#: A whole recording: its bytes, its bytes in Base64, or the path of a file that the client reads.
CONTENT = Kind(
    {"type": "string", "contentEncoding": "base64", "contentMediaType": "application/gzip"},
    _content,
    lambda content: b64encode(content).decode(),
)
Content = Annotated[bytes | str | Path, CONTENT]


def to_bytes(recording: RecordedWorld) -> bytes:
    """Return a recording as bytes. Raise ``BadRecording`` if it is too large."""
    text = b"".join(_ENCODER.encode(line) + b"\n" for line in (recording.head, *recording.steps))
    if len(text) > MOST:
        raise BadRecording(f"the recording would be {len(text)} bytes long; the maximum is {MOST}")
    return packed(text)


def _written(value: Any) -> object:
    """Convert an instant or bytes to a JSON value."""
    if isinstance(value, datetime):
        return wire(value)
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}


_ENCODER = msgspec.json.Encoder(enc_hook=_written)


def packed(text: bytes) -> bytes:
    """Return ``text`` compressed by gzip, with the same bytes on every system."""
    packing = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    end = struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
    return _BEGINNING + packing.compress(text) + packing.flush() + end


def from_bytes(content: bytes, name: str = "recording") -> RecordedWorld:
    """Return the recording in ``content``.

    Raise ``BadRecording``, with ``name`` as the name of the file in the message.
    """
    by = ""
    try:
        lines = _lines(content)
        first = next(lines, b"{}")
        by = f". The recording is from version {_version(first)} of the sandbox"
        head: RecordingHead = _read(1, RecordingHead, first)
        steps = tuple(_read(number, Step, line) for number, line in enumerate(lines, 2))
        _require_fewer_values(steps, len(content))
        _require_sense(steps)
    except _Unread as problem:
        raise BadRecording(f"{name}: {problem}{by}") from None
    except (BadRecording, BadPacking) as problem:
        raise BadRecording(f"{name}: {problem}") from None
    return RecordedWorld(head, steps)


def _lines(content: bytes) -> Iterator[bytes]:
    """Yield the lines of a packed recording, one by one, because the whole text can need much memory."""
    if not content.startswith(GZIP):
        raise BadRecording("byte 0: this is not a recording")
    number, values, parts = 1, 0, list[bytes]()
    for piece in unpacked(content, min(MOST, SMALL + RATIO * len(content)), "recording"):
        first, *rest = piece.split(b"\n")
        parts.append(first)
        for more in rest:
            line = b"".join(parts)
            values += count_values(line)
            if values > MOST_VALUES:
                raise BadRecording(f"line {number}: the recording has more than {MOST_VALUES} values")
            yield line
            number, parts = number + 1, [more]
    if any(parts):
        raise BadRecording(f"line {number}: the recording ends too early")


def _require_fewer_values(steps: Iterable[Step], size: int) -> None:
    """Raise ``BadRecording`` if a fixture has more values than a world can have in ``size`` packed bytes."""
    most = _VALUES + _PER_BYTE * size
    for number, step in enumerate(steps, 2):
        if isinstance(step, StateStep) and count_values(step.fixture.encode()) > most:
            raise BadRecording(f"line {number}: the recording has a fixture of more than {most} values")


def _version(line: bytes) -> object:
    """Return the version of the sandbox that wrote the head. Refuse another version of the format."""
    written = _read(1, dict[str, Any], line)
    version = written.get("recording")
    if isinstance(version, bool) or not isinstance(version, int):
        raise BadRecording("line 1: this is not a recording: it does not begin with the format's version")
    if version != VERSION:
        raise BadRecording(
            f"line 1: the recording has format version {version}; this program reads version {VERSION}"
        )
    return written.get("by")


def _read(number: int, kind: object, line: bytes) -> Any:
    """Parse the JSON in ``line`` as ``kind``. Errors name the line's ``number``."""
    try:
        return msgspec.json.decode(line, type=kind, dec_hook=_value)
    except (ValueError, RecursionError) as problem:
        raise _Unread(f"line {number}: {problem}") from None


def _value(kind: type, written: Any) -> object:
    """Convert a JSON value back to the instant or the bytes that ``_written`` converted."""
    # This is an instant. It is converted here only while freezegun replaces datetime by a class unknown to
    # msgspec.
    if kind is not Raw:
        return INSTANT.read(written)
    match written:
        case str():
            return Raw(written.encode())
        case {"base64": str() as encoded} if len(written) == 1:
            return Raw(b64decode(encoded, validate=True))
    raise ValueError("must be a string, or an object with the key base64")


def _require_sense(steps: Sequence[Step]) -> None:
    """Raise ``BadRecording`` if steps are missing or refer to missing steps."""
    if not steps or not isinstance(steps[0], StateStep):
        raise BadRecording("line 2: the first step must be a state")
    waiting: set[str] = set()
    for number, step in enumerate(steps, 2):
        if isinstance(step, EndStep) is not (number == len(steps) + 1):
            raise BadRecording(f"line {number}: the last step, and no other, must have the kind 'end'")
        if isinstance(step, WaitingStep):
            if step.waits in waiting:
                raise BadRecording(
                    f"line {number}: an earlier line already has the same value for the key 'waits'"
                )
            waiting.add(step.waits)
        elif isinstance(step, RequestStep):
            if step.skipped:
                waiting.discard(step.waits or "")
            elif (step.sent is None) is (step.waits is None) or step.waits not in {None, *waiting}:
                raise BadRecording(
                    f"line {number}: a request requires the key sent, "
                    "or the key waits with a value from an earlier line"
                )
