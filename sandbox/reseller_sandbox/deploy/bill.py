"""The bill of materials of this installation, as CycloneDX has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from reseller_sandbox.deploy.wheel import NAME

_NO_EXTRA = {"extra": ""}
_LICENSE = "License :: OSI Approved :: "
_PINS = Path(__file__).with_name("requirements.txt")
_PIN = re.compile(r"^([\w.-]+==[^\s;]+)|--hash=sha256:(\w+)", re.MULTILINE)


def bill_of_materials() -> dict[str, Any]:
    """Return what is installed of this package and of all that it needs.

    A package at its pinned version has the SHA-256 of every file that the pin accepts for it. There is no
    date and no serial number: the same installation gives the same bytes.
    """
    found = _installed(NAME)
    hashes = _pinned_hashes()
    own, *others = found.values()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", **_component(own, hashes)}},
        "components": [
            {"type": "library", **_component(one, hashes)}
            for one in sorted(others, key=lambda one: canonicalize_name(one.name))
        ],
        "dependencies": [
            {
                "ref": _reference(found[name]),
                "dependsOn": [_reference(found[one]) for one in _needs(found[name])],
            }
            for name in sorted(found)
        ],
    }


def _installed(name: str) -> dict[str, Distribution]:
    """Return the distributions that ``name`` needs, itself first, by their plain names."""
    found = {name: distribution(name)}
    waiting = [name]
    while waiting:
        for one in _needs(found[waiting.pop()]):
            if one not in found:
                found[one] = distribution(one)
                waiting.append(one)
    return found


def _needs(one: Distribution) -> list[str]:
    """Return what a distribution needs here, without its extras."""
    wanted = map(Requirement, one.requires or ())
    return sorted(
        {
            canonicalize_name(row.name)
            for row in wanted
            if row.marker is None or row.marker.evaluate(_NO_EXTRA)
        }
    )


def _pinned_hashes() -> dict[str, list[str]]:
    """Return the SHA-256 of the files that the pins accept, by ``name==version``."""
    found: dict[str, list[str]] = {}
    for pin, sha256 in _PIN.findall(_PINS.read_text("utf-8")):
        if pin:
            hashes = found.setdefault(pin, [])
        else:
            hashes.append(sha256)
    return found


def _component(one: Distribution, hashes: Mapping[str, list[str]]) -> dict[str, Any]:
    reference, name = _reference(one), canonicalize_name(one.name)
    component: dict[str, Any] = {
        "bom-ref": reference,
        "name": name,
        "version": one.version,
        "purl": reference,
    }
    if accepted := hashes.get(f"{name}=={one.version}"):
        component["hashes"] = [{"alg": "SHA-256", "content": sha256} for sha256 in accepted]
    if licenses := list(_licenses(one)):
        component["licenses"] = licenses
    return component


def _reference(one: Distribution) -> str:
    return f"pkg:pypi/{canonicalize_name(one.name)}@{one.version}"


def _licenses(one: Distribution) -> Iterator[dict[str, Any]]:
    """Yield the licences that its metadata states: an expression, names of a list, or its own words."""
    told: Any = one.metadata
    if "License-Expression" in told:
        yield {"expression": told["License-Expression"]}
        return
    rows = told.get_all("Classifier", ())
    names = [row.removeprefix(_LICENSE) for row in rows if row.startswith(_LICENSE)]
    for name in names or told.get_all("License", ()):
        yield {"license": {"name": name.partition("\n")[0]}}
