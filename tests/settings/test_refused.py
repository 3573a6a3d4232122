"""A wrong setting is refused, by its name as the source spells it; nothing starts."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import BadSetting, Sandbox
from tests.command import run
from tests.settings.examples import (
    EXAMPLES,
    OF_A_SERVER,
    as_option,
    as_variable,
    in_the_environment,
    on_the_command_line,
    write_table,
)

WRONG = {name: wrong for name, (_, wrong) in EXAMPLES.items()}
#: Those that are wrong in words, too: any text may be a path, and a switch has no value.
IN_WORDS = {
    name: wrong
    for name, wrong in WRONG.items()
    if isinstance(wrong, str | list | dict) or type(EXAMPLES[name][0]) in (int, float)
}


def test_python_names_a_wrong_setting(subtests: pytest.Subtests) -> None:
    wrong: Any
    for name, wrong in WRONG.items():
        for value in (wrong, 10**5000, [10**5000], {"v3.ids": 10**5000}):
            if name not in OF_A_SERVER:
                with subtests.test(f"{name}={str(wrong)[:9]}"), pytest.raises(BadSetting, match=f"^{name} "):
                    Sandbox(**{name: value})
    with pytest.raises(BadSetting, match="sede is not known here; the nearest is seed"):
        Sandbox(**{"sede": "mine"})
    for name in ("profile", "fixture"):
        with pytest.raises(BadSetting, match="x" * 20):
            Sandbox(**{name: "x" * 300})


def test_each_source_names_every_wrong_setting_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fit in one line: half of them."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pyproject.toml"
    where = f"{path}: [tool.reseller_sandbox]"
    for half in (0, 1):
        wrong, in_words = (dict(list(one.items())[half::2]) for one in (WRONG, IN_WORDS))
        options = {name: value for name, value in in_words.items() if WRONG[name] != "perhaps"}
        results = [(run("serve", *on_the_command_line(options)), [as_option(name) for name in options])]
        variables = in_the_environment(in_words)
        results.append((run("serve", env=variables), list(variables)))
        write_table(tmp_path, {**wrong, "max_world": 3, "header-prefix": "X-"})
        results.append((run("serve"), [f"{where} {name}" for name in wrong]))
        path.unlink()
        for done, names in results:
            assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
            for name in names:
                assert f" {name} " in done.err, name
        assert f"{where} max_world is not known here; the nearest is max_worlds" in done.err
        assert f"{where} header-prefix is not known here; the nearest is header_prefix" in done.err
    for text in ("[tool.reseller_sandbox", "a = \xff", "[tool]\nreseller_sandbox = 3"):
        path.write_bytes(text.encode("latin-1"))
        done = run("serve")
        assert (done.status, done.err.startswith(f"reseller-sandbox: {path}: ")) == (2, True), done.err


def test_a_variable_with_nearly_the_name_of_a_setting_is_reported() -> None:
    """And ignored, for another program may use it. The variables of tools and of Kubernetes are known."""
    words = ("serve", "--port", "0", "--certfile", "/no/such.pem")
    done = run(*words, env={"RESELLER_SANDBOX_MAX_WORLD": "1"})
    assert "SANDBOX_MAX_WORLD is not known here; the nearest is RESELLER_SANDBOX_MAX_WORLDS\n" in done.err
    assert "/no/such.pem" in done.err
    others = ("URL", "WORLD", "CA", "TOKEN", "IMAGE", "MODE", "SWEEP", "EXPLORE", "COVERAGE", "SERVICE_HOST")
    services = ("SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_8053_TCP", "PORT_8053_TCP_ADDR")
    done = run(*words, env={f"RESELLER_SANDBOX_{name}": "1" for name in (*others, *services)})
    assert done.err.count("\n") == 1
    assert "/no/such.pem" in done.err


TEXTS = st.text(max_size=20) | st.sampled_from(
    ("", "\0", "a\nb", "http://[::1", "https://", "~", "/", "=", "1e400")
)
SIMPLE = (
    *(st.none(), st.booleans(), st.integers(), st.just(2**63), st.floats(), TEXTS, st.binary(max_size=5)),
    *(
        st.datetimes(),
        st.just(date(2030, 1, 1)),
        st.just(Path("empty")),
        st.just(Path("\0")),
        st.just(object()),
    ),
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(SIMPLE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.integers(), inner, max_size=3),
    max_leaves=4,
)
OWN = sorted(EXAMPLES.keys() - OF_A_SERVER)


@given(settings=st.dictionaries(st.sampled_from(OWN), ANYTHING, max_size=3))
def test_any_python_value_makes_a_sandbox_or_is_refused(settings: dict[str, Any]) -> None:
    with suppress(BadSetting):
        client = Sandbox(**settings).client()
        assert client.get("/_sandbox/health", headers={"Origin": "http://localhost"}).status_code < 500


@given(
    values=st.dictionaries(st.sampled_from(sorted(EXAMPLES.keys() - {"host"})), TEXTS, max_size=4),
    words=st.lists(TEXTS, max_size=2),
)
def test_any_text_is_taken_or_refused_in_a_line(values: dict[str, str], words: list[str]) -> None:
    """The wrong host ends each command, so that no server starts."""
    variables = {as_variable(name): value.replace("\0", "0") for name, value in values.items()}
    for env, options in ((variables, []), ({}, [f"{as_option('seed')}={word}" for word in words])):
        try:
            [os.fsencode(value) for value in env.values()]
        except UnicodeEncodeError:
            continue
        done = run("serve", "--host", "two words", *options, env=env)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("reseller-sandbox: ")
        assert "Traceback" not in done.err
