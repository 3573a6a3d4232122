"""The Flask application: the rows of every interface, routed to the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from reseller_sandbox.server.delivery import delivering
from reseller_sandbox.web.context import ENV_PREFIX, ENV_WORLD, RequestContext
from reseller_sandbox.web.endpoint import BodyLimits, Endpoint
from reseller_sandbox.web.interface import Interface, Mount
from reseller_sandbox.web.lean import LeanApplication
from reseller_sandbox.web.pipeline import Pipeline
from reseller_sandbox.web.routing import Part, Route, Views
from reseller_sandbox.worlds import Engine

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Under this name an application has the function for a request that a server could not read.
UNREAD = "reseller_sandbox.unread"


def create_app(worlds: Engine, mounts: Sequence[Mount], limits: BodyLimits) -> Flask:
    """Return a WSGI application that serves what is mounted over ``worlds``, with bodies up to ``limits``."""
    pipeline = Pipeline(worlds, mounts, limits)
    app = LeanApplication(
        "reseller_sandbox", [Part(one.owns, partial(_views, pipeline, one)) for one in mounts]
    )
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.register_error_handler(HTTPException, lambda error: pipeline.run(_stray(pipeline), error))
    app.register_error_handler(Exception, lambda error: pipeline.crashed(_stray(pipeline), error))
    app.extensions[UNREAD] = pipeline.unread
    app.wsgi_app = delivering(partial(_through_world, app.wsgi_app))  # type: ignore[assignment, method-assign]
    return app


def _views(pipeline: Pipeline, mount: Mount) -> Views:
    views = dict[Route, Callable[..., Response]]()
    for endpoint in mount.interface.endpoints:
        view = partial(_view, pipeline, mount.interface, endpoint)
        name = endpoint.id.replace(".", "/")  # what stands before a dot is a blueprint to Flask
        for number, rule in enumerate(endpoint.rules()):
            views[f"{name}#{number}", rule, endpoint.method] = view
    return views


def _view(pipeline: Pipeline, interface: Interface, endpoint: Endpoint, /, **arguments: str) -> Response:
    return pipeline.run(_context(interface, endpoint, arguments))


def _stray(pipeline: Pipeline) -> RequestContext:
    """Return the context of a request that no row takes, in the shape of the interface it looks like."""
    return _context(pipeline.owner(request.path), None, {})


def _context(interface: Interface, endpoint: Endpoint | None, arguments: dict[str, str]) -> RequestContext:
    return RequestContext.of(interface, endpoint, cast(Any, request)._get_current_object(), arguments)


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
