"""Other servers, each in a process of its own, with a read that is comparable to one of ours."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from tests.benchmarks.load import written
from tests.benchmarks.measuring import PEERS, LeftOut, line_of, peer, running

#: About as much as an answer of ours has.
DOCUMENT = {"domain": {f"field{number}": "a value of some length" for number in range(25)}}

#: A server's port, and the request that it is to answer.
Ready = tuple[int, bytes]

_HTTPSERVER = f"""
import sys
from pytest_httpserver import HTTPServer
with HTTPServer() as server:
    server.expect_request("/domain").respond_with_json({DOCUMENT!r})
    print(server.port, flush=True)
    sys.stdin.read()
"""

_ZONE = (
    '<CreateHostedZoneRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Name>example.com</Name>'
    "<CallerReference>one</CallerReference></CreateHostedZoneRequest>"
)
_SIGNED = (
    "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=0"
)


@contextmanager
def moto() -> Iterator[Ready]:
    """Moto's server, which is asked for a zone of names."""
    port, headers = _free(), {"Authorization": _SIGNED}
    with running(peer("bin/moto_server"), "-p", str(port)):
        _, location = _asked(port, "POST", "/2013-04-01/hostedzone", _ZONE, headers)
        zone = location.rpartition("/")[2]
        yield port, written("GET", f"/2013-04-01/hostedzone/{zone}", port, headers)


@contextmanager
def localstripe() -> Iterator[Ready]:
    """localstripe, which is asked for a customer."""
    port, headers = _free(), {"Authorization": "Bearer sk_test_1"}
    with running(peer("bin/localstripe"), "--port", str(port)):
        made, _ = _asked(port, "POST", "/v1/customers", "{}", {**headers, "Content-Type": "application/json"})
        yield port, written("GET", f"/v1/customers/{json.loads(made)['id']}", port, headers)


@contextmanager
def httpserver() -> Iterator[Ready]:
    """pytest-httpserver with one expectation, as a plugin would start it."""
    with running(peer("bin/python"), "-c", _HTTPSERVER) as program:
        port = int(line_of(program))
        yield port, written("GET", "/domain", port, {})


@contextmanager
def mountebank() -> Iterator[Ready]:
    """mountebank with one stub."""
    control, port = _free(), _free()
    answer = {"statusCode": 200, "headers": {"Connection": "keep-alive"}, "body": DOCUMENT}
    stub = {"predicates": [{"equals": {"path": "/domain"}}], "responses": [{"is": answer}]}
    quietly = ("--nologfile", "--pidfile", str(PEERS / "mb.pid"))
    with running(peer("node/node_modules/.bin/mb"), "start", "--port", str(control), *quietly):
        imposter = json.dumps({"port": port, "protocol": "http", "stubs": [stub]})
        _asked(control, "POST", "/imposters", imposter, {})
        yield port, written("GET", "/domain", port, {})


@contextmanager
def wiremock(journal: bool = False) -> Iterator[Ready]:
    """WireMock with one stub."""
    if (java := shutil.which("java")) is None:
        raise LeftOut("there is no Java on this machine")
    jar = next(iter(PEERS.glob("node/node_modules/wiremock/build/*.jar")), None)
    if jar is None:
        raise LeftOut("WireMock's jar is not there: `make bench` installs it with npm where it can")
    port = _free()
    told = ("--port", str(port), "--root-dir", str(PEERS / "wiremock"))  # it makes folders there
    with running(java, "-jar", jar, *told, *(() if journal else ("--no-request-journal",))):
        stub = {"request": {"method": "GET", "urlPath": "/domain"}, "response": {"jsonBody": DOCUMENT}}
        _asked(port, "POST", "/__admin/mappings", json.dumps(stub), {})
        yield port, written("GET", "/domain", port, {})


ALL: dict[str, Callable[[], AbstractContextManager[Ready]]] = {
    "moto, a zone": moto,
    "localstripe, a customer": localstripe,
    "pytest-httpserver, a stub": httpserver,
    "mountebank, a stub": mountebank,
    "WireMock, a stub": wiremock,
}


def versions() -> Iterator[str]:
    """Yield the name and the version of each peer that is installed."""
    with suppress(LeftOut):
        names = ["moto", "localstripe", "pytest-httpserver", "respx", "responses"]
        code = f"from importlib.metadata import version\nfor one in {names}: print(one, version(one))"
        yield from subprocess.check_output([peer("bin/python"), "-c", code], text=True).splitlines()
    for name in ("mountebank", "wiremock"):
        with suppress(OSError):
            about = json.loads((PEERS / "node" / "node_modules" / name / "package.json").read_text())
            yield f"{name} {about['version']}"


def _free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _asked(port: int, method: str, path: str, body: str, headers: dict[str, str]) -> tuple[str, str]:
    """Return what a server answers and where it says the new thing is, as soon as it has started."""
    for _ in range(300):
        connection: Any = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            told = answer.read().decode()
        except (OSError, HTTPException):
            time.sleep(0.1)
            continue
        finally:
            connection.close()
        assert answer.status < 300, told
        return told, answer.getheader("Location") or ""
    raise LeftOut(f"nobody answers on port {port} (process {os.getpid()})")
