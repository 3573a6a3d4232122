"""The Flask application: the rows of every generation, routed to the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from flask import Flask, Response
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter, Rule

from reseller_sandbox.server.delivery import delivering
from reseller_sandbox.web.generation import Endpoint, Generation
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.web.pipeline import ENV_PREFIX, ENV_WORLD, Pipeline
from reseller_sandbox.worlds import Engine

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

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


def create_app(worlds: Engine, generations: Sequence[Generation], limits: BodyLimits) -> Flask:
    """A WSGI application that serves ``generations`` over ``worlds``, with bodies up to ``limits``."""
    app = Flask("reseller_sandbox", static_folder=None)
    app.url_rule_class = _Route
    app.url_map.merge_slashes = False
    app.url_map.converters |= {"digits": _Digits, "version": _Version, "rest": _Rest}
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    pipeline = Pipeline(worlds, generations, limits)
    for generation in generations:
        for endpoint in generation.endpoints:
            view = _view(pipeline, generation, endpoint)
            for number, rule in enumerate(endpoint.rules()):
                app.add_url_rule(rule, f"{endpoint.id}#{number}", view, methods=[endpoint.method])
    app.register_error_handler(HTTPException, pipeline.stray)
    app.register_error_handler(Exception, pipeline.crashed)
    app.extensions[UNREAD] = pipeline.unread
    app.wsgi_app = delivering(partial(_through_world, app.wsgi_app))  # type: ignore[assignment, method-assign]
    return app


def _view(pipeline: Pipeline, generation: Generation, endpoint: Endpoint) -> Callable[..., Response]:
    def view(**arguments: Any) -> Response:
        return pipeline.run(generation, endpoint, arguments)

    return view


def _through_world(
    serve: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """Take ``/_worlds/{name}`` off the front of the path: it chooses the world, the rest the operation."""
    path: str = environ["PATH_INFO"]
    if path.startswith("/_worlds/"):
        name, _, rest = path.removeprefix("/_worlds/").partition("/")
        environ[ENV_WORLD] = name
        environ[ENV_PREFIX] = f"/_worlds/{name}"
        environ["PATH_INFO"] = f"/{rest}"
    return serve(environ, start_response)
