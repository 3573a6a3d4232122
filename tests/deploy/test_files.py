"""The printed files keep their promises, and wrong words are refused before anything is printed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.command import run

Printed = Callable[[str], str]

SHA = "0" * 64

#: The name of the wheel of this version.
WHEEL = f"reseller_sandbox-{version('reseller-sandbox')}-py3-none-any.whl"
IMAGE = ("--image", "registry.example/reseller-sandbox:1")

#: The words for each file in each of its forms.
FORMS: dict[str, tuple[str, ...]] = {
    "dockerfile": ("dockerfile",),
    "dockerfile, wheel below": ("dockerfile", "--wheel", f"dist/{WHEEL}"),
    "dockerfile, wheel by address": (
        *("dockerfile", "--wheel", f"https://files.example/{WHEEL}#sha256={SHA}"),
        *("--base", "python:3.14-slim"),
    ),
    "compose": ("compose",),
    "github-actions": ("github-actions",),
    "github-actions, image": ("github-actions", *IMAGE),
    "github-actions, own commands": (
        *("github-actions", "--install", "make\nmake install"),
        *("--test", 'make "a: b"'),
    ),
    "gitlab-ci": ("gitlab-ci",),
    "gitlab-ci, image": ("gitlab-ci", *IMAGE),
    "kubernetes": ("kubernetes", *IMAGE),
}


def deploy(*words: str, at: Path, status: int = 0) -> str:
    """Run the command in a folder. Return its output, or its error output if it fails."""
    with chdir(at):
        done = run("deploy", *words)
    assert done.status == status, done
    return done.err if status else done.out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel in a folder below."""
    made = tmp_path_factory.mktemp("deploy")
    (made / "dist").mkdir()
    (made / "dist" / WHEEL).write_bytes(b"not looked into")
    return made


@pytest.fixture(scope="module")
def printed(folder: Path) -> Printed:
    """Prints one of ``FORMS``."""
    return cache(lambda form: deploy(*FORMS[form], at=folder))


def test_a_file_names_known_settings_the_port_and_the_version(printed: Printed) -> None:
    page = Sandbox().client().get("/_sandbox/manual/reference/settings.md").text
    known = {*re.findall(r"RESELLER_SANDBOX_[A-Z_]+", page), "RESELLER_SANDBOX_MODE"}
    assert len(known) > 20
    for form in FORMS:
        text = printed(form)
        assert {*re.findall(r"RESELLER_SANDBOX_[A-Z_]+", text)} <= known, form
        assert "8053" in text, form
        assert version("reseller-sandbox") in text, form


def test_a_container_has_no_rights(printed: Printed) -> None:
    """The user of a container is nobody, and its file system is read-only if the file says how to run it."""
    for form in ("dockerfile", "dockerfile, wheel below", "dockerfile, wheel by address"):
        assert re.search(r"^USER 10001:10001$", printed(form), re.MULTILINE), form
        assert "HEALTHCHECK" in printed(form), form
        assert "--require-hashes" in printed(form), form
    (service,) = yaml.safe_load(printed("compose"))["services"].values()
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    deployment, _ = yaml.safe_load_all(printed("kubernetes"))
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_wheel_the_base_image_and_actions_are_pinned(printed: Printed, folder: Path) -> None:
    digest = hashlib.sha256((folder / "dist" / WHEEL).read_bytes()).hexdigest()
    assert f'echo "{digest}  {WHEEL}" | sha256sum --check' in printed("dockerfile, wheel below")
    assert f"ADD --checksum=sha256:{SHA} https://files.example/" in printed("dockerfile, wheel by address")
    for form, pattern, pin in (
        ("dockerfile", r"^FROM (\S+)", r"python:[\w.-]+@sha256:[0-9a-f]{64}"),
        ("github-actions", r"uses: (\S+)", r"[\w/-]+@[0-9a-f]{40}"),
        ("github-actions, image", r"uses: (\S+)", r"[\w/-]+@[0-9a-f]{40}"),
    ):
        used = re.findall(pattern, printed(form), re.MULTILINE)
        assert [bool(re.fullmatch(pin, one)) for one in used] == [True, True], form


def test_own_commands_keep_their_lines_quotes_and_colons(printed: Printed) -> None:
    steps: Any = yaml.safe_load(printed("github-actions, own commands"))["jobs"]["tests"]["steps"]
    runs = [step.get("run", "") for step in steps]
    assert runs[2].splitlines()[1:] == ["make", "make install"]
    assert 'make "a: b"' in runs


def test_words_that_cannot_stand_in_a_file_are_refused_in_a_line(folder: Path) -> None:
    for option, value, problem in (
        ("--wheel", "dist/other-1.0-py3-none-any.whl", "the wheel of this version is named"),
        ("--wheel", f"/tmp/{WHEEL}", "below this folder"),
        ("--wheel", f"../{WHEEL}", "below this folder"),
        ("--wheel", f"nowhere/{WHEEL}", "No such file"),
        ("--wheel", f"$(id)/{WHEEL}", "must be of letters"),
        ("--wheel", f"https://files.example/{WHEEL}", "#sha256="),
        ("--wheel", f"http://files.example/{WHEEL}#sha256={SHA}", "https://"),
        ("--wheel", f"https://me:pass@files.example/{WHEEL}#sha256={SHA}", "password"),
        ("--base", "python:3.13 AS x", "is no name of an image"),
        ("--image", "-x", "is no name of an image"),
    ):
        complaint = deploy("dockerfile", option, value, at=folder, status=2)
        assert problem in complaint, value
        assert complaint.count("\n") == 1, value
        assert "pass@" not in complaint


SCHEMA = ("check-jsonschema", "--builtin-schema")

#: The name of each file, and the linters for its kind.
LINTERS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "dockerfile": ("Dockerfile", (("hadolint", "--failure-threshold", "style"),)),
    "compose": ("compose.yaml", ((*SCHEMA, "vendor.compose-spec"),)),
    "github-actions": (
        ".github/workflows/tests.yaml",
        ((*SCHEMA, "vendor.github-workflows"), (*SCHEMA, "custom.github-workflows-require-timeout")),
    ),
    "gitlab-ci": (".gitlab-ci.yml", ((*SCHEMA, "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),)),
    "kubernetes": ("kubernetes.yaml", (("kubernetes-validate", "--strict"),)),
}

#: The rules of yamllint, but for the length of lines, because hashes are long.
YAMLLINT = (
    "{extends: default, rules: {line-length: disable, document-start: disable, truthy: {check-keys: false}}}"
)


@pytest.mark.slow
def test_linters_find_nothing(printed: Printed, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for form in FORMS:
        name, linters = LINTERS[form.partition(",")[0]]
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(printed(form), "utf-8")
        if name != "Dockerfile":
            linters += (("yamllint", "--strict", "-d", YAMLLINT),)
        if "workflows" in name and (actionlint := shutil.which("actionlint")):
            linters += ((actionlint,),)
        for program, *options in linters:
            with subtests.test(form, program=program):
                command = [Path(sys.executable).with_name(program), *options, file]
                environment = {**os.environ, "NO_COLOR": "1"}
                done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
                assert done.returncode == 0, done.stdout + done.stderr
