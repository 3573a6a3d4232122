"""The commands of the printed CI jobs, run here in a project of a user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.installed.conftest import PROJECT, deploy, interpreter, output_of
from tests.outfit import free_ports


@pytest.fixture
def checkout(wheel: Path, tmp_path: Path) -> Path:
    """A project with the wheel beside it."""
    skipped = shutil.ignore_patterns(".*", "__pycache__")
    made = Path(shutil.copytree(PROJECT, tmp_path / "billing", ignore=skipped))
    shutil.copy(wheel, made)
    return made


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """The environment of a job, whose ``python`` has nothing installed."""
    output_of(interpreter(sys.version_info.minor) or sys.executable, "-m", "venv", str(tmp_path / "python"))
    path = f"{tmp_path / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**plain, "PATH": path}


def carry_out(script: str, at: Path, environment: dict[str, str]) -> str:
    """Run a whole job in one shell. Return its output."""
    command = ["bash", "-eo", "pipefail", "-c", script]
    done = subprocess.run(
        command,
        cwd=at,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        timeout=1000,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


#: Ends the server of a job with the job.
END = "trap 'kill $(jobs -p)' EXIT\n"


@pytest.mark.parametrize("form", ["github-actions", "gitlab-ci"])
def test_a_printed_job_passes(checkout: Path, surroundings: dict[str, str], form: str) -> None:
    """The job installs, serves, waits and tests, with two workers and one server."""
    port = str(free_ports())
    document: Any = yaml.safe_load(deploy(form, at=checkout).replace("8053", port))
    if form == "github-actions":
        job = document["jobs"]["tests"]
        script = [step["run"] for step in job["steps"] if "run" in step and "if" not in step]
        environment = {**surroundings, **job["env"], "RESELLER_SANDBOX_PORT": port}
    else:
        job = document["tests"]
        script = [*job["before_script"], *job["script"], *job["after_script"]]
        environment = {**surroundings, **job["variables"], "RESELLER_SANDBOX_PORT": port}
    output = carry_out(END + "\n".join(script), checkout, environment)
    assert "14 passed" in output
    log = (checkout / "sandbox.log").read_text("utf-8") if form == "github-actions" else output
    assert "/_worlds/" in log
