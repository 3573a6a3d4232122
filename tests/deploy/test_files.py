"""The printed files: what they promise, and what is refused before anything is printed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox.deploy.wheel import own_name, own_version
from reseller_sandbox.settings import ServerSettings
from reseller_sandbox.sources import variables
from tests.deploy.conftest import FORMS, SHA, deploy

Printed = Callable[[str], str]

CONTAINERS = [form for form in FORMS if form.startswith(("dockerfile", "compose", "kubernetes"))]


@pytest.mark.parametrize("form", FORMS)
def test_every_variable_in_a_file_is_a_setting(printed: Printed, form: str) -> None:
    """And the port in it is the one that a server has by itself."""
    known = {*variables().values(), "RESELLER_SANDBOX_MODE"}
    told = printed(form)
    assert set(re.findall(r"RESELLER_SANDBOX_[A-Z_]+", told)) <= known
    assert str(ServerSettings.port) in told
    assert own_version() in told


@pytest.mark.parametrize("form", CONTAINERS)
def test_a_container_has_no_rights(printed: Printed, form: str) -> None:
    """It is nobody, and where the file says how it is run, it can write nowhere."""
    told = printed(form)
    if form.startswith("dockerfile"):
        assert re.search(r"^USER 10001:10001$", told, re.MULTILINE)
        assert "HEALTHCHECK" in told
        assert "--require-hashes" in told
        return
    if form == "compose":
        (service,) = yaml.safe_load(told)["services"].values()
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        return
    deployment, _ = yaml.safe_load_all(told)
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_wheel_is_pinned_by_its_hash_where_it_can_be_read(printed: Printed, folder: Path) -> None:
    """One below this folder by what is in it, one by an address as it says."""
    digest = hashlib.sha256((folder / "dist" / own_name()).read_bytes()).hexdigest()
    assert f'echo "{digest}  {own_name()}" | sha256sum --check' in printed("dockerfile, wheel below")
    assert f"ADD --checksum=sha256:{SHA} https://files.example/" in printed("dockerfile, wheel by address")


def test_whatever_is_not_in_the_hands_of_this_file_is_pinned(printed: Printed) -> None:
    """The base image by its digest, actions by their commits."""
    bases = re.findall(r"^FROM (\S+)", printed("dockerfile"), re.MULTILINE)
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:[\w.-]+@sha256:[0-9a-f]{64}", base) for base in bases)
    for form in ("github-actions", "github-actions, image"):
        used = re.findall(r"uses: (\S+)", printed(form))
        assert len(used) == 2
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in used)


def test_commands_of_ones_own_arrive_as_they_were_given(printed: Printed) -> None:
    """With their lines, quotes and colons."""
    steps: Any = yaml.safe_load(printed("github-actions, own commands"))["jobs"]["tests"]["steps"]
    told = [step.get("run", "") for step in steps]
    assert told[2].splitlines()[1:] == ["make", "make install"]
    assert 'make "a: b"' in told


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--wheel", "dist/other-1.0-py3-none-any.whl"), "the wheel of this version is named"),
        (("--wheel", f"/tmp/{own_name()}"), "below this folder"),
        (("--wheel", f"../{own_name()}"), "below this folder"),
        (("--wheel", f"nowhere/{own_name()}"), "No such file"),
        (("--wheel", f"$(id)/{own_name()}"), "must be of letters"),
        (("--wheel", f"https://files.example/{own_name()}"), "#sha256="),
        (("--wheel", f"http://files.example/{own_name()}#sha256={SHA}"), "https://"),
        (("--wheel", f"https://me:pass@files.example/{own_name()}#sha256={SHA}"), "password"),
        (("--base", "python:3.13 AS x"), "is no name of an image"),
        (("--image", "-x"), "is no name of an image"),
    ],
)
def test_what_cannot_stand_in_a_file_is_refused(folder: Path, words: tuple[str, ...], complaint: str) -> None:
    """In one line, with the reason."""
    told = deploy("dockerfile", *words, at=folder, status=2)
    assert complaint in told
    assert told.count("\n") == 1
    assert "pass@" not in told
