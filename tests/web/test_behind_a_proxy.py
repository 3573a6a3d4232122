"""A sandbox that a reverse proxy serves under a path, and routers that answer in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from reseller_sandbox import Sandbox, connect
from tests.command import run
from tests.registry import REGISTRY

PATH = "/test systems/sandbox"


@contextmanager
def serving(answer: Callable[[Any], None]) -> Iterator[str]:
    """Serve a handler of requests on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return lambda: answer(self)
            raise AttributeError(name)

        def log_message(self, *_: Any) -> None:
            """Do not log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def proxied() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox behind a proxy that serves it under a path."""
    with ExitStack() as stack:

        def forward(request: Any) -> None:
            prefix, target = PATH.replace(" ", "%20"), request.path
            if not target.startswith(prefix):
                request.send_error(404)
                return
            body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
            connection = HTTPConnection("127.0.0.1", server.port)
            connection.request(request.command, target.removeprefix(prefix), body, dict(request.headers))
            response = connection.getresponse()
            content = response.read()
            request.send_response(response.status)
            for name, value in response.getheaders():
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(content)
            connection.close()

        url = stack.enter_context(serving(forward)) + PATH
        sandbox = Sandbox(REGISTRY, public_urls=[url.replace(" ", "%20")])
        server = stack.enter_context(sandbox.serve())
        yield sandbox, url


def test_a_client_of_a_server_under_a_path_reaches_every_interface(proxied: Any) -> None:
    sandbox, url = proxied
    with connect(url) as remote:
        assert remote.accounts["main"].balance == sandbox.accounts["main"].balance
        assert remote.client().get("/v3/balance").status_code == 200
        with remote.fork(name="other") as fork:
            assert fork.url.startswith(url.replace(" ", "%20"))
            fork.accounts.credit("main", 5)
            assert fork.accounts["main"].balance == sandbox.accounts["main"].balance + 5
            with connect(fork.url) as again:
                assert again.accounts["main"].balance == fork.accounts["main"].balance
            httpx = pytest.importorskip("httpx")
            with fork.intercept("https://api.example.com"):
                token = {"X-Auth-Token": fork.accounts["main"].token}
                answer = httpx.get("https://api.example.com/V2.0/domain/zones/gtld", headers=token)
                assert answer.status_code == 200


def test_the_command_line_takes_a_url_with_a_path(proxied: Any) -> None:
    _, url = proxied
    for words in (
        ("health", "show"),
        ("names", "list"),
        ("request", "GET", "/v3/balance"),
        ("request", "GET", f"{url.replace(' ', '%20')}/v3/balance"),
        ("wait", "--timeout", "0"),
    ):
        done = run(*words, "--url", url)
        assert done.status == 0, (words, done)
    signed = run("sign", "--curl", "GET", "/v3/balance", "--url", url)
    assert f"{url.replace(' ', '%20')}/v3/balance" in signed.out
    assert "X-SVC-SIGNATURE" in signed.out


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            503,
            b'{"error":"shard_down","message":"The shard s1 did not answer."}',
            "503: The shard s1 did not",
        ),
        (
            404,
            b'{"error":"unknown_shard","message":"There is no shard s9 here"}',
            "404: There is no shard s9",
        ),
        (502, b"<html>Bad Gateway</html>", "not a sandbox: it answers 502, and not in JSON"),
        (500, b'{"detail": {"a": 1}}', "not a sandbox: its 500 has another form"),
        (200, b'[{"status": "UP"}]', "not a sandbox: its 200 has another form"),
    ],
)
def test_the_answer_of_a_router_is_reported_in_its_words(status: int, body: bytes, said: str) -> None:
    def answer(request: Any) -> None:
        request.send_response(status)
        request.end_headers()
        request.wfile.write(body)

    with serving(answer) as url, pytest.raises(ConnectionError, match=r"sandbox|shard") as raised:
        connect(url).clock.show()
    assert said in str(raised.value)
    assert "{" not in str(raised.value)


def answer_up(request: Any) -> None:
    """Answer as the health check of another program does."""
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b'{"status": "UP"}')


def test_results_of_another_form_are_reported() -> None:
    with serving(answer_up) as url:
        remote = connect(url)
        for ask, problem in ((remote.clock.show, "`now`"), (remote.faults.list, "faults")):
            with pytest.raises(ConnectionError, match=f"not a sandbox of this version: .*{problem}"):
                ask()


def test_another_program_that_answers_with_json_is_no_sandbox() -> None:
    with serving(answer_up) as url:
        for words in (("wait", "--timeout", "0"), ("request", "GET", "/v3/balance")):
            done = run(*words, "--url", url)
            assert (done.status, "is not a sandbox: its 200 has another form" in done.err) == (3, True), done
