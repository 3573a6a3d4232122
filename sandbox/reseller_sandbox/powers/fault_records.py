"""The records of faults: rules with their counts, kinds and presets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

from msgspec.structs import replace

from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.faults.choices import own_parts
from reseller_sandbox.powers.power import Power
from reseller_sandbox.powers.result import Result


class FaultRecord(Result, frozen=True, kw_only=True):
    """A rule with its counts, in a form that ``replace`` takes; its kind's parameters stand beside the rest.

    ``spent`` is whether it will never strike again.
    """

    name: str
    kind: str
    match: Mapping[str, Any]
    when: Mapping[str, Any]
    paused: bool
    matched: int
    struck: int
    spent: bool
    parameters: Mapping[str, Any]

    #: The keys that stand among the others in JSON, and the field that holds them.
    among: ClassVar[tuple[str, Callable[[], tuple[Parameter, ...]]]] = ("parameters", own_parts)

    def keys(self) -> list[str]:
        """Return its keys as in JSON, so that ``dict(rule)`` is what ``replace`` takes."""
        return [*(name for name in self.__struct_fields__ if name != "parameters"), *self.parameters]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, key: str) -> Any:
        """Return what stands under a key."""
        return self.parameters[key] if key in self.parameters else getattr(self, key)


class FaultsFound(Result, frozen=True, kw_only=True):
    """Rules in their order."""

    faults: tuple[FaultRecord, ...]

    def __iter__(self) -> Iterator[FaultRecord]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)


class FaultsPlaced(FaultsFound, frozen=True, kw_only=True):
    """Rules as they were put in place. As a context manager it removes them at the end."""

    hidden = ("_power",)

    _power: Any = None

    def of(self, power: Power) -> Self:
        """Return the rules with the power through which they can be removed."""
        return replace(self, _power=power)

    @property
    def names(self) -> tuple[str, ...]:
        """Return their names."""
        return tuple(one.name for one in self.faults)

    @property
    def rules(self) -> tuple[FaultRecord, ...]:
        """Return those that are still there, as they are now."""
        return tuple(one for one in self._power.list() if one.name in self.names)

    @property
    def matched(self) -> int:
        """Return how many requests they have matched by now."""
        return sum(one.matched for one in self.rules)

    @property
    def struck(self) -> int:
        """Return how many requests they have struck by now."""
        return sum(one.struck for one in self.rules)

    def remove(self) -> None:
        """Remove those that are still there."""
        for one in self.rules:
            self._power.remove(one.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class PartRecord(Result, frozen=True, kw_only=True):
    """A part of a rule: what it takes, whether it has to be given, and what it is by default."""

    name: str
    takes: str
    required: bool
    default: Any
    about: str


class KindRecord(Result, frozen=True, kw_only=True):
    """A kind of fault, the phases it strikes in (the first by default), and its parameters."""

    kind: str
    about: str
    phases: tuple[str, ...]
    parameters: tuple[PartRecord, ...]


class KindsFound(Result, frozen=True, kw_only=True):
    """Every kind, and the parts of any rule: which requests (``match``), ``when``, the rest (``kept``)."""

    kinds: tuple[KindRecord, ...]
    match: tuple[PartRecord, ...]
    when: tuple[PartRecord, ...]
    kept: tuple[PartRecord, ...]


class PresetRecord(Result, frozen=True, kw_only=True):
    """A preset and the rules that it stands for."""

    preset: str
    about: str
    rules: tuple[Mapping[str, Any], ...]


class PresetsFound(Result, frozen=True, kw_only=True):
    """Every preset."""

    presets: tuple[PresetRecord, ...]
