"""The state machine for users' clients finds a double renewal, and leaves a careful client alone."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import rule, run_state_machine_as_test

from reseller_sandbox.testing.stateful import SandboxMachine

EXAMPLE = Path(__file__).parents[1] / "examples" / "stateful"
OPTIONS = ("-q", "-p", "no:cacheprovider", "--hypothesis-seed=7", "-W", "ignore")


@pytest.mark.slow
def test_the_hypothesis_example_finds_the_planted_double_renewal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", *OPTIONS, f"--rootdir={EXAMPLE}", str(EXAMPLE)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=250)
    assert "renewed_twice: active-example.com was renewed twice" in done.stdout, done.stdout
    assert "FAILED" in done.stdout
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_the_state_machine_leaves_a_lost_answer_to_the_next_step_of_a_client() -> None:
    """A job that reads the name on its next run, whatever the fault has lost."""

    class Nightly(SandboxMachine):
        names = ()
        operations = "v3.createDomain"
        faults = (("error", {"error": "internal_error", "when": {"phase": "after", "times": 1}}),)

        @rule()
        def buy_the_name_if_it_is_free(self) -> None:
            client, name = self.sandbox.client(), "nightly-example.com"
            if client.get(f"/v3/domains/getDomain/{name}").status_code == 404:
                client.post("/v3/domains/createDomain", json={"domain": {"domainName": name}})

    run_state_machine_as_test(Nightly, settings=settings(max_examples=20, phases=[Phase.generate]))


def test_the_state_machine_fails_if_a_client_does_not_book_a_cost() -> None:
    class Books(SandboxMachine):
        def booked(self) -> Decimal:
            return Decimal(0)

        @rule()
        def register(self) -> None:
            self.sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "a-b.com"}})

    with pytest.raises(AssertionError, match=r"the client has booked 0, but the account paid 10\.99"):
        run_state_machine_as_test(Books, settings=settings(max_examples=50, phases=[Phase.generate]))
