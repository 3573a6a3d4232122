"""The printed files keep their promises, and wrong words are refused before anything is printed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.deploy.conftest import FORMS, SHA, WHEEL, deploy

Printed = Callable[[str], str]


def test_a_file_names_settings_the_port_and_the_version(printed: Printed, subtests: pytest.Subtests) -> None:
    page = Sandbox().client().get("/_sandbox/manual/reference/settings.md").text
    known = {*re.findall(r"RESELLER_SANDBOX_[A-Z_]+", page), "RESELLER_SANDBOX_MODE"}
    assert len(known) > 20
    for form in FORMS:
        with subtests.test(form):
            text = printed(form)
            assert {*re.findall(r"RESELLER_SANDBOX_[A-Z_]+", text)} <= known
            assert "8053" in text
            assert version("reseller-sandbox") in text


def test_a_container_has_no_rights(printed: Printed, subtests: pytest.Subtests) -> None:
    """It runs as nobody, and can write nowhere if the file says how it runs."""
    for form in FORMS:
        if form.startswith("dockerfile"):
            with subtests.test(form):
                assert re.search(r"^USER 10001:10001$", printed(form), re.MULTILINE)
                assert "HEALTHCHECK" in printed(form)
                assert "--require-hashes" in printed(form)
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


def test_whatever_is_downloaded_is_pinned(printed: Printed, folder: Path) -> None:
    """The wheel by its hash, the base image by its digest, actions by their commits."""
    digest = hashlib.sha256((folder / "dist" / WHEEL).read_bytes()).hexdigest()
    assert f'echo "{digest}  {WHEEL}" | sha256sum --check' in printed("dockerfile, wheel below")
    assert f"ADD --checksum=sha256:{SHA} https://files.example/" in printed("dockerfile, wheel by address")
    bases = re.findall(r"^FROM (\S+)", printed("dockerfile"), re.MULTILINE)
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:[\w.-]+@sha256:[0-9a-f]{64}", base) for base in bases)
    for form in ("github-actions", "github-actions, image"):
        used = re.findall(r"uses: (\S+)", printed(form))
        assert len(used) == 2
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in used)


def test_own_commands_arrive_with_their_lines_quotes_and_colons(printed: Printed) -> None:
    steps: Any = yaml.safe_load(printed("github-actions, own commands"))["jobs"]["tests"]["steps"]
    runs = [step.get("run", "") for step in steps]
    assert runs[2].splitlines()[1:] == ["make", "make install"]
    assert 'make "a: b"' in runs


def test_words_that_cannot_stand_in_a_file_are_refused_in_a_line(
    folder: Path, subtests: pytest.Subtests
) -> None:
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
        with subtests.test(value):
            complaint = deploy("dockerfile", option, value, at=folder, status=2)
            assert problem in complaint
            assert complaint.count("\n") == 1
            assert "pass@" not in complaint
