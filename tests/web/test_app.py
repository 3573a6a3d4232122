"""The sandbox's application is a Flask application as any other: it takes further routes and builds URLs."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import permutations
from threading import Barrier, Event
from typing import Any

import flask.signals
import pytest
from flask import Blueprint, Response, g, request, session, url_for
from flask.sessions import SecureCookieSession, SessionInterface
from werkzeug.routing import BaseConverter, Rule

from reseller_sandbox import Sandbox
from reseller_sandbox.core import assumptions
from reseller_sandbox.web import pipeline
from reseller_sandbox.web.routing import Application, LateRows, Views
from tests.registry import REGISTRY


@pytest.fixture
def fresh() -> Sandbox:
    """A sandbox whose application a test may change."""
    return Sandbox(REGISTRY)


def test_routes_can_be_added(fresh: Sandbox) -> None:
    """A user's own route answers beside those of the sandbox, and in that sandbox alone."""

    @fresh.app.get("/mine/<int:number>")
    def mine(number: int) -> str:
        return f"{number + 1}"

    assert fresh.client().get("/mine/3").text == "4"
    assert Sandbox(REGISTRY).client().get("/mine/3").status_code == 404


def test_the_way_to_read_paths_can_be_changed(fresh: Sandbox) -> None:
    """Converters and the reading of slashes are those of one sandbox; its routes are found as before."""

    class Shouted(BaseConverter):
        regex = "[A-Z]+"

    fresh.app.url_map.converters["shouted"] = Shouted
    fresh.app.url_map.strict_slashes = False
    fresh.app.url_map.merge_slashes = True
    fresh.app.add_url_rule("/mine/<shouted:word>", view_func=lambda word: word)
    fresh.app.add_url_rule("/open/", "open", lambda: "open")
    client, other = fresh.client(), Sandbox(REGISTRY)
    assert [client.get(path).status_code for path in ("/mine/LOUD", "/mine/low", "/mine//LOUD")] == [
        200,
        404,
        308,
    ]
    assert client.get("/open").text == "open"
    assert client.get("/v3/domains/getDomain/active.com").status_code == 200
    assert "shouted" not in other.app.url_map.converters
    assert not other.app.url_map.merge_slashes
    assert other.app.url_map.strict_slashes


def test_urls_can_be_built(fresh: Sandbox) -> None:
    """Every route builds the URL that it is found under, and what else is told becomes its query."""
    with fresh.app.test_request_context():
        for rule in fresh.app.url_map.iter_rules():
            told: dict[str, Any] = {name: "V2.0" if name == "version" else "7" for name in rule.arguments}
            url = url_for(rule.endpoint, **told, also="x y")
            assert url.endswith("?also=x+y")
            adapter = fresh.app.url_map.bind("localhost")
            method = next(iter(rule.methods or ()))
            assert adapter.match(url.partition("?")[0], method)[1].keys() == rule.arguments


READ = "/v3/domains/getDomain/active.com"
HEALTH = "/_sandbox/health"


def test_a_url_of_control_can_be_built_before_control_was_asked_for(fresh: Sandbox) -> None:
    """Within the request of a client as well, though the rows of control are made when they are needed."""
    built: list[str] = []
    name = "control/clock/show#0"
    fresh.app.before_request(lambda: built.append(url_for(name)))
    assert fresh.client().get(READ).status_code == 200
    assert fresh.client().get(built[0]).json["now"] == fresh.client().get(HEALTH).json["now"]


#: A path of each interface, and one of none.
PATHS = (HEALTH, "/v3/nowhere", READ, "/V2.0/domain/active.com", "/nowhere")


def test_many_that_come_first_at_once_are_all_answered(fresh: Sandbox) -> None:
    """Whoever comes first has an interface loaded and its rows made, and the others wait for them."""
    paths = PATHS * 3
    together = Barrier(len(paths))

    def asked(path: str) -> int:
        client = fresh.client()
        together.wait()
        return client.get(path).status_code

    with ThreadPoolExecutor(len(paths)) as threads:
        assert list(threads.map(asked, paths)) == [200, 404, 200, 200, 404] * 3


def test_rows_that_another_request_has_made_meanwhile_are_found() -> None:
    """Also by one that has looked in vain before, and sees them made as it is about to make them."""
    begun, goes_on = Event(), Event()
    requests: list[Future[str]] = []

    def views() -> Views:
        begun.set()
        goes_on.wait()
        return {("one", "/one", "GET"): lambda: Response("one")}

    def owns(path: str) -> bool:
        if begun.is_set():
            goes_on.set()
            requests[0].result()
            rows.append(app.rows)
        return path == "/one"

    app, rows = Application("late", [LateRows(owns, views)]), list[object]()
    client = app.test_client()
    with ThreadPoolExecutor() as threads:
        requests.append(threads.submit(lambda: client.get("/one").text))
        begun.wait()
        requests.append(threads.submit(lambda: client.get("/one").text))
    assert [one.result() for one in requests] == ["one", "one"]
    assert rows
    assert all(one is app.rows for one in rows), "they were made twice"


@pytest.mark.parametrize("first", tuple(permutations((HEALTH, READ, "/V2.0/domain/active.com"))))
def test_the_rows_stand_in_one_order_whatever_is_called_first(first: tuple[str, ...]) -> None:
    """And each interface answers as it does when it is the only one."""
    called, uncalled = Sandbox(REGISTRY), Sandbox(REGISTRY)
    assert [called.client().get(path).status_code for path in first] == [200, 200, 200]
    rules, others = ([str(one) for one in made.app.url_map.iter_rules()] for made in (called, uncalled))
    assert rules == others


def test_a_view_that_is_there_before_its_row_stays(fresh: Sandbox) -> None:
    """A user's own takes the place of the sandbox's, and nobody has called that before."""
    fresh.app.view_functions["v3/getDomain#0"] = lambda **told: told
    assert fresh.client().get(READ).json == {"domainName": "active.com"}


def test_a_route_that_is_added_before_control_was_asked_for_stays(fresh: Sandbox) -> None:
    """Beside all rows there are."""
    fresh.app.add_url_rule("/mine", view_func=lambda: "mine")
    client = fresh.client()
    assert [client.get(path).status_code for path in (READ, "/mine", HEALTH, "/mine")] == [200] * 4


def test_hooks_see_a_request_and_its_answer(fresh: Sandbox) -> None:
    """What Flask knows of a request is there before it is answered, and its answer can be looked at after."""
    seen: list[Any] = []

    @fresh.app.before_request
    def before() -> None:
        g.began = True
        rule = request.url_rule
        seen.append((request.method, request.path, request.view_args, rule and rule.rule))

    @fresh.app.after_request
    def after(response: Response) -> Response:
        seen.append((g.began, response.status_code, response.content_length, response.get_json()))
        return response

    answer = fresh.client().get(READ)
    told = {"domainName": "active.com"}
    assert seen == [
        ("GET", READ, told, "/v3/domains/getDomain/<string:domainName>"),
        (True, 200, len(answer.data), answer.json),
    ]


def test_hooks_change_an_answer(fresh: Sandbox) -> None:
    """Its status, its headers and its body, whose length is told as it is then; or all of it."""
    hooks: list[Any] = []

    @fresh.app.after_request
    def after(response: Response) -> Response:
        changed: Response = hooks[-1](response)
        return changed

    def headers(response: Response) -> Response:
        response.headers["X-Mine"] = "1"
        del response.headers["Date"]
        return response

    def body(response: Response) -> Response:
        response.data = b"longer than it was" * 100
        response.status_code = 203
        return response

    def pieces(response: Response) -> Response:
        response.response = ["in ", "pieces"]
        return response

    client = fresh.client()
    hooks.append(lambda response: response)
    usual = client.get(READ)
    hooks.append(headers)
    answer = client.get(READ)
    assert answer.data == usual.data
    assert (answer.headers["X-Mine"], "Date" in answer.headers) == ("1", False)
    hooks.append(body)
    answer = client.get(READ)
    assert (answer.status_code, answer.text) == (203, "longer than it was" * 100)
    hooks.append(pieces)
    answer = client.get(READ)
    assert (answer.text, answer.content_length) == ("in pieces", len("in pieces"))
    hooks.append(lambda _: Response("another"))
    assert client.get(READ).text == "another"


def test_a_hook_answers_in_place_of_the_sandbox(fresh: Sandbox) -> None:
    """Nothing has come to the world then."""
    fresh.app.before_request(lambda: ("closed", 503))
    answer = fresh.client().get(READ)
    assert (answer.status_code, answer.text) == (503, "closed")
    assert not fresh.journal.find().matching


@pytest.mark.parametrize("name", ["request_started", "request_finished", "request_tearing_down"])
def test_signals_tell_of_every_request(fresh: Sandbox, name: str) -> None:
    """Though some have been answered before anybody listened."""
    heard: list[str] = []
    client = fresh.client()
    client.get(READ)
    with getattr(flask.signals, name).connected_to(lambda *_, **__: heard.append(request.path), fresh.app):
        client.get(READ)
    client.get(READ)
    assert heard == [READ]


@pytest.mark.parametrize("hook", ["teardown_request", "teardown_appcontext"])
def test_what_is_to_be_done_after_a_request_is_done(fresh: Sandbox, hook: str) -> None:
    """With no failure to tell of."""
    done: list[Any] = []
    getattr(fresh.app, hook)(done.append)
    client = fresh.client()
    assert [client.get(READ).status_code for _ in range(3)] == [200, 200, 200]
    assert done == [None, None, None]


def test_hooks_are_taken_before_the_first_request_alone(fresh: Sandbox) -> None:
    """As Flask has it."""
    fresh.client().get(READ)
    with pytest.raises(AssertionError, match="before_request"):
        fresh.app.before_request(lambda: None)


def test_what_flask_knows_of_a_request_can_be_kept(fresh: Sandbox) -> None:
    """As long as the context of its test client lasts."""
    fresh.client().get(READ)
    with fresh.client() as client:
        client.get(READ)
        assert (request.path, request.url_rule is not None) == (READ, True)


@pytest.mark.parametrize("earlier", [0, 1], ids=["the first request", "a later one"])
def test_a_failure_after_the_operation_is_an_answer(fresh: Sandbox, monkeypatch, earlier: int) -> None:
    """An internal error in the shape of the interface, whoever has asked before."""
    client = fresh.client()
    for _ in range(earlier):
        client.get(READ)
    usual, failures = assumptions.named, [RuntimeError("once")]

    def failing(*told: Any) -> Any:
        if failures:
            raise failures.pop()
        return usual(*told)

    monkeypatch.setattr(pipeline, "named", failing)
    answer = client.get(READ)
    assert (answer.status_code, failures) == (500, [])
    assert answer.json["error"] == "internal_error", answer.json


def test_what_hooks_do_to_the_arguments_concerns_one_request(fresh: Sandbox) -> None:
    """The next request to the same path has its own."""

    @fresh.app.before_request
    def before() -> None:
        assert request.view_args is not None
        if request.headers.get("X-Other"):
            request.view_args["domainName"] = "no-such-name.com"

    client = fresh.client()
    statuses = [client.get(READ, headers=headers).status_code for headers in ({}, {"X-Other": "1"}, {})]
    assert statuses == [200, 404, 200]


def test_a_rule_that_is_added_later_counts_from_then_on(fresh: Sandbox) -> None:
    """Though the path that it takes has been asked for before."""
    client = fresh.client()
    assert client.get(READ).status_code == 200
    fresh.app.view_functions["mine"] = lambda: "mine"
    fresh.app.url_map.add(Rule(READ, endpoint="mine"))
    assert client.get(READ).text == "mine"


def test_a_view_can_be_another(fresh: Sandbox) -> None:
    """It may answer with all that Flask takes for an answer."""
    client = fresh.client()
    name = next(rule.endpoint for rule in fresh.app.url_map.iter_rules() if "getDomain" in rule.rule)
    usual = fresh.app.view_functions[name]
    fresh.app.view_functions[name] = lambda **told: (told, 203)
    answer = client.get(READ)
    assert (answer.status_code, answer.json) == (203, {"domainName": "active.com"})
    fresh.app.view_functions[name] = usual
    assert client.get(READ).status_code == 200


def test_sessions_are_kept(fresh: Sandbox) -> None:
    """A permanent one of a user's own route lasts while the sandbox is asked for something."""
    fresh.app.secret_key = "a word"

    @fresh.app.get("/mine")
    def mine() -> str:
        session.permanent = True
        session["mine"] = True
        return ""

    client = fresh.app.test_client()  # which keeps cookies
    client.get("/mine")
    assert "session=" in client.get(READ).headers.get("Set-Cookie", "")


@pytest.mark.parametrize("name", ["v3", "control", "mine"])
def test_what_a_blueprint_hooks_concerns_its_own_views(fresh: Sandbox, name: str) -> None:
    """Whatever it is called."""
    mine, seen = Blueprint(name, __name__), list[str]()
    mine.before_request(lambda: seen.append(request.path))
    mine.add_url_rule("/mine", view_func=lambda: "mine")
    fresh.app.register_blueprint(mine)
    client = fresh.client()
    assert client.get("/mine").text == "mine"
    assert client.get(READ).status_code == client.get("/_sandbox/clock").status_code == 200
    assert seen == ["/mine"]


def test_whoever_keeps_sessions_elsewhere_is_asked_for_them(fresh: Sandbox) -> None:
    """Another keeper of sessions opens and saves one for each request, as on any other application."""
    kept: list[str] = []

    class Elsewhere(SessionInterface):
        def open_session(self, app: Any, request: Any) -> Any:
            kept.append("opened")
            return SecureCookieSession()

        def save_session(self, *_: Any) -> None:
            kept.append("saved")

    fresh.app.session_interface = Elsewhere()
    assert fresh.client().get(READ).status_code == 200
    assert kept == ["opened", "saved"]
