"""A capsule as bytes, and back: JSON lines, packed by gzip, read strictly.

The first line is the head and has the version of the format; each other line is a step, the last one the end.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from reseller_sandbox.capsule.steps import (
    STEPS,
    CapsuleHead,
    EndStep,
    Recording,
    RequestStep,
    StandStep,
    Step,
    WaitingStep,
)
from reseller_sandbox.core.signatures import by_attribute, declared, read, written
from reseller_sandbox.core.stepwise import json_pieces
from reseller_sandbox.core.texts import complaint

#: The version of the format: another one where a line means something else than it did.
VERSION = 1

#: How many bytes a capsule may be when it is unpacked.
MOST = 1 << 28

#: What every capsule's file begins with: the head of gzip, without a time, a name and a system.
_BEGINNING = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"

_NAMES = {kind: name for name, kind in STEPS.items()}


class BadCapsule(ValueError):
    """A file is no capsule, or a damaged one; the message says where, and why."""


def to_bytes(recording: Recording) -> bytes:
    """Return a capsule as a file has it; raise ``BadCapsule`` for one that is too large."""
    lines = [{"capsule": VERSION, **_written(recording.head)}]
    lines += ({"step": _NAMES[type(step)], **_written(step)} for step in recording.steps)
    text = "".join(piece for line in lines for piece in (*json_pieces(line, _text), "\n")).encode()
    if len(text) > MOST:
        raise BadCapsule(f"the capsule would be {len(text)} bytes long; it can be {MOST}")
    return packed(text)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def packed(text: bytes) -> bytes:
    """Return ``text`` as gzip has it, the same on every system."""
    packing = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    end = struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
    return _BEGINNING + packing.compress(text) + packing.flush() + end


def _written(value: Any) -> dict[str, Any]:
    return written(declared(type(value)), value)


def from_bytes(content: bytes, name: str = "capsule") -> Recording:
    """Return the capsule in a file's ``content``; raise ``BadCapsule``, which calls the file ``name``."""
    try:
        lines = _unpacked(content).split(b"\n")
        if lines.pop():
            raise BadCapsule(f"line {len(lines) + 1}: it breaks off")
        told = [_object(number, line) for number, line in enumerate(lines, 1)]
        head = _head(told[0] if told else {})
        steps = tuple(_step(number, line) for number, line in enumerate(told[1:], 2))
        _require_sense(steps)
    except BadCapsule as problem:
        raise BadCapsule(f"{name}: {problem}") from None
    return Recording(head, steps)


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(_BEGINNING):
        raise BadCapsule("byte 0: this is no capsule")
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        text = unpacking.decompress(content, MOST)
    except zlib.error as problem:
        raise BadCapsule(f"it cannot be unpacked, so it is damaged ({problem})") from None
    if unpacking.unconsumed_tail:
        raise BadCapsule(f"it is longer than {MOST} bytes when it is unpacked")
    if not unpacking.eof:
        raise BadCapsule(f"byte {len(content)}: it breaks off")
    if unpacking.unused_data:
        raise BadCapsule(f"byte {len(content) - len(unpacking.unused_data)}: something follows its end")
    return text


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        told = json.loads(line, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise BadCapsule(f"line {number}: it is not JSON: {problem}") from None
    if not isinstance(told, dict):
        raise BadCapsule(f"line {number}: it is no object")
    return told


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) != len(pairs):
        raise ValueError("a key comes twice")
    return told


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _head(told: dict[str, Any]) -> CapsuleHead:
    version = told.pop("capsule", None)
    if isinstance(version, bool) or not isinstance(version, int):
        raise BadCapsule("line 1: this is no capsule: it does not begin with the format's version")
    if version != VERSION:
        raise BadCapsule(f"line 1: it is of version {version} of the format; this program reads {VERSION}")
    head: CapsuleHead = _read(1, CapsuleHead, told)
    return head


def _step(number: int, told: dict[str, Any]) -> Step:
    name = told.pop("step", None)
    kind = STEPS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise BadCapsule(f"line {number}: step must be one of {', '.join(STEPS)}")
    step: Step = _read(number, kind, told)
    return step


def _read(number: int, kind: Any, told: Mapping[str, Any]) -> Any:
    known = declared(kind)
    found, wrong = read(known, told)
    if wrong:
        raise BadCapsule(f"line {number}: {complaint(wrong)}")
    return kind(**by_attribute(known, found))


def _require_sense(steps: Sequence[Step]) -> None:
    """Raise ``BadCapsule`` where steps are missing, or refer to others that are not there."""
    if not steps or not isinstance(steps[0], StandStep):
        raise BadCapsule("line 2: the first step must be a stand")
    waiting: set[str] = set()
    for number, step in enumerate(steps, 2):
        if isinstance(step, EndStep) is not (number == len(steps) + 1):
            raise BadCapsule(f"line {number}: the end must be the last step, and there once")
        if isinstance(step, WaitingStep):
            if step.waits in waiting:
                raise BadCapsule(f"line {number}: waits is there already")
            waiting.add(step.waits)
        elif isinstance(step, RequestStep):
            if step.beyond:
                waiting.discard(step.waits or "")
            elif (step.sent is None) is (step.waits is None) or step.waits not in {None, *waiting}:
                raise BadCapsule(f"line {number}: a request is sent, or waits since an earlier line")
