"""The bill of materials of this installation, as CycloneDX has it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from reseller_sandbox.deploy.wheel import NAME

_NO_EXTRA = {"extra": ""}
_LICENSE = "License :: OSI Approved :: "


def bill_of_materials() -> dict[str, Any]:
    """Return what is installed of this package and of all that it needs.

    It has no date and no serial number: the same installation gives the same bytes.
    """
    found = _installed(NAME)
    own, *others = found.values()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", **_component(own)}},
        "components": [
            {"type": "library", **_component(one)}
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


def _component(one: Distribution) -> dict[str, Any]:
    reference = _reference(one)
    told = {
        "bom-ref": reference,
        "name": canonicalize_name(one.name),
        "version": one.version,
        "purl": reference,
    }
    licenses = list(_licenses(one))
    return {**told, "licenses": licenses} if licenses else told


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
