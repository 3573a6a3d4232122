"""Rewinding, branches and snapshots: every request is a point that can be gone back to, exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from tests.clients import Answer, Api
from tests.registry import REGISTRY
from tests.thorough import tries
from tests.worlds.control import Control, control, inside, money_of, register, renew


def _bytes(answer: Answer) -> tuple[int, bytes, dict[str, str]]:
    return answer.status, answer.raw, dict(answer.headers)


def _story(sandbox: Sandbox, api: Api) -> list[tuple[int, bytes, dict[str, str]]]:
    """A run of requests that draws codes, charges money, moves time, and is refused now and then."""
    answers = [register(api, "story.com"), renew(api, "story.com", 2), register(api, "story.com")]
    sandbox.clock.advance("400d")
    answers += [api.get("/v3/domains/getAuthcode/story.com"), api.post("/v3/domains/lock/active.com")]
    answers += [register(api, "second-story.com", 3), api.get("/v3/domains/getAuthcode/second-story.com")]
    return [_bytes(answer) for answer in answers]


def test_what_is_lived_again_is_the_same_to_the_byte(sandbox: Sandbox, main: Api) -> None:
    """After a rewind the same requests get the same answers: money, time, codes, ids, request names."""
    money_of(main)
    before = sandbox.world.moment
    first = _story(sandbox, main)
    after = sandbox.world.moment
    sandbox.rewind("r2")
    assert sandbox.world.moment == before
    assert _story(sandbox, main) == first
    assert sandbox.world.moment == after


def test_before_and_after_a_request(steer: Control, main: Api) -> None:
    """Before a request it has not happened; just after it, it is the last thing that has."""
    register(main, "one.com")
    register(main, "two.com")
    register(main, "three.com")
    gone = steer.post("history/rewind", {"request": "r2", "side": "after"})
    assert (gone["requests"], gone["branch"]["last"]) == (2, "r3")
    assert [one["id"] for one in steer.get("journal")["requests"]] == ["r1", "r2"]
    steer.post("history/rewind", {"request": "r2", "side": "before"})
    assert [one["id"] for one in steer.get("journal")["requests"]] == ["r1"]
    assert main.get("/v3/domains/getDomain/two.com").error == "domain_not_found"


def test_the_clock_goes_back_too(sandbox: Sandbox, main: Api) -> None:
    """Only a rewind lets time go back; what had fired on the way is due again."""
    money_of(main)
    began = sandbox.clock.now
    fired = sandbox.clock.advance("P1Y").fired
    money_of(main)
    sandbox.rewind("r1", side="after")
    assert sandbox.clock.now == began
    assert [event.event for event in sandbox.clock.advance("P1Y").fired] == [event.event for event in fired]


def test_a_rewound_running_clock_runs_on(sandbox: Sandbox, main: Api) -> None:
    """A clock that ran runs again, from the instant of the request."""
    sandbox.clock.run()
    money_of(main)
    at = sandbox.world.journal.entries[0].at
    sandbox.clock.advance("P10D")
    sandbox.rewind("r1")
    assert not sandbox.clock.frozen
    assert 0 <= (sandbox.clock.now - at).total_seconds() < 30


def test_a_refused_request_is_a_point_as_well(sandbox: Sandbox, main: Api) -> None:
    """Any request can be gone back to, whatever came of it."""
    register(main, "active.com")
    register(main, "later.com")
    sandbox.rewind("r1", side="after")
    assert [entry.id for entry in sandbox.world.journal] == ["r1"]
    assert register(main, "later.com").headers["x-sandbox-request"] == "r2"


def test_the_future_left_behind_is_a_branch(steer: Control, main: Api) -> None:
    """It can be listed, taken up again, and dropped; taking it up leaves the other one behind."""
    register(main, "first-life.com")
    branch = steer.post("history/rewind", {"request": "r1"})["branch"]["name"]
    register(main, "second-life.com", 2)
    left = steer.post(f"branches/{branch}/switch")["branch"]["name"]
    assert main.get("/v3/domains/getDomain/first-life.com").status == 200
    assert main.get("/v3/domains/getDomain/second-life.com").error == "domain_not_found"
    assert [one["id"] for one in steer.get("journal", domain="first-life.com")["requests"]] == ["r1", "r2"]
    assert [one["name"] for one in steer.get("branches")["branches"]] == [left]
    steer.post(f"branches/{left}/switch")
    assert main.get("/v3/domains/getDomain/second-life.com").status == 200
    [kept] = [one["name"] for one in steer.get("branches")["branches"]]
    assert steer.delete(f"branches/{kept}")["branches"] == []
    assert steer.refused("POST", f"branches/{kept}/switch")[:2] == (404, "unknown_branch")


def test_switching_at_the_limit_drops_no_other_branch() -> None:
    """What is left behind takes the place of what is taken up."""
    sandbox = Sandbox(REGISTRY, max_branches=2)
    for _ in range(2):
        sandbox.clock.advance("1d")
        register(inside(sandbox), "tried.com")
        sandbox.rewind(sandbox.world.journal.entries[-1].id)
    assert [one.name for one in sandbox.branches] == ["b1", "b2"]
    sandbox.branches.switch("b2")
    assert [one.name for one in sandbox.branches] == ["b1", "b3"]
    sandbox.branches.switch("b1")
    assert [one.name for one in sandbox.branches] == ["b3", "b4"]


def test_the_oldest_branch_goes_when_there_are_too_many() -> None:
    """A world keeps as many branches as the setting says."""
    sandbox = Sandbox(REGISTRY, max_branches=2)
    money_of(inside(sandbox))
    for _ in range(4):
        sandbox.rewind("r1", side="after")
    assert [one.name for one in sandbox.branches] == ["b3", "b4"]


def test_as_many_requests_can_be_gone_back_to_as_the_setting_says() -> None:
    """What the journal has dropped is out of reach, and the refusal says what is there."""
    sandbox = Sandbox(REGISTRY, journal=3)
    api = inside(sandbox)
    for _ in range(5):
        money_of(api)
    status, error, message = control(sandbox).refused("POST", "history/rewind", {"request": "r2"})
    assert (status, error) == (404, "unknown_request")
    assert "r3 to r5 (2 older ones were dropped)" in message
    sandbox.rewind("r3")
    assert len(sandbox.world.journal) == 0


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"request": "r9"}, "unknown_request"),
        ({"request": "nonsense"}, "unknown_request"),
        ({}, "invalid_parameter"),
        ({"request": "r1", "side": "around"}, "invalid_parameter"),
        ({"request": "r1", "when": "now"}, "invalid_parameter"),
    ],
)
def test_a_bad_rewind_moves_nothing(
    sandbox: Sandbox, steer: Control, main: Api, body: dict[str, str], error: str
) -> None:
    """A mistake leaves the world and its branches as they are."""
    money_of(main)
    before = sandbox.world.moment
    assert steer.refused("POST", "history/rewind", body)[1] == error
    assert sandbox.world.moment is before
    assert not sandbox.world.branches


def test_snapshots(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """A snapshot brings back everything, journal included, as often as it is asked; it can be replaced."""
    register(main, "kept.com")
    assert steer.post("snapshots", {"name": "base"})["last"] == "r1"
    for _ in range(2):
        register(main, "passing.com")
        sandbox.clock.advance("P40D")
        gone = steer.post("snapshots/base/restore")
        assert (gone["now"], gone["requests"]) == ("2026-03-01T12:00:00Z", 1)
        assert main.get("/v3/domains/getDomain/passing.com").error == "domain_not_found"
        assert [entry.id for entry in sandbox.world.journal] == ["r1", "r2"]
        assert "passing.com" in sandbox.world.branches[gone["branch"]["name"]].moment.state.holding_order
    register(main, "passing.com")
    steer.post("snapshots", {"name": "base"})
    steer.post("snapshots/base/restore")
    assert main.get("/v3/domains/getDomain/passing.com").status == 200
    assert [one["name"] for one in steer.get("snapshots")["snapshots"]] == ["base"]
    assert steer.delete("snapshots/base")["snapshots"] == []
    assert steer.refused("POST", "snapshots/base/restore")[:2] == (404, "unknown_snapshot")


def test_a_snapshot_of_another_line_brings_its_own_journal(sandbox: Sandbox, main: Api) -> None:
    """After a rewind, a snapshot of the future left behind comes with the requests that led to it."""
    register(main, "a.com")
    register(main, "b.com")
    sandbox.snapshot("ab")
    sandbox.rewind("r1")
    register(main, "c.com")
    sandbox.restore("ab")
    assert [entry.domains for entry in sandbox.world.journal] == [("a.com",), ("b.com",)]


def test_there_is_a_most_of_snapshots() -> None:
    """Past the cap a new name is refused with the setting; an old name is still replaced."""
    sandbox = Sandbox(REGISTRY, max_snapshots=1)
    sandbox.snapshot("one")
    sandbox.snapshot("one")
    with pytest.raises(Refused, match="--max-snapshots"):
        sandbox.snapshot("two")
    refused = control(sandbox).refused("POST", "snapshots", {"name": "no/slash"})
    assert refused[:2] == (400, "invalid_parameter")


def test_a_reset_is_a_new_beginning(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """After it nothing is remembered, and the first request is r1 again with the same answer as before."""
    first = register(main, "anew.com")
    steer.post("snapshots", {"name": "s"})
    steer.post("history/rewind", {"request": "r1"})
    steer.post("history/reset")
    assert _bytes(register(main, "anew.com")) == _bytes(first)
    assert (steer.get("snapshots"), steer.get("branches")) == ({"snapshots": []}, {"branches": []})


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("register"), st.sampled_from("abc"), st.integers(1, 3)),
        st.tuples(st.just("advance"), st.just(""), st.integers(1, 500)),
        st.tuples(st.just("code"), st.sampled_from("abc"), st.just(0)),
        st.tuples(st.just("lock"), st.sampled_from("abc"), st.just(0)),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=tries(10))
@given(steps=_STEPS, at=st.integers(0, 7))
def test_any_history_can_be_rewound_and_lived_again(steps: list[tuple[str, str, int]], at: int) -> None:
    """Wherever a history is rewound to, the rest of it comes out the same, state and bytes."""
    sandbox = Sandbox(REGISTRY)
    api = inside(sandbox)

    def live(part: list[tuple[str, str, int]]) -> list[object]:
        seen: list[object] = []
        for kind, name, number in part:
            if kind == "advance":
                seen.append(sandbox.clock.advance(f"{number}d").fired)
            elif kind == "register":
                seen.append(_bytes(register(api, f"{name}.com", number)))
            elif kind == "code":
                seen.append(_bytes(api.get(f"/v3/domains/getAuthcode/{name}.com")))
            else:
                seen.append(_bytes(api.post(f"/v3/domains/lock/{name}.com")))
        return seen

    live(steps[:at])
    money_of(api)
    mark = sandbox.world.journal.entries[-1].id
    moment = sandbox.world.moment
    first = live(steps[at:])
    ended = sandbox.world.moment
    sandbox.rewind(mark, side="after")
    assert sandbox.world.moment == moment
    assert live(steps[at:]) == first
    assert sandbox.world.moment == ended
