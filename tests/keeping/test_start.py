"""``serve --keep FILE`` starts with a file that it can use alone, and refuses any other in words."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.keeping.serving import refusal, register, serving

SIZES = struct.Struct("<III")


def test_a_second_server_is_refused_under_every_name_of_the_file(tmp_path: Path) -> None:
    kept, linked, symlink = tmp_path / "worlds", tmp_path / "hard-link", tmp_path / "symlink"
    symlink.symlink_to(kept)
    with serving("--keep", kept) as served:
        assert register(served.sandbox, "kept.com") == 200
    os.link(kept, linked)
    with serving("--keep", linked):
        for name in (kept, linked, symlink):
            assert "another server keeps its worlds in" in refusal(name), name
    with serving("--keep", kept):
        pass  # nothing is left of the lock


def test_a_file_that_is_not_regular_is_refused(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (Path("/dev/full"), Path("/dev/null"), fifo, tmp_path):
        assert f"{path} is not a regular file" in refusal(path)
    assert list(tmp_path.iterdir()) == [fifo]


def blocks(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the content of each block of a state file begins and ends."""
    at = content.index(b"\n") + 1
    while at < len(content):
        size, _, _ = SIZES.unpack_from(content, at)
        yield at + SIZES.size, at + SIZES.size + size
        at += SIZES.size + size


def damaged(content: bytes, random: Random) -> bytes:
    """Return a state file with some wrong bytes in one block, and the checksum that fits them."""
    begin, end = random.choice(list(blocks(content)))
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 4])):
        changed[random.randrange(begin, end)] = random.randrange(256)
    check = zlib.crc32(changed[begin - 4 : end])
    struct.pack_into("<I", changed, begin - 8, check)
    return bytes(changed)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A state file with some names."""
    path = tmp_path_factory.mktemp("saved") / "worlds"
    with serving("--keep", path) as served:
        for number in range(3):
            assert register(served.sandbox, f"kept-{number}.com") == 200
    return path.read_bytes()


def test_damage_with_a_correct_checksum_is_refused_without_the_name_of_an_exception(
    saved: bytes, tmp_path: Path
) -> None:
    """Most damage is found. The server reads the rest as other values."""
    random, said, path = Random(7), set(), tmp_path / "worlds"
    for _ in range(12):
        path.write_bytes(damaged(saved, random))
        said.add(refusal(path).partition(": ")[2])
    assert len(said) > 3
    assert [words for words in said if "Error" in words or "(" in words] == []
