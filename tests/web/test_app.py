"""The sandbox's application is a Flask application as any other: it takes further routes and builds URLs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import flask.signals
import pytest
from flask import Blueprint, Response, g, request, session, url_for
from flask.sessions import SecureCookieSession, SessionInterface
from werkzeug.routing import BaseConverter, Rule

from reseller_sandbox import Sandbox
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


def test_converters_and_slashes_are_settings_of_one_application(fresh: Sandbox) -> None:

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


def test_first_requests_at_the_same_time_are_all_answered(fresh: Sandbox) -> None:
    paths = PATHS * 3
    together = Barrier(len(paths))

    def asked(path: str) -> int:
        client = fresh.client()
        together.wait()
        return client.get(path).status_code

    with ThreadPoolExecutor(len(paths)) as threads:
        assert list(threads.map(asked, paths)) == [200, 404, 200, 200, 404] * 3


def test_the_order_of_rules_does_not_depend_on_the_first_requests() -> None:
    paths = (HEALTH, READ, "/V2.0/domain/active.com")
    rules = [str(rule) for rule in Sandbox(REGISTRY).app.url_map.iter_rules()]
    for first in (paths, paths[::-1], (READ, HEALTH, paths[2])):
        called = Sandbox(REGISTRY)
        assert [called.client().get(path).status_code for path in first] == [200, 200, 200]
        assert [str(rule) for rule in called.app.url_map.iter_rules()] == rules


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


def test_signals_and_teardown_functions_are_called_for_every_request(fresh: Sandbox) -> None:
    """Also if the first requests had no listener."""
    done: list[Any] = []
    fresh.app.teardown_request(done.append)
    fresh.app.teardown_appcontext(done.append)
    client = fresh.client()
    client.get(READ)
    for name in ("request_started", "request_finished", "request_tearing_down"):
        heard: list[str] = []
        signal = getattr(flask.signals, name)
        with signal.connected_to(lambda *_, **__: heard.append(request.path), fresh.app):
            client.get(READ)
        client.get(READ)
        assert heard == [READ]
    assert done == [None] * 14


def test_hooks_are_taken_before_the_first_request_alone(fresh: Sandbox) -> None:
    """As Flask has it."""
    fresh.client().get(READ)
    with pytest.raises(AssertionError, match="before_request"):
        fresh.app.before_request(lambda: None)


def test_the_context_of_a_request_lasts_as_long_as_that_of_its_client(fresh: Sandbox) -> None:
    fresh.client().get(READ)
    with fresh.client() as client:
        client.get(READ)
        assert (request.path, request.url_rule is not None) == (READ, True)


def test_a_failing_view_is_an_internal_error_of_its_interface(fresh: Sandbox) -> None:
    """In each interface, and only once if it fails only once."""
    client = fresh.client()
    for path in (READ, "/V2.0/domain/active.com", "/_sandbox/clock"):
        assert client.get(path).status_code == 200
        with fresh.app.test_request_context(path):
            name = str(request.endpoint)
        view, failures = fresh.app.view_functions[name], [RuntimeError("once")]

        def failing(**parameters: Any) -> Any:
            if failures:
                raise failures.pop()
            return view(**parameters)

        fresh.app.view_functions[name] = failing
        answer = client.get(path)
        assert answer.status_code == 500
        body: Any = answer.json
        assert body.get("error", body.get("code")) in ("internal_error", 500)
        assert client.get(path).status_code == 200


def test_a_hook_changes_the_arguments_of_one_request(fresh: Sandbox) -> None:

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
def test_a_hook_of_a_blueprint_is_called_for_its_own_views(fresh: Sandbox, name: str) -> None:
    mine, seen = Blueprint(name, __name__), list[str]()
    mine.before_request(lambda: seen.append(request.path))
    mine.add_url_rule("/mine", view_func=lambda: "mine")
    fresh.app.register_blueprint(mine)
    client = fresh.client()
    assert client.get("/mine").text == "mine"
    assert client.get(READ).status_code == client.get("/_sandbox/clock").status_code == 200
    assert seen == ["/mine"]


def test_another_session_interface_opens_and_saves_a_session_per_request(fresh: Sandbox) -> None:
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
