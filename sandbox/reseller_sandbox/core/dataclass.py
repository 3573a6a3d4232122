"""Dataclasses that take a tenth of the time to declare.

The standard library compiles six methods for every dataclass when its class is declared: 0.7 ms, and for the
two hundred of this package more than Flask takes to load. Here they are the same, but each is compiled when
it is first called, which most of them never are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from inspect import Signature, signature
from reprlib import recursive_repr
from types import MemberDescriptorType
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
            **(_comparing(made, known, frozen) if eq else {}),
            **(_freezing(made, known) if frozen else {}),
            **(_STATE if frozen and "__slots__" in vars(made) else {}),
        }
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and own[name] is None):
                setattr(made, name, method)
        return made


def _late(made: Any, name: str, write: Callable[[], Any]) -> Methods:
    """Return a method that is written when it is first called."""

    def method(self: Any, /, *given: Any, **named: Any) -> Any:
        written = write()
        setattr(made, name, written)
        return written(self, *given, **named)

    return {name: method}


def compiled(made: Any, name: str, takes: str, body: Iterable[str], known: dict[str, Any]) -> Any:
    """Return a function of the class ``made`` from its lines of Python; ``known`` are the names in them."""
    exec(f"def {name}({takes}):\n " + "\n ".join(body), known)
    known[name].__qualname__ = f"{made.__qualname__}.{name}"
    return known[name]


def _making(made: Any, frozen: bool) -> Methods:
    written = partial(_init, made, frozen)
    return {**_late(made, "__init__", written), "__signature__": _Signature(made, written)}


class _Signature:
    """The signature of a class, for those who ask for it before an object is made."""

    def __init__(self, made: Any, init: Callable[[], Any]) -> None:
        self._made, self._init = made, init

    def __get__(self, one: object, owner: Any) -> Signature:
        if one is not None or owner is not self._made:
            raise AttributeError("__signature__")
        _self, *others = signature(self._init()).parameters.values()
        return Signature(others, return_annotation=None)


def _init(made: Any, frozen: bool) -> Callable[..., None]:
    """Return what sets the fields."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    taken, body = ["self"], []
    for one in sorted(fields(made), key=lambda one: bool(one.kw_only)):
        known |= {f"_default_{one.name}": one.default, f"_make_{one.name}": one.default_factory}
        if one.init:
            taken += ["*"] if one.kw_only and "*" not in taken else []
            taken.append(one.name if _is_required(one) else f"{one.name}=_default_{one.name}")
        elif _is_required(one):
            continue
        slot, value = getattr(made, one.name, None), _value(one)
        if not frozen:
            body.append(f"self.{one.name} = {value}")
        elif isinstance(slot, MemberDescriptorType):  # whose own way takes half the time
            known[f"_set_{one.name}"] = slot.__set__
            body.append(f"_set_{one.name}(self, {value})")
        else:
            body.append(f"_set(self, {one.name!r}, {value})")
    body += ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    init: Callable[..., None] = compiled(made, "__init__", ", ".join(taken), body or ["pass"], known)
    init.__annotations__ = {one.name: one.type for one in fields(made) if one.init}
    return init


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


def _comparing(made: Any, known: Fields, frozen: bool) -> Methods:
    def eq() -> Any:
        names = [one.name for one in known if one.compare]
        another = "if other.__class__ is not self.__class__: return NotImplemented"
        same = f"return {_values('self', names)} == {_values('other', names)}"
        return compiled(made, "__eq__", "self, other", (another, same), {})

    def hashed() -> Any:
        names = [one.name for one in known if (one.compare if one.hash is None else one.hash)]
        return compiled(made, "__hash__", "self", (f"return hash({_values('self', names)})",), {})

    return {
        **_late(made, "__eq__", eq),
        **(_late(made, "__hash__", hashed) if frozen else {"__hash__": None}),
    }


def _values(of: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{of}.{name}, ' for name in names)})"


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
