"""An operation as a row: where it is called, what it takes and answers, and what it may refuse."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import Account
from reseller_sandbox.registry.refusals import Rule
from reseller_sandbox.registry.state import Draft

if TYPE_CHECKING:
    from marshmallow import Schema

_CONTROL = re.compile(r"(/_worlds/[^/]*)?/_sandbox(/|$)")


class Call(Struct):
    """The input of an operation: a draft to work on, the account, and the arguments of the request.

    The operation adds to ``ignored`` the keys that have no effect on this request.
    """

    draft: Draft
    account: Account
    arguments: dict[str, Any]
    ignored: list[str]

    @property
    def assumed(self) -> Assumptions:
        """What the contract's silences are taken to mean; reading one is noted for the answer."""
        return self.draft.assumed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # each is itself alone, so looked up quickly
class Endpoint:
    """One row: an operation with its paths, what it takes, what it answers and what it may refuse.

    ``path`` is the schema of placeholders that are more than text. ``refuses`` is in the order in which
    the checks are made. ``handle``'s docstring is the operation's description. ``lengthy_from`` is the size
    in bytes from which on a body takes long to work on. ``only_reads`` marks an operation that changes
    nothing though its method is not GET, ``streams`` one whose answer goes on. ``forms`` are the content
    types of its answers, ``subject`` is the class that it belongs to, where that is no module.
    """

    id: str
    method: str
    paths: tuple[str, ...]
    handle: Callable[[Any], Any]
    answer: Schema
    body: Schema | None = None
    query: Schema | None = None
    path: Schema | None = None
    refuses: tuple[Rule, ...] = ()
    lengthy_from: int | None = None
    status: int = 200
    only_reads: bool = False
    streams: bool = False
    forms: tuple[str, ...] = ("application/json",)
    subject: Any = None

    @property
    def reads(self) -> bool:
        """Whether it changes nothing, whatever it is asked."""
        return self.method == "GET" or self.only_reads

    def rules(self) -> tuple[str, ...]:
        """Return the paths as routing rules; a placeholder takes its field's ``route``, or a segment."""
        forms = {**self.routes(), "version": "version"}

        def rule(found: re.Match[str]) -> str:
            return f"<{forms.get(found[1], 'string')}:{found[1]}>"

        return tuple(re.sub(r"\{(\w+)\}", rule, path) for path in self.paths)

    def routes(self) -> dict[str, str]:
        """Return the converters of the placeholders that take more than a segment, and of others."""
        known = [schema.fields.items() for schema in (self.query, self.path) if schema is not None]
        return {name: getattr(kind, "route", "string") for fields in known for name, kind in fields}


def route(name: str, method: str, *paths: str, answer: Schema, **more: Any) -> Callable[..., Endpoint]:
    """Declare the decorated function as an operation; ``more`` are fields of ``Endpoint``."""
    return lambda handle: Endpoint(id=name, method=method, paths=paths, handle=handle, answer=answer, **more)


def refuses(*rules: Rule) -> Callable[[Endpoint], Endpoint]:
    """Declare the rules by which an operation refuses, in the order of its checks."""
    return lambda endpoint: replace(endpoint, refuses=rules)


def endpoints_of(*modules: ModuleType) -> tuple[Endpoint, ...]:
    """Return the operations that ``modules`` declare, in the order of their declaration."""
    found = (value for module in modules for value in vars(module).values())
    return tuple(value for value in found if isinstance(value, Endpoint))


def is_control(path: str) -> bool:
    """Whether a path is one of the control interface's, with or without a world's prefix."""
    return _CONTROL.match(path) is not None


class BodyLimits(Struct, frozen=True):
    """The limits in bytes."""

    clients: int
    control: int

    def of(self, path: str) -> int:
        """Return how many bytes a request to ``path``, with or without a world's prefix, may carry."""
        return self.control if is_control(path) else self.clients

    def setting(self, path: str) -> str:
        """Return the option that raises the limit."""
        return "--max-control-body" if is_control(path) else "--max-body"
