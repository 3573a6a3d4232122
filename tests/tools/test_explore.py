"""Explore runs a program in every order of its workers' requests that can matter."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox, replay
from reseller_sandbox.tools.explore import explore  # noqa: TID251  users import it
from tests.clients import person
from tests.command import program
from tests.thorough import tries
from tests.tools import workers
from tests.tools.concurrent import buy_and_renew, edit_and_renew, look, renew_own_names, spend
from tests.tools.running import command, printed, refused, with_pytest

D = "/v3/domains"

#: The account, method, path and body of a request.
Request = tuple[str, str, str, Any]

#: The number of orders of each program of workers.py, the kind that is found, and words of the first finding.
FOUND: dict[str, tuple[int, str, str]] = {
    "renew_when_due": (4, "invariant violated", "was paid 2 times: 12.99 + 12.99"),
    "renew_when_due_under_a_lock": (1, "", ""),
    "renew_blindly": (2, "", ""),
    "add_name_servers": (4, "not serializable", "name servers ns1.example.net, ns2.example.net, ns"),
    "check_and_register": (4, "failed", "name_taken"),
    "two_names": (1, "", ""),
    "three_accounts": (1, "", ""),
    "begin_in_changing_order": (2, "", ""),
    "always_refused": (1, "", ""),
}


@pytest.fixture(autouse=True)
def _in_a_folder_with_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_pytest(monkeypatch)
    shutil.copy(workers.__file__, "test_workers.py")


def explored(tests: str) -> dict[str, Any]:
    """Explore the programs that match ``tests``. Return the report on each, by its name."""
    tested = ("pytest", "-x", "-k", tests, "test_workers.py")
    found = printed("explore", "--json", "--quiet", "0.05", "--", *tested)
    assert "explorations" in found, found
    return {one["test"].partition("::test_")[2]: one for one in found["explorations"]}


@pytest.mark.parametrize(
    "tests",
    ["renew_when_due or always_refused", pytest.param("test", marks=pytest.mark.slow)],
    ids=["few", "all"],
)
def test_an_exploration_reports_each_problem_with_a_schedule_that_has_the_problem(
    tests: str, subtests: pytest.Subtests
) -> None:
    found = explored(tests)
    fitting = {name for name in FOUND if any(part in f"test_{name}" for part in tests.split(" or "))}
    assert found.keys() == fitting, found
    for name in fitting:
        orders, kind, words = FOUND[name]
        findings = found[name]["findings"]
        with subtests.test(name):
            assert {finding["kind"] for finding in findings} == ({kind} if kind else set())
            assert all(words in "\n".join(finding["words"]) for finding in findings)
            if "lock" not in name and name != "three_accounts":
                assert found[name]["schedules"] == orders
            for finding in findings[:1]:
                replayed = replay(finding["recording"])
                assert (replayed.identical, replayed.requests) == (True, len(finding["requests"]))
    [finding] = found["renew_when_due"]["findings"]
    assert finding["schedule"] == "main main-2 main-2 main"
    assert not found["renew_when_due"]["always"]
    refusals = ["main PUT /v3/nothing → 404", "main-2 PUT /v3/nothing → 404"]
    assert sorted(found["always_refused"]["refused"]) == refusals
    if tests == "test":
        assert [line.partition(":")[0] for line in found["renew_blindly"]["always"]] == ["renewed_twice"]
        assert found["three_accounts"]["actors"] == ["main", "other", "third_worker"]
        changing = found["begin_in_changing_order"]
        last = {line.rpartition(" ")[2] for one in changing["outcomes"] for line in one["changes"]}
        assert last == {*workers.HOSTS}, "each request was the last one in an order"
        assert changing["unmatched"] == 0


def script(pick: random.Random) -> list[Request]:
    """Return one or two requests about few names, so that many requests conflict."""
    name, years = pick.choice(["active-example.com", "one.com"]), pick.choice([1, 2])
    order = {"domain": {"domainName": name}, "years": years}
    requests: list[tuple[str, str, Any]] = [
        ("GET", "/v3/balance", None),
        ("GET", f"{D}?perPage=3&page=2", None),
        ("GET", f"{D}/getDomain/{name}", None),
        ("POST", f"{D}/checkAvailability", {"domainNames": [name]}),
        ("POST", f"{D}/createDomain", order),
        ("POST", f"{D}/renewDomain", order),
        ("POST", f"{D}/lockTransfer/{name}", None),
        ("POST", f"{D}/setNameservers/{name}", {"nameservers": ["ns1.a.net", f"ns{years}.b.net"]}),
        ("POST", f"{D}/setContacts/{name}", {"contacts": {"reg-contact": person(f"Ann {years}")}}),
        ("POST", f"{D}/glueRecords/{name}", {"hostname": "ns1", "ips": ["192.0.2.1"]}),
        ("POST", f"{D}/requestTransfer", {**order, "authCode": "guess"}),
        ("DELETE", f"/V2.0/domain/{name}", None),
        ("GET", "/V2.0/domain/zones/all/limit/5/start/0", None),
    ]
    return [(pick.choice(["main", "other"]), *asked) for asked in pick.sample(requests, pick.choice([1, 2]))]


def merged(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every way to merge two sequences into one."""
    if not first or not second:
        yield (*first, *second)
        return
    yield from ((first[0], *rest) for rest in merged(first[1:], second))
    yield from ((second[0], *rest) for rest in merged(first, second[1:]))


def outcome(world: Sandbox, case: Mapping[str, Sequence[Request]], order: Sequence[str]) -> tuple[Any, str]:
    """Return the responses to each worker's requests in this order, and the world after them."""
    responses: dict[str, list[Any]] = {}
    world.reset()
    for worker in order:
        done = responses.setdefault(worker, [])
        account, method, path, body = case[worker][len(done)]
        response = world.client(account).open(path, method=method, json=body)
        done.append([response.status_code, response.text])
    return sorted(responses.items()), workers.left_in(world)


@pytest.mark.slow
def test_explore_finds_every_possible_outcome_of_random_workers(subtests: pytest.Subtests) -> None:
    pick, begin = random.Random(20), Sandbox()
    cases = [{"a": script(pick), "b": script(pick)} for _ in range(tries(10))]
    numbered = [{"number": number, "scripts": case} for number, case in enumerate(cases)]
    Path("scripts.json").write_text(json.dumps(numbered))
    found = explored("script")
    lines = [line for file in Path().glob("results-*") for line in file.read_text().splitlines()]
    for number, case in enumerate(cases):
        every = {*merged("a" * len(case["a"]), "b" * len(case["b"]))}
        expected = {json.dumps([number, *outcome(begin, case, order)]) for order in every}
        with subtests.test(number, case=case):
            assert {line for line in lines if json.loads(line)[0] == number} == expected
            assert found[f"script[case{number}]"]["schedules"] <= len(every)


#: Two workers with one credential and a connection each, which wait for each other between two requests.
CONNECTIONS = """
import os, threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

parts, barrier = urlsplit(os.environ["RESELLER_SANDBOX_URL"]), threading.Barrier(2)
headers = {"X-Auth-Token": os.environ["RESELLER_SANDBOX_TOKEN"]}

def look(name):
    connection = HTTPConnection(parts.hostname, parts.port)
    for _ in range(2):
        connection.request("GET", f"{parts.path}/V2.0/domain/{name}", headers=headers)
        connection.getresponse().read()
        barrier.wait()

for name in ("active-example.com", "renewing-example.com"):
    threading.Thread(target=look, args=(name,)).start()
"""


def test_explore_distinguishes_workers_with_the_same_credential_by_connection() -> None:
    found = printed("explore", "--json", "--", sys.executable, "-c", CONNECTIONS)
    assert found["actors"] == ["main", "main-2"]
    [outcome] = found["outcomes"]
    requests = {(one["actor"], one["request"].rpartition("/")[2]) for one in outcome["requests"]}
    assert len(outcome["requests"]) == 4
    assert {name for _, name in requests} == {workers.NAME, workers.OTHER}
    assert len(requests) == 2, "each worker asks for one name alone"


#: Two processes that renew a name if it expires soon, without a header that names them.
PROCESSES = {
    "python": """
import json, os, urllib.request
from multiprocessing import Process

domain = os.environ["RESELLER_SANDBOX_URL"] + "/V2.0/domain/active-example.com"

def call(method, url, body=None):
    headers = {"X-Auth-Token": os.environ["RESELLER_SANDBOX_TOKEN"], "Content-Type": "application/json"}
    request = urllib.request.Request(url, body and json.dumps(body).encode(), headers, method=method)
    return json.load(urllib.request.urlopen(request))

def renew():
    if call("GET", domain)["date_end"] < "2027":
        expires = call("GET", domain)["date_end"][:10]
        call("PUT", domain + "/renew", {"period": 1, "current_expiry_date": expires})

if __name__ == "__main__":
    processes = [Process(target=renew) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
""",
    "php": """<?php
function call($method, $path, $body = "") {
    $headers = ["X-Auth-Token: " . getenv("RESELLER_SANDBOX_TOKEN"), "Content-Type: application/json"];
    $http = ["method" => $method, "header" => $headers, "content" => $body];
    $url = getenv("RESELLER_SANDBOX_URL") . "/V2.0/domain/active-example.com$path";
    return json_decode(file_get_contents($url, false, stream_context_create(["http" => $http])), true);
}
function renew() {
    if (call("GET", "")["date_end"] < "2027") {
        $expires = substr(call("GET", "")["date_end"], 0, 10);
        call("PUT", "/renew", json_encode(["period" => 1, "current_expiry_date" => $expires]));
    }
}
for ($worker = 0; $worker < 2; $worker++) {
    if (pcntl_fork() === 0) {
        renew();
        exit(0);
    }
}
while (pcntl_wait($status) > 0);
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("language", PROCESSES)
def test_explore_finds_a_race_between_two_processes(language: str) -> None:
    Path("renew").write_text(PROCESSES[language])
    command_line = sys.executable if language == "python" else program(language)
    found = printed("explore", "--json", "--", command_line, "renew")
    assert found["actors"] == ["main", "main-2"]
    twice = "the renewal of active-example.com was paid 2 times: 12.99 + 12.99"
    assert twice in [words for finding in found["findings"] for words in finding["words"]]


def test_an_exploration_runs_few_schedules_if_few_requests_conflict() -> None:
    with Sandbox() as sandbox:
        found = explore(renew_own_names, sandbox, actors=3)
        assert (len(found.schedules), found.untried, found.findings) == (1, 0, [])
        found = explore(partial(buy_and_renew, shared=""), sandbox)
        assert (len(found.schedules), found.untried, found.findings) == (1, 0, [])
        found = explore(partial(buy_and_renew, shared="shared.com"), sandbox)
        assert len(found.schedules) < 20
        assert {finding.kind for finding in found.findings} == {"failed"}
        found = explore(spend, sandbox)
        assert len(found.schedules) == 2, "payments do not commute if the balance is short"
        found = explore(look, sandbox, max_runs=8, jobs=2)
        assert found.untried > 1000
        *_, head, line = found.lines()
        assert head == "Not tried:"
        assert line.endswith(f"a larger --max-runs, or --part to share them, {found.untried} runs")


@pytest.mark.slow
def test_orders_of_payments_come_first() -> None:
    """Of about 70,000 schedules, 60 are enough to find the race of the two payments."""
    with Sandbox() as sandbox:
        found = explore(edit_and_renew, sandbox, max_runs=60)
    assert found.untried > 10_000
    words = [finding.words[0] for finding in found.findings if finding.kind == "invariant violated"]
    assert words == [f"the renewal of {workers.NAME} was paid 2 times: 12.99 + 12.99"]
    guessed = "The names main, main-2 are guessed from the connections, and can be wrong."
    assert guessed in "\n".join(found.lines())


#: Two workers that renew a name if it expires soon.
CARELESS = """
import json, os, threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

parts = urlsplit(os.environ["RESELLER_SANDBOX_URL"])
path = f"{parts.path}/V2.0/domain/active-example.com"

def renew(worker):
    def call(method, path, body=None):
        connection.request(method, path, body and json.dumps(body), headers)
        return json.load(connection.getresponse())

    headers = {"X-Auth-Token": os.environ["RESELLER_SANDBOX_TOKEN"], "X-Sandbox-Actor": worker}
    connection = HTTPConnection(parts.hostname, parts.port)
    expires = call("GET", path)["date_end"][:10]
    if expires < "2027":
        body = {"period": 1, "current_expiry_date": expires}
        call("PUT", f"{path}/renew", body)

for worker in ("anna", "bert"):
    threading.Thread(target=renew, args=(worker,)).start()
"""


def test_the_merged_parts_of_an_exploration_equal_the_whole_exploration() -> None:
    words = ("explore", "--quiet", "0.05", "--json")
    files = []
    for part in ("1/2", "2/2"):
        files.append(Path(f"part-{part[0]}.json"))
        files[-1].write_text(command(*words, "--part", part, "--", sys.executable, "-c", CARELESS).stdout)
    merged, whole = (
        printed("explore", "--json", "--merge", *files),
        printed(*words, "--", sys.executable, "-c", CARELESS),
    )
    assert merged["schedules"] == whole["schedules"] == 4
    refused(["explore", "--merge", "nowhere.json"], "nowhere.json: No such file or directory")
    refused(["explore", "--merge", "part-1.json"], "the reports lack part 2/2")
    refused(["explore", "--merge", *2 * ["part-1.json"]], "part-1.json is part 1/2 again, like part-1.json")
    Path("whole.json").write_text(json.dumps(whole))
    refused(["explore", "--merge", "part-1.json", "whole.json"], "whole.json is part 1/1, but part-1.json is")
    foreign = json.loads(Path("part-2.json").read_text())
    foreign["for_merge"]["origin"] = "explore -- other.py"
    Path("foreign.json").write_text(json.dumps(foreign))
    refused(
        ["explore", "--merge", "part-1.json", "foreign.json"], "foreign.json is a report of 'explore -- ot"
    )
    refused(["sweep", "--merge", "part-1.json", "part-2.json"], "part-1.json is not a report of sweep")
    refused(["explore", "--part", "3/2", "--", "true"], "a part must be N/PARTS")


#: Two workers that do their jobs under a lock, each with time limits for the lock and for its requests.
IMPATIENT = """
import os, sys, threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

parts, lock, failures = urlsplit(os.environ["RESELLER_SANDBOX_URL"]), threading.Lock(), []
headers = {"X-Auth-Token": os.environ["RESELLER_SANDBOX_TOKEN"]}

def look(worker):
    if not lock.acquire(timeout=0.2):
        failures.append(worker)
        return
    connection = HTTPConnection(parts.hostname, parts.port, timeout=0.2)
    try:
        for _ in range(2):
            connection.request("GET", f"{parts.path}/V2.0/domain/active-example.com", headers=headers)
            connection.getresponse().read()
    except OSError as failure:
        failures.append(failure)
    lock.release()

threads = [threading.Thread(target=look, args=(worker,)) for worker in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(bool(failures))
"""


def test_explore_does_not_report_a_failure_that_a_long_hold_causes() -> None:
    """With ``--quiet 0.5``, the first request is held longer than the lock and its client wait."""
    run = ("--quiet", "0.5", "--", sys.executable, "-c", IMPATIENT)
    assert command("explore", "--locked", *run).exit_code == 0
    done = command("explore", *run)
    assert done.exit_code == 4, done.output
    assert "a request was held too long for the program, so none was held for over" in done.output
    assert "nothing was explored: the requests came one at a time" in done.output


def test_explore_refuses_wrong_options_with_a_one_line_message(subtests: pytest.Subtests) -> None:
    for words, problem in (
        (["--schedule", "anna", "--", "true"], "anna has no waiting request at its turn in 'anna'"),
        (["--url", "http://127.0.0.1:9", "--", "true"], "--url cannot be used with explore"),
        (["--actors", "0", "--", "true"], "0 is not in the range"),
        (["--invariant", "nowhere:at_all", "--", "true"], "--invariant nowhere:at_all"),
        (["--", "/nowhere/at-all"], "/nowhere/at-all cannot be run"),
    ):
        with subtests.test(problem):
            refused(["explore", *words], problem)
    done = command("explore", "--", "true")
    assert (done.exit_code, "sent no request" in done.stderr) == (4, True), done.output
    done = command("explore", "--", "sh", "-c", "exit 3")
    assert (done.exit_code, "fails in every schedule" in done.stderr) == (2, True), done.output
