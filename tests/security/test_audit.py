"""The command that compares the pinned packages with known holes: it fails for a hole alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

AUDIT = Path(__file__).parents[2] / ".ci" / "audit"

SOUND = {"name": "sound", "version": "1.0", "vulns": []}
HOLLOW = {"name": "hollow", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "unknown", "skip_reason": "not found"}


def test_an_audit_fails_for_a_hole_alone_and_counts_the_packages(tmp_path: Path, subtests) -> None:
    program = tmp_path / "pip-audit"
    for packages, status, *lines in (
        ([SOUND], 0, "1 of 1 packages checked, 0 holes known"),
        ([SOUND, HOLLOW], 1, "hollow 2.0 has PYSEC-1, mended in 2.1", "1 holes known"),
        ([SOUND, UNKNOWN], 0, "1 of 2 packages checked", "did not answer for 1"),
        (None, 0, "cannot be asked, so nothing was checked: no network"),
    ):
        with subtests.test(packages=packages):
            answer = f"print({json.dumps({'dependencies': packages})!r})"
            silence = "import sys; sys.exit('no network')"
            program.write_text(f"#!{sys.executable}\n{answer if packages else silence}\n")
            program.chmod(0o755)
            command = [sys.executable, AUDIT, program, "file"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == status, done.stderr
            assert all(line in done.stdout for line in lines), done.stdout
