"""Which row takes a request, found by path and method alone. Equal applications share their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cache, lru_cache
from typing import Any, Self

from flask import Flask, Request
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule, RuleFactory

#: How many paths are remembered with the rows that take them, and up to which length.
_REMEMBERED = 1024
_LONGEST = 200

#: How Flask asks for the row of a request.
_AS_FLASK_ASKS = {"return_rule": True}

#: What a map is told beside its rules, and keeps under the same names.
_OPTIONS = (
    "default_subdomain",
    "strict_slashes",
    "merge_slashes",
    "redirect_defaults",
    "converters",
    "sort_parameters",
    "sort_key",
    "host_matching",
)


class _Digits(BaseConverter):
    """A whole number without a sign, of any length."""

    regex = "[0-9]+"


class _Version(BaseConverter):
    """A version such as ``V2.0``, whether it is served or not."""

    regex = r"[Vv][0-9]+\.[0-9]+"


class _Rest(BaseConverter):
    """All that is left of a path, slashes too."""

    regex = r"[\s\S]+"
    part_isolating = False


class _Route(Rule):
    """A rule whose URL builder is compiled when a URL is first built from it: the sandbox itself builds none.

    Werkzeug compiles two builders for each rule at once, which is most of the time that an application takes.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)
        return lambda rule, **values: compiled(append_unknown)(rule, **values)


class _Rows(Map):
    """Rules that are found by path and method alone, and what was found of late.

    The same few paths are asked for again and again; what is refused is looked up each time. Rules may be
    lent by another application that has the same ones, until they change here.
    """

    def __init__(self, rules: Iterable[RuleFactory] | None = None, **options: Any) -> None:
        self._lent = False
        self._forget()
        super().__init__(rules, **options)

    def lend(self) -> Self:
        """Return rows for another application: equal ones, which cost next to nothing."""
        other = copy(self)
        other.converters = self.converters.copy()
        other._lent = True
        other._forget()
        return other

    def add(self, rulefactory: RuleFactory) -> None:
        """Add rules."""
        self._own()
        super().add(rulefactory)
        self._forget()

    @property
    def merge_slashes(self) -> bool:
        """Whether several slashes in a path are taken for one."""
        return super().merge_slashes

    @merge_slashes.setter
    def merge_slashes(self, value: bool) -> None:
        self._own(merge_slashes=value)

    def _own(self, **changed: Any) -> None:
        """Make rules of its own, where they are lent or are to be others."""
        if self._lent or changed:
            options = {name: getattr(self, name) for name in _OPTIONS} | changed
            self.__init__([rule.empty() for rule in self.iter_rules()], **options)  # type: ignore[misc]

    def _forget(self) -> None:
        self.found = lru_cache(maxsize=_REMEMBERED)(self._found)

    def _found(self, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
        return self.bind("", path_info=path, default_method=method).match(return_rule=True)


@lru_cache(maxsize=8)
def _made(rules: tuple[tuple[str, str, str], ...]) -> _Rows:
    rows = _Rows(
        (_Route(path, endpoint=name, methods=[method]) for name, path, method in rules),
        merge_slashes=False,
        converters={"digits": _Digits, "version": _Version, "rest": _Rest},
    )
    rows.update()
    return rows


class _Finder(MapAdapter):
    """Finds the row of one request."""

    map: _Rows

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the rule that takes the request, and its arguments; or what else is asked for."""
        if arguments or options != _AS_FLASK_ASKS or len(self.path_info) > _LONGEST:
            return super().match(*arguments, **options)
        rule, values = self.map.found(self.path_info, self.default_method)
        return rule, {**values}


class Application(Flask):
    """An application whose rows are found by path and method alone, whatever host a request names.

    ``rules`` are the names of its rows with their path and their method.
    """

    url_rule_class = _Route

    def __init__(self, name: str, rules: Iterable[tuple[str, str, str]]) -> None:
        super().__init__(name, static_folder=None)
        self.url_map = _made(tuple(rules)).lend()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the row of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        return _Finder(self.url_map, "", "/", "", "http", request.path, request.method)
