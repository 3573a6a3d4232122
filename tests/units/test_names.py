"""Names: one spelling for each, and the reason why a name is malformed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.values.names import BadName, normalise, to_unicode

MALFORMED = {
    "empty": ["", "."],
    "no zone": ["com"],
    "empty label": [".com", "a..com"],
    "hyphens": ["-a.com", "a-.com"],
    "other than letters": ["a_b.com", "a b.com", "a/b.com", "a\x00.com"],
    "third and fourth": ["ab--c.com"],
    "number": ["1.2.3.4"],
    "at most 63": [f"{'a' * 64}.com"],
    "at most 253": [f"{'.'.join(['a' * 60] * 5)}.com", "a" * 100_000],
    "IDNA": ["xn--.com", "xn--a.com", "a\u2028b.com", "\ud800.com"],
}


def test_a_name_has_a_single_spelling(subtests) -> None:
    for text, name in {
        **{name: name for name in ("example.com", "a.co", "1.com", f"{'a' * 63}.com")},
        **dict.fromkeys(("EXAMPLE.Com", "example.com."), "example.com"),
        **dict.fromkeys(("españa.com", "ESPAÑA.com", "espan\u0303a.com"), "xn--espaa-rta.com"),
        **dict.fromkeys(("xn--espaa-rta.com", "XN--ESPAA-RTA.COM"), "xn--espaa-rta.com"),
        "приклад.укр": "xn--80aikifvh.xn--j1amh",
        "faß.de": "xn--fa-hia.de",
    }.items():
        with subtests.test(text=text):
            assert normalise(text) == name


def test_a_malformed_name_is_refused_with_the_reason(subtests) -> None:
    for reason, texts in MALFORMED.items():
        for text in texts:
            with subtests.test(text=text), pytest.raises(BadName, match=reason):
                normalise(text)


@given(st.text(max_size=80) | st.from_regex(r"[\w.\-]{1,40}\.[a-z]{2,5}\.?", fullmatch=True))
def test_the_spelling_of_a_name_stays_in_both_alphabets(text: str) -> None:
    try:
        name = normalise(text)
    except BadName:
        return
    assert name.isascii()
    assert name == name.lower() == normalise(name) == normalise(to_unicode(name))
