"""The same HTTP clients as in production, without a socket."""

from __future__ import annotations

import hashlib
import hmac
import io

import httpx
import pytest
import requests

from reseller_sandbox import Sandbox
from reseller_sandbox.testing.adapters import SandboxAdapter

BASE = "https://api.example.test"


def signed(url: str, body: str = "") -> dict[str, str]:
    """The two v3 headers for a request to ``url``."""
    text = f"sandbox-key{url}{body}".encode()
    signature = hmac.new(b"sandbox-secret", text, hashlib.sha256).hexdigest()
    return {"X-SVC-APIKEY": "sandbox-key", "X-SVC-SIGNATURE": signature}


@pytest.fixture
def session() -> requests.Session:
    made = requests.Session()
    made.mount(BASE, SandboxAdapter(Sandbox().app))
    return made


def test_requests_reads(session):
    """The target is signed as requests would have sent it: encoded, with its query."""
    url = f"{BASE}/v3/domains/getDomain/espa%C3%B1a-example.com?unused=1"
    answer = session.get(url, headers=signed(url))
    assert answer.status_code == 200
    assert answer.json()["domain"]["domainName"] == "españa-example.com"
    assert answer.headers["X-Sandbox-Request"] == "r1"


@pytest.mark.parametrize("wrap", [str, str.encode, lambda body: io.BytesIO(body.encode())])
def test_requests_writes(session, wrap):
    """Bodies go as text, as bytes or from a file."""
    url, body = f"{BASE}/v3/domains/checkAvailability", '{"domainNames":["free-example.com"]}'
    answer = session.post(url, data=wrap(body), headers=signed(url, body))
    assert answer.json()["results"][0]["status"] == "available"


def test_requests_sees_refusals(session):
    """A refusal is an answer like any other."""
    answer = session.get(f"{BASE}/v3/balance")
    assert answer.status_code == 401
    assert answer.reason == "UNAUTHORIZED"
    assert answer.json()["error"] == "credentials_missing"


def test_httpx_needs_no_adapter_of_ours():
    """httpx brings its own way to a WSGI application."""
    url = f"{BASE}/v3/balance"
    with httpx.Client(transport=httpx.WSGITransport(app=Sandbox().app)) as client:
        assert client.get(url, headers=signed(url)).json()[0]["balance"] == "10000.00"
