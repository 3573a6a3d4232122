"""Files of an earlier state of the program stay readable: a state file and a recording."""

from __future__ import annotations

import shutil
from pathlib import Path

from reseller_sandbox import connect, replay
from tests.golden.transcripts import FOLDER
from tests.persistence.serving import serving


def test_a_state_file_of_an_earlier_version_is_readable(tmp_path: Path) -> None:
    """A refusal here means that users cannot open their files: give a new field a default instead."""
    shutil.copy(FOLDER / "kept.state", path := tmp_path / "kept.state")
    with serving("--state-file", path) as served, connect(served.url, world="side") as side:
        sandbox = served.sandbox
        assert sandbox.names["kept.com"].account == "main"
        assert sandbox.accounts["main"].currency == "EUR"
        assert [snapshot.name for snapshot in sandbox.snapshots] == ["kept"]
        assert [request.operation for request in sandbox.journal][-1] == "v3.balance"
        assert "side.com" in side.names
        sandbox.clock.advance("30d")
        sandbox.restore("kept")


def test_a_recording_of_an_earlier_version_is_readable() -> None:
    """Its steps are repeated. The answers can differ where the behaviour has changed since."""
    replayed = replay((FOLDER / "kept.recording").read_bytes())
    assert replayed.sandbox.names["kept.com"].account == "main"
    assert replayed.sandbox.accounts["main"].currency == "EUR"
