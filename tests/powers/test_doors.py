"""Whatever is asked of a power, every door gives the same answer and the same refusal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.power import Operation
from tests.powers.doors import OPERATIONS, Doors, doors_to, measured, operation
from tests.powers.drawn import fits
from tests.powers.example import REQUEST, Example
from tests.powers.examples import EXAMPLES
from tests.registry import REGISTRY

#: What the examples speak of beside the tests' own registry.
MORE = "customers:\n  501: {name: Ann, mail: ann@example.com}\n"


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """The doors to a sandbox on a real port."""
    fixture = tmp_path_factory.mktemp("doors") / "registry.yaml"
    fixture.write_text(REGISTRY.read_text("utf-8") + MORE, "utf-8")
    with doors_to(fixture) as doors:
        yield doors


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_door_leads_to_the_same(doors: Doors, example: Example) -> None:
    """In Python, over HTTP, through a remote sandbox and on the command line."""
    came = {}
    for name, through in doors.through.items():
        doors.start_over()
        for setting, given in example.before:
            if setting == REQUEST:
                doors.sandbox.client().open(**given)
            else:
                assert through(setting, given)[0] == "ok"
        came[name] = measured(through(example.operation, example.given))
    expected = example.refused or "ok"
    assert came["python"][0] == expected, came["python"]
    assert came["http"] == came["remote"] == came["python"]
    outcome, said = came["command"]
    if expected == "ok":
        assert (outcome, said) == came["python"]
    else:
        assert outcome in ("refused", "invalid_parameter")
        if outcome == "refused" and fits(operation(example.operation), example.given, in_words=True):
            assert came["python"][1][0] in said


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_every_parameter_has_examples(operation: Operation) -> None:
    """One that is accepted with it, and one that is refused for it."""
    mine = [one for one in EXAMPLES if one.operation == operation.id]
    assert [one for one in mine if not one.refused], "no example is accepted"
    for parameter in operation.parameters:
        told = [one for one in mine if parameter.name in one.given]
        assert [one for one in told if not one.refused], f"{parameter.name} is never accepted"
        assert [one for one in told if one.refused], f"{parameter.name} is never refused"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_what_stands_in_a_path_is_known_without_the_types(operation: Operation) -> None:
    """So that a control interface which nobody calls reads no signature."""
    assert operation.segments == tuple(one.name for one in operation.parameters if one.place == "segment")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_a_call_with_too_many_words_is_told_which_may_stand_without_a_name(operation: Operation) -> None:
    """And nothing is done."""
    with pytest.raises(Refused) as refused:
        operation.bind(("x",) * 9, {})
    told = refused.value.message
    assert told.startswith(f"{operation.id} takes ")
    alone = told.removeprefix(f"{operation.id} takes ").partition(" without a name")[0]
    named = [] if alone == "nothing" else alone.removesuffix(" alone").replace("'", "").split(", ")
    assert operation.bind(tuple(named), {}) == dict(zip(named, named, strict=True))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_every_operation_says_what_it_does(operation: Operation) -> None:
    """In its docstring, and for each parameter there."""
    assert operation.description
    assert set(operation.told) == {one.name for one in operation.parameters}
    assert all(operation.told.values())
