from symgrad.bench import peers
from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.task import Limit


def test_every_data_set_gets_every_time():
    parts = peers.plan(["a", "b"], [10.0, 60.0], 5)
    assert [(p.problem, p.limit) for p in parts] == [
        ("a", Limit(10.0)),
        ("b", Limit(10.0)),
        ("a", Limit(60.0)),
        ("b", Limit(60.0)),
    ]
    assert {p.seeds for p in parts} == {5}


def test_the_methods_are_known():
    assert set(peers.METHODS.split(",")) <= set(BY_METHOD)
    assert float(peers.times(True)) < float(peers.times(False).split(",")[0])
    assert peers.datasets(False) == "paper"
