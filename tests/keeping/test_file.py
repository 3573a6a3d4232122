"""The state file: which files are refused, and what a failed save leaves."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.keeping.conftest import Kept
from tests.keeping.serving import refusal, serving
from tests.outfit import program

SIZES = struct.Struct("<II")


def blocks(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the content of each block of a state file begins and ends."""
    at = content.index(b"\n") + 1
    while at < len(content):
        size, _ = SIZES.unpack_from(content, at)
        yield at + SIZES.size, at + SIZES.size + size
        at += SIZES.size + size


def correct_checksum(content: bytearray, begin: int, end: int) -> None:
    size = content[begin - SIZES.size : begin - 4]
    struct.pack_into("<I", content, begin - 4, zlib.crc32(content[begin:end], zlib.crc32(size)))


def test_damage_with_a_correct_checksum_is_refused_without_the_name_of_an_exception(
    kept: Kept, tmp_path: Path
) -> None:
    """Much damage is found. The server reads the rest as other values."""
    content, random, refusals, path = kept.path.read_bytes(), Random(7), set(), tmp_path / "worlds"
    for _ in range(12):
        begin, end = random.choice(list(blocks(content))[:-1])
        changed = bytearray(content)
        for _ in range(40):
            changed[random.randrange(begin, end)] = random.randrange(256)
        correct_checksum(changed, begin, end)
        path.write_bytes(changed)
        refusals.add(refusal(path).partition(": ")[2])
    assert len(refusals) > 3
    assert [words for words in refusals if "Error" in words or "(" in words] == []


def test_records_of_another_version_are_refused_by_name(kept: Kept, tmp_path: Path) -> None:
    content = bytearray(kept.path.read_bytes())
    begin, end = next(place for place in blocks(bytes(content)) if b"Order(id" in content[slice(*place)])
    at = content.index(b"Order(id", begin)
    content[at : at + 8] = b"Order(no"
    correct_checksum(content, begin, end)
    path = tmp_path / "older"
    path.write_bytes(content)
    assert "whose Order has other fields" in refusal(path)


def test_a_file_that_no_server_can_use_is_refused_and_stays(tmp_path: Path) -> None:
    path, fifo = tmp_path / "other", tmp_path / "fifo"
    for content, words in (
        (b"zones: {com: {}}\n", "no file that worlds are kept in"),
        (b"\x80\x04\x95", "no file that worlds are kept in"),
        (b"reseller-sandbox worlds, version 99\n", "of version 99 of the format; this program reads 4"),
    ):
        path.write_bytes(content)
        assert words in refusal(path)
    assert "No such file or directory" in refusal(tmp_path / "no" / "folder")
    os.mkfifo(fifo)
    for special in (Path("/dev/full"), Path("/dev/null"), fifo, tmp_path):
        assert f"{special} is not a regular file" in refusal(special)
    assert sorted(tmp_path.iterdir()) == [fifo, path]


def test_a_full_disk_leaves_the_last_save(kept: Kept, tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk."""
    program("prlimit")
    path = tmp_path / "worlds"
    path.write_bytes(kept.path.read_bytes())
    with serving("--keep", path, limit=path.stat().st_size - 100) as served:
        served.sandbox.names.add("lost.com")
    assert path.read_bytes() == kept.path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["worlds"]
