"""What Flask does for each request and nobody has asked for, left out: a third to a half of a request's time.

Nothing here changes behaviour. To delete this module, use ``Application`` of ``routing.py`` and Flask's
``Response`` in place of ``LeanApplication`` and ``WholeResponse``.
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
    """Remembers the routes of the latest paths, unless the application has its own map, which may change."""

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the rule that takes the request, and its arguments."""
        shared = not self._application.has_own_map and len(self.path_info) <= _LONGEST
        if arguments or options != {"return_rule": True} or not shared:
            return super().match(*arguments, **options)
        rule, values = _found(self.map, self.path_info, self.default_method)
        return rule, {**values}


class LeanApplication(Application):
    """Calls the view at once if no hook, signal or session of Flask has a say in the request."""

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
            or self.secret_key  # without one there are no sessions to be saved
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
    """An answer that is complete as it is made, with a body that is known and no cookies.

    It goes out as it was made unless somebody, such as a hook of Flask's, has looked at its headers or given
    it another body: what those are kept in takes longer to make than the answer to send.
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
        """Send it, as WSGI has it."""
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
    """Return what a response keeps beside what is its own: Werkzeug takes a while to find it out."""
    own = ("headers", "response", "_on_close")
    return {name: value for name, value in vars(Response(status=status)).items() if name not in own}


def _is_split(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a header has the end of a line in it, with which others could be made up."""
    text = "".join([part for header in headers for part in header])
    return "\n" in text or "\r" in text
