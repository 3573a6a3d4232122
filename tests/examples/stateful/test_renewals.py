"""Every order of days, faults and third parties around the job that renews names."""

from __future__ import annotations

from hypothesis import Phase, settings
from hypothesis.stateful import rule
from renewals import renew

from reseller_sandbox.testing.stateful import SandboxMachine

NAME = "active-example.com"


class Careful(SandboxMachine):
    """The job, surrounded by time, third parties and faults."""

    names = (NAME,)
    operations = "v2.domain.renew"
    read_again = False

    @rule()
    def run_the_job(self) -> None:
        """Run the job as the scheduler does."""
        client = self.sandbox.client(timeout=10)
        renew(client, NAME, self.sandbox.clock.now.date(), read_again=self.read_again)


class Careless(Careful):
    """The same job with the mistake."""

    read_again = True


TestCareful = Careful.TestCase
TestCareless = Careless.TestCase
TestCareful.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestCareless.settings = settings(max_examples=200, phases=[Phase.generate], deadline=None)
