"""The program gives the output, the answers and the files that are recorded in this folder."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

from tests.golden.transcripts import FOLDER, TRANSCRIPTS, rerun

#: How many lines of a difference are shown.
SHOWN = 60


def difference(golden: Path, now: Path) -> list[str]:
    """Return the first lines that differ, as ``diff -u`` shows them."""
    before, after = (path.read_text("utf-8").splitlines() for path in (golden, now))
    return list(islice(unified_diff(before, after, f"golden {golden.name}", "now", n=3, lineterm=""), SHOWN))


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_is_the_same_to_the_byte(name: str) -> None:
    with rerun(name) as folder:
        found = [
            line
            for file in (f"{name}.txt", *TRANSCRIPTS[name])
            if file.endswith((".txt", ".yaml"))  # the other files contain durations and the port
            for line in difference(FOLDER / file, folder / file)
        ]
    assert not found, "\n".join([*found, "", "If this was decided: python -m tests.golden", ""])
