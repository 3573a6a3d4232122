"""Whether a hundred thousand refusals over a socket leave memory and descriptors as they were."""

from __future__ import annotations

import gc
import os
from http.client import HTTPConnection

from reseller_sandbox import Sandbox
from reseller_sandbox.v3.signing import signed_headers
from tests.benchmarks.growing import memory
from tests.benchmarks.measuring import How, Told

REQUESTS = 100_000
#: How much may be held after the last tenth of the requests beyond what the first tenth left.
MORE_MEMORY = 32 << 20
MORE_DESCRIPTORS = 3

PATH = "/v3/domains/getDomain/nobody-has-it.com"


def descriptors() -> int:
    """Return how many files and sockets this process holds."""
    return len(os.listdir("/proc/self/fd"))


def run(how: How) -> Told:
    """What is held after each tenth; fails where it grows."""
    held, requests = [], 1000 if how.tiny else REQUESTS
    with Sandbox().serve() as server:
        signed = signed_headers("sandbox-key", "sandbox-secret", "X-SVC-", f"{server.url}{PATH}", b"")
        connection = HTTPConnection("127.0.0.1", server.port)
        for number in range(1, requests + 1):
            connection.request("GET", PATH, headers=signed)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 404
            if number % (requests // 10) == 0:
                gc.collect()
                held.append((memory(), descriptors()))
                yield f"{number:>7} refusals: {held[-1][0] >> 20} MiB, {held[-1][1]} descriptors"
        connection.close()
    assert held[-1][0] - held[0][0] < MORE_MEMORY, "memory grows with the number of refusals"
    assert held[-1][1] - held[0][1] < MORE_DESCRIPTORS, "descriptors are not given back"
