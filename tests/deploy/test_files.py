"""The printed files and the pins in the wheel keep their promises."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from functools import cache, reduce
from importlib.metadata import requires, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import reseller_sandbox
from reseller_sandbox import Sandbox, connect
from tests.command import printed, program, run

#: The commands, each of which prints a file.
FORMS = (
    *("dockerfile", "compose", "compose-shards", "kubernetes", "kubernetes-shards", "nginx"),
    *("systemd", "github-actions", "github-actions-service", "gitlab-ci", "gitlab-ci-service"),
)


@cache
def text_of(form: str) -> str:
    return printed("deploy", form)


def test_printed_files_have_known_settings_the_port_and_the_version() -> None:
    page = Sandbox().client().get("/_sandbox/manual/reference/settings.md").text
    known = {*re.findall(r"RESELLER_SANDBOX_[A-Z_]+", page), "RESELLER_SANDBOX_MODE"}
    assert len(known) > 20
    for form in FORMS:
        text = text_of(form)
        assert {*re.findall(r"RESELLER_SANDBOX_[A-Z_]+", text)} <= known, form
        assert "8053" in text or form == "systemd", form
        assert version("reseller-sandbox") in text, form


def test_containers_run_without_privileges() -> None:
    """The user of a container is nobody, and its file system is read-only if the file says how to run it."""
    assert re.search(r"^USER 10001:10001$", text_of("dockerfile"), re.MULTILINE)
    assert "HEALTHCHECK" in text_of("dockerfile")
    assert "--require-hashes" in text_of("dockerfile")
    (service,) = yaml.safe_load(text_of("compose"))["services"].values()
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    _, deployment, _ = yaml.safe_load_all(text_of("kubernetes"))
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_base_image_and_actions_are_pinned() -> None:
    for form, pattern, pin in (
        ("dockerfile", r"^FROM (\S+)", r"python:[\w.-]+@sha256:[0-9a-f]{64}"),
        ("github-actions", r"uses: (\S+)", r"[\w/-]+@[0-9a-f]{40}"),
        ("github-actions-service", r"uses: (\S+)", r"[\w/-]+@[0-9a-f]{40}"),
    ):
        used = re.findall(pattern, text_of(form), re.MULTILINE)
        assert len(used) > 1, form
        assert [reference for reference in used if not re.fullmatch(pin, reference)] == [], form


def test_worlds_survive_a_new_container() -> None:
    """The state file is on a volume, and the fixtures are mounted, in Compose and in Kubernetes."""
    compose = yaml.safe_load(text_of("compose"))
    (service,) = compose["services"].values()
    claim, deployment, _ = yaml.safe_load_all(text_of("kubernetes"))
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    for environment in (service["environment"], variables):
        assert environment["RESELLER_SANDBOX_STATE_FILE"].startswith("/state/")
    assert compose["volumes"].keys() == {"state"}
    assert service["volumes"] == ["./fixtures:/fixtures:ro", "state:/state"]
    assert service["healthcheck"]["test"][:2] == ["CMD", "reseller-sandbox"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"state": "/state", "fixtures": "/fixtures", "tls": "/tls"}
    assert claim["metadata"]["name"] == pod["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()
    assert "/state" in text_of("dockerfile")


def test_the_uncommented_lines_for_https_are_valid() -> None:
    for form in ("compose", "kubernetes"):
        text = re.sub(r"(?m)^( +)# (- |  |RESELLER|containerPort)", r"\1\2", text_of(form))
        assert "8054" in str([*yaml.safe_load_all(text)]), form
        assert "RESELLER_SANDBOX_CERTFILE" in str([*yaml.safe_load_all(text)]), form


def test_the_kubernetes_file_has_as_many_shards_as_its_router() -> None:
    documents = [*yaml.safe_load_all(printed("deploy", "kubernetes-shards", "--shards", "7"))]
    by_kind = {document["kind"]: document for document in documents}
    assert by_kind["StatefulSet"]["spec"]["replicas"] == 7
    servers = re.findall(r"server (\S+) max_fails=0;", by_kind["ConfigMap"]["data"]["nginx.conf"])
    assert servers == [f"reseller-sandbox-{number}.reseller-shards:8053" for number in range(7)]
    for wrong in ("0", "101", "x"):
        done = run("deploy", "nginx", "--shards", wrong)
        assert (done.status, done.out) == (2, "")


def test_the_commands_of_the_systemd_unit_start_a_server_and_wait_for_it(tmp_path: Path) -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text_of("systemd"))
    service = unit["Service"]
    folders = {"%t": tmp_path / "run", "%S": tmp_path / "state"}
    for folder in folders.values():
        (folder / service["StateDirectory"]).mkdir(parents=True)
    start, wait = (
        reduce(lambda words, name: words.replace(name, str(folders[name])), folders, service[key]).split()
        for key in ("ExecStart", "ExecStartPost")
    )
    environment = {**os.environ, "RESELLER_SANDBOX_PORT": "0"}
    with subprocess.Popen(start, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            url = subprocess.run(wait, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
            with connect(url) as sandbox:
                assert sandbox.health.show().status == "ok"
        finally:
            server.terminate()
        assert server.wait(int(service["TimeoutStopSec"])) == 0
    assert (tmp_path / "state" / "reseller-sandbox" / "worlds.state").exists()


@pytest.mark.slow
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "reseller-sandbox.service"
    unit.write_text(text_of("systemd"), "utf-8")
    command = [program("systemd-analyze"), "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


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
@pytest.mark.parametrize("form", ["compose", "compose-shards"])
def test_docker_compose_accepts_the_printed_file(form: str, tmp_path: Path) -> None:
    """The shards need Compose 2.23.1, the first version that reads the content of a configuration."""
    plugin = ["docker", "compose"]
    if shutil.which("docker") and not subprocess.run([*plugin, "version"], capture_output=True).returncode:
        command = plugin
    elif shutil.which("docker-compose") and form == "compose":
        command = ["docker-compose"]
    else:
        pytest.skip("Docker Compose is not installed, or too old")
    (tmp_path / "compose.yaml").write_text(text_of(form), "utf-8")
    command += ["config", "--quiet"]
    for token, status in (("choose-one", 0), ("", 1)):
        variables = {**os.environ, "RESELLER_SANDBOX_CONTROL_TOKEN": token}
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert done.returncode == status, done.stderr


@pytest.mark.slow
def test_linters_accept_the_printed_files(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for form in FORMS:
        if form in ("nginx", "systemd"):
            continue  # tests/shards runs nginx, and another test here runs the unit
        name, linters = LINTERS[form.removesuffix("-service").removesuffix("-shards")]
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text_of(form), "utf-8")
        if name != "Dockerfile":
            linters += (("yamllint", "--strict", "-d", YAMLLINT),)
        if "workflows" in name and (actionlint := shutil.which("actionlint")):
            linters += ((actionlint,),)
        for linter, *options in linters:
            with subtests.test(form, linter=linter):
                command = [Path(sys.executable).with_name(linter), *options, file]
                environment = {**os.environ, "NO_COLOR": "1"}
                done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
                assert done.returncode == 0, done.stdout + done.stderr


ROOT = Path(__file__).parents[2]
PINS = Path(reseller_sandbox.__file__).parent / "deploy" / "requirements.txt"

#: A package at its version, for which systems, and with which hashes.
_ROW = re.compile(r"^([\w.-]+)==(\S+)( ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def rows(file: Path) -> dict[str, tuple[str, ...]]:
    return {match[1]: match.groups() for match in _ROW.finditer(file.read_text("utf-8"))}


def test_the_wheel_pins_the_same_versions_as_the_project() -> None:
    assert PINS.read_text("utf-8").count("==") == len(rows(PINS))
    assert rows(PINS).items() <= rows(ROOT / ".requirements.lock").items()


def test_the_makefile_names_every_build_dependency() -> None:
    """The Makefile names hatchling and editables, and their dependencies beside the pins of the wheel."""
    (build,) = re.findall(r"^BUILD := (.*)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    needed, left = set[str](), ["hatchling", "editables"]
    while left:
        needed.add(name := canonicalize_name(left.pop()))
        wanted = (Requirement(name) for name in requires(name) or ())
        left += [
            requirement.name
            for requirement in wanted
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ]
    assert build == "|".join(sorted(needed - rows(PINS).keys()))
