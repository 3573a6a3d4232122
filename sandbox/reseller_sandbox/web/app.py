"""The Flask application: the rows of every interface, routed to the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, cast

from flask import Flask, Request, Response, request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule, RuleFactory

from reseller_sandbox.server.delivery import delivering
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.incoming import ENV_PREFIX, Incoming
from reseller_sandbox.web.interface import Interface
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.web.pipeline import ENV_WORLD, Pipeline
from reseller_sandbox.worlds import Engine

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: How many paths are remembered with the rows that take them, and up to which length.
_REMEMBERED = 1024
_LONGEST = 200

#: How Flask asks for the row of a request.
_AS_FLASK_ASKS = {"return_rule": True}

#: Under this name an application has what is to be called with each request that a server could not read.
UNREAD = "reseller_sandbox.unread"


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

    The same few paths are asked for again and again; what is refused is looked up each time.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.found = lru_cache(maxsize=_REMEMBERED)(self._found)
        super().__init__(*arguments, **options)

    def add(self, rulefactory: RuleFactory) -> None:
        """Add rules."""
        super().add(rulefactory)
        self.found.cache_clear()

    def _found(self, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
        return self.bind("", path_info=path, default_method=method).match(return_rule=True)


class _Finder(MapAdapter):
    """Finds the row of one request."""

    map: _Rows

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the rule that takes the request, and its arguments; or what else is asked for."""
        if arguments or options != _AS_FLASK_ASKS or len(self.path_info) > _LONGEST:
            return super().match(*arguments, **options)
        rule, values = self.map.found(self.path_info, self.default_method)
        return rule, {**values}


class _Application(Flask):
    """An application whose rows are found by path and method alone, whatever host a request names."""

    url_map_class = _Rows

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the row of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        return _Finder(self.url_map, "", "/", "", "http", request.path, request.method)


def create_app(worlds: Engine, interfaces: Sequence[Interface], limits: BodyLimits) -> Flask:
    """Return a WSGI application that serves ``interfaces`` over ``worlds``, with bodies up to ``limits``."""
    app = _Application("reseller_sandbox", static_folder=None)
    app.url_rule_class = _Route
    app.url_map.merge_slashes = False
    app.url_map.converters |= {"digits": _Digits, "version": _Version, "rest": _Rest}
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    pipeline = Pipeline(worlds, interfaces, limits)
    for interface in interfaces:
        for endpoint in interface.endpoints:
            view = _view(pipeline, interface, endpoint)
            for number, rule in enumerate(endpoint.rules()):
                app.add_url_rule(rule, f"{endpoint.id}#{number}", view, methods=[endpoint.method])
    app.register_error_handler(HTTPException, lambda error: pipeline.stray(error, _incoming({})))
    app.register_error_handler(Exception, lambda error: pipeline.crashed(error, _incoming({})))
    app.extensions[UNREAD] = pipeline.unread
    app.wsgi_app = delivering(partial(_through_world, app.wsgi_app))  # type: ignore[assignment, method-assign]
    return app


def _view(pipeline: Pipeline, interface: Interface, endpoint: Endpoint) -> Callable[..., Response]:
    def view(**arguments: str) -> Response:
        return pipeline.run(interface, endpoint, _incoming(arguments))

    return view


def _incoming(arguments: dict[str, str]) -> Incoming:
    return Incoming.of(cast(Any, request)._get_current_object(), arguments)


def _through_world(
    serve: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """Take ``/_worlds/{name}`` off the front of the path: it chooses the world, the rest the operation."""
    path: str = environ["PATH_INFO"]
    if path.startswith("/_worlds/"):
        name, _, rest = path.removeprefix("/_worlds/").partition("/")
        environ[ENV_WORLD] = name.encode("latin-1").decode("utf-8", "replace")  # WSGI has bytes as latin-1
        environ[ENV_PREFIX] = f"/_worlds/{name}"
        environ["PATH_INFO"] = f"/{rest}"
    return serve(environ, start_response)
