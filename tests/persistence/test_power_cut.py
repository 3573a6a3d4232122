"""A loss of power during or after a save of ``--state-file`` leaves the worlds of the last save, or of the
next.

Unlike a killed process, it loses what no ``fsync`` has brought to the disk: contents and names of files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.persistence.conftest import Kept


class Disk:
    """The possible contents of one file after a loss of power, by the events that came before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: The inodes that the disk may have under the file's name. Only one of them is certain.
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


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the shim reads /proc")
def test_every_prefix_of_the_events_leaves_the_last_save_or_the_next(kept: Kept) -> None:
    """A save is over, and has to stay, when the next begins, and at the end."""
    rows, disk, over, begun = kept.events, Disk(kept.path), 0, 0
    saves = [row["content"] for row in rows if (row["event"], row["path"]) == ("rename", str(kept.path))]
    known = ["", *saves]
    assert len(saves) >= 2
    for number, row in enumerate(rows):
        if (row["event"], row["path"]) == ("open", f"{kept.path}.new") and row["truncated"]:
            over, begun = begun, begun + 1
        disk.take(row)
        allowed = set(known[over : begun + 1])
        assert disk.contents() <= allowed, f"after event {number}, {row['event']} {row['path']}"
    assert disk.contents() == {known[-1]}
    assert kept.path.read_bytes().hex() == known[-1]
