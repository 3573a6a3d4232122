"""Omits the steps of Flask that the sandbox does not use.

This saves a third to a half of a request's time. Nothing here changes behaviour. To delete this module,
use ``Application`` of ``routing.py`` and Flask's ``Response`` in place of ``LeanApplication`` and
``WholeResponse``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from flask import (
    Response,
    appcontext_tearing_down,
    request,
    request_finished,
    request_started,
    request_tearing_down,
)
from flask.sessions import SecureCookieSessionInterface
from werkzeug.datastructures import Headers
from werkzeug.routing import Map, Rule

from reseller_sandbox.web.routing import Adapter, Application

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

#: The number of paths that are remembered with their routes, and their maximum length.
_REMEMBERED = 1024
_LONGEST = 200


class LazyRule(Rule):
    """A rule whose URL builders are compiled when the first URL is built. The sandbox itself builds none."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)
        return lambda rule, **values: compiled(append_unknown)(rule, **values)


@lru_cache(maxsize=_REMEMBERED)
def _found(rules: Map, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
    return rules.bind("", path_info=path, default_method=method).match(return_rule=True)


class LeanAdapter(Adapter):
    """Caches the routes of recent paths, unless the application has its own map.

    A map of its own may change.
    """

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the rule that takes the request, and its arguments."""
        shared = not self._application.has_own_map and len(self.path_info) <= _LONGEST
        if arguments or options != {"return_rule": True} or not shared:
            return super().match(*arguments, **options)
        rule, values = _found(self.map, self.path_info, self.default_method)
        return rule, {**values}


class LeanApplication(Application):
    """Calls the view directly if no hook, signal or session of Flask is in use."""

    url_rule_class = LazyRule
    _adapter = LeanAdapter

    def full_dispatch_request(self, *told: Any) -> Response:
        """Return the answer of the view."""
        rule = request.url_rule
        if told or rule is None or hasattr(rule, "provide_automatic_options") or self._is_hooked():
            return super().full_dispatch_request(*told)
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

    def do_teardown_request(self, *told: Any) -> None:
        """Call the teardown functions of a request, if there are any."""
        if self.teardown_request_funcs or request_tearing_down.receivers:
            super().do_teardown_request(*told)

    def do_teardown_appcontext(self, *told: Any) -> None:
        """Call the teardown functions of an application context, if there are any."""
        if self.teardown_appcontext_funcs or appcontext_tearing_down.receivers:
            super().do_teardown_appcontext(*told)


class WholeResponse(Response):
    """An answer with a complete body and no cookies.

    It is sent without conversion unless a Flask hook has read its headers or set another body, because
    creating Werkzeug's header object takes longer than sending the answer.
    """

    default_mimetype = None

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        vars(self).update(_begun(status), _on_close=[])
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
        if self._headers is not None or self.response is not self._body or _is_split(lines):
            body = self.get_data()
            if not empty:
                self.headers["Content-Length"] = str(len(body))
            lines = self.headers.to_wsgi_list()
        start_response(self.status, lines)
        return () if empty or environ["REQUEST_METHOD"] == "HEAD" else (body,)


@lru_cache(maxsize=64)
def _begun(status: int) -> Mapping[str, Any]:
    """Return the cached attributes of a response with ``status``, slow to compute."""
    own = ("headers", "response", "_on_close")
    return {name: value for name, value in vars(Response(status=status)).items() if name not in own}


def _is_split(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a header contains a line break, which would allow header injection."""
    text = "".join([part for header in headers for part in header])
    return "\n" in text or "\r" in text
