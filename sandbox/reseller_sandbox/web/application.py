"""The Flask application: loads routes when they are needed, and omits unused steps of Flask.

Routes are found by path and method for any host. Omitting the steps of Flask that the sandbox does not use
saves a third to a half of a request's time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from flask import (
    Flask,
    Request,
    Response,
    appcontext_tearing_down,
    request,
    request_finished,
    request_started,
    request_tearing_down,
)
from flask.sessions import SecureCookieSessionInterface
from werkzeug.datastructures import Headers, MIMEAccept
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
Views: TypeAlias = Mapping[Route, Callable[..., Response]]

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


def route_map(routes: tuple[Route, ...]) -> Map:
    """Return a URL map with a routing rule for each of ``routes``."""
    rules = Map(
        [LazyRule(path, endpoint=name, methods=[method]) for name, path, method in routes],
        merge_slashes=False,
        converters={"digits": _Digits, "version": _Version, "rest": _Rest},
    )
    rules.update()
    return rules


#: Applications with the same routes share one map, so nothing may change that map.
_shared_map = lru_cache(maxsize=8)(route_map)


@lru_cache(maxsize=_REMEMBERED)
def _match(rules: Map, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
    return rules.bind("", path_info=path, default_method=method).match(return_rule=True)


class Adapter(MapAdapter):
    """Finds the route of one request, and builds URLs of all routes."""

    def __init__(self, application: Application, request: Request) -> None:
        super().__init__(application.rules, "", "/", "", "http", request.path, request.method)
        self._application = application

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the routing rule that matches the request, and the values of its placeholders.

        The rules of recent paths are cached, unless the application has its own map, which may change.
        """
        is_cached = not self._application.has_own_map and len(self.path_info) <= _LONGEST
        if arguments or options != {"return_rule": True} or not is_cached:
            return super().match(*arguments, **options)
        rule, values = _match(self.map, self.path_info, self.default_method)
        return rule, {**values}

    def build(self, *arguments: Any, **options: Any) -> str:
        """Return the URL of a route."""
        self.map = self._application.url_map
        return super().build(*arguments, **options)


class Application(Flask):
    """A Flask application that adds the routes of an interface at the first request for that interface.

    ``views`` returns the views of an interface. ``rules`` is the map of the routes that have been added. The
    first use of ``url_map`` adds all routes and gives the application its own map, to which a user of Flask
    may add rules. If no hook, signal or session of Flask is in use, the view is called directly.
    """

    url_rule_class = LazyRule

    def __init__(
        self, name: str, mounts: Sequence[Mount] = (), views: Callable[[Interface], Views] = lambda _: {}
    ) -> None:
        # Until the routes are known, the application uses the map that ``Flask.__init__`` creates.
        self.has_own_map = True
        self._unloaded: Sequence[Mount] = ()
        super().__init__(name, static_folder=None)
        self.rules = _shared_map(())
        self._routes: dict[Mount, tuple[Route, ...]] = dict.fromkeys(mounts, ())
        self._loading = RLock()
        self._unloaded = mounts
        self._views = views
        self.has_own_map = False

    @property
    def url_map(self) -> Map:
        """The map of all routes. The map belongs to this application alone, so a user may change it."""
        self._load(self._unloaded)
        if not self.has_own_map:
            with self._loading:
                self.rules = route_map(self._all_routes())
                self.has_own_map = True
        return self.rules

    @url_map.setter
    def url_map(self, rules: Map) -> None:
        self.rules = rules

    def _all_routes(self) -> tuple[Route, ...]:
        return tuple(chain.from_iterable(self._routes.values()))

    def _load(self, mounts: Sequence[Mount]) -> None:
        """Add the routes of the interfaces at ``mounts``."""
        if not mounts:
            return
        with self._loading:
            for mount in mounts:
                if mount not in self._unloaded:  # another thread has added the routes in the meantime
                    continue
                views = self._views(mount.interface)
                self._routes[mount] = tuple(views)
                by_name = {name: view for (name, _, _), view in views.items()}
                # views that a user added take precedence
                self.view_functions |= {**by_name, **self.view_functions}
                self.rules = _shared_map(self._all_routes())
                self._unloaded = [unloaded for unloaded in self._unloaded if unloaded is not mount]

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return the adapter that finds the route of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        if self._unloaded:
            self._load([mount for mount in self._unloaded if mount.owns(request.path)])
        return Adapter(self, request)

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

    def full_dispatch_request(self, *context: Any) -> Response:
        """Return the response of the view. Skip Flask's other steps if no hook or session needs them."""
        rule = request.url_rule
        if context or rule is None or hasattr(rule, "provide_automatic_options") or self._is_hooked():
            return super().full_dispatch_request(*context)
        self._got_first_request = True
        try:
            answer: Any = self.view_functions[rule.endpoint](**(request.view_args or {}))
        except Exception as error:
            answer = self.handle_user_exception(error)
        return answer if type(answer) is WholeResponse else self.finalize_request(answer)

    def _is_hooked(self) -> bool:
        return bool(
            self.before_request_funcs
            or self.after_request_funcs
            or self.url_value_preprocessors
            or request_started.receivers
            or request_finished.receivers
            or self.secret_key  # without a key there are no sessions to save
            or type(self.session_interface) is not SecureCookieSessionInterface
        )

    def do_teardown_request(self, *arguments: Any) -> None:
        """Call the teardown functions of a request, if there are any."""
        if self.teardown_request_funcs or request_tearing_down.receivers:
            super().do_teardown_request(*arguments)

    def do_teardown_appcontext(self, *arguments: Any) -> None:
        """Call the teardown functions of an application context, if there are any."""
        if self.teardown_appcontext_funcs or appcontext_tearing_down.receivers:
            super().do_teardown_appcontext(*arguments)


def _at_root(environ: WSGIEnvironment) -> str:
    """Return the path that serves ``/``: the page, the addresses, or (for JSON) ``/`` itself, an error."""
    accepted = parse_accept_header(environ.get("HTTP_ACCEPT", ""), MIMEAccept)
    html, json = accepted["text/html"], accepted["application/json"]
    return PAGE if html > json else "/" if json > html else _ALIASES["/"]


class WholeResponse(Response):
    """A response with a complete body and no cookies.

    The response is sent without conversion unless a Flask hook has read its headers or set another body,
    because creating Werkzeug's header object takes longer than sending the response.
    """

    default_mimetype = None

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        vars(self).update(_attributes(status), _on_close=[])
        self._lines = list(headers.items())
        self._headers: Headers | None = None
        self._body = self.response = [body]

    @property
    def headers(self) -> Headers:
        """The headers."""
        if self._headers is None:
            self._headers = Headers(self._lines)
        return self._headers

    @headers.setter
    def headers(self, headers: Headers) -> None:
        self._headers = headers

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send the response to the WSGI server."""
        lines, body = self._lines, self._body[0]
        empty = self.status_code in (204, 304)
        if self._headers is not None or self.response is not self._body or _has_line_break(lines):
            body = self.get_data()
            if not empty:
                self.headers["Content-Length"] = str(len(body))
            lines = self.headers.to_wsgi_list()
        start_response(self.status, lines)
        return () if empty or environ["REQUEST_METHOD"] == "HEAD" else (body,)


@lru_cache(maxsize=64)
def _attributes(status: int) -> Mapping[str, Any]:
    """Return the attributes of a response with ``status``. Werkzeug is slow, so the result is cached."""
    excluded = ("headers", "response", "_on_close")
    return {name: value for name, value in vars(Response(status=status)).items() if name not in excluded}


def _has_line_break(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a header contains a line break, which would allow header injection."""
    text = "".join([part for header in headers for part in header])
    return "\n" in text or "\r" in text
