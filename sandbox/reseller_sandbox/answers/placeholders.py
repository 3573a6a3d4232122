"""Placeholders in the texts of canned answers: ``{zone}``, ``{body.type}``, ``{domain.expires}``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from reseller_sandbox.registry.model import Order
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import Mistake
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import nearest

#: A placeholder, or the same text in double braces, which stands for the text in braces.
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][\w.-]*)\}\}|\{([A-Za-z_][\w.-]*)\}", re.ASCII)
_LITERAL = re.compile(r"\{([A-Za-z_][\w.-]*)\}", re.ASCII)

#: The first words of placeholders beside those of the path.
ROOTS = ("account", "body", "count", "now", "query", "request")

#: The fields of ``{account}``.
ACCOUNT_FIELDS = ("name", "client_id", "balance", "currency")

#: The fields of a domain name in the path, from the order that holds the name.
NAME_FIELDS: Mapping[str, Callable[[State, Order], Any]] = {
    "account": lambda state, order: state.accounts[order.account].name,
    "ascii": lambda _, order: order.name,
    "auth_code": lambda _, order: order.auth_code,
    "autorenew": lambda _, order: order.autorenew,
    "created": lambda _, order: wire(order.created),
    "customer": lambda _, order: order.customer_id,
    "expires": lambda _, order: wire(order.expires),
    "flags": lambda _, order: sorted(flag.value for flag in order.flags),
    "name": lambda _, order: to_unicode(order.name),
    "nameservers": lambda _, order: [to_unicode(host) for host in order.nameservers],
    "order": lambda _, order: order.id,
    "privacy": lambda _, order: order.privacy,
    "stage": lambda _, order: order.stage.value,
    "zone": lambda _, order: to_unicode(order.zone),
}


def filled(value: Any, resolve: Callable[[str], Any]) -> Any:
    """Return a JSON value with the placeholders in its texts replaced.

    ``resolve`` returns the value of a placeholder. A text that is only a placeholder becomes this value, with
    its type.
    """

    def fill(text: str) -> Any:
        if is_placeholder(text):
            return resolve(text[1:-1])
        return _PLACEHOLDER.sub(lambda part: _text(resolve(part[2])) if part[2] else f"{{{part[1]}}}", text)

    return _with_texts(value, fill)


def literal(value: Any) -> Any:
    """Return a JSON value that ``filled`` returns unchanged."""
    return _with_texts(value, lambda text: _LITERAL.sub(r"{{\1}}", text))


def _with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a JSON value with ``change`` applied to each text in it."""
    if isinstance(value, Mapping):
        return {key: _with_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def is_placeholder(text: str) -> bool:
    """Whether a text is one placeholder and nothing else."""
    match = _PLACEHOLDER.fullmatch(text)
    return match is not None and bool(match[2])


def mistakes_in(value: Any, of_path: Collection[str], path: Sequence[object]) -> Iterator[Mistake]:
    """Yield a mistake for each unknown placeholder in a JSON value at ``path``.

    ``of_path`` are the placeholders of the path of the answer.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from mistakes_in(inner, of_path, (*path, key))
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from mistakes_in(item, of_path, (*path, at))
    elif isinstance(value, str):
        for match in _PLACEHOLDER.finditer(value):
            if match[2] and (problem := _problem(match[2], of_path)):
                yield Mistake(tuple(path), problem)


def _problem(placeholder: str, of_path: Collection[str]) -> str:
    """Return the mistake in a placeholder, or an empty text."""
    root, _, rest = placeholder.partition(".")
    fields: Collection[str] | None
    if root in of_path:
        fields = NAME_FIELDS
    elif root in ROOTS:
        fields = {"account": ACCOUNT_FIELDS, "body": None, "query": None}.get(root, ())
    else:
        hint = nearest(root, [*of_path, *ROOTS])
        return f"has the unknown placeholder {{{placeholder}}}{hint}; {{{{{placeholder}}}}} is the plain text"
    if root == "query" and not rest:
        return "has the placeholder {query} without the name of a parameter, such as {query.page}"
    if rest and fields is not None and rest not in fields:
        return f"has the placeholder {{{placeholder}}} with an unknown field{nearest(rest, fields)}"
    return ""
