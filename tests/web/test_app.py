"""The sandbox's application is an ordinary Flask application: it takes routes, hooks, views and sessions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import flask.signals
import pytest
from flask import Blueprint, Response, g, request, url_for
from werkzeug.routing import BaseConverter, Rule

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY

READ = "/v3/domains/getDomain/active.com"
READ_V2 = "/V2.0/domain/active.com"
HEALTH = "/_sandbox/health"


@pytest.fixture
def fresh() -> Sandbox:
    """A sandbox whose application a test may change."""
    return Sandbox(REGISTRY)


def test_url_rules_and_converters_of_an_application_do_not_affect_another_application(fresh: Sandbox) -> None:
    class Shouted(BaseConverter):
        regex = "[A-Z]+"

    fresh.app.add_url_rule("/number/<int:number>", view_func=lambda number: f"{number + 1}")
    fresh.app.url_map.converters["shouted"] = Shouted
    fresh.app.url_map.strict_slashes = False
    fresh.app.url_map.merge_slashes = True
    fresh.app.add_url_rule("/mine/<shouted:word>", "word", lambda word: word)
    fresh.app.add_url_rule("/open/", "open", lambda: "open")
    client, other = fresh.client(), Sandbox(REGISTRY)
    paths = ("/mine/LOUD", "/mine/low", "/mine//LOUD", READ, "/number/3", HEALTH)
    assert [client.get(path).status_code for path in paths] == [200, 404, 308, 200, 200, 200]
    assert (client.get("/open").text, client.get("/number/3").text) == ("open", "4")
    assert other.client().get("/number/3").status_code == 404
    assert "shouted" not in other.app.url_map.converters
    assert not other.app.url_map.merge_slashes
    assert other.app.url_map.strict_slashes


def test_a_url_can_be_built_for_every_route(fresh: Sandbox) -> None:
    built: list[str] = []
    fresh.app.before_request(lambda: built.append(url_for("control/clock/show#0")))
    assert fresh.client().get(READ).status_code == 200
    assert fresh.client().get(built[0]).json["now"] == fresh.client().get(HEALTH).json["now"]
    with fresh.app.test_request_context():
        for rule in fresh.app.url_map.iter_rules():
            arguments: dict[str, Any] = {
                name: "V2.0" if name == "version" else "7" for name in rule.arguments
            }
            url = url_for(rule.endpoint, **arguments, also="x y")
            assert url.endswith("?also=x+y")
            adapter = fresh.app.url_map.bind("localhost")
            method = next(iter(rule.methods or ()))
            assert adapter.match(url.partition("?")[0], method)[1].keys() == rule.arguments


def test_simultaneous_first_requests_all_get_an_answer(fresh: Sandbox) -> None:
    paths = (HEALTH, "/v3/nowhere", READ, READ_V2, "/nowhere") * 3
    together = Barrier(len(paths))

    def status(path: str) -> int:
        client = fresh.client()
        together.wait()
        return client.get(path).status_code

    with ThreadPoolExecutor(len(paths)) as threads:
        assert list(threads.map(status, paths)) == [200, 404, 200, 200, 404] * 3


def test_a_view_can_be_replaced_before_and_after_its_first_request(fresh: Sandbox) -> None:
    early, client, views = Sandbox(REGISTRY), fresh.client(), fresh.app.view_functions
    early.app.view_functions["v3/getDomain#0"] = lambda **arguments: arguments
    assert early.client().get(READ).json == {"domainName": "active.com"}
    assert client.get(READ).status_code == 200
    default = views["v3/getDomain#0"]
    views["v3/getDomain#0"] = lambda **arguments: (arguments, 203)
    assert client.get(READ).status_code == 203
    views["v3/getDomain#0"] = default
    assert client.get(READ).json["domain"]["domainName"] == "active.com"
    views["mine"] = lambda: "mine"
    fresh.app.url_map.add(Rule(READ, endpoint="mine"))
    assert client.get(READ).text == "mine", "a rule that is added later counts from then on"


def test_flask_hooks_see_request_and_response_and_can_change_view_arguments(fresh: Sandbox) -> None:
    seen: list[Any] = []

    @fresh.app.before_request
    def before() -> None:
        g.began = True
        assert request.view_args is not None
        seen.append((request.method, request.path, dict(request.view_args), str(request.url_rule)))
        if request.headers.get("X-Other"):
            request.view_args["domainName"] = "no-such-name.com"

    @fresh.app.after_request
    def after(response: Response) -> Response:
        seen.append((g.began, response.status_code, response.content_length, response.get_json()))
        return response

    client = fresh.client()
    answer = client.get(READ)
    assert seen == [
        ("GET", READ, {"domainName": "active.com"}, "/v3/domains/getDomain/<string:domainName>"),
        (True, 200, len(answer.data), answer.json),
    ]
    statuses = [client.get(READ, headers=headers).status_code for headers in ({"X-Other": "1"}, {})]
    assert statuses == [404, 200]
    with pytest.raises(AssertionError, match="before_request"):
        fresh.app.before_request(lambda: None)  # Flask takes hooks before the first request alone


def test_flask_hooks_can_change_or_replace_a_response(fresh: Sandbox) -> None:
    hooks: list[Any] = [lambda response: response]

    @fresh.app.after_request
    def after(response: Response) -> Response:
        changed: Response = hooks[-1](response)
        return changed

    def body(response: Response) -> Response:
        response.data, response.status_code = b"longer" * 100, 203
        response.headers["X-Mine"] = "1"
        del response.headers["Date"]
        return response

    def pieces(response: Response) -> Response:
        response.response = ["in ", "pieces"]
        return response

    client = fresh.client()
    client.get(READ)
    for hook, status, text, date in (
        (body, 203, "longer" * 100, False),
        (pieces, 200, "in pieces", True),
        (lambda _: Response("another"), 200, "another", False),
    ):
        hooks.append(hook)
        answer = client.get(READ)
        assert (answer.status_code, answer.text, answer.content_length) == (status, text, len(text))
        assert ("Date" in answer.headers) is date
        assert ("X-Mine" in answer.headers) is (hook is body)


def test_a_flask_hook_can_answer_instead_of_the_sandbox(fresh: Sandbox) -> None:
    fresh.app.before_request(lambda: ("closed", 503))
    answer = fresh.client().get(READ)
    assert (answer.status_code, answer.text, fresh.journal.find().matching) == (503, "closed", 0)


def test_contexts_and_signals_and_teardown_functions_of_flask_work(fresh: Sandbox) -> None:
    done: list[Any] = []
    fresh.app.teardown_request(done.append)
    fresh.app.teardown_appcontext(done.append)
    client = fresh.client()
    client.get(READ)  # without a listener
    for name in ("request_started", "request_finished", "request_tearing_down"):
        heard: list[str] = []
        signal = getattr(flask.signals, name)
        with signal.connected_to(lambda *_, **__: heard.append(request.path), fresh.app):
            client.get(READ)
        client.get(READ)
        assert heard == [READ]
    assert done == [None] * 14
    with client:
        client.get(READ)
        assert (request.path, request.url_rule is not None) == (READ, True)


def test_an_exception_in_a_view_becomes_an_internal_error_of_the_interface(fresh: Sandbox) -> None:
    client = fresh.client()
    for path in (READ, READ_V2, "/_sandbox/clock"):
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


@pytest.mark.parametrize("name", ["v3", "control", "mine"])
def test_a_blueprint_hook_runs_only_for_views_of_the_blueprint(fresh: Sandbox, name: str) -> None:
    mine, seen = Blueprint(name, __name__), list[str]()
    mine.before_request(lambda: seen.append(request.path))
    mine.add_url_rule("/mine", view_func=lambda: "mine")
    fresh.app.register_blueprint(mine)
    statuses = [fresh.client().get(path).status_code for path in ("/mine", READ, "/_sandbox/clock")]
    assert (statuses, seen) == ([200, 200, 200], ["/mine"])
