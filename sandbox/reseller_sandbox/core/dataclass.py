"""Dataclasses that take a tenth of the time to declare.

The standard library compiles six methods for every dataclass when its class is declared: 0.7 ms, and for the
two hundred of this package more than Flask takes to load. Here ``__init__`` alone is compiled, when the
first object is made; the other methods find the fields by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from inspect import Signature, signature
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

Methods = dict[str, Any]
Fields = tuple[Field[Any], ...]

if TYPE_CHECKING:  # who checks types sees no difference
    from dataclasses import dataclass as dataclass
else:
    from dataclasses import dataclass as _with_fields

    def dataclass(declared=None, /, *, frozen=False, eq=True, repr=True, **told):  # noqa: A002
        """Return what ``dataclasses.dataclass`` returns; it knows neither ``order`` nor ``unsafe_hash``."""
        if declared is None:
            return lambda later: dataclass(later, frozen=frozen, eq=eq, repr=repr, **told)
        own = vars(declared)
        made = _with_fields(init=False, eq=False, repr=False, **told)(declared)
        known = fields(made)
        methods = {
            **_making(made, frozen),
            **(_telling(known) if repr else {}),
            **(_comparing(known, frozen) if eq else {}),
            **(_freezing(made, known) if frozen else {}),
            **(_STATE if frozen and "__slots__" in vars(made) else {}),
        }
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and own[name] is None):
                setattr(made, name, method)
        return made


def _making(made: Any, frozen: bool) -> Methods:
    def __init__(self: Any, /, *given: Any, **named: Any) -> None:  # noqa: N807
        made.__init__ = _compiled(made, frozen)
        made.__init__(self, *given, **named)

    return {"__init__": __init__, "__signature__": _Signature(made, frozen)}


class _Signature:
    """The signature of a class, for those who ask for it before an object is made."""

    def __init__(self, made: Any, frozen: bool) -> None:
        self._made, self._frozen = made, frozen

    def __get__(self, one: object, owner: Any) -> Signature:
        if one is not None or owner is not self._made:
            raise AttributeError("__signature__")
        _self, *others = signature(_compiled(owner, self._frozen)).parameters.values()
        return Signature(others, return_annotation=None)


def _compiled(made: Any, frozen: bool) -> Callable[..., None]:
    """Return what sets the fields, written as the standard library writes it."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    taken, body = ["self"], []
    for one in sorted(fields(made), key=lambda one: bool(one.kw_only)):
        known |= {f"_default_{one.name}": one.default, f"_make_{one.name}": one.default_factory}
        if one.init:
            taken += ["*"] if one.kw_only and "*" not in taken else []
            taken.append(one.name if _is_required(one) else f"{one.name}=_default_{one.name}")
        elif _is_required(one):
            continue
        value = _value(one)
        body.append(f"_set(self, {one.name!r}, {value})" if frozen else f"self.{one.name} = {value}")
    body += ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    exec(f"def __init__({', '.join(taken)}):\n " + "\n ".join(body or ["pass"]), known)
    compiled: Callable[..., None] = known["__init__"]
    compiled.__qualname__ = f"{made.__qualname__}.__init__"
    compiled.__annotations__ = {one.name: one.type for one in fields(made) if one.init}
    return compiled


def _is_required(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _value(one: Field[Any]) -> str:
    """Return what a field is set to: what was given, or what stands for nothing."""
    if one.default_factory is MISSING:
        return one.name if one.init else f"_default_{one.name}"
    made = f"_make_{one.name}()"
    return f"{made} if {one.name} is _MISSING else {one.name}" if one.init else made


def _telling(known: Fields) -> Methods:
    names = [one.name for one in known if one.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return {"__repr__": __repr__}


def _comparing(known: Fields, frozen: bool) -> Methods:
    compared = _values(one.name for one in known if one.compare)
    hashed = _values(one.name for one in known if (one.compare if one.hash is None else one.hash))

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(hashed(self))

    # as the standard library's: pytest tells which fields differ where ``__eq__`` comes from no file
    __eq__.__code__ = __eq__.__code__.replace(co_filename="<string>")
    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what returns the values of some fields."""
    known = tuple(names)
    if len(known) > 1:
        return attrgetter(*known)
    return lambda one: tuple(getattr(one, name) for name in known)


def _freezing(made: Any, known: Fields) -> Methods:
    """Return what keeps the fields as they are; a class below may have attributes of its own."""
    names = {one.name for one in known}

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


#: By which a frozen object with slots can be copied.
_STATE: Methods = {"__getstate__": _get_state, "__setstate__": _set_state}
