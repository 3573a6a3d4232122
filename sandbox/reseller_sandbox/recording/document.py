"""A recording as bytes, and back: JSON lines, packed by gzip, read strictly.

The first line is the head and has the version of the format; each other line is a step, the last one the end.
"""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from msgspec import NODEFAULT, convert

from reseller_sandbox.recording.steps import (
    EndStep,
    Raw,
    RecordedWorld,
    RecordingHead,
    RequestStep,
    StateStep,
    Step,
    WaitingStep,
)
from reseller_sandbox.registry.clock import wire
from reseller_sandbox.registry.parameters import defaults, field_names
from reseller_sandbox.registry.values import INSTANT, Kind

#: The version of the format: another one where a line means something else than it did.
VERSION = 1

#: How many bytes a recording may be when it is unpacked.
MOST = 1 << 28

#: What every recording's file begins with: the head of gzip, without a time, a name and a system.
_BEGINNING = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


class BadRecording(ValueError):
    """A file is no recording, or a damaged one; the message says where, and why."""


def _content(given: Any) -> bytes:
    if isinstance(given, bytes):
        return given
    try:
        return given.read_bytes() if isinstance(given, Path) else b64decode(given, validate=True)
    except OSError as problem:
        raise ValueError(f"cannot be read: {problem}") from None
    except (TypeError, ValueError):
        raise ValueError("must be a file's content in Base64") from None


#: A whole recording: its bytes, the same in Base64, or the path of a file, which the caller's side reads.
CONTENT = Kind(
    {"type": "string", "contentEncoding": "base64", "contentMediaType": "application/gzip"},
    _content,
    lambda content: b64encode(content).decode(),
)
Content = Annotated[bytes | str | Path, CONTENT]


def to_bytes(recording: RecordedWorld) -> bytes:
    """Return a recording as a file has it; raise ``BadRecording`` for one that is too large."""
    lines = [{"recording": VERSION, **_written(recording.head)}]
    lines += ({"step": step.__struct_config__.tag, **_written(step)} for step in recording.steps)
    text = "".join(f"{_ENCODER.encode(line)}\n" for line in lines).encode()
    if len(text) > MOST:
        raise BadRecording(f"the recording would be {len(text)} bytes long; it can be {MOST}")
    return packed(text)


def _written(value: Any) -> Any:
    """Return a value that JSON does not have as one that it has; a record without its defaults."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"base64": b64encode(value).decode()}
    if isinstance(value, datetime):
        return wire(value)
    default = defaults(type(value))
    told = {name: getattr(value, name) for name in field_names(value)}
    return {name: one for name, one in told.items() if one != default.get(name, NODEFAULT)}


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_written)


def packed(text: bytes) -> bytes:
    """Return ``text`` as gzip has it, the same on every system."""
    packing = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    end = struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
    return _BEGINNING + packing.compress(text) + packing.flush() + end


def from_bytes(content: bytes, name: str = "recording") -> RecordedWorld:
    """Return the recording in a file's ``content``; raise ``BadRecording``, which calls the file ``name``."""
    try:
        lines = _unpacked(content).split(b"\n")
        if lines.pop():
            raise BadRecording(f"line {len(lines) + 1}: it breaks off")
        told = [_object(number, line) for number, line in enumerate(lines, 1)]
        head = _head(told[0] if told else {})
        steps = tuple(_read(number, Step, line) for number, line in enumerate(told[1:], 2))
        _require_sense(steps)
    except BadRecording as problem:
        raise BadRecording(f"{name}: {problem}") from None
    return RecordedWorld(head, steps)


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(_BEGINNING):
        raise BadRecording("byte 0: this is no recording")
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        text = unpacking.decompress(content, MOST)
    except zlib.error as problem:
        raise BadRecording(f"it cannot be unpacked, so it is damaged ({problem})") from None
    if unpacking.unconsumed_tail:
        raise BadRecording(f"it is longer than {MOST} bytes when it is unpacked")
    if not unpacking.eof:
        raise BadRecording(f"byte {len(content)}: it breaks off")
    if unpacking.unused_data:
        raise BadRecording(f"byte {len(content) - len(unpacking.unused_data)}: something follows its end")
    return text


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        told = json.loads(line, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise BadRecording(f"line {number}: it is not JSON: {problem}") from None
    if not isinstance(told, dict):
        raise BadRecording(f"line {number}: it is no object")
    return told


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) != len(pairs):
        raise ValueError("a key comes twice")
    return told


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _head(told: dict[str, Any]) -> Any:
    version = told.pop("recording", None)
    if isinstance(version, bool) or not isinstance(version, int):
        raise BadRecording("line 1: this is no recording: it does not begin with the format's version")
    if version != VERSION:
        raise BadRecording(f"line 1: it is of version {version} of the format; this program reads {VERSION}")
    return _read(1, RecordingHead, told)


def _read(number: int, kind: Any, told: dict[str, Any]) -> Any:
    """Return a line as a record; ``kind`` is its type, or a union of types that the line chooses from."""
    try:
        return convert(told, kind, dec_hook=_value)
    except ValueError as problem:
        raise BadRecording(f"line {number}: {problem}") from None


def _value(kind: type, told: Any) -> Any:
    """Return the value that ``_written`` has made text or an object."""
    if kind is not Raw:  # freezegun has replaced datetime by a class that msgspec does not know
        return INSTANT.read(told)
    match told:
        case str():
            return Raw(told.encode("utf-8", "surrogatepass"))
        case {"base64": str() as encoded} if len(told) == 1:
            return Raw(b64decode(encoded, validate=True))
    raise ValueError("must be text, or an object with base64")


def _require_sense(steps: Sequence[Step]) -> None:
    """Raise ``BadRecording`` where steps are missing, or refer to others that are not there."""
    if not steps or not isinstance(steps[0], StateStep):
        raise BadRecording("line 2: the first step must be a stand")
    waiting: set[str] = set()
    for number, step in enumerate(steps, 2):
        if isinstance(step, EndStep) is not (number == len(steps) + 1):
            raise BadRecording(f"line {number}: the end must be the last step, and there once")
        if isinstance(step, WaitingStep):
            if step.waits in waiting:
                raise BadRecording(f"line {number}: waits is there already")
            waiting.add(step.waits)
        elif isinstance(step, RequestStep):
            if step.beyond:
                waiting.discard(step.waits or "")
            elif (step.sent is None) is (step.waits is None) or step.waits not in {None, *waiting}:
                raise BadRecording(f"line {number}: a request is sent, or waits since an earlier line")
