"""Files around the project, the versions, and the audit of pinned packages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.installed.conftest import MINORS

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


#: The schema of each file that a service reads.
SCHEMAS = {
    ".github/workflows/tests.yaml": "vendor.github-workflows",
    ".github/ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/silence.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/wish.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
}


def workflow() -> Any:
    return yaml.safe_load((GITHUB / "workflows" / "tests.yaml").read_text("utf-8"))


def test_the_workflow_tests_every_supported_python() -> None:
    """The workflow's and those of the tests of the wheel, from the oldest that is declared."""
    pythons = [f"3.{minor}" for minor in MINORS]
    assert workflow()["jobs"]["tests"]["strategy"]["matrix"]["python"] == pythons
    assert PROJECT["requires-python"] == f">={pythons[0]}"


def test_the_workflow_and_the_printed_ci_job_pin_the_same_action_commits() -> None:
    used = set(re.findall(r"uses: (.+)", (GITHUB / "workflows" / "tests.yaml").read_text("utf-8")))
    command = [sys.executable, "-m", "reseller_sandbox", "deploy", "github-actions"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pins = {action.partition("@")[0]: action for action in used}
    shared = [action for action in re.findall(r"uses: (.+)", printed) if action.partition("@")[0] in pins]
    assert len(shared) > 1
    assert set(shared) <= used


def test_the_version_is_declared_once() -> None:
    """The command prints it, and the list of changes has it."""
    asked = [sys.executable, "-m", "reseller_sandbox", "--version"]
    printed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert printed == version(PROJECT["name"]) == PROJECT["version"]
    changes = ROOT / "sandbox/reseller_sandbox/manual/changelog.md"
    assert re.findall(r"^## (\d\S+)", changes.read_text("utf-8"), re.MULTILINE)[0] == PROJECT["version"]


@pytest.mark.slow
def test_github_configuration_files_match_their_schemas(subtests: pytest.Subtests) -> None:
    assert {str(path.relative_to(ROOT)) for path in GITHUB.rglob("*.y*ml")} == set(SCHEMAS)
    program = Path(sys.executable).with_name("check-jsonschema")
    for file, schema in SCHEMAS.items():
        with subtests.test(file):
            command = [program, "--builtin-schema", schema, file]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr


AUDIT = ROOT / ".ci" / "audit"

SOUND = {"name": "sound", "version": "1.0", "vulns": []}
HOLLOW = {"name": "hollow", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "unknown", "skip_reason": "not found"}


def test_an_audit_fails_only_for_a_known_vulnerability_and_counts_packages(tmp_path: Path, subtests) -> None:
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
