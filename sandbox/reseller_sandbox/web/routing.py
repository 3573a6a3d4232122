"""Routes of an application, found by path and method for any host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from threading import RLock
from typing import Any, NamedTuple, TypeAlias

from flask import Flask, Request, Response
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule

#: A version of v2.0 in a path.
VERSION = r"[Vv][0-9]+\.[0-9]+"

#: A route: its name, its path and its method.
Route: TypeAlias = tuple[str, str, str]

#: The view of each route.
Views: TypeAlias = Mapping[Route, Callable[..., Response]]


class _Digits(BaseConverter):
    """A whole number without a sign, of any length."""

    regex = "[0-9]+"


class _Version(BaseConverter):
    """A version such as ``V2.0``, whether it is served or not."""

    regex = VERSION


class _Rest(BaseConverter):
    """The rest of a path, with slashes."""

    regex = r"[\s\S]+"
    part_isolating = False


def _map(routes: tuple[Route, ...], kind: type[Rule]) -> Map:
    rules = Map(
        [kind(path, endpoint=name, methods=[method]) for name, path, method in routes],
        merge_slashes=False,
        converters={"digits": _Digits, "version": _Version, "rest": _Rest},
    )
    rules.update()
    return rules


#: Applications with the same routes share one map, which nothing changes.
_shared_map = lru_cache(maxsize=8)(_map)


class Part(NamedTuple):
    """Some routes of an application: whether they own a path, and a function that makes their views."""

    owns: Callable[[str], object]
    views: Callable[[], Views]


class Adapter(MapAdapter):
    """Finds the route of one request, and builds URLs of all routes."""

    def __init__(self, application: Application, request: Request) -> None:
        super().__init__(application.rules, "", "/", "", "http", request.path, request.method)
        self._application = application

    def build(self, *arguments: Any, **options: Any) -> str:
        """Return the URL of a route."""
        self.map = self._application.url_map
        return super().build(*arguments, **options)


class Application(Flask):
    """An application that makes the routes of each part when the first request for one of its paths comes.

    ``rules`` is the map of the routes that have been made. The first use of ``url_map`` makes all of them and
    gives the application its own map, to which a user of Flask may add rules.
    """

    _adapter: type[Adapter] = Adapter
    _parts: Sequence[Part] = ()

    def __init__(self, name: str, parts: Sequence[Part]) -> None:
        self.has_own_map = True  # Flask's own map, until there are routes
        super().__init__(name, static_folder=None)
        self.rules = _shared_map((), self.url_rule_class)
        self._routes: dict[Part, tuple[Route, ...]] = dict.fromkeys(parts, ())
        self._making = RLock()
        self._parts = parts
        self.has_own_map = False

    @property
    def url_map(self) -> Map:
        """All routes, in a map of this application alone."""
        self._make(lambda _: True)
        if not self.has_own_map:
            with self._making:
                self.rules = _map(self._all_routes(), self.url_rule_class)
                self.has_own_map = True
        return self.rules

    @url_map.setter
    def url_map(self, rules: Map) -> None:
        self.rules = rules

    def _all_routes(self) -> tuple[Route, ...]:
        return tuple(chain.from_iterable(self._routes.values()))

    def _make(self, wanted: Callable[[Part], object]) -> None:
        """Make the routes of the parts that are ``wanted``, unless they exist."""
        if not any(map(wanted, self._parts)):
            return
        with self._making:
            made = {part: part.views() for part in filter(wanted, self._parts)}
            if not made:  # another thread has made them in the meantime
                return
            for part, views in made.items():
                self._routes[part] = tuple(views)
                own = {name: view for (name, _, _), view in views.items()}
                # views that a user added take precedence
                self.view_functions |= {**own, **self.view_functions}
            self.rules = _shared_map(self._all_routes(), self.url_rule_class)
            self._parts = [part for part in self._parts if part not in made]

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return the adapter that finds the route of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        path = request.path
        self._make(lambda part: part.owns(path))
        return self._adapter(self, request)
