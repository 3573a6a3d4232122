"""What httpx would refuse to send is refused in process, although ordinary heads are not shown to h11."""

from __future__ import annotations

from dataclasses import replace

import h11
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reseller_sandbox.testing.caller import WholeRequest
from reseller_sandbox.testing.with_httpx import is_ordinary
from tests.thorough import tries

HOST = (b"Host", b"api.example.test")
NAMES = st.sampled_from(
    [b"Host", b"content-length", b"Transfer-Encoding", b"X-One", b"Connection", b"bad name", b""]
)
VALUES = st.sampled_from(
    [b"1", b"two words", b"", b" led", b"trailing ", b"\x00", b"a\nb: c", b"caf\xc3\xa9", b"-1"]
)
TARGETS = st.sampled_from([b"/a?b=c", b"*", b"", b"/a b", b"/caf\xc3\xa9", b"/\n"])
METHODS = st.sampled_from(["GET", "BREW", "GE T", ""])


@settings(max_examples=tries(200))
@example("GET", b"/", [HOST, (b"Content-Length", b"3"), (b"content-length", b"4")])
@example("GET", b"/", [HOST, (b"X-One", b"a\nb: c")])
@example("GET", b"/", [HOST, (b"X-One\nX-Two", b"1")])
@given(METHODS, TARGETS, st.lists(st.tuples(NAMES, VALUES), max_size=3).map(lambda more: [HOST, *more]))
def test_an_ordinary_head_is_one_that_h11_takes(
    method: str, target: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    if is_ordinary(WholeRequest(method, "https", 443, target, headers)):
        h11.Request(method=method, target=target, headers=headers)


def test_what_clients_send_is_ordinary() -> None:
    headers = [HOST, (b"User-Agent", b"python-httpx/0.28.1"), (b"Accept", b"*/*"), (b"Content-Length", b"34")]
    asked = WholeRequest("POST", "https", 443, b"/v3/domains/getDomain/a.com?b=%20", headers)
    assert is_ordinary(asked)
    assert not is_ordinary(replace(asked, sent=headers[1:]))
    assert not is_ordinary(replace(asked, sent=[*headers, (b"X-Name", b"caf\xe9")]))
