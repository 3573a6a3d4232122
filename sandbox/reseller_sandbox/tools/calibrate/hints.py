"""Hints of the interfaces: what calibration knows about their paths and operations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml
from msgspec import Struct, convert

from reseller_sandbox.app_factory import contract


class Hints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ``calibrate.yaml`` of an interface, which documents its keys."""

    paths: tuple[str, ...] = ()
    refused_credentials: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    shows_lock: tuple[str, ...] = ()
    lists_names: tuple[str, ...] = ()
    lists_hosts: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    switches: Mapping[str, tuple[str, bool]] = {}
    alone: Mapping[str, str] = {}
    with_fixture: Mapping[str, str] = {}


@cache
def hints() -> Hints:
    """Return the hints of all interfaces together."""
    packages = dict.fromkeys(operation.package for operation in contract())
    known = [file for package in packages if (file := files(package) / "calibrate.yaml").is_file()]
    together: dict[str, dict[str, object]] = {}
    for file in known:
        for key, values in yaml.safe_load(file.read_text("utf-8")).items():
            entries = values if isinstance(values, dict) else dict.fromkeys(values)
            together.setdefault(key, {}).update(entries)
    return convert(
        {key: values if any(values.values()) else list(values) for key, values in together.items()}, Hints
    )
