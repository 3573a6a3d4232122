"""What is installed with the package: the pins that are in the wheel, and the bill of materials."""

from __future__ import annotations

import json
import re
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import reseller_sandbox
from tests.deploy.conftest import deploy

ROOT = Path(__file__).parents[2]
PINS = Path(reseller_sandbox.__file__).parent / "deploy" / "requirements.txt"

#: A package at its version, for which systems, and with which hashes.
_ROW = re.compile(r"^([\w.-]+)==(\S+)( ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def rows(file: Path) -> dict[str, tuple[str, ...]]:
    """The packages that a file of pins has."""
    return {found[1]: found.groups() for found in _ROW.finditer(file.read_text("utf-8"))}


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The bill of materials of this environment."""
    return json.loads(deploy("sbom", at=tmp_path_factory.mktemp("bill")))


def test_the_pins_of_the_wheel_are_those_of_the_project() -> None:
    """The same versions, with the same hashes, that all tests run with."""
    assert PINS.read_text("utf-8").count("==") == len(rows(PINS))
    assert rows(PINS).items() <= rows(ROOT / ".requirements.lock").items()


def test_a_checkout_is_made_a_command_with_all_that_this_needs() -> None:
    """The Makefile takes it from the lock: hatchling, and what that needs beside the pins of the wheel."""
    (told,) = re.findall(r"^BUILD := (.*)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    needed, left = set[str](), ["hatchling", "editables"]
    while left:
        needed.add(name := canonicalize_name(left.pop()))
        wanted = (Requirement(one) for one in requires(name) or ())
        left += [one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert told == "|".join(sorted(needed - rows(PINS).keys()))


def test_the_pins_of_the_wheel_are_all_that_it_needs(bill: Any) -> None:
    """As many packages as are found here from one requirement to the next, and no more."""
    for_others = {name for name, row in rows(PINS).items() if "sys_platform" in (row[2] or "")}
    assert {one["name"] for one in bill["components"]} == rows(PINS).keys() - for_others


def test_the_bill_states_what_is_installed(bill: Any, tmp_path: Path) -> None:
    """Each package at its version, with its licence, the hashes of its pin, and what it needs."""
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    pins = rows(PINS)
    for one in bill["components"]:
        name = one["name"]
        assert one["version"] == version(name)
        assert one["purl"] == f"pkg:pypi/{name}@{one['version']}"
        assert one["licenses"], name
        hashes = [row["content"] for row in one["hashes"] if row["alg"] == "SHA-256"]
        assert hashes == re.findall(r"sha256:(\w+)", pins[name][3]), name
    known = {one["bom-ref"] for one in bill["components"]}
    needs = {row["ref"]: row["dependsOn"] for row in bill["dependencies"]}
    assert needs.keys() == known | {bill["metadata"]["component"]["bom-ref"]}
    assert {one for row in needs.values() for one in row} == known
    assert json.loads(deploy("sbom", at=tmp_path)) == bill, "the bill differs from time to time"
    assert not {"serialNumber", "timestamp"} & {*bill, *bill["metadata"]}
