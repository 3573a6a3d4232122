"""The command that holds the pinned packages against known holes: it fails for a hole alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AUDIT = Path(__file__).parents[2] / ".ci" / "audit"

SOUND = {"name": "sound", "version": "1.0", "vulns": []}
HOLLOW = {"name": "hollow", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "unknown", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("told", "status", "says"),
    [
        ({"dependencies": [SOUND]}, 0, ["1 of 1 packages checked, 0 holes known"]),
        ({"dependencies": [SOUND, HOLLOW]}, 1, ["hollow 2.0 has PYSEC-1, mended in 2.1", "1 holes known"]),
        ({"dependencies": [SOUND, UNKNOWN]}, 0, ["1 of 2 packages checked", "did not answer for 1"]),
        ({"dependencies": [UNKNOWN]}, 0, ["0 of 1 packages checked", "did not answer for 1"]),
        (None, 0, ["cannot be asked, so nothing was checked: no network"]),
    ],
    ids=["nothing known", "a hole", "one unknown", "all unknown", "no database"],
)
def test_an_audit_fails_for_a_hole_alone(tmp_path: Path, told: Any, status: int, says: list[str]) -> None:
    """And says how much it has checked."""
    program = tmp_path / "pip-audit"
    answer = f"print({json.dumps(told)!r})" if told else "import sys; sys.exit('no network')"
    program.write_text(f"#!{sys.executable}\n{answer}\n")
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, AUDIT, program, "file"], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert all(one in done.stdout for one in says), done.stdout
