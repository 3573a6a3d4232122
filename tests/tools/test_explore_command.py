"""``reseller-sandbox explore`` runs a program in any language, over its own server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox.cli import main
from reseller_sandbox.tools.replaying import replay
from tests.outfit import program
from tests.tools import billing

#: Two workers of a shell script that check whether a name is free, and then register it.
SCRIPT = """
names=$RESELLER_SANDBOX_URL/V2.0/domain
order='{"customer_id": 501, "period": 1, "ns": {"array": ["ns1.a.net", "ns2.a.net"]},
  "contact_registrant": "A1001", "contact_admin": "A1001",
  "contact_tech": "A1001", "contact_billing": "A1001"}'
ask() {
  worker=$1; shift
  curl -sS --fail -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN" -H "X-Sandbox-Actor: $worker" "$@"
}
buy() {
  if ask "$1" "$names/shop-example.com.ua/check" | grep -q '"avail":"true"'; then
    ask "$1" "$names/shop-example.com.ua" -H 'Content-Type: application/json' -d "$order"
  fi
}
buy anna & anna=$!
buy bert & bert=$!
wait $anna && wait $bert
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


#: For how many seconds nothing comes until those that wait are taken for all: a busy machine needs more.
QUIETS = ("0.3", "4")


def explored(*words: str) -> tuple[int, Any, str]:
    """How the command ended, what it told as JSON, and what it complained of."""
    ended = CliRunner().invoke(main, ["explore", *words])
    return ended.exit_code, json.loads(ended.stdout) if ended.stdout else None, ended.stderr


@pytest.mark.slow
def test_a_shell_script_with_curl_and_two_jobs_in_the_background() -> None:
    """Its jobs say whose their requests are; the one that comes second with its order is refused."""
    program("curl")
    for quiet in QUIETS:
        status, told, _ = explored("--quiet", quiet, "--json", "--", "sh", "-c", SCRIPT)
        if told["orders"] == 4:
            break
    assert (status, told["actors"], told["orders"]) == (1, ["anna", "bert"], 4)
    [finding] = told["findings"]
    assert (finding["kind"], finding["schedule"]) == ("failed", "anna bert bert anna")
    assert finding["capsule"] == "capsules/explore-1.capsule"
    assert replay(finding["capsule"]).identical


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "expected"), [("careless", 1), ("careful", 0)])
def test_the_workers_of_a_program_are_told_apart_by_their_connections(kind: str, expected: int) -> None:
    """They have one credential, and a connection each; under a lock one of them waits for the other."""
    words = [sys.executable, str(Path(billing.__file__)), kind, "nameservers"]
    for quiet in QUIETS:
        status, told, _ = explored("--quiet", quiet, "--json", "--", *words)
        if status == expected:
            break
    assert status == expected, told
    assert {one["kind"] for one in told["findings"]} == ({"mixed up"} if expected else set())


def test_a_program_that_fails_in_every_order_is_no_finding() -> None:
    """It has to pass in some order, or nothing follows from it."""
    status, told, complaint = explored("--json", "--", "sh", "-c", "exit 3")
    assert (status, told["actors"], told["orders"]) == (2, [], 1)
    assert "fails in every order" in complaint


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--schedule", "anna", "--", "true"], "anna has no request waiting where 'anna' lets one through"),
        (["--url", "http://127.0.0.1:9", "--", "true"], "--url does not go with explore"),
        (["--actors", "0", "--", "true"], "0 is not in the range"),
        (["--invariant", "nowhere:at_all", "--", "true"], "--invariant nowhere:at_all"),
        (["--", "/nowhere/at-all"], "/nowhere/at-all cannot be run"),
    ],
)
def test_words_that_cannot_be_used_are_refused(words: list[str], complaint: str) -> None:
    """With one line that says what is wrong, and the exit status for that."""
    status, told, said = explored(*words)
    assert (status, told) == (2, None)
    assert complaint in said
    assert len(said.splitlines()) == 1
