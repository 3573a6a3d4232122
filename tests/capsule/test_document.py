"""The file of a capsule: small, the same for the same past, and read strictly."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.capsule import document
from reseller_sandbox.capsule.document import BadCapsule, from_bytes, packed, to_bytes
from tests.capsule.test_replay import lived
from tests.registry import REGISTRY

CONTENT = lived(Sandbox(REGISTRY)).capsule.get().content
LINES: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(CONTENT).splitlines()]


def of(lines: list[Any]) -> bytes:
    """The file with these lines."""
    return packed("".join(json.dumps(line) + "\n" for line in lines).encode())


def test_what_is_read_is_what_was_written() -> None:
    """And the same past has the same bytes."""
    assert to_bytes(from_bytes(CONTENT)) == CONTENT
    assert lived(Sandbox(REGISTRY)).capsule.get().content == CONTENT


@given(at=st.integers(0, len(CONTENT) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused(at: int, bit: int) -> None:
    """Wherever it is."""
    flipped = bytearray(CONTENT)
    flipped[at] ^= 1 << bit
    with pytest.raises(BadCapsule, match=r"^mine: (byte|line|it) "):
        from_bytes(bytes(flipped), "mine")


@given(st.integers(0, len(CONTENT) - 1))
def test_a_file_that_breaks_off_is_refused(size: int) -> None:
    """However much of it is there."""
    with pytest.raises(BadCapsule, match=r"^mine: byte \d+: (this is no capsule|it breaks off)$"):
        from_bytes(CONTENT[:size], "mine")


@given(st.binary(min_size=1, max_size=40))
def test_nothing_may_follow(more: bytes) -> None:
    """A capsule ends where it ends."""
    with pytest.raises(BadCapsule, match=rf"^mine: byte {len(CONTENT)}: something follows its end$"):
        from_bytes(CONTENT + more, "mine")


@given(
    at=st.integers(0, len(LINES) - 1), given=st.none() | st.integers() | st.text() | st.lists(st.integers())
)
def test_a_line_of_another_shape_is_refused(at: int, given: Any) -> None:
    """With its number."""
    with pytest.raises(BadCapsule, match=rf"^mine: line {at + 1}: it is no object$"):
        from_bytes(of([*LINES[:at], given, *LINES[at + 1 :]]), "mine")


@given(st.data())
def test_a_value_of_another_kind_is_refused(data: st.DataObject) -> None:
    """Each field of each line, with its name."""
    at = data.draw(st.integers(0, len(LINES) - 1))
    key = data.draw(st.sampled_from([one for one in LINES[at] if one not in ("capsule", "step")]))
    with pytest.raises(BadCapsule, match=rf"^mine: line {at + 1}: {key}[ .]"):
        from_bytes(of([*LINES[:at], {**LINES[at], key: 1.5}, *LINES[at + 1 :]]), "mine")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "line 1: this is no capsule: it does not begin with the format's version"),
        ([{"capsule": 2}], "line 1: it is of version 2 of the format; this program reads 1"),
        ([{**LINES[0], "more": 1}, *LINES[1:]], "line 1: more is not known here; known are"),
        ([LINES[0], *LINES[2:]], "line 2: the first step must be a stand"),
        (LINES[:-1], f"line {len(LINES) - 1}: the end must be the last step, and there once"),
        ([*LINES, LINES[-1]], f"line {len(LINES)}: the end must be the last step, and there once"),
        ([*LINES[:2], {"step": "jump"}, *LINES[2:]], "line 3: step must be one of stand, waiting, request"),
    ],
)
def test_lines_that_make_no_sense_are_refused(lines: list[Any], problem: str) -> None:
    """Each in words that name the line."""
    with pytest.raises(BadCapsule) as refused:
        from_bytes(of(lines), "mine")
    assert str(refused.value).startswith(f"mine: {problem}")


def test_what_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that would fill the memory."""
    monkeypatch.setattr(document, "MOST", 1 << 20)
    bomb = packed(b" " * (1 << 22))
    with pytest.raises(BadCapsule, match=f"^mine: it is longer than {1 << 20} bytes when it is unpacked$"):
        from_bytes(bomb, "mine")
    assert len(zlib.compress(bomb)) < 1 << 14
