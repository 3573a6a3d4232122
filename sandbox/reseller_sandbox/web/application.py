"""The Flask application: loads routes when they are needed, and omits unused steps of Flask.

Routes are found by path and method for any host. Views are called without the hooks and signals of Flask,
which saves a third to a half of the time of a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from flask import Flask, Request, Response
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule

from reseller_sandbox.server.delivery import Env, imitated
from reseller_sandbox.web.access_control import HEALTH, PAGE
from reseller_sandbox.web.context import ENV_PREFIX, ENV_WORLD
from reseller_sandbox.web.interface import Interface, Mount

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

#: The pattern of a version in a path, such as ``v2.0``.
VERSION = r"[Vv][0-9]+\.[0-9]+"

#: A route: its name, its path and its method.
Route: TypeAlias = tuple[str, str, str]

#: The view of each route.
Views: TypeAlias = Mapping[Route, Callable[..., "WholeResponse"]]

#: The number of paths whose routes are cached, and the maximum length of such a path.
_REMEMBERED = 1024
_LONGEST = 200


#: Short paths outside the API, each with the path that serves it. A browser gets the page at ``/``.
_ALIASES = {"/": f"{PAGE}/addresses", "/favicon.ico": f"{PAGE}/icon.svg", "/health": HEALTH}


class _Digits(BaseConverter):
    """A URL converter for an unsigned integer of any length."""

    regex = "[0-9]+"


class _Version(BaseConverter):
    """A URL converter for a version such as ``V2.0``, even if no interface has this version."""

    regex = VERSION


class _Rest(BaseConverter):
    """A URL converter for the rest of a path, which can contain slashes."""

    regex = r"[\s\S]+"
    part_isolating = False


class LazyRule(Rule):
    """A routing rule that compiles its URL builder only when an application builds a URL."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)
        return lambda rule, **values: compiled(append_unknown)(rule, **values)


@lru_cache(maxsize=8)
def route_map(routes: tuple[Route, ...]) -> Map:
    """Return a URL map with a routing rule for each of ``routes``.

    Applications with the same routes share one map, so nothing may change that map.
    """
    rules = Map(
        [LazyRule(path, endpoint=name, methods=[method]) for name, path, method in routes],
        merge_slashes=False,
        converters={"digits": _Digits, "version": _Version, "rest": _Rest},
    )
    rules.update()
    return rules


@lru_cache(maxsize=_REMEMBERED)
def _match(rules: Map, path: str, method: str) -> tuple[Rule, Mapping[str, object]]:
    return rules.bind("", path_info=path, default_method=method).match(return_rule=True)


class Adapter(MapAdapter):
    """Finds the route of one request. The routes of recent paths are cached."""

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the routing rule that matches the request, and the values of its placeholders."""
        if arguments or options != {"return_rule": True} or len(self.path_info) > _LONGEST:
            return super().match(*arguments, **options)
        rule, values = _match(self.map, self.path_info, self.default_method)
        return rule, {**values}


class Application(Flask):
    """A Flask application that adds the routes of an interface at the first request for that interface.

    ``views`` returns the views of an interface. ``url_map`` has the routes that have been added. A view is
    called directly, without the hooks and signals of Flask.
    """

    def __init__(self, name: str, mounts: Sequence[Mount], views: Callable[[Interface], Views]) -> None:
        super().__init__(name, static_folder=None)
        self.url_map = route_map(())
        self._routes: dict[Mount, tuple[Route, ...]] = dict.fromkeys(mounts, ())
        self._loading = RLock()
        self._unloaded = mounts
        self._views = views

    def _load(self, mounts: Sequence[Mount]) -> None:
        """Add the routes of the interfaces at ``mounts``."""
        with self._loading:
            for mount in mounts:
                if mount not in self._unloaded:  # another thread has added the routes in the meantime
                    continue
                views = self._views(mount.interface)
                self._routes[mount] = tuple(views)
                self.view_functions |= {name: view for (name, _, _), view in views.items()}
                self.url_map = route_map(tuple(chain.from_iterable(self._routes.values())))
                self._unloaded = [unloaded for unloaded in self._unloaded if unloaded is not mount]

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return the adapter that finds the route of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        if owners := [mount for mount in self._unloaded if mount.owns(request.path)]:
            self._load(owners)
        return Adapter(self.url_map, "", "/", "", "http", request.path, request.method)

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request. The path prefix ``/_worlds/{name}`` chooses the world.

        Browsers get the page at ``/``, and other clients the addresses of the server. The journal does not
        record such requests.
        """
        path: str = environ["PATH_INFO"]
        if path.startswith("/_worlds/"):
            name, _, rest = path.removeprefix("/_worlds/").partition("/")
            # WSGI passes the bytes of a path as latin-1 text.
            environ[ENV_WORLD] = name.encode("latin-1").decode("utf-8", "replace")
            environ[ENV_PREFIX] = f"/_worlds/{name}"
            environ["PATH_INFO"] = f"/{rest}"
        elif path in _ALIASES and environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            environ["PATH_INFO"] = _at_root(environ) if path == "/" else _ALIASES[path]
        body = super().wsgi_app(environ, start_response)
        if Env.DELIVERY not in environ or Env.SERVED in environ:
            return body
        return imitated(body, environ[Env.DELIVERY])

    def full_dispatch_request(self, *context: object) -> Any:  # noqa: ARG002
        """Return the response of the view."""
        try:
            return self.dispatch_request()
        except Exception as error:
            return self.handle_user_exception(error)


def _at_root(environ: WSGIEnvironment) -> str:
    """Return the path that serves ``/``: the page for browsers, else the addresses."""
    accepted = parse_accept_header(environ.get("HTTP_ACCEPT", ""), MIMEAccept)
    return PAGE if accepted["text/html"] > accepted["application/json"] else _ALIASES["/"]


class WholeResponse:
    """A response with a complete body, which is sent without conversion.

    Creating a response of Werkzeug with its header object takes longer than sending the response.
    """

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        self.body, self.status, self.headers = body, status, headers

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send the response to the WSGI server."""
        text = "".join([part for header in self.headers.items() for part in header])
        if "\n" in text or "\r" in text:  # would allow header injection
            raise ValueError("a header has a line break")
        start_response(_status_line(self.status), [*self.headers.items()])
        empty = self.status in (204, 304) or environ["REQUEST_METHOD"] == "HEAD"
        return () if empty else (self.body,)


@lru_cache(maxsize=64)
def _status_line(status: int) -> str:
    return Response(status=status).status
