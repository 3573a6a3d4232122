"""Hints for calibration: the keys and operations in the file ``calibrate.yaml`` of each interface."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from importlib.resources import files
from typing import Any

from msgspec import Struct, convert, yaml

from reseller_sandbox.app_factory import contract
from reseller_sandbox.registry.contract import ApiOperation


class Hints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of an interface's ``calibrate.yaml``. The comments in that file explain the keys."""

    paths: tuple[str, ...] = ()
    refused_credentials: tuple[str, ...] = ()
    refused_versions: tuple[str, ...] = ()
    unseen: Mapping[str, str] = {}
    lists_hosts: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    transfers: tuple[str, ...] = ()
    batches: Mapping[str, str] = {}
    parts: Mapping[str, tuple[str, ...]] = {}
    fields: Mapping[str, tuple[str, ...]] = {}
    refusal: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    open_messages: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    switches: Mapping[str, tuple[str, bool]] = {}
    alone: Mapping[str, str] = {}
    with_fixture: Mapping[str, str] = {}

    def field(self, record: Mapping[str, object], name: str) -> object:
        """Return a record's value for the field ``name``, under any of the field's keys, or None."""
        return next((record[key] for key in self.fields.get(name, ()) if key in record), None)


@cache
def hints() -> Hints:
    """Return the hints of all interfaces, joined."""
    packages = dict.fromkeys(operation.package for operation in contract())
    known = [file for package in packages if (file := files(package) / "calibrate.yaml").is_file()]
    return convert(reduce(_joined, (yaml.decode(file.read_bytes()) for file in known), {}), Hints)


def _joined(first: Any, second: Any) -> Any:
    """Join two parts of YAML documents: merge two mappings, or append the second list to the first."""
    if isinstance(first, dict):
        joined = {key: _joined(first[key], value) if key in first else value for key, value in second.items()}
        return {**first, **joined}
    return [*first, *second] if isinstance(first, list) else second


@cache
def operations() -> Mapping[str, ApiOperation]:
    """Return the operations of the contract by their ids."""
    return {operation.id: operation for operation in contract()}
