"""Whatever a client is asked to send arrives in the test's process as it does over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY
from tests.testing.callers import CALLERS
from tests.thorough import tries

PATHS = st.one_of(
    st.text(max_size=20).map("/v3/domains/getDomain/{}".format),
    st.binary(max_size=10).map(lambda raw: "/V2.0/domain/" + "".join(f"%{byte:02x}" for byte in raw)),
    st.text(max_size=10).map("/V2.0/domain/zones?{}".format),
    st.text(max_size=20).map("/{}".format),
)
NAMES = st.sampled_from(["X-Auth-Token", "X-Svc-Apikey", "Accept", "Connection", "Cookie", "Host", "X-Any"])
VALUES = st.one_of(
    st.text(st.characters(max_codepoint=0xFF), max_size=12), st.sampled_from(["main-token", "close"])
)


@pytest.fixture(scope="module", params=CALLERS)
def pair(request, _served) -> Iterator[Any]:
    """A client over a socket and the same client in process, each with its sandbox."""
    served, url = _served
    served.reset()
    local = Sandbox(REGISTRY)
    there_client, here_client = CALLERS[request.param](None, 10), CALLERS[request.param](local, 10)
    yield url, (there_client, served), (here_client, local)
    there_client.close()
    here_client.close()


def sends(method: str = "GET", path: str = "/v3/balance", headers: Any = None, body: bytes = b"") -> Any:
    return example(method=method, path=path, headers=headers or {}, body=body)


@settings(max_examples=tries(30))
@sends(path="/v3/domains/getDomain/%D0%B1%D1%96%D0%B1%D0%BB.укр")
@sends(path="/v3/domains/getDomain/%ff%FE%00")
@sends(path="/v3/domains/getDomain/a%2Fb%3Fc.com?x=%ff&y=ä&z")
@sends(path="/v3//domains/../getDomain/;x=1/a'b(c)!*.com?")
@sends(headers={"X-Bad": "a\r\nb"})
@sends(headers={"Bad Name": "x"})
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "get", "BREW"]),
    path=PATHS,
    headers=st.dictionaries(NAMES, VALUES, max_size=3),
    body=st.binary(max_size=30),
)
def test_any_request_gets_the_same_answer_in_process_and_over_a_socket(
    pair, method, path, headers, body
) -> None:
    """The answer or the exception, and the journal's record of the request."""
    url, *ways = pair
    results = []
    for client, sandbox in ways:
        try:
            got: Any = client.call(method, f"{url}{path}", headers, body, streamed=False)
        except Exception as error:
            got = type(error)
        entries = [sandbox.journal.get(entry.id) for entry in sandbox.journal.list().requests]
        results.append((got, [(entry.request, entry.outcome, entry.answer) for entry in entries]))
        sandbox.reset()
    assert results[0] == results[1]
