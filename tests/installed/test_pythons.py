"""The wheel under each Python: the command, equal bytes, the pytest plugin, and a project of a user."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.installed.conftest import INSTALL, MINORS, PROJECT, ROOT, output_of
from tests.thorough import WHOLE

#: Runs the golden transcripts again, and prints the lines that differ.
CHECK = ("-m", "tests.golden", "--check")
ENVIRONMENTS = (
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C", "PYTHONUTF8": "1"},
    {"PYTHONHASHSEED": "random", "TZ": "Pacific/Kiritimati", "PYTHONOPTIMIZE": "2"},
)


def minor_of(python: Path) -> int:
    return int(output_of(python, "-c", "import sys; print(sys.version_info.minor)"))


def test_transcripts_do_not_depend_on_hash_seed_or_time_zone(
    python: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    command = str(python.parent / "reseller-sandbox")
    assert "default: valid" in output_of(command, "fixture", "validate", "default", "example", at=tmp_path)
    # The versions have different environments, so that the Pythons of a machine try all of them together.
    tried = ENVIRONMENTS if WHOLE else ENVIRONMENTS[MINORS.index(minor_of(python)) % len(ENVIRONMENTS) :][:1]
    for environment in tried:
        with subtests.test(environment=environment):
            output_of(python, *CHECK, at=ROOT, **environment)


#: A suite of a user who has a package ``sandbox``.
SUITE = """
import sys


def test_has_the_reseller_sandbox(reseller_sandbox):
    assert reseller_sandbox.client("poor").get("/v3/balance").json[0]["balance"] == "5.00"
    assert "sandbox" not in sys.modules
    import sandbox
    assert sandbox.WHOSE == "the user"
"""


def test_the_plugin_works_beside_a_user_package_named_sandbox(python: Path, tmp_path: Path) -> None:
    (tmp_path / "sandbox" / "testing").mkdir(parents=True)
    for path, text in {"__init__.py": "WHOSE = 'the user'\n", "testing/__init__.py": ""}.items():
        (tmp_path / "sandbox" / path).write_text(text)
    (tmp_path / "test_suite.py").write_text(SUITE)
    assert "1 passed" in output_of(python, "-m", "pytest", "-q", at=tmp_path)


#: Items of the contract, and the fewest tests of the project that exercise each, in every mode.
EXERCISED = {
    "v3.createDomain": 8,
    "v3.createDomain insufficient_funds": 1,
    "v3.createDomain name_taken": 1,
    "v3.balance signature_mismatch": 1,
    "nothing to active": 6,
    "expiry": 1,
    "reset after": 2,
    "latency after": 1,
}


def test_the_example_project_passes_in_process_and_with_a_server(
    python: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    project = Path(
        shutil.copytree(PROJECT, tmp_path / "billing", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    )
    assert "Success" in output_of(python, "-m", "mypy", at=project)
    variables = {"RESELLER_SANDBOX_COVERAGE": "json:covered.json html", "RESELLER_SANDBOX_COVER_OF": "v3.*"}
    for options in (
        ["--reseller-sandbox-cover-min", "events=40"],
        ["-n", "2", "--reseller-sandbox-mode", "server"],
    ):
        with subtests.test(options=options):
            printed = output_of(python, "-m", "pytest", "-q", *options, at=project, **variables)
            assert "14 passed" in printed
            report = json.loads((project / "covered.json").read_text())
            counts = {item["item"]: len(item["by"]) for item in report["items"]}
            assert [name for name, least in EXERCISED.items() if counts[name] < least] == []
            page = (project / "reseller-sandbox-coverage.html").read_text("utf-8")
            assert "test_orders.py::test_a_name_taken_by_another_registrar_is_reported" in page


KEPT = """
import requests, urllib3
from reseller_sandbox import Sandbox

assert urllib3.__version__.startswith("1.26.")
with Sandbox() as sandbox, sandbox.intercept("https://api.example.test"), requests.Session() as session:
    for _ in range(3):
        print(session.get("https://api.example.test/V2.0/domain/zones").status_code, end=" ")
    sandbox.faults.add("reset")
    try:
        session.get("https://api.example.test/V2.0/domain/zones")
    except requests.exceptions.RequestException as error:
        print(type(error).__name__)
"""


def test_the_library_requests_reuses_its_connection_with_urllib3_1_26(python: Path, tmp_path: Path) -> None:
    output_of(python, *INSTALL, "--target", tmp_path, "requests", "urllib3==1.26.20")
    assert output_of(python, "-c", KEPT, PYTHONPATH=str(tmp_path)) == "403 403 403 ConnectionError\n"
