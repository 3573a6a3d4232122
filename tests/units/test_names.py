"""Names: one spelling for each, and a clear word about the malformed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.core.names import BadName, below, normalise, suffixes, to_unicode


def test_a_name_has_one_spelling(subtests: pytest.Subtests) -> None:
    """Lower case, ASCII, no dot at the end."""
    for text, name in [
        ("example.com", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        ("example.com.", "example.com"),
        ("a.co", "a.co"),
        ("1.com", "1.com"),
        ("españa.com", "xn--espaa-rta.com"),
        ("ESPAÑA.com", "xn--espaa-rta.com"),
        ("espan\u0303a.com", "xn--espaa-rta.com"),
        ("xn--espaa-rta.com", "xn--espaa-rta.com"),
        ("XN--ESPAA-RTA.COM", "xn--espaa-rta.com"),
        ("приклад.укр", "xn--80aikifvh.xn--j1amh"),
        ("faß.de", "xn--fa-hia.de"),
        (f"{'a' * 63}.com", f"{'a' * 63}.com"),
    ]:
        with subtests.test(text=text, name=name):
            assert normalise(text) == name


def test_a_malformed_name_is_told_why(subtests: pytest.Subtests) -> None:
    """The message goes on after the name itself."""
    for text, complaint in [
        ("", "empty"),
        (".", "empty"),
        ("com", "no zone"),
        (".com", "empty label"),
        ("a..com", "empty label"),
        ("-a.com", "hyphens"),
        ("a-.com", "hyphens"),
        ("a_b.com", "other than letters"),
        ("a b.com", "other than letters"),
        ("a/b.com", "other than letters"),
        ("a\x00.com", "other than letters"),
        ("ab--c.com", "third and fourth"),
        ("1.2.3.4", "number"),
        (f"{'a' * 64}.com", "at most 63"),
        (f"{'.'.join(['a' * 60] * 5)}.com", "at most 253"),
        ("a" * 100_000, "at most 253"),
        ("xn--.com", "IDNA"),
        ("xn--a.com", "IDNA"),
        ("a\u2028b.com", "IDNA"),
        ("\ud800.com", "IDNA"),
    ]:
        with subtests.test(text=text, complaint=complaint):
            with pytest.raises(BadName, match=complaint):
                normalise(text)


@given(st.text(max_size=80) | st.from_regex(r"[\w.\-]{1,40}\.[a-z]{2,5}\.?", fullmatch=True))
def test_a_name_is_normal_once_and_for_all(text: str) -> None:
    """Any text is a name or refused; a name's spelling is its own, and it survives being read by people."""
    try:
        name = normalise(text)
    except BadName:
        return
    assert name.isascii()
    assert name == name.lower()
    assert normalise(name) == name
    assert normalise(to_unicode(name)) == name


def test_unicode_is_for_reading() -> None:
    """What has no Unicode form stays as it is."""
    assert to_unicode("xn--espaa-rta.com") == "españa.com"
    assert to_unicode("example.com") == "example.com"
    assert to_unicode("xn--a.com") == "xn--a.com"


def test_where_a_name_lies() -> None:
    """Below another, and in which zones it might be."""
    assert below("ns1.example.com", "example.com")
    assert not below("example.com", "example.com")
    assert not below("badexample.com", "example.com")
    assert suffixes("a.b.com.ua") == ["b.com.ua", "com.ua", "ua"]
