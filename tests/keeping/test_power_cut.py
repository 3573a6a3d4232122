"""A loss of power during or after a save of ``--keep`` leaves the worlds of the last save, or of the next.

Unlike a killed process, it loses what no ``fsync`` has brought to the disk: contents and names of files.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.keeping.serving import register, serving, wait_until

SHIM = Path(__file__).with_name("shim")
SAVES = 3

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the shim reads /proc")


class Disk:
    """The possible contents of one file after a loss of power, by the events that came before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: What the disk has under the file's name for certain, and what it may have instead.
        self.named: list[int | None] = [None]
        self._synced: dict[int, str] = {}
        self._written: dict[int, str] = {}

    def take(self, event: dict[str, Any]) -> None:
        """Let an event happen."""
        inode: int = event["inode"]
        content: Any = event.get("content")
        if event["event"] == "open" and event["truncated"]:
            self._written[inode] = ""
            self._synced.pop(inode, None)
        elif event["event"] == "rename" and event["path"] == str(self.path):
            self._written[inode] = content
            self.named.append(inode)
        elif event["event"] == "fsync" and content is not None:
            self._synced[inode] = self._written[inode] = content
        elif event["event"] == "fsync" and event["path"] == str(self.path.parent):
            self.named = self.named[-1:]

    def contents(self) -> set[str]:
        """Return everything that the file may have."""
        return {content for inode in self.named for content in self._contents(inode)}

    def _contents(self, inode: int | None) -> set[str]:
        if inode is None:
            return {""}
        written = self._written[inode]
        half = written[: len(written) // 4 * 2]
        return {written} if self._synced.get(inode) == written else {"", half, written}


def events(path: Path) -> list[dict[str, Any]]:
    """Return what the shim has recorded so far."""
    whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]


def saves(recorded: list[dict[str, Any]], path: Path) -> list[str]:
    """Return what each save wrote, the first beginning being an empty file."""
    return ["", *(row["content"] for row in recorded if (row["event"], row["path"]) == ("rename", str(path)))]


def has_saved(log: Path, path: Path, count: int) -> bool:
    """Whether ``count`` contents of the file are known."""
    return len(saves(events(log), path)) >= count


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[list[dict[str, Any]], Path]:
    """What a server did to its files while it saved three times."""
    kept, log = tmp_path / "worlds", tmp_path / "events"
    shim = {"PYTHONPATH": str(SHIM), "RECORDED_EVENTS": str(log)}
    with serving("--keep", kept, env=shim) as served:
        for number in range(SAVES - 1):
            wanted = len(saves(events(log), kept)) + 1
            assert register(served.sandbox, f"kept-{number}.com") == 200
            wait_until(partial(has_saved, log, kept, wanted))
        assert register(served.sandbox, "kept-at-the-end.com") == 200
    return events(log), kept


def test_every_prefix_of_the_events_leaves_the_last_save_or_the_next(
    recorded: tuple[list[dict[str, Any]], Path],
) -> None:
    """A save is over, and has to stay, when the next begins, and at the end."""
    rows, kept = recorded
    known, disk, over, begun = saves(rows, kept), Disk(kept), 0, 0
    assert len(known) > SAVES
    for number, row in enumerate(rows):
        if (row["event"], row["path"]) == ("open", f"{kept}.new") and row["truncated"]:
            over, begun = begun, begun + 1
        disk.take(row)
        allowed = set(known[over : begun + 1])
        assert disk.contents() <= allowed, f"after event {number}, {row['event']} {row['path']}"
    assert disk.contents() == {known[-1]}
    assert kept.read_bytes().hex() == known[-1]
