import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import name_lists

from symgrad.tree.names import MAX_FEATURES, FeatureNames, shortened, visible


@given(name_lists)
def test_names_and_indices_are_inverse(names):
    features = FeatureNames(names)
    assert [features[j] for j in range(len(names))] == names
    assert [features.index(n) for n in names] == list(range(len(names)))
    assert features.index("no such name, surely") is None


@given(st.integers(0, MAX_FEATURES - 1))
def test_default_names_go_on_without_end(index):
    features = FeatureNames()
    assert features.index(features[index]) == index


@pytest.mark.parametrize(
    "name",
    ["x", "x01", "x-1", "y0", "X0", "x0 ", "x0\n", "x٣", "x1.0", "x2147483647", "x" + "9" * 50],
)
def test_other_names_are_no_default_names(name):
    assert FeatureNames().index(name) is None


def test_duplicates_are_named():
    with pytest.raises(ValueError, match="feature name 'b' occurs more than once"):
        FeatureNames(["a", "b", "c", "b"])


@pytest.mark.parametrize(
    ("names", "what"), [("abc", "one string"), (["a", 1], "got 1"), ([None], "None")]
)
def test_names_must_be_strings(names, what):
    with pytest.raises(TypeError, match=what):
        FeatureNames(names)


def test_numpy_strings_become_plain_ones():
    assert type(FeatureNames(np.array(["a", "b"]))[0]) is str


def test_equality_hash_and_pickling():
    one, two = FeatureNames(["a", "b"]), FeatureNames(("a", "b"))
    assert one == two
    assert hash(one) == hash(two)
    assert one != FeatureNames(["b", "a"])
    assert one != FeatureNames()
    assert FeatureNames() == FeatureNames(None)
    assert pickle.loads(pickle.dumps(one)) == one
    assert FeatureNames.of(one) is one


def test_ten_thousand_names_are_fast():
    started = time.perf_counter()
    features = FeatureNames([f"gene {i}" for i in range(10_000)])
    assert all(features.index(f"gene {i}") == i for i in range(10_000))
    assert time.perf_counter() - started < 1


@given(name_lists, st.integers(5, 30))
def test_shortened_names_stay_distinct_and_short(names, longest):
    short = shortened(names, longest)
    assert list(short) == names
    whole = {n for n in names if short[n] == visible(n)}
    assert all(len(short[n]) <= longest or n in whole for n in names)
    seen = [visible(n) for n in names]
    if len(set(seen)) == len(seen):
        assert len(set(short.values()) - {visible(n) for n in whole}) == len(names) - len(whole)


def test_shortened_names_keep_both_ends():
    assert shortened(["abcdefghijklmnop", "short"], 9) == {
        "abcdefghijklmnop": "abcde…nop",
        "short": "short",
    }
    alike = ["abcde1234567xyz", "abcde7654321xyz"]
    assert shortened(alike, 9) == dict(zip(alike, alike, strict=True))


def test_visible_text_holds_nothing_that_reorders_or_breaks_a_page():
    assert visible("a\0\ud800\u202eb\tü") == "a\ufffd\ufffd\ufffdb\tü"
