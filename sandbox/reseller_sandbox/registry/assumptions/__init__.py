"""Open points of the contract, each as an assumption that users can switch.

Each field is one open point: its public name, its default, its alternatives, and the observed value if it
differs. The docstring of the class describes it. Settings, fixtures and responses use the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

from reseller_sandbox.registry.assumptions.assumption_spec import one_of
from reseller_sandbox.registry.assumptions.assumption_spec import spelt as spelt
from reseller_sandbox.registry.assumptions.v2 import V2Assumptions
from reseller_sandbox.registry.assumptions.v3 import V3Assumptions
from reseller_sandbox.values.kinds import Kind, Within, mapping
from reseller_sandbox.values.parameters import Parameter, documented_parameters, read

PROFILES = ("documented", "observed")


@dataclass(frozen=True)
class RegistryAssumptions:
    """Open points of the contract that concern both interfaces.

    Args:
        registry_hold: Ending the registrant's hold (unlock, client_hold 0) while the registry holds the name:
            refused, or accepted and the name stays suspended.
        private_glue: Whether a glue record may hold addresses of private networks and of documentation.
        unknown_keys: Unknown keys of a request, in either generation: accepted and reported in a header of
            the response, or refused.
        early_delete_refunds: Refund for deleting a name within its add grace period: the registration and
            later renewals, or only the registration.
        transfer_lock_from: Start of the days during which a name cannot be transferred: its creation or its
            last transfer, or only its creation.
        autorenew_tries: Attempts of automatic renewal: once, at expiry, or every day while the name is
            overdue.
    """

    registry_hold: str = one_of("locks.registry_hold", "refused, accepted")
    private_glue: str = one_of("hosts.private_addresses", "accepted, refused")
    unknown_keys: str = one_of("requests.unknown_keys", "accepted, refused")
    early_delete_refunds: str = one_of("lifecycle.early_delete.refunds", "all, registration")
    transfer_lock_from: str = one_of("lifecycle.transfer_lock.from", "creation_or_transfer, creation")
    autorenew_tries: str = one_of("lifecycle.autorenew.tries", "once, daily")


@dataclass(frozen=True)
class Assumptions(RegistryAssumptions, V2Assumptions, V3Assumptions):
    """A value for each open point of the contract."""

    def with_values(self, values: Mapping[str, object]) -> Assumptions:
        """Return these assumptions with ``values`` changed.

        Raise ``Within``, which names every mistake.
        """
        changed = {_FIELDS[name].name: value for name, value in read_values(values).items()}
        return replace(self, **changed) if changed else self

    def values(self) -> dict[str, object]:
        """Return the values of all assumptions by public name."""
        return dict(zip(_FIELDS, _every(self), strict=True))

    def departures(self) -> dict[str, object]:
        """Return the values that differ from the defaults."""
        rows = zip(_FIELDS, _every(self), _DEFAULTS, strict=True)
        return {name: value for name, value, default in rows if value != default}


#: The fields by public name, and the public names by field name.
_FIELDS = {field.metadata["name"]: field for field in fields(Assumptions)}
_NAMES: dict[str, str] = {field.name: name for name, field in _FIELDS.items()}
_PLACES = {own: place for place, own in enumerate(_NAMES)}
_DEFAULTS = [field.default for field in _FIELDS.values()]

_PARAMETERS = [Parameter(name, field.metadata["kind"], False) for name, field in _FIELDS.items()]


def read_values(raw: object) -> dict[str, Any]:
    """Return values of assumptions by public name.

    Raise ``Within``, which names every mistake and holds the valid values.
    """
    values, wrong = read(_PARAMETERS, mapping(raw))
    if wrong:
        raise Within(wrong, values)
    return values


#: Gets the value of each field.
_every: Callable[[Assumptions], tuple[object, ...]] = attrgetter(*_NAMES)


def profile(name: str) -> Assumptions:
    """Return the assumptions of a profile.

    ``documented`` has all defaults, ``observed`` the values that clients rely on.
    """
    observed = {name: field.metadata["observed"] for name, field in _FIELDS.items()}
    return Assumptions().with_values(observed if name == "observed" else {})


def catalogue(values: Assumptions) -> list[dict[str, object]]:
    """Return all assumptions as data.

    Each has its name, value, default, accepted values, observed value and description.
    """
    about = {
        name: words for base in Assumptions.__bases__ for name, words in documented_parameters(base).items()
    }
    return [
        {
            "name": name,
            "value": getattr(values, field.name),
            "default": field.default,
            "takes": field.metadata["kind"].says,
            "observed": field.metadata["observed"],
            "about": about[field.name],
        }
        for name, field in _FIELDS.items()
    ]


def public_name(field: str) -> str:
    """Return the public name of the assumption in a field."""
    return _NAMES[field]


def kinds() -> dict[str, Kind[Any]]:
    """Return the kind of value of each assumption, by name."""
    return {name: field.metadata["kind"] for name, field in _FIELDS.items()}


def telling_values() -> dict[str, tuple[object, ...]]:
    """Return the values of each assumption that are worth a try with a client, by name."""
    return {name: tuple(field.metadata["telling"]) for name, field in _FIELDS.items()}


class _Watched:
    """Reads assumptions for one request and records the names of those read."""

    __slots__ = ("_read", "_values")

    def __init__(self, values: Assumptions, read: set[str]) -> None:
        self._values = values
        self._read = read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._values, name)


def watched(values: Assumptions, read: set[str]) -> Assumptions:
    """Return a read-only view of ``values`` that adds each field read to ``read``."""
    return _Watched(values, read)  # type: ignore[return-value]  # it has the same attributes


def named(values: Assumptions, read: Iterable[str]) -> list[tuple[str, object]]:
    """Return the fields in ``read`` as pairs of public name and value, in order."""
    return [(_NAMES[own], getattr(values, own)) for own in sorted(read, key=_PLACES.__getitem__)]
