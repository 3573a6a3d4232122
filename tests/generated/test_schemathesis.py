"""schemathesis finds nothing: in its examples, its coverage of the schemas, its fuzzing, its stateful walks.

No failure that nobody injected, no status that is not documented, no answer that does not fit its schema.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

#: The checks that are left out, each with its reason.
LEFT_OUT = {
    # The registry asks for more than a schema can say: that a name is one, has a zone, and is nobody else's.
    "positive_data_acceptance",
    # Some of what a schema forbids is taken all the same, as callers send it: a null is nothing sent.
    "negative_data_rejection",
    # Two paths can fit one address, and Allow has the methods of both.
    "unsupported_method",
    "allow_header_conformance",
}

#: The operations of control that are left out: what never ends is no answer to be checked, and a zone that
#: was taken out of service leads to answers of 503, as it should.
SPARED = ("clockWatch", "journalFollow", "eventsFollow", "simulateSetService")


@pytest.mark.parametrize(("name", "examples"), [("v3", 3), ("v2", 3), ("control", 1)])
def test_nothing_is_found(name: str, examples: int) -> None:
    """Whatever is sent, the answer is one of the document."""
    sandbox = Sandbox(REGISTRY)
    held = sandbox.accounts["main"]
    with sandbox.serve() as server:
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/_sandbox/openapi/{name}.json"),
            *("-n", str(examples), "--generation-deterministic", "--continue-on-failure", "--no-color"),
            *("--exclude-checks", ",".join(sorted(LEFT_OUT)), "-H", f"X-Auth-Token: {held.token}"),
            *(word for spared in SPARED if name == "control" for word in ("--exclude-operation-id", spared)),
        ]
        done = subprocess.run(
            command,
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "tests.generated.hooks",
                "V3_KEY": held.key,
                "V3_SECRET": held.secret,
            },
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
