"""Every interface gives the same answer and the same refusal: Python, HTTP, a remote sandbox, the command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reseller_sandbox import Refused
from tests.powers.doors import BY_NAME, OPERATIONS, Doors, doors_to, measured
from tests.powers.example import REQUEST
from tests.powers.examples import EXAMPLES
from tests.registry import REGISTRY

#: What the examples need beside the tests' own registry.
MORE = "customers:\n  501: {name: Ann, mail: ann@example.com}\n"

RESOURCES = sorted({one.id.partition(".")[0] for one in OPERATIONS})


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """The four interfaces."""
    fixture = tmp_path_factory.mktemp("doors") / "registry.yaml"
    fixture.write_text(REGISTRY.read_text("utf-8") + MORE, "utf-8")
    with doors_to(fixture) as doors:
        yield doors


@pytest.mark.parametrize("resource", RESOURCES)
def test_every_interface_answers_alike(doors: Doors, resource: str, subtests: pytest.Subtests) -> None:
    """The same result, or the same rule, message and remedy; what is refused leaves the world as it was."""
    for example in EXAMPLES:
        if not example.operation.startswith(f"{resource}."):
            continue
        with subtests.test(str(example)):
            doors.start_over()
            came = {}
            for name, through in doors.through.items():
                if name == "command" and BY_NAME[example.operation].streams and not example.refused:
                    continue
                for setting, given in example.before:
                    if setting == REQUEST:
                        doors.sandboxes[name].client().open(**given)
                    else:
                        assert through(setting, given)[0] == "ok"
                before = doors.sandboxes[name].events.find(limit=1).events
                came[name] = measured(through(example.operation, dict(example.given)))
                if example.refused:
                    assert doors.sandboxes[name].events.find(limit=1).events == before
            expected = example.refused or "ok"
            assert came["python"][0] == expected, came["python"]
            assert came["remote"] == came["python"]
            if not example.refused:
                assert came["http"][0] == "ok"
                assert came.get("command", came["http"]) == came["http"]
            else:
                assert came["http"] == came["python"]
                status, said = came["command"]
                assert status in ("refused", "invalid_parameter")
                assert "invalid_parameter" in (status, expected) or came["python"][1][0] in said


def test_every_parameter_has_examples(subtests: pytest.Subtests) -> None:
    """An accepted one for each operation; an accepted and a refused one for each parameter of a resource."""
    for resource in RESOURCES:
        mine = [one for one in EXAMPLES if one.operation.startswith(f"{resource}.")]
        accepted = [one for one in mine if not one.refused]
        operations = [one for one in OPERATIONS if one.id.startswith(f"{resource}.")]
        with subtests.test(resource):
            assert {one.id for one in operations} == {one.operation for one in accepted}
            names = {parameter.name for one in operations for parameter in one.parameters}
            assert names <= {name for one in accepted for name in one.given}
            assert names <= {name for one in mine if one.refused for name in one.given}


def test_too_many_words_without_a_name_are_refused(doors: Doors, subtests: pytest.Subtests) -> None:
    """The message names those that may stand without one."""
    for one in OPERATIONS:
        with subtests.test(one.id):
            with pytest.raises(Refused, match=f"{one.id} takes .* without a name"):
                one.in_python(doors.sandboxes["python"])(*"xxxxxxxxx")
