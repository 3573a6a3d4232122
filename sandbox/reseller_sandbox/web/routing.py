"""Which row takes a request, found by path and method alone. Equal applications share their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cache, lru_cache
from itertools import chain
from threading import RLock
from typing import Any, NamedTuple, Self, TypeAlias, cast

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
from flask.sessions import NullSession, SecureCookieSession, SecureCookieSessionInterface
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter, Map, MapAdapter, Rule, RuleFactory

#: How many paths are remembered with the rows that take them, and up to which length.
_REMEMBERED = 1024
_LONGEST = 200

#: A row's name, its path and its method.
RowRule: TypeAlias = tuple[str, str, str]

#: What answers the requests that a row takes, by the rule of the row.
Views: TypeAlias = Mapping[RowRule, Callable[..., Response]]

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


#: A version of v2.0 in a path.
VERSION = r"[Vv][0-9]+\.[0-9]+"


class _Digits(BaseConverter):
    """A whole number without a sign, of any length."""

    regex = "[0-9]+"


class _Version(BaseConverter):
    """A version such as ``V2.0``, whether it is served or not."""

    regex = VERSION


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
        self._remembered.cache_clear()

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

    def found(self, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
        """Return the rule that takes a request, and its arguments; raise as ``MapAdapter.match`` does."""
        return (self._remembered if len(path) <= _LONGEST else self._found)(path, method)

    def _forget(self) -> None:
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._found)

    def _found(self, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
        return self.bind("", path_info=path, default_method=method).match(return_rule=True)


@lru_cache(maxsize=8)
def _made(rules: tuple[RowRule, ...]) -> _Rows:
    rows = _Rows(
        (_Route(path, endpoint=name, methods=[method]) for name, path, method in rules),
        merge_slashes=False,
        converters={"digits": _Digits, "version": _Version, "rest": _Rest},
    )
    rows.update()
    return rows


class _Finder(MapAdapter):
    """Finds the row of one request, and builds URLs of any."""

    def __init__(self, application: Application, path: str, method: str) -> None:
        super().__init__(application.rows, "", "/", "", "http", path, method)
        self._application = application

    def match(self, *arguments: Any, **options: Any) -> Any:
        """Return the rule that takes the request, and its arguments; or what else is asked for."""
        if not arguments and options == _AS_FLASK_ASKS:
            return self._application.row(self.path_info, self.default_method)
        self.map = self._application.url_map
        return super().match(*arguments, **options)

    def build(self, *arguments: Any, **options: Any) -> str:
        """Return the URL of a row."""
        self.map = self._application.url_map
        return super().build(*arguments, **options)


class LateRows(NamedTuple):
    """Some rows of an application: which paths are theirs, and how their views are made."""

    owns: Callable[[str], bool]
    views: Callable[[], Views]


class _Sessions(SecureCookieSessionInterface):
    """Flask's own sessions; without a key to sign them with, the one that keeps nothing is made once."""

    def __init__(self) -> None:
        self._nothing = NullSession()

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Return the session that a request comes with."""
        return super().open_session(app, request) if app.secret_key else self._nothing


class Application(Flask):
    """An application whose rows are found by path and method alone, whatever host a request names.

    Those of a part are made when one of its paths is first asked for, or somebody looks at all rows. ``rows``
    are those that there are by now.
    """

    url_rule_class = _Route
    rows: _Rows
    _later: Sequence[LateRows] = ()

    def __init__(self, name: str, parts: Sequence[LateRows]) -> None:
        super().__init__(name, static_folder=None)
        self.session_interface = _Sessions()
        self.rows = _made(()).lend()
        self._rules: dict[LateRows, tuple[RowRule, ...]] = dict.fromkeys(parts, ())
        self._views: dict[str, Callable[..., Response]] = {}
        self._taking = RLock()
        self._later = parts

    @property
    def url_map(self) -> Map:
        """All rows."""
        self.make(lambda _: True)
        return self.rows

    @url_map.setter
    def url_map(self, rows: Map) -> None:
        self.rows = rows  # type: ignore[assignment]  # Flask's own, until there are rows

    def make(self, wanted: Callable[[LateRows], bool]) -> None:
        """Make the rows of the parts that are ``wanted``, unless they are there."""
        if not any(map(wanted, self._later)):
            return
        with self._taking:
            made = {part: part.views() for part in filter(wanted, self._later)}
            if not made:  # another thread has made them meanwhile
                return
            for part, views in made.items():
                self._rules[part] = tuple(views)
                named = {name: view for (name, _, _), view in views.items()}
                self._views |= named
                self.view_functions |= {**named, **self.view_functions}  # a user's own stay
            self.rows = _made(tuple(chain.from_iterable(self._rules.values()))).lend()
            self._later = [part for part in self._later if part not in made]

    def row(self, path: str, method: str) -> tuple[Rule, dict[str, Any]]:
        """Return the rule that takes a request, and its arguments; raise as ``MapAdapter.match`` does."""
        rows = self.rows
        try:
            rule, values = rows.found(path, method)
        except HTTPException:
            self.make(lambda part: part.owns(path))
            if self.rows is rows:
                raise
            rule, values = self.rows.found(path, method)
        return rule, {**values}

    def full_dispatch_request(self, *told: Any) -> Response:
        """Return the answer of a row; nobody is called on the way to it where nobody has asked for that."""
        asked: Request = cast(Any, request)._get_current_object()
        name = asked.url_rule.endpoint if asked.url_rule is not None else ""
        view = self._views.get(name)
        if view is None or view is not self.view_functions[name] or self._is_hooked() or told:
            return super().full_dispatch_request(*told)
        self._got_first_request = True
        try:
            return view(**(asked.view_args or {}))
        except Exception as error:
            return self.finalize_request(self.handle_user_exception(error))

    def _is_hooked(self) -> bool:
        """Whether anybody is to be called between a request and its answer."""
        return bool(
            self.before_request_funcs
            or self.after_request_funcs
            or self.url_value_preprocessors
            or request_started.receivers
            or request_finished.receivers
            or self.secret_key  # without one there are no sessions to be saved
            or type(self.session_interface) is not _Sessions
        )

    def do_teardown_request(self, *told: Any) -> None:
        """Call what is to be called at the end of a request, if anything is: to find out takes a while."""
        if self.teardown_request_funcs or request_tearing_down.receivers:
            super().do_teardown_request(*told)

    def do_teardown_appcontext(self, *told: Any) -> None:
        """Call what is to be called at the end of a context, in the same way."""
        if self.teardown_appcontext_funcs or appcontext_tearing_down.receivers:
            super().do_teardown_appcontext(*told)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the row of ``request``."""
        if request is None:
            return super().create_url_adapter(request)
        return _Finder(self, request.path, request.method)
