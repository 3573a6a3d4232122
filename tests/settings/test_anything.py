"""Whatever a setting is told, by whichever door: it is taken, or refused by one type with a line of words."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import BadSetting, Sandbox
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.settings import ServerSettings, Settings
from reseller_sandbox.sources import from_words, over
from reseller_sandbox.web.words import is_compound

SETTINGS = declared(ServerSettings)
OF_A_SANDBOX = [one.name for one in declared(Settings)]

#: Texts that something makes of more than they seem.
ODD = ("", " ", "\0", "a\nb", "http://[::1", "http://a:b", "https://", "real", "~", "/", "=", "1e400", "nan")
TEXTS = st.text(max_size=20) | st.sampled_from(ODD)
SIMPLE = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63)])
    | st.floats()
    | TEXTS
    | st.binary(max_size=5)
    | st.datetimes()
    | st.just(date(2030, 1, 1))
    | st.just(datetime.max)
    | st.builds(Path, st.sampled_from(["", "empty", "nosuch", "\0"]))
    | st.just(object())
)
ANYTHING = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.integers(), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize("name", [one.name for one in SETTINGS])
class TestAnything:
    """Each setting alone."""

    @given(value=ANYTHING)
    def test_in_python(self, name: str, value: Any) -> None:
        """Reading again what has been read changes nothing."""
        with suppress(BadSetting):
            made = ServerSettings(**{name: value})
            again = ServerSettings(**{one.name: getattr(made, one.name) for one in SETTINGS})
            assert again == made

    @given(words=TEXTS | st.lists(TEXTS, max_size=3).map(tuple))
    def test_in_words(self, name: str, words: Any) -> None:
        """Of the command line and of the environment."""
        (one,) = (one for one in SETTINGS if one.name == name)
        if isinstance(words, tuple) != (is_compound(one.kind.shape)) and not isinstance(words, str):
            return
        with suppress(BadSetting):
            ServerSettings(**from_words([one], {name: words}))


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    """Python itself does not write one."""
    for name in (one.name for one in SETTINGS):
        value: Any
        for value in (10**5000, [10**5000], {"v3.ids": 10**5000}):
            with pytest.raises(BadSetting, match=name):
                ServerSettings(**{name: value})


@given(settings=st.dictionaries(st.sampled_from(OF_A_SANDBOX), ANYTHING, max_size=3))
def test_a_sandbox_is_there_or_is_refused(settings: dict[str, Any]) -> None:
    """Nothing else comes of a call; what it is told can be served with."""
    with suppress(BadSetting):
        client = Sandbox(**settings).client()
        assert client.get("/_sandbox/health", headers={"Origin": "http://localhost"}).status_code < 500


@given(farther=ANYTHING, nearer=ANYTHING)
def test_sources_are_laid_over_one_another_before_they_are_read(farther: Any, nearer: Any) -> None:
    """Whatever a marker says of assumptions."""
    with suppress(BadSetting):
        ServerSettings(**over({"assume": farther}, {"assume": nearer}))
