import copy
import json
import os
import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import DEFINITIONS

import symgrad
from symgrad import DGPRegressor, PrimitiveSet, files, older_files
from symgrad.data.loss import Loss
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.files import POLICIES, load
from symgrad.older_files import FORMAT, VERSION
from symgrad.tree.exports import KINDS

NAMES = ["BRCA1 (log2)", "<b>", "变量", 'a"b`c\n', "\ud800", "sin"]


def quick(**changes):
    settings = {
        "max_evaluations": 1500,
        "random_state": 0,
        "islands": Islands(islands=2, population=50),
    }
    return DGPRegressor(**(settings | changes))


def paper(**changes):
    return DGPRegressor(
        preset="paper",
        max_evaluations=1500,
        random_state=0,
        optimization=Optimization(epochs=10, trees=10),
        sampling=Sampling("multinomial"),
        diversification=Diversification(population=100, mutation_depth=(0, 1)),
        **changes,
    )


def table(rows=100, names=True):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(rows, len(NAMES))), columns=NAMES)
    y = 3 * X["<b>"] * X["sin"] + np.exp(X["变量"] / 3) + rng.normal(size=rows)
    return (X if names else X.to_numpy()), y


MODELS = {
    "plain": lambda X, y: quick().fit(X.to_numpy(), y),
    "names": lambda X, y: quick().fit(X, y),
    "definitions": lambda X, y: quick(primitives=PrimitiveSet(["+", "*", *DEFINITIONS])).fit(X, y),
    "listed": lambda X, y: quick(primitives=["*", "sin"], max_size=np.int64(20)).fit(X, y),
    "counts": lambda X, y: quick(loss="poisson", primitives=["+", "*"]).fit(X, np.abs(y).round()),
    "quantile": lambda X, y: quick(loss=Loss("quantile", 0.9), model_selection="simple").fit(X, y),
    "rules": lambda X, y: quick(
        constraints=Constraints(
            nesting={"sin": ("sin", "cos")}, costs={"exp": 3}, exclude={"变量"}, monotone={}
        ),
        islands=Islands(islands=2, population=50, fit_gate=np.inf, guided=(0.0, 0.5)),
        time_limit=1e9,
        n_jobs=1,
    ).fit(X, y),
    "paper": lambda X, y: paper().fit(X, y),
}


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return {name: make(X, y) for name, make in MODELS.items()}


def saved(est, folder):
    est.save(folder / "model.json")
    return load(folder / "model.json")


def check_same(est, other):
    X, _ = table(50)
    X = 3 * X  # outside the training data, too
    X = X if hasattr(est, "feature_names_in_") else X.to_numpy()
    assert vars(other).keys() == vars(est).keys()
    assert other.predict(X).tobytes() == est.predict(X).tobytes()
    for size in est.equations_["size"]:
        assert other.predict(X, size=size).tobytes() == est.predict(X, size=size).tobytes()
    pd.testing.assert_frame_equal(other.equations_, est.equations_, check_exact=True)
    assert other.history_["error"].equals(est.history_["error"])
    assert str(other) == str(est)
    assert other.sympy() == est.sympy()
    for a, b in zip(est.trees_, other.trees_, strict=True):
        assert (a.code.tobytes(), a.value.tobytes()) == (b.code.tobytes(), b.value.tobytes())
        assert a.primitives == b.primitives
        assert a.names == b.names
    assert (other.n_iter_, other.n_evaluations_) == (est.n_iter_, est.n_evaluations_)
    assert other.n_features_in_ == est.n_features_in_


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_bit_for_bit(name, fitted, tmp_path):
    est = fitted[name]
    other = saved(est, tmp_path)
    check_same(est, other)
    for kind in set(KINDS) - {"sql"}:
        assert other.export(kind) == est.export(kind)
    assert other.get_params() == est.get_params()
    assert clone(other).get_params() == est.get_params()
    assert list(getattr(other, "feature_names_in_", [])) == list(
        getattr(est, "feature_names_in_", [])
    )


def test_a_loaded_model_can_be_fitted_and_saved_again(fitted, tmp_path):
    X, y = table()
    other = saved(fitted["names"], tmp_path)
    first = (tmp_path / "model.json").read_bytes()
    other.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == first
    check_same(fitted["names"], other.fit(X, y))


def test_some_models_have_a_box_and_some_have_none(fitted):
    assert len({est._box is None for est in fitted.values()}) == 2


def test_pickle_and_joblib(fitted, tmp_path):
    est = saved(fitted["definitions"], tmp_path)
    check_same(est, pickle.loads(pickle.dumps(est)))
    joblib.dump(est, tmp_path / "model.joblib")
    check_same(est, joblib.load(tmp_path / "model.joblib"))
    check_same(est, saved(pickle.loads(pickle.dumps(est)), tmp_path))


def test_the_file_is_plain_json(fitted, tmp_path):
    fitted["rules"].save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="ascii")
    document = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert document["format"] == FORMAT
    assert document["version"] == VERSION
    assert document["symgrad"] == symgrad.__version__
    islands = document["settings"]["islands"]["Islands"]
    assert islands["fit_gate"] == {"float": "inf"}
    assert islands["guided"] == {"tuple": [0.0, 0.5]}
    assert document["settings"]["constraints"]["Constraints"]["exclude"] == {"set": ["变量"]}


def test_random_states_that_are_objects_are_left_out(tmp_path):
    X, y = table()
    est = quick(random_state=np.random.RandomState(1)).fit(X, y)
    assert saved(est, tmp_path).random_state is None
    est = quick(random_state=np.int32(1)).fit(X, y)
    assert saved(est, tmp_path).random_state == 1


def test_every_setting_that_is_an_object_has_a_place():
    hints = files.get_type_hints(DGPRegressor.__init__)
    parts = {t for hint in hints.values() for t in files.get_args(hint)}
    objects = {t for t in parts if files.is_dataclass(t)}
    assert objects == set(POLICIES.values())


def test_what_cannot_be_saved_is_said_before_anything_is_written(fitted, tmp_path):
    est = copy.copy(fitted["plain"])
    with pytest.raises(NotFittedError):
        quick().save(tmp_path / "model.json")
    with pytest.raises(NotFittedError):
        quick().export("c")
    est.n_jobs = object()
    with pytest.raises(ValueError, match="n_jobs cannot be saved: <object"):
        est.save(tmp_path / "model.json")
    est.n_jobs = "many"
    with pytest.raises(ValueError, match="n_jobs must not be 'many'"):
        est.save(tmp_path / "model.json")
    assert os.listdir(tmp_path) == []


def test_writing_is_all_or_nothing(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    fitted["plain"].save(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        fitted["names"].save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]


def test_readers_never_see_half_a_file(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted["plain"].save(path)
    writers = [
        threading.Thread(target=fitted[n].save, args=(path,)) for n in ("names", "plain") * 4
    ]
    for writer in writers:
        writer.start()
    while any(w.is_alive() for w in writers):
        load(path)
    for writer in writers:
        writer.join()


def test_links_are_followed(fitted, tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="ascii")
    (tmp_path / "link.json").symlink_to("real.json")
    fitted["plain"].save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    check_same(fitted["plain"], load(tmp_path / "real.json"))


@pytest.fixture
def document(fitted, tmp_path):
    fitted["rules"].save(tmp_path / "model.json")
    return json.loads((tmp_path / "model.json").read_text(encoding="ascii"))


def refused(path):
    with pytest.raises(ValueError, match=r"cannot load .*: ") as caught:
        load(path)
    assert type(caught.value) is ValueError
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_truncated_files_are_refused(fitted, tmp_path):
    fitted["definitions"].save(tmp_path / "model.json")
    data = (tmp_path / "model.json").read_bytes().rstrip()
    for end in [*range(0, len(data), 17), *range(len(data) - 40, len(data))]:
        (tmp_path / "cut.json").write_bytes(data[:end])
        refused(tmp_path / "cut.json")


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00", b"null", b"[]", b"{}", b'"x"', b"[" * 100_000, b'{"a":' * 100_000,
     b'{"format": "other"}', b"PK\x03\x04", b"9" * 10_000, b'{"format": NaN}'],
)  # fmt: skip
def test_foreign_files_are_refused(data, tmp_path):
    (tmp_path / "model.json").write_bytes(data)
    refused(tmp_path / "model.json")


def places(data, at=()):
    """Every path into a document."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))


def changed(document, place, change):
    other = copy.deepcopy(document)
    inner = other
    for key in place[:-1]:
        inner = inner[key]
    change(inner, place[-1])
    return other


VALUES = (None, True, -1, 0, 7, 10**400, -0.5, 1e300, "", "x0 +", "\ud800", [], [[]], {}, {"x": 1},
          {"float": "inf"}, {"float": 1}, {"tuple": [1]}, {"set": [[]]}, {"mapping": {"a": []}},
          {"PrimitiveSet": ["f(x) = f(x)"]}, {"Islands": {"population": "a"}},
          {"Islands": {"nonsense": 1}}, {"Loss": {"name": []}})  # fmt: skip


def test_changed_documents_are_refused_or_work(document):
    X, _ = table(5)
    loaded = 0
    for place in places(document):
        for value in VALUES:
            other = changed(document, place, lambda d, k, v=value: d.__setitem__(k, v))
            text = json.dumps(other)
            try:
                est = files.restore(json.loads(text))
            except ValueError:
                continue
            loaded += 1
            X.columns = getattr(est, "feature_names_in_", NAMES)
            assert len(est.predict(X)) == 5, place
            assert est.predict(X, size=99).shape == (5,)
            assert str(est)
            clone(est)
    assert loaded > 50  # a setting may well be another


def test_documents_with_a_missing_key_are_refused(document, tmp_path):
    for place in set(places(document)) - {("history",)}:
        if not isinstance(place[-1], str) or (place[0] == "settings" and len(place) > 2):
            continue  # a field that a policy object lacks has its default
        with pytest.raises(ValueError, match=r"missing|lack|must be"):
            files.restore(changed(document, place, lambda d, k: d.__delitem__(k)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=5), "version 5 of the format, and this symgrad reads up to 4"),
        (lambda d: d.update(version=0), "version must be at least 1, got 0"),
        (lambda d: d.update(version="1"), "version must be a whole number, got '1'"),
        (lambda d: d.update(formula=99), "formula is 99, but there are"),
        (lambda d: d.update(equations=[]), "formula is .*, but there are 0 of them"),
        (lambda d: d["equations"][0].update(size=-1), "size is -1, but the formula has"),
        (lambda d: d["equations"][0].update(formula="x99"), "unknown feature 'x99'"),
        (lambda d: d["equations"][0].update(formula="__import__('os')"), "unknown function"),
        (lambda d: d["equations"][0].update(primitives=7), "primitives is 7, but there are"),
        (lambda d: d["primitives"].append(["f(x) = g(x)"]), "unknown function 'g'"),
        (lambda d: d.update(n_features_in=3), "n_features_in is 3, but there are 6 names"),
        (lambda d: d["feature_names"].__setitem__(0, "<b>"), "'<b>' occurs more than once"),
        (lambda d: d.update(box={"low": [1.0]}), "low must hold 6 numbers, got 1"),
        (lambda d: d.update(fallback=10**400), "fallback is too large"),
        (lambda d: d["settings"].update(depth=3), "settings have an unknown 'depth'"),
        (lambda d: d["settings"].update(n_jobs=[2]), r"n_jobs must not be \[2\]"),
        (
            lambda d: d["settings"].update(islands={"os.system": ["ls"]}),
            "islands has a value of an",
        ),
        (
            lambda d: d["settings"].update(islands={"Islands": {"population": 1}}),
            "islands cannot be read: population must be at least 2, got 1",
        ),
    ],
)
def test_messages_name_what_is_wrong(document, tmp_path, change, message):
    change(document)
    (tmp_path / "model.json").write_text(json.dumps(document), encoding="ascii")
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "model.json")
    assert refused(tmp_path / "model.json")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


def test_older_versions_are_upgraded_step_by_step(document, monkeypatch):
    def renamed(old, new):
        return lambda d: {new if k == old else k: v for k, v in d.items()}

    old = renamed("n_iter", "first")(document)
    monkeypatch.setattr(older_files, "VERSION", VERSION + 2)
    monkeypatch.setitem(older_files.UPGRADES, document["version"], renamed("first", "second"))
    monkeypatch.setitem(older_files.UPGRADES, document["version"] + 1, renamed("second", "n_iter"))
    assert files.restore(old).n_iter_ == document["n_iter"]
