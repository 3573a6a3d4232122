"""Which row takes a request, found by path and method alone. Equal applications share their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Self

import flask.signals
from flask import Flask, Request, Response, request
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule, RuleFactory

from reseller_sandbox.web.incoming import Incoming, method_of, path_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

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

    def row(self, path: str, method: str) -> tuple[Rule, dict[str, Any]]:
        """Return the rule that takes a request, and its arguments; raise as ``MapAdapter.match`` does."""
        rule, values = (self._remembered if len(path) <= _LONGEST else self._found)(path, method)
        return rule, {**values}

    def _forget(self) -> None:
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._found)

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
        if arguments or options != _AS_FLASK_ASKS:
            return super().match(*arguments, **options)
        return self.map.row(self.path_info, self.default_method)


class RowView:
    """What answers the requests that a row takes: a view of Flask's that does not need Flask around it."""

    def __init__(self, answer: Callable[[Incoming], Response]) -> None:
        self._answer = answer

    def __call__(self, **arguments: str) -> Response:
        """Return the answer to the request that Flask is at, or raise what has come of it already."""
        if (failed := request.environ.get(_ENV_FAILED)) is not None:
            raise failed
        return self.answer(request.environ, arguments)

    def answer(self, environ: WSGIEnvironment, arguments: dict[str, str]) -> Response:
        """Return the answer to the request that ``environ`` describes."""
        return self._answer(Incoming.of(environ, arguments))


#: What Flask tells of a request to whoever wants to know.
_SIGNALS = (
    flask.signals.appcontext_popped,
    flask.signals.appcontext_pushed,
    flask.signals.appcontext_tearing_down,
    flask.signals.got_request_exception,
    flask.signals.request_finished,
    flask.signals.request_started,
    flask.signals.request_tearing_down,
)

#: Set by Flask's test client where it is asked to keep what Flask knows of a request.
_ENV_KEPT = "werkzeug.debug.preserve_context"

#: Why no row has answered a request that Flask gets now.
_ENV_FAILED = "sandbox.failed"


class Application(Flask):
    """An application whose rows are found by path and method alone, whatever host a request names.

    ``rules`` are the names of its rows with their path and their method. What Flask does around a view takes
    a quarter of the time that an answer does, so it is left out where nobody would see it.
    """

    url_rule_class = _Route
    url_map: _Rows

    def __init__(self, name: str, rules: Iterable[tuple[str, str, str]]) -> None:
        super().__init__(name, static_folder=None)
        self.url_map = _made(tuple(rules)).lend()

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request as Flask does."""
        response = self._straight(environ)
        if response is None:
            return super().wsgi_app(environ, start_response)
        return response(environ, start_response)

    def _straight(self, environ: WSGIEnvironment) -> Response | None:
        """Return the answer of a row, or None where Flask is needed: for hooks, other routes, failures."""
        if self._is_watched or _ENV_KEPT in environ:
            return None
        try:
            rule, arguments = self.url_map.row(path_of(environ), method_of(environ))
            row = self.view_functions[rule.endpoint]
            return row.answer(environ, arguments) if isinstance(row, RowView) else None
        except Exception as error:
            environ[_ENV_FAILED] = error
            return None

    @property
    def _is_watched(self) -> bool:
        """Whether somebody has hooked into Flask, or keeps sessions, and would miss what it does."""
        return bool(
            not self._got_first_request  # from which on it takes no more hooks
            or self.before_request_funcs
            or self.after_request_funcs
            or self.teardown_request_funcs
            or self.teardown_appcontext_funcs
            or self.url_value_preprocessors
            or self.session_interface is not Flask.session_interface
            or self.secret_key
            or any(signal.receivers for signal in _SIGNALS)
        )

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the row of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        return _Finder(self.url_map, "", "/", "", "http", request.path, request.method)
