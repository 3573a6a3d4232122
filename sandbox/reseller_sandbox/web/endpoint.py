"""An operation as a declaration: paths, input, answer and possible refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reseller_sandbox.refusals import Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import Account
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
        """The assumptions. Each one that is read is noted for the answer."""
        return self.draft.assumed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # compared and hashed by identity, which is fast
class Endpoint:
    """An operation with its paths, input, answer and possible refusals.

    ``path`` is the schema of placeholders that are not plain text. ``refuses`` is in the order of the
    checks. ``handle``'s docstring is the operation's description. ``lengthy_from`` is the body size in
    bytes from which the operation runs on a separate thread. ``only_reads`` marks an operation that
    changes nothing although its method is not GET. ``streams`` marks a streamed answer. ``forms`` are
    the content types of its answers. ``subject`` is the class that the operation belongs to, if that is
    not a module.
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
        """Whether the operation never changes anything."""
        return self.method == "GET" or self.only_reads

    def rules(self) -> tuple[str, ...]:
        """Return the paths as routing rules.

        A placeholder uses the converter of its field, or matches one segment.
        """
        forms = {**self.routes(), "version": "version"}

        def rule(found: re.Match[str]) -> str:
            return f"<{forms.get(found[1], 'string')}:{found[1]}>"

        return tuple(re.sub(r"\{(\w+)\}", rule, path) for path in self.paths)

    def routes(self) -> dict[str, str]:
        """Return the routing converters of the placeholders."""
        known = [schema.fields.items() for schema in (self.query, self.path) if schema is not None]
        return {name: getattr(kind, "route", "string") for fields in known for name, kind in fields}


def route(name: str, method: str, *paths: str, answer: Schema, **more: Any) -> Callable[..., Endpoint]:
    """Return a decorator that declares an operation with the fields ``more``."""
    return lambda handle: Endpoint(id=name, method=method, paths=paths, handle=handle, answer=answer, **more)


def refuses(*rules: Rule) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator that declares an operation's refusals, in the order of checks."""
    return lambda endpoint: replace(endpoint, refuses=rules)


def endpoints_of(*modules: ModuleType) -> tuple[Endpoint, ...]:
    """Return the operations that ``modules`` declare, in the order of their declaration."""
    found = (value for module in modules for value in vars(module).values())
    return tuple(value for value in found if isinstance(value, Endpoint))


def is_control(path: str) -> bool:
    """Whether a path belongs to the control interface, with or without a world's prefix."""
    return _CONTROL.match(path) is not None


class BodyLimits(Struct, frozen=True):
    """The maximum sizes of request bodies in bytes."""

    clients: int
    control: int

    def of(self, path: str) -> int:
        """Return the maximum body size of a request to ``path`` in bytes."""
        return self.control if is_control(path) else self.clients

    def setting(self, path: str) -> str:
        """Return the option that raises the limit."""
        return "--max-control-body" if is_control(path) else "--max-body"
