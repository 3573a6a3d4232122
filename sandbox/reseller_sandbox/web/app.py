"""The Flask application: the rows of every interface, routed to the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from reseller_sandbox.server.delivery import delivering
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.incoming import ENV_PREFIX, Incoming
from reseller_sandbox.web.interface import Interface
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.web.mount import Mount
from reseller_sandbox.web.pipeline import ENV_WORLD, Pipeline
from reseller_sandbox.web.routing import Application, LateRows, RowRule, Views
from reseller_sandbox.worlds import Engine

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Under this name an application has what is to be called with each request that a server could not read.
UNREAD = "reseller_sandbox.unread"


def create_app(worlds: Engine, mounts: Sequence[Mount], limits: BodyLimits) -> Flask:
    """Return a WSGI application that serves what is mounted over ``worlds``, with bodies up to ``limits``."""
    pipeline = Pipeline(worlds, mounts, limits)
    parts = [LateRows(one.owns, partial(_views, pipeline, one)) for one in mounts]
    app = Application("reseller_sandbox", parts)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.register_error_handler(HTTPException, lambda error: pipeline.stray(error, _incoming({})))
    app.register_error_handler(Exception, lambda error: pipeline.crashed(error, _incoming({})))
    app.extensions[UNREAD] = pipeline.unread
    app.wsgi_app = delivering(partial(_through_world, app.wsgi_app))  # type: ignore[assignment, method-assign]
    return app


def _views(pipeline: Pipeline, mount: Mount) -> Views:
    views = dict[RowRule, Callable[..., Response]]()
    for endpoint in mount.interface.endpoints:
        view = _view(pipeline, mount.interface, endpoint)
        name = endpoint.id.replace(".", "/")  # what stands before a dot is a blueprint to Flask
        for number, rule in enumerate(endpoint.rules()):
            views[f"{name}#{number}", rule, endpoint.method] = view
    return views


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
